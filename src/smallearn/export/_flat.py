"""A model as the flat list of terms that every target is written from.

What a target has to know is settled here once: which features are inputs, which of them hold text, which terms can
never hold and fall away. A feature with a raw or threshold term is a number, and so is one that is compared with
numbers alone; one that is compared with text is text, where only equality and absence can be asked for, and so is one
without a range that is asked for absence alone, in a trained model.
"""

from dataclasses import dataclass
from typing import Any

from smallearn._run.hashing import hex_digest
from smallearn._text import show
from smallearn._version import __version__
from smallearn.export._names import unique_names
from smallearn.model import SMaLLModel, Term
from smallearn.model._parts import Category


@dataclass(frozen=True)
class Input:
    """A feature that the model reads. ``label`` is what the user calls it, any text; ``name`` the same as an identifier
    of lower-case ASCII letters, digits and underscores, different from every other input's.

    It may be a reserved word: a target puts a prefix before it. ``categories`` are those that a text input is compared
    with; other text equals none of them. ``low`` and ``high`` are the training range of a number, None where it is not
    known. ``may_be_missing``: the model has an answer without it.
    """

    feature: int
    label: str
    name: str
    is_text: bool
    categories: tuple[Category, ...]
    low: float | None
    high: float | None
    may_be_missing: bool


@dataclass(frozen=True)
class FlatTerm:
    """``weight · b`` in prototype number ``prototype``, of input number ``input``; the rest as in `Term`."""

    prototype: int
    input: int
    weight: float
    kind: str
    value: Category | None
    mean: float | None


@dataclass(frozen=True)
class FlatModel:
    """``z_j = intercepts[j] + Σ weight · b``, summed in the order of ``terms``; ``owners[j]`` is the position in
    ``classes`` of the class that prototype ``j`` speaks for.

    Two classes: the prediction is that of the prototypes if any score is above 0 (for class 1) or at least 0 (for class
    0, as ties go to the first class), and otherwise the other. More: the class of the greatest score, ties to the
    first. ``scale`` times a score is in log-odds.
    """

    classes: tuple[Any, ...]
    n_features: int
    inputs: tuple[Input, ...]
    owners: tuple[int, ...]
    intercepts: tuple[float, ...]
    terms: tuple[FlatTerm, ...]
    scale: float
    version: str
    hash: str

    @property
    def is_binary(self) -> bool:
        return len(self.classes) == 2

    def of(self, prototype: int) -> tuple[FlatTerm, ...]:
        """The terms of one prototype."""
        return tuple(term for term in self.terms if term.prototype == prototype)

    @property
    def stamp(self) -> str:
        """What every export says of its origin, on one line."""
        return f"smallearn {self.version}, model {self.hash}"


def flatten(model: Any) -> FlatModel:
    """The inputs in the order of the features, and the terms that can make a difference, in order."""
    if not isinstance(model, SMaLLModel):
        hint = "; pass its model_" if hasattr(model, "model_") else ""
        raise TypeError(f"A SMaLLModel can be exported, not {type(model).__name__}{hint}.")
    kept = _that_matter(model)
    features = sorted({term.feature for terms in kept for term in terms})
    place = {feature: position for position, feature in enumerate(features)}
    every = [term for terms in kept for term in terms]
    labels = [next(term.label for term in every if term.feature == feature) for feature in features]
    names = unique_names(labels)
    ranges = {extent.feature: extent for extent in model.ranges}
    needed = {term.feature for term in model.terms if term.kind == "raw" and term.mean is None}
    inputs = []
    for feature, label, name in zip(features, labels, names, strict=True):
        mine = [term for term in every if term.feature == feature]
        text = any(isinstance(term.value, str) for term in mine) or (
            # Asked for nothing but absence: numbers have a range, in a model that was trained.
            all(term.kind == "missing" for term in model.terms if term.feature == feature)
            and model.training is not None
            and feature not in ranges
        )
        known = None if text else ranges.get(feature)
        inputs.append(
            Input(
                feature,
                label,
                name,
                text,
                _categories(mine) if text else (),
                None if known is None else known.low,
                None if known is None else known.high,
                feature not in needed,
            )
        )
    terms = tuple(
        FlatTerm(j, place[term.feature], term.weight, term.kind, _plain(term.value), term.mean)
        for j, terms in enumerate(kept)
        for term in terms
    )
    return FlatModel(
        model.classes,
        model.n_features,
        tuple(inputs),
        model.owners,
        tuple(prototype.intercept for prototype in model.prototypes),
        terms,
        model.scale,
        __version__,
        model_hash(model),
    )


def model_hash(model: SMaLLModel) -> str:
    """Twelve hexadecimal digits that change with anything in the model's file."""
    return hex_digest(model.to_json(), 12)


def _that_matter(model: SMaLLModel) -> list[list[Term]]:
    """Without terms of weight 0, text compared with a number, and numbers that no float64 equals."""
    numeric = {term.feature for term in model.terms if term.kind in ("raw", "at_most", "above")}
    kept = []
    for prototype in model.prototypes:
        terms = [term for term in prototype.terms if term.weight != 0.0]
        for term in terms:
            if term.kind == "equals" and isinstance(term.value, int | float) and abs(term.value) > 2.0**1023:
                raise ValueError(f"{term.text}: {show(term.value)} is too large to be compared with.")
        kept.append([term for term in terms if term.kind != "equals" or _can_hold(term, numeric)])
    return kept


def _can_hold(term: Term, numeric: set[int]) -> bool:
    if isinstance(term.value, str):
        return term.feature not in numeric
    return float(term.value) == term.value  # type: ignore[arg-type]


def _categories(terms: list[Term]) -> tuple[Category, ...]:
    values = (_plain(term.value) for term in terms if term.kind == "equals")
    return tuple(value for value in dict.fromkeys(values) if value is not None)


def _plain(value: Category | None) -> Category | None:
    """Numbers as floats (True is 1.0, as when rows are compared), text as text."""
    return value if value is None or isinstance(value, str) else float(value)
