"""Many rows, wherever they are: in memory, in a mapped file, on a cluster. They are asked questions, block by block.

A *question* is a plain function of a `Block` and of further arguments. `Source.map` puts it to every block and gives
the answers in the order of the rows. Nothing is kept between questions, so that a block may be read, or computed, anew.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy import sparse

from smallearn._run.deadline import enforce, present
from smallearn._run.progress import passes

Answer = TypeVar("Answer")

BLOCK_ENTRIES = 1 << 21  # numbers in a block, about
POOL_ROWS = 1 << 17  # with more rows, models are chosen on a sample of about so many …
POOL_ENTRIES = 1 << 26  # … or fewer, if rows are long: so many numbers …
LEAST_POOL_ROWS = 1 << 14  # … but at least so many rows


class Block(NamedTuple):
    """Some rows of positive weight. In ``X`` (dense or CSR) NaN is missing and categories are codes; ``code`` is the
    class of each row, ``position`` its place among all rows."""

    X: Any
    code: np.ndarray
    weight: np.ndarray
    position: np.ndarray


class Source(Protocol):
    """The rows of a data set. ``categories[l]`` are those of feature ``l``, if it is categorical."""

    classes: np.ndarray
    categories: Mapping[int, Sequence[Any]]
    n_rows: int
    n_features: int

    def map(self, question: Callable[..., Answer], *arguments: Any) -> Iterator[Answer]:
        """``question(block, *arguments)`` for every block, in order."""


class ArraySource:
    """Rows of an array or a CSR matrix, in memory or mapped. Blocks go through ``n_jobs`` threads."""

    def __init__(
        self,
        X: Any,
        code: np.ndarray,
        weight: np.ndarray | None,
        classes: np.ndarray,
        categories: Mapping[int, Sequence[Any]] | None = None,
        n_jobs: int = 1,
    ):
        self.X, self.code, self.weight = X, code, weight
        self.classes, self.categories = classes, categories or {}
        self.n_rows, self.n_features = X.shape
        self._n_jobs = n_jobs
        self._blocks = cut(self.n_rows, width_of(X))

    def map(self, question: Callable[..., Answer], *arguments: Any) -> Iterator[Answer]:
        ask = partial(self._ask, present(), question, arguments)
        with ExitStack() as stack:
            each = map if self._n_jobs == 1 else stack.enter_context(ThreadPoolExecutor(self._n_jobs)).map
            yield from passes().through(each(ask, self._blocks), self.n_rows, len(self._blocks))

    def _ask(self, deadline: Any, question: Callable[..., Answer], arguments: tuple, rows: slice) -> Answer:
        with enforce(deadline):  # that of this fit, in whichever thread
            return question(self.block(rows), *arguments)

    def block(self, rows: slice) -> Block:
        """Some of the rows."""
        n = rows.stop - rows.start
        weight = np.ones(n) if self.weight is None else np.asarray(self.weight[rows], dtype=float)
        return make_block(self.X[rows], self.code[rows], weight, rows.start)


def make_block(X: Any, code: np.ndarray, weight: np.ndarray, first: int) -> Block:
    """The rows of positive weight among those from position ``first`` on."""
    block = Block(
        X=X, code=np.asarray(code, dtype=np.int64), weight=weight, position=np.arange(first, first + len(code))
    )
    return block if weight.min(initial=1.0) > 0.0 else pick(block, weight > 0.0)


def width_of(X: Any) -> int:
    """The numbers in a row of an array, or about those of a CSR matrix."""
    return X.nnz // max(1, X.shape[0]) + 1 if sparse.issparse(X) else X.shape[1]


def cut(n_rows: int, width: int) -> list[slice]:
    """Blocks of rows, which depend on the number of rows and their width alone."""
    pieces = max(1, -(-n_rows * width // BLOCK_ENTRIES))
    edges = np.linspace(0, n_rows, min(pieces, max(1, n_rows)) + 1).astype(int)
    return [slice(a, b) for a, b in pairwise(edges.tolist())]


def pool_rows(width: int) -> int:
    """The number of rows up to which all of them are used to choose a model; of more, a sample of about so many."""
    return min(POOL_ROWS, max(LEAST_POOL_ROWS, POOL_ENTRIES // max(1, width)))


def pick(block: Block, rows: np.ndarray) -> Block:
    """Some of the rows of a block."""
    return Block(*(field[rows] for field in block))


def join(blocks: Sequence[Block]) -> Block:
    """The rows of several blocks."""
    stack = partial(sparse.vstack, format="csr") if sparse.issparse(blocks[0].X) else np.concatenate
    X, *others = zip(*blocks, strict=True)
    return Block(stack(X), *(np.concatenate(field) for field in others))
