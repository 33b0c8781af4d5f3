"""Settings shared by all tests."""

import os

import pytest
from hypothesis import settings

from tests.helpers import tools

# Read by scipy when it is first imported; without it one of scikit-learn's checks would be skipped.
os.environ["SCIPY_ARRAY_API"] = "1"

# One thread for each of the processes that run the tests, and for what they start: threads that wait for each other
# while other processes have the cores make a second a minute. Read when numpy and scikit-learn are first imported.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# The first example of a test may wait for a kernel to compile; and the same commit should always give the same answer.
# Without the compiler (the tests marked `uncompiled`) few examples have to do.
examples = 10 if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0" else 100
settings.register_profile("smallearn", deadline=None, derandomize=True, max_examples=examples)
settings.load_profile("smallearn")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Let `tools.need` see the marks of the test that is about to run."""
    tools.marks.clear()
    tools.marks.update(mark.name for mark in item.iter_markers())


@pytest.fixture(scope="session")
def cancer():
    """A third of the breast cancer data, eight columns: enough to tell, and quick."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return X[::3, :8], y[::3]


@pytest.fixture(scope="session")
def iris():
    from sklearn.datasets import load_iris

    return load_iris(return_X_y=True)
