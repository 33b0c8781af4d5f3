"""Random tables, and the matrix of their candidate terms written out value by value."""

import numpy as np
from hypothesis import strategies as st

NAN = np.nan
COLOURS = ("blue", "green", "red")


def value_by_hand(x, kind, value, categories=None):
    """What a term is on one value; NaN is missing, and a raw term has no value there."""
    if kind == "missing":
        return float(np.isnan(x))
    if kind == "raw":
        return x
    if np.isnan(x):
        return 0.0
    if kind == "equals":
        return float(categories[int(x)] == value)
    return float(x <= value) if kind == "at_most" else float(x > value)


def by_hand(X, candidates, categories, weight):
    """The matrix of the candidates, rows × candidates; gaps of raw terms filled with the mean."""
    B = np.empty((len(X), len(candidates)))
    for a, (kind, l, value) in enumerate(zip(candidates.kind, candidates.feature, candidates.value, strict=True)):
        B[:, a] = [value_by_hand(x, kind, value, categories.get(int(l))) for x in X[:, l]]
        gaps = np.isnan(B[:, a])
        B[gaps, a] = np.average(B[~gaps, a], weights=weight[~gaps])
    return B


@st.composite
def tables(draw):
    """Numbers with ties and gaps, one column of colours, weights and labels."""
    m, n = draw(st.integers(6, 30)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    X = np.where(rng.random((m, n)) < 0.5, rng.integers(-2, 3, (m, n)), rng.normal(size=(m, n)))
    X[rng.random((m, n)) < draw(st.sampled_from([0.0, 0.2]))] = NAN
    X[:2] = np.arange(2)[:, None]  # something to tell apart in each column
    categories = {}
    if draw(st.booleans()):
        colour = rng.integers(0, 3, m).astype(float)
        colour[rng.random(m) < draw(st.sampled_from([0.0, 0.2]))] = NAN
        colour[:3] = [0.0, 1.0, 2.0]
        X, categories = np.column_stack([X, colour]), {n: COLOURS}
    cuts = draw(st.sampled_from([1, 3, 50, {0: [-0.5, 0.5, 9.0]}]))
    return X, categories, rng.uniform(0.5, 2.0, m), cuts, rng
