"""Passes over many rows: one pass beside a sum of the same array, and whole fits beside logistic regression.

``python -m benchmarks.passes --full`` runs the sizes of the targets; it takes minutes and 5 GB of memory.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import numpy as np
from numba import njit
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from benchmarks.timing import interleaved, verdict
from smallearn import SMaLLClassifier
from smallearn._learn.data.blocks import DenseRows, Scaling
from smallearn._learn.data.labels import Assignment, Labels
from smallearn._learn.kernels import NO_PROTOTYPE

MOST_RATIO = 1.6  # of a pass to a sum
MOST_PASSES = 60
# Rows, columns, type, and the most times the time of logistic regression that a fit may take.
FITS = ((100_000, 30, np.float64, 3.0), (100_000, 100, np.float32, 1.0))
FULL_FITS = ((1_000_000, 30, np.float64, 3.0), (2_000_000, 100, np.float32, 1.0))
PASS_ROWS, FULL_PASS_ROWS = 200_000, 2_000_000
PASS_COLUMNS = 100


def two_groups(m: int, n: int, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which six columns matter: positive where one of two half-spaces, of three columns each, says so."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, n), dtype=dtype)
    score = 2.0 * np.maximum(X[:, 0] + X[:, 1] - X[:, 2], X[:, 3] - X[:, 4] + X[:, 5]) - 1.0
    return X, (rng.random(m) < 1.0 / (1.0 + np.exp(-score))).astype(int)


@njit(nogil=True, fastmath=True)
def compiled_sum(X):
    """The sum of all numbers: the least that one pass can take."""
    total = 0.0
    for i in range(X.shape[0]):
        for l in range(X.shape[1]):
            total += X[i, l]
    return total


def example_pass(X: np.ndarray, y: np.ndarray, n_jobs: int) -> Callable[[], object]:
    """Loss and gradient of two prototypes, in one pass."""
    m, n = X.shape
    labels = Labels(code=y.astype(np.int64), weight=np.full(m, 1.0 / m), total=float(m), zero_owner=0)
    mean, deviation = X.mean(axis=0, dtype=float), X.std(axis=0, dtype=float)
    rows = DenseRows(X, Scaling(mean, 1.0 / deviation), intercept=True, labels=labels, n_jobs=n_jobs)
    own = np.where(y == 1, (X[:, 0] > 0.0).astype(np.int64), NO_PROTOTYPE)
    roles = labels.roles(Assignment(own=own, owner=np.ones(2, dtype=np.int64)))
    W = 0.1 * np.random.default_rng(1).standard_normal((2, n + 1))
    return partial(rows.sums, W, roles)


def passes(m: int) -> None:
    """One pass beside a sum, for both types and one and two threads."""
    print(f"\nLoss and gradient in one pass beside a sum, {m:,} × {PASS_COLUMNS}, p = 2")
    for dtype in (np.float32, np.float64):
        X, y = two_groups(m, PASS_COLUMNS, dtype)
        for n_jobs in (1, 2):
            with ThreadPoolExecutor(n_jobs) as pool:
                parts = np.array_split(X, n_jobs)
                runs = {"sum": lambda: list(pool.map(compiled_sum, parts)), "pass": example_pass(X, y, n_jobs)}  # noqa: B023
                seconds = interleaved(runs, repeats=7)
            ratio = seconds["pass"] / seconds["sum"]
            threads = f"{n_jobs} thread{'s' if n_jobs > 1 else ''}"
            verdict(
                f"{np.dtype(dtype).name}, {threads}: at most {MOST_RATIO} times the sum "
                f"({1e3 * seconds['sum']:.0f} ms, {ratio:.2f}×)",
                ratio <= MOST_RATIO,
            )


@contextmanager
def counted(width: int) -> Iterator[Counter]:
    """Count what is asked of dense rows of at least ``width`` columns: each question is one pass over X."""
    asked: Counter = Counter()
    questions = ("sums", "curvature", "scores", "place", "combine", "square_norms", "columns", "screen")
    originals = {name: getattr(DenseRows, name) for name in questions}

    def counting(name: str, original: Callable) -> Callable:
        def ask(self, *args, **options):
            asked[name] += self.n_columns >= width
            return original(self, *args, **options)

        return ask

    for name, original in originals.items():
        setattr(DenseRows, name, counting(name, original))
    try:
        yield asked
    finally:
        for name, original in originals.items():
            setattr(DenseRows, name, original)


def fits(sizes: tuple) -> None:
    """``SMaLLClassifier(2, 3)``, which standardises the data itself, beside lbfgs on standardised data."""
    print("\nFits of two prototypes of three terms beside l2 logistic regression (lbfgs), CPU time after compilation")
    for m, n, dtype, most in sizes:
        X, y = two_groups(m, n, dtype)
        standard = StandardScaler().fit_transform(X)
        runs = {
            "smallearn": lambda: SMaLLClassifier(2, 3, random_state=0).fit(X, y),  # noqa: B023
            "lbfgs": lambda: LogisticRegression().fit(standard, y),  # noqa: B023
        }
        seconds = interleaved(runs, repeats=3, clock=time.process_time)
        ratio = seconds["smallearn"] / seconds["lbfgs"]
        size = f"{m:,} × {n} {np.dtype(dtype).name}"
        verdict(f"{size}: at most {most:g} times lbfgs ({seconds['lbfgs']:.2f} s, {ratio:.1f}×)", ratio <= most)
        with counted(n) as asked:
            runs["smallearn"]()
        by_kind = ", ".join(f"{count} {name}" for name, count in asked.most_common() if count)
        verdict(f"{size}: at most {MOST_PASSES} passes ({asked.total()}: {by_kind})", asked.total() <= MOST_PASSES)


def main(full: bool = False) -> None:
    """Passes, then fits."""
    passes(FULL_PASS_ROWS if full else PASS_ROWS)
    fits(FULL_FITS if full else FITS)


if __name__ == "__main__":
    main("--full" in sys.argv[1:])
