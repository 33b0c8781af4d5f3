"""Classifiers small enough to read: at most k terms in each of p prototypes, trained with a certificate.

Names are imported when first used, so that a program that only predicts pays neither for numba nor for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from smallearn._version import __version__

_HOMES = {
    "FrontierPoint": "selection",
    "SMaLLClassifier": "estimator",
    "SMaLLClassifierCV": "selection",
    "SMaLLModel": "model",
    "frontier": "selection",
    "load_model": "model",
}
__all__ = [
    "FrontierPoint",
    "SMaLLClassifier",
    "SMaLLClassifierCV",
    "SMaLLModel",
    "__version__",
    "frontier",
    "load_model",
]

if TYPE_CHECKING:
    from smallearn.estimator import SMaLLClassifier
    from smallearn.model import SMaLLModel, load_model
    from smallearn.selection import FrontierPoint, SMaLLClassifierCV, frontier


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'smallearn' has no attribute {name!r}")
    value = getattr(import_module(f"smallearn.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
