"""Training on a Dask cluster: the estimators, for Dask arrays, Dask dataframes and delayed blocks.

The solver and the search are those of the estimators in memory; only the rows are elsewhere.
"""

try:
    import dask as _dask  # noqa: F401
except ImportError:
    raise ImportError("smallearn.dask needs Dask: pip install 'smallearn[dask]'") from None

from smallearn.dask._estimators import SMaLLClassifier, SMaLLClassifierCV

__all__ = ["SMaLLClassifier", "SMaLLClassifierCV"]
