"""Predictions for many rows: what `SMaLLModel` answers, bit for bit, but compiled and in one pass over X.

X is checked in the same pass. If anything is not finite, there is no answer (None): the caller then checks X and asks
the model, which know what is allowed and what to say.
"""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from smallearn._learn.prediction_kernels import (
    INSIDE,
    OUTSIDE,
    RAW,
    answer_block,
    answer_columns,
    answer_rows,
    answer_sparse,
)
from smallearn.model import SMaLLModel
from smallearn.model._columns import all_finite
from smallearn.model._parts import Prototype
from smallearn.model._rows import CHUNK_ROWS
from smallearn.model._term import Term

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


@dataclass(frozen=True)
class Stored:
    """Floating-point numbers as they are stored: an array rows × features, a list of columns, or a CSR matrix.

    With ``gaps``, NaN is a missing value.
    """

    numbers: Any
    n_rows: int
    gaps: bool

    def all_fit(self, columns: Sequence[np.ndarray]) -> bool:
        """Whether these columns are finite but for gaps."""
        return all(all_finite(column) or (self.gaps and not np.isinf(column).any()) for column in columns)


def _is_well_formed(X: Any) -> bool:
    """Whether the entries of a CSR matrix lie within it: compiled code would read and write elsewhere."""
    columns, starts = X.indices, X.indptr
    if len(starts) != X.shape[0] + 1 or starts[0] < 0 or starts[-1] > min(len(columns), len(X.data)):
        return False
    within = not len(columns) or (columns.min() >= 0 and columns.max() < X.shape[1])
    return bool(within and np.all(starts[1:] >= starts[:-1]))


def stored(X: Any, gaps: bool) -> Stored | None:
    """An array, CSR matrix or table of float64 or of float32, not copied; None for any other and for strided arrays."""
    if sparse.issparse(X):
        usable = X.format == "csr" and X.dtype in FLOATS and _is_well_formed(X)
        return Stored(X, X.shape[0], gaps) if usable else None
    if isinstance(X, np.ndarray):
        if X.dtype not in FLOATS or not X.flags.aligned:
            return None
        contiguous = X.flags.c_contiguous or X.flags.f_contiguous
        return Stored(_read_only(X), len(X), gaps) if contiguous else None
    if hasattr(X, "iloc"):
        plain = all(dtype in FLOATS for dtype in X.dtypes)
        columns = [np.asarray(X.iloc[:, l]) for l in range(X.shape[1])] if plain else []
    else:
        columns = list(map(np.asarray, X.get_columns())) if hasattr(X, "get_columns") else []
    whole = _whole(columns)
    if whole is not None:
        return stored(whole, gaps)
    types = {column.dtype for column in columns}
    return Stored(columns, len(columns[0]), gaps) if len(types) == 1 and types <= set(FLOATS) else None


def _whole(columns: Sequence[np.ndarray]) -> np.ndarray | None:
    """The array of which these are the columns, as most often in a table, or None."""
    base = columns[0].base if columns else None
    if not isinstance(base, np.ndarray) or base.ndim != 2:
        return None
    for whole in (base, base.T):
        if whole.shape == (len(columns[0]), len(columns)) and all(map(_is_same, columns, whole.T)):
            return whole
    return None


def _is_same(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two columns of the same length are the same numbers in memory."""
    return (first.ctypes.data, first.strides, first.dtype) == (second.ctypes.data, second.strides, second.dtype)


def predict(model: SMaLLModel, X: Stored, n_threads: int) -> np.ndarray | None:
    """What ``model.predict`` returns, or None."""
    n_classes = len(model.classes)
    if model.decision.costs is not None:
        code = from_scores(model, X, n_threads, model.decide)
        return None if code is None else model.labels(code)
    values = model.labels(np.arange(n_classes))
    answers = np.empty(X.n_rows, dtype=values.dtype)
    no_scores = np.empty((len(model.prototypes), 0))
    if values.dtype.kind in "iuf" and values.dtype.itemsize == 8:  # the kernel writes the labels themselves

        def answer(rows: slice, fill: Callable) -> bool:
            return fill(answers[rows].view(np.int64), no_scores)

        share = max(1, -(-X.n_rows // n_threads))  # of a thread: no step leaves anything in the cache for the next
        return answers if _each_chunk(model, values.view(np.int64), X, n_threads, answer, share) else None

    def look_up(rows: slice, fill: Callable) -> bool:
        code = np.zeros(len(answers[rows]), dtype=np.int64)
        fit = fill(code, no_scores)
        answers[rows] = values.take(code)
        return fit

    return answers if _each_chunk(model, np.arange(n_classes), X, n_threads, look_up) else None


def from_scores(
    model: SMaLLModel, X: Stored, n_threads: int, question: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray | None:
    """What ``question`` makes of the scores (rows × prototypes), or None."""
    p = len(model.prototypes)
    nothing = question(np.empty((0, p)))
    answers = np.empty((X.n_rows, *nothing.shape[1:]), dtype=nothing.dtype)
    no_labels = np.empty(0, dtype=np.int64)

    def answer(rows: slice, fill: Callable) -> bool:
        scores = np.empty((p, len(answers[rows])))
        fit = fill(no_labels, scores)
        if fit:
            answers[rows] = question(scores.T)
        return fit

    return answers if _each_chunk(model, None, X, n_threads, answer) else None


def _each_chunk(
    model: SMaLLModel,
    labels: np.ndarray | None,
    X: Stored,
    n_threads: int,
    answer: Callable[[slice, Callable], bool],
    chunk_rows: int = CHUNK_ROWS,
) -> bool:
    """Answer for each chunk of rows; False if X or a score is not finite, or a term is about categories.

    ``labels`` has one for each class; None if the answers are scores.
    """
    if any(term.kind == "equals" for term in model.terms):
        return False
    used = [term.feature for term in model.features]
    if isinstance(X.numbers, list) and not X.all_fit([c for l, c in enumerate(X.numbers) if l not in used]):
        return False
    read = np.array(used, dtype=np.int64)
    rule = _rule(model, labels, used)

    def of_rows(rows: slice) -> bool:
        return answer(rows, lambda labels, scores: answer_rows(X.numbers[rows], X.gaps, read, rule, labels, scores))

    def of_transposed(rows: slice) -> bool:
        return answer(
            rows,
            lambda labels, scores: answer_columns(
                X.numbers.T, rows.start, rows.stop, X.gaps, read, rule, labels, scores
            ),
        )

    def of_entries(rows: slice) -> bool:
        S = X.numbers
        entries = [_read_only(part) for part in (S.data, S.indices, S.indptr[rows.start : rows.stop + 1])]
        return answer(
            rows, lambda labels, scores: answer_sparse(*entries, X.gaps, read, S.shape[1], rule, labels, scores)
        )

    def of_columns(rows: slice) -> bool:
        columns = np.empty((len(used), rows.stop - rows.start))
        for column, l in zip(columns, used, strict=True):
            column[:] = X.numbers[l][rows]
        n, space = columns.shape[1], np.empty((2, columns.shape[1]))
        return X.all_fit([columns]) and answer(
            rows, lambda labels, scores: answer_block(columns, 0, n, rule, labels, scores, *space, columns, 0, 0) == 0.0
        )

    of_chunk = of_rows
    if sparse.issparse(X.numbers):
        of_chunk = of_entries
    elif isinstance(X.numbers, list):
        of_chunk, chunk_rows = of_columns, CHUNK_ROWS
    elif not X.numbers.flags.c_contiguous:
        of_chunk = of_transposed
    chunks = [slice(begin, min(begin + chunk_rows, X.n_rows)) for begin in range(0, X.n_rows, chunk_rows)]
    if n_threads == 1:
        return all(map(of_chunk, chunks))
    with ThreadPoolExecutor(n_threads) as pool:
        return all(pool.map(of_chunk, chunks))


def _rule(model: SMaLLModel, labels: np.ndarray | None, used: list[int]) -> tuple:
    """The model as the kernels take it."""
    prototypes: Sequence[Prototype] = model.prototypes
    start, default, decision = -math.inf, 0, model.decision
    if labels is None:
        labels = np.zeros(len(model.classes), dtype=np.int64)
    else:
        prototypes = sorted(prototypes, key=lambda prototype: prototype.owner)  # a tie goes to the first class
        if model.sole_owner is not None:  # the other class has no score of its own
            default = 1 - model.sole_owner
            start = decision.cut if default == 0 else math.nextafter(decision.cut, -math.inf)
    offsets = decision.offsets or (0.0,) * len(model.classes)
    terms = [term for prototype in prototypes for term in prototype.terms]
    factors = [_factor(term) for term in terms]
    return (
        start,
        np.cumsum([0, *(len(prototype.terms) for prototype in prototypes)]),
        np.array([prototype.intercept for prototype in prototypes], dtype=float),
        np.array([offsets[prototype.owner] for prototype in prototypes], dtype=float),
        labels[[*(prototype.owner for prototype in prototypes), default]],
        np.array([kind for kind, _, _ in factors], dtype=np.int64),
        np.array([used.index(term.feature) for term in terms], dtype=np.int64),
        np.array([term.weight for term in terms], dtype=float),
        np.array([low for _, low, _ in factors], dtype=float),
        np.array([high for _, _, high in factors], dtype=float),
    )


def _factor(term: Term) -> tuple[int, float, float]:
    """The kind of a term and its two numbers, as `answer_block` takes them."""
    if term.kind == "raw":
        return RAW, math.nan if term.mean is None else term.mean, math.nan
    if term.kind == "missing":
        return OUTSIDE, -math.inf, math.inf
    threshold = float(term.value)  # type: ignore[arg-type]  # a number, as the kind says
    return (INSIDE, -math.inf, threshold) if term.kind == "at_most" else (INSIDE, threshold, math.inf)


def _read_only(X: np.ndarray) -> np.ndarray:
    """A view that cannot be written to, so that read-only arrays need no kernel of their own."""
    view = X.view()
    view.flags.writeable = False
    return view
