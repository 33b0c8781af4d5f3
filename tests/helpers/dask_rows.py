"""Generated rows, in memory and as Dask collections."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from scipy import sparse

N_ROWS = 3000
CHUNK = 450


def numbers(n_classes=2, dtype=float, seed=0):
    """An array with five features, and classes that depend on three of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_ROWS, 5)).astype(dtype)
    score = 2 * np.maximum(X[:, 0] + X[:, 1], X[:, 2]) - 1
    y = (rng.random(N_ROWS) < 1 / (1 + np.exp(-score))).astype(int)
    return X, y + (X[:, 3] > 0.8) if n_classes > 2 else y


def words(seed=0):
    """A CSR matrix with twenty columns, mostly empty, and classes as text."""
    rng = np.random.default_rng(seed)
    X = sparse.random(N_ROWS, 20, density=0.2, format="csr", random_state=seed)
    score = np.asarray(X[:, [0, 1, 2]].sum(axis=1)).ravel()
    return X, np.where(score + 0.3 * rng.standard_normal(N_ROWS) > 0.4, "yes", "no")


def table(seed=0):
    """A table with text, a category of numbers, booleans and missing values."""
    rng = np.random.default_rng(seed)
    X, y = numbers(seed=seed)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["heat"] = np.where(rng.random(N_ROWS) < 0.7, np.where(X[:, 0] > 0, "hot", "cold"), "mild")
    frame.loc[rng.random(N_ROWS) < 0.05, "heat"] = None
    frame["kind"] = pd.Categorical(rng.integers(1, 4, N_ROWS) * 10)
    frame["flag"] = X[:, 1] > 0.3
    frame.loc[rng.random(N_ROWS) < 0.1, "b"] = np.nan
    return frame, pd.Series(np.where(y, "in", "out"), name="target")


def lazy(values, chunk=CHUNK):
    """Values as a Dask array, a dataframe or series, or delayed CSR blocks."""
    if sparse.issparse(values):
        return [dask.delayed(values[begin : begin + chunk]) for begin in range(0, values.shape[0], chunk)]
    if hasattr(values, "iloc"):
        return dd.from_pandas(values, chunksize=chunk)
    return da.from_array(values, chunks=(chunk, *values.shape[1:]))


def lazy_list(values, chunk=CHUNK):
    """Values as delayed blocks."""
    return [dask.delayed(values[begin : begin + chunk]) for begin in range(0, len(values), chunk)]
