"""Classifiers small enough to read: a few prototypes, each the sum of a few terms, trained with a certificate.

>>> from sklearn.datasets import load_breast_cancer
>>> from smallearn import SMaLLClassifierCV
>>> data = load_breast_cancer(as_frame=True)
>>> X, y = data.data[::5], data.target_names[data.target[::5]]
>>> classifier = SMaLLClassifierCV(max_terms=4, cv=3, random_state=0).fit(X, y)
>>> len(classifier.model_.terms) <= 4
True

Classifiers, which follow scikit-learn's interface:

- `SMaLLClassifierCV`: at most ``max_terms`` terms; everything else is chosen by cross-validation. Start here.
- `SMaLLClassifier`: a given number of prototypes and terms, with bounds on how far it is from the best such model.
- `frontier`: the best accuracy for each number of terms, as a list of `FrontierPoint`.

Models, which need NumPy alone to predict:

- `SMaLLModel`: what a classifier has learned, in ``classifier.model_``. Print it to read it; ``save`` writes JSON.
- `load_model`: read a saved model.
- `refit`: fit a model that was changed by hand (`SMaLLModel.edit`) to rows again.
- `fold_pipeline`: a scikit-learn pipeline as one model, in the units of its raw table.

Modules:

- `smallearn.explain`: a model as a rule, why a row got its class, the smallest change that changes the class.
- `smallearn.evaluation`: scores with confidence intervals, errors, comparison with standard models.
- `smallearn.plot`, `smallearn.report`: figures with matplotlib, and a page of HTML about a model.
- `smallearn.export`: a model as C, an Arduino library, Python, JavaScript, Lua, Rust, SQL, ONNX or PMML.
- `smallearn.devices`: flash, RAM and cycles of a model on a microcontroller.
- `smallearn.dask`: the classifiers for rows on a Dask cluster.
- `smallearn.tables`: tables larger than memory, converted once to mapped files.
- `smallearn.datasets`: generated data whose true rule is known.

The command ``smallearn`` does the same for table files; see ``smallearn --help``.

>>> import smallearn
>>> smallearn.__version__.count(".") >= 2  # major.minor.patch
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from smallearn._version import __version__

# Names are imported on first use: a program that only predicts loads neither numba nor scikit-learn.
_HOMES = {
    "FrontierPoint": "selection",
    "SMaLLClassifier": "estimator",
    "SMaLLClassifierCV": "selection",
    "SMaLLModel": "model",
    "fold_pipeline": "model",
    "frontier": "selection",
    "load_model": "model",
    "refit": "_refit",
}
__all__ = [
    "FrontierPoint",
    "SMaLLClassifier",
    "SMaLLClassifierCV",
    "SMaLLModel",
    "__version__",
    "fold_pipeline",
    "frontier",
    "load_model",
    "refit",
]

if TYPE_CHECKING:
    from smallearn._refit import refit
    from smallearn.estimator import SMaLLClassifier
    from smallearn.model import SMaLLModel, fold_pipeline, load_model
    from smallearn.selection import FrontierPoint, SMaLLClassifierCV, frontier


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'smallearn' has no attribute {name!r}")
    value = getattr(import_module(f"smallearn.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The names of the module, including those that are not imported yet."""
    return sorted([*globals(), *_HOMES])
