"""The rule of a model as a graph of standard ONNX operators, added to a graph of `to_onnx` or of skl2onnx.

Terms of one kind are computed together: a column for each, however many prototypes have it, then one product with the
weights. All operators exist since
version 13 of the default domain, except the comparison of text, which came with version 19.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from smallearn._text import listed, show
from smallearn.export._fixed.numbers import Row, TargetModel, TargetTerm
from smallearn.export._flat import FlatModel

OPSET = 13
TEXT_OPSET = 19
INT64, STRING = 7, 8  # TensorProto's numbers for types, which are part of the format
NUMBERS = {"float32": 1, "float64": 11}
LARGEST_COST = 1e30  # whose sums float32 holds
COMPARISONS = {"at_most": "LessOrEqual", "above": "Greater", "equals": "Equal"}


class Graph(Protocol):
    """A graph that nodes and constants are added to; both methods return the name of a tensor."""

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str: ...

    def constant(self, values: np.ndarray) -> str: ...


@dataclass(frozen=True)
class Inputs:
    """Names of the tensors that a model reads.

    ``numbers`` has a column for each numeric input, in order, and ``texts`` the column of each text input by its
    position; ``any_input`` is any of the graph's inputs, for its number of rows.
    """

    numbers: str
    texts: dict[int, str]
    any_input: str


@dataclass(frozen=True)
class Answers:
    """Names of the tensors that a model computes.

    ``decision`` is the decision function, rows × 1, or rows × classes if there are more than two; ``position`` is that
    of the class.
    """

    scores: str
    decision: str
    probabilities: str
    position: str


def add_model(graph: Graph, target: TargetModel[float], inputs: Inputs) -> Answers:
    """Add a model to a graph."""
    scores = _scores(graph, target, inputs)
    flat = target.flat
    columns = [graph.node("Gather", scores, indices(graph, [j]), axis=1) for j in range(len(flat.owners))]
    if flat.has_one_owner:
        return _two_classes(graph, target, scores, _greatest(graph, columns))
    own: list[list[str]] = [[] for _ in flat.classes]
    for column, owner in zip(columns, flat.owners, strict=True):
        own[owner].append(column)
    greatest = [_greatest(graph, columns) for columns in own]
    each = graph.node("Concat", *greatest, axis=1)
    decision = graph.node("Mul", each, _scale(graph, target))
    position = graph.node("ArgMax", _merits(graph, target, each, greatest), axis=1, keepdims=0)
    probabilities = graph.node("Softmax", decision, axis=1)
    return Answers(scores=scores, decision=decision, probabilities=probabilities, position=position)


def _merits(graph: Graph, target: TargetModel[float], each: str, columns: list[str]) -> str:
    """What decides between more than two classes, from the score of each, also column by column: the greatest wins."""
    costs = target.flat.decision.costs
    if target.offsets:
        return graph.node("Add", each, graph.constant(np.array([target.offsets], dtype=target.number)))
    if costs is None:
        return each
    ahead = graph.node("Mul", graph.node("Sub", each, _greatest(graph, columns)), _scale(graph, target))
    matrix = -np.array(costs)
    if target.number == "float32" and np.abs(matrix).max() > LARGEST_COST:
        matrix /= np.abs(matrix).max()
    return graph.node("MatMul", graph.node("Exp", ahead), graph.constant(matrix.astype(target.number)))


def _two_classes(graph: Graph, target: TargetModel[float], scores: str, best: str) -> Answers:
    """The answers of two classes; ties go to class 0, whichever class owns the prototypes."""
    cut = graph.constant(np.array([target.cut], dtype=target.number))
    owner = target.flat.owners[0]
    second = graph.node("Greater" if owner else "Less", best, cut)
    position = graph.node("Reshape", graph.node("Cast", second, to=INT64), indices(graph, [-1]))
    decision = graph.node("Mul", best, _scale(graph, target, 1.0 if owner else -1.0))
    chances = [graph.node("Sigmoid", graph.node("Neg", decision)), graph.node("Sigmoid", decision)]
    probabilities = graph.node("Concat", *chances, axis=1)
    return Answers(scores=scores, decision=decision, probabilities=probabilities, position=position)


def _scale(graph: Graph, target: TargetModel[float], sign: float = 1.0) -> str:
    with np.errstate(over="ignore"):
        scale = np.array([sign * target.flat.scale]).astype(target.number)
    if not np.isfinite(scale).all():
        raise ValueError(f"The scale {target.flat.scale!r} is beyond what {target.number} can hold.")
    return graph.constant(scale)


def indices(graph: Graph, places: Sequence[int]) -> str:
    """A constant with these positions."""
    return graph.constant(np.array(places, dtype=np.int64))


def _greatest(graph: Graph, columns: list[str]) -> str:
    return columns[0] if len(columns) == 1 else graph.node("Max", *columns)


# --- scores ----------------------------------------------------------------------------------------------------------


def _scores(graph: Graph, target: TargetModel[float], inputs: Inputs) -> str:
    """Rows × prototypes: the columns of all terms times their weights, plus the constants."""
    blocks = _Blocks(graph, target, inputs.numbers)
    place = {position: number for number, position in enumerate(_numeric(target.flat))}
    rows = [(_first(row), row) for row in target.rows]
    for kind in ("raw", "at_most", "above", "equals", "missing"):
        found = [row for term, row in rows if term.kind == kind and term.input in place]
        if found:
            blocks.add_numbers(kind, found, place)
    for position, x in inputs.texts.items():
        blocks.add_texts(x, position, [row for term, row in rows if term.input == position])
    if not blocks.columns:  # constant scores still need one row for each row of the input
        shape = graph.node("Shape", graph.node("Gather", inputs.any_input, indices(graph, [0]), axis=1))
        blocks.add_literals(graph.node("ConstantOfShape", shape), [])
    matrix = graph.node("Concat", *blocks.columns, axis=1)
    weights = graph.constant(np.concatenate(blocks.weights).astype(target.number))
    return graph.node("Gemm", matrix, weights, graph.constant(np.array(target.intercepts, dtype=target.number)))


def _numeric(flat: FlatModel) -> list[int]:
    return [position for position, input_ in enumerate(flat.inputs) if not input_.is_text]


class _Blocks:
    """Columns of terms, and for each a row of weights, one for each prototype."""

    def __init__(self, graph: Graph, target: TargetModel[float], numbers: str):
        self.graph, self.target, self.numbers = graph, target, numbers
        self.columns: list[str] = []
        self.weights: list[np.ndarray] = []

    def add(self, columns: str, rows: Sequence[Row], field: str = "weight") -> None:
        """Columns, one for each row of the card, and what the prototypes multiply them by."""
        numbers = [[0.0 if term is None else getattr(term, field) or 0.0 for term in row] for row in rows]
        self.columns.append(columns)
        self.weights.append(np.array(numbers or [[0.0] * len(self.target.intercepts)]))

    def add_literals(self, truth: str, rows: Sequence[Row], field: str = "weight") -> None:
        self.add(self.graph.node("Cast", truth, to=NUMBERS[self.target.number]), rows, field)

    def add_numbers(self, kind: str, rows: list[Row], place: Mapping[int, int]) -> None:
        terms = list(map(_first, rows))
        x = self.graph.node("Gather", self.numbers, indices(self.graph, [place[term.input] for term in terms]), axis=1)
        if kind == "raw":
            self._add_raw(x, rows)
        elif kind == "missing":
            self.add_literals(self.graph.node("IsNaN", x), rows)
        else:
            values = self.graph.constant(np.array([[term.value for term in terms]], dtype=self.target.number))
            self.add_literals(self.graph.node(COMPARISONS[kind], x, values), rows)

    def _add_raw(self, x: str, rows: list[Row]) -> None:
        """Missing values become 0, and another column adds ``instead``; NaN where there is no ``instead``."""
        lost = [[np.nan if _first(row).instead is None else 0.0 for row in rows]]
        if np.isnan(lost).all():
            self.add(x, rows)
            return
        gaps = self.graph.node("IsNaN", x)
        filled = self.graph.node("Where", gaps, self.graph.constant(np.array(lost, dtype=self.target.number)), x)
        self.add(filled, rows)
        self.add_literals(gaps, rows, "instead")

    def add_texts(self, x: str, position: int, rows: list[Row]) -> None:
        """Comparisons of a text input; empty text is missing."""
        compared = []
        for row in rows:
            category: Any = ""
            if _first(row).kind == "equals":
                category = self.target.flat.inputs[position].categories[int(_first(row).value or 0) - 1]
            if isinstance(category, str):  # text is never a number
                compared.append((row, category))
        if compared:
            values = np.array([[category for _, category in compared]], dtype=object)
            truth = self.graph.node("Equal", x, self.graph.constant(values))
            self.add_literals(truth, [row for row, _ in compared])


def _first(row: Row) -> TargetTerm[float]:
    return next(term for term in row if term is not None)


# --- labels ----------------------------------------------------------------------------------------------------------


def label_values(classes: Sequence[Any]) -> np.ndarray:
    """The classes in ONNX: int64 if all are whole numbers or booleans, otherwise text as str() gives it."""
    if all(isinstance(label, int | float) and label == int(label) and -(2**63) <= label < 2**63 for label in classes):
        values = np.array([int(label) for label in classes], dtype=np.int64)
    else:
        values = np.array([checked_text(str(label)) for label in classes], dtype=object)
    if len(set(values.tolist())) < len(classes):
        raise ValueError(
            f"The classes {listed(classes)} are of several types and not all different in ONNX: rename one."
        )
    return values


def checked_text(text: str) -> str:
    """The text, unless UTF-8, which ONNX uses, cannot hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{show(text)} has half a surrogate pair, which ONNX cannot hold: rename it.") from None
    return text


def check_texts(flat: FlatModel) -> None:
    """Refuse categories that ONNX cannot hold, or cannot distinguish from missing text."""
    for input_ in flat.inputs:
        for category in input_.categories:
            checked_text(str(category))
        if "" in input_.categories:
            raise ValueError(
                f"The model compares {show(input_.label)} with empty text, which in ONNX stands for missing text; "
                "train it with another text in its place."
            )
