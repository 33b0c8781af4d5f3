"""Small data that count as large, so that tests go through blocks and the pool."""

import numpy as np
from scipy import sparse

from smallearn import estimator
from smallearn._learn.data import source

KINDS = ("numbers", "sparse", "categories", "gaps")
COLOURS = ("blue", "green", "red")


def few_in_memory(monkeypatch, pool=600, block_entries=1 << 11, sample=300):
    """Let ``pool`` rows be all that are used to choose a model."""
    monkeypatch.setattr(source, "POOL_ROWS", pool)
    monkeypatch.setattr(source, "LEAST_POOL_ROWS", pool)
    monkeypatch.setattr(source, "BLOCK_ENTRIES", block_entries)
    monkeypatch.setattr(estimator, "MANY_ROWS", sample)
    monkeypatch.setattr(estimator, "SAMPLE_ROWS", sample)


def rows_of(kind, n_classes=2, m=1500, seed=0):
    """Rows and classes; with "categories" the last column has the codes of `COLOURS`."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 5))
    z = np.maximum(X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]) + 0.5 * rng.normal(size=m)
    if kind == "categories":
        X[:, 4] = rng.integers(len(COLOURS), size=m)
        z += X[:, 4] == 1
    if kind == "gaps":
        X[rng.random(m) < 0.1, 1] = np.nan
    if kind == "sparse":
        X = sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    return X, np.digitize(z, [0.5] if n_classes == 2 else [0.0, 1.0])
