"""Exports: a trained model as C, Arduino, Python, JavaScript, Lua, Rust, SQL, ONNX or PMML.

Every target is written from the same flat list of terms (`flatten`) and every function takes a `SMaLLModel` or a fitted
estimator.

Where to add something:

- a language like Python or Rust: one file in ``_scripts/``, where it is found (docs/develop/add_a_language.md);
- an SQL dialect: one class in ``_sql/databases.py`` and one line in ``_sql/dialects.py``;
- a chip: one record in ``smallearn/devices/_chips.py``, and a fit if its costs are to be estimated;
- anything else: a function ``to_…(model, **options)`` and one line in `TARGETS`, or `register` from outside.

The command ``smallearn export`` takes its targets from `TARGETS` and, by the signatures of their functions, which of
its options they have:

>>> from smallearn.export import TARGETS, to_lua
>>> TARGETS["lua"] is to_lua
True
"""

from collections.abc import Callable
from typing import Any

from smallearn._errors import check_choice
from smallearn._text import show
from smallearn.export._c.arduino import to_arduino
from smallearn.export._c.writer import to_c
from smallearn.export._fixed.float32 import float32_error_bound
from smallearn.export._fixed.loss import FormatLoss, FormatLossWarning, format_loss
from smallearn.export._fixed.quantise import IntegerModel, quantise
from smallearn.export._flat import FlatModel, FlatTerm, Input, flatten, model_hash
from smallearn.export._onnx.writer import register_onnx, to_onnx
from smallearn.export._pmml.writer import to_pmml
from smallearn.export._scripts import languages
from smallearn.export._scripts.javascript import to_javascript
from smallearn.export._scripts.python import to_python
from smallearn.export._scripts.rust import to_rust
from smallearn.export._sql.writer import to_sql
from smallearn.model._arguments import as_model

__all__ = [
    "TARGETS",
    "FlatModel",
    "FlatTerm",
    "FormatLoss",
    "FormatLossWarning",
    "Input",
    "IntegerModel",
    "export",
    "flatten",
    "float32_error_bound",
    "format_loss",
    "model_hash",
    "quantise",
    "register",
    "register_onnx",
    "to_arduino",
    "to_c",
    "to_javascript",
    "to_onnx",
    "to_pmml",
    "to_python",
    "to_rust",
    "to_sql",
]

TARGETS: dict[str, Callable[..., Any]] = {
    "c": to_c,
    "arduino": to_arduino,
    **{name: language.write for name, language in languages().items()},
    "sql": to_sql,
    "onnx": to_onnx,
    "pmml": to_pmml,
}
globals().update({f"to_{name}": language.write for name, language in languages().items()})
__all__ += [f"to_{name}" for name in languages() if f"to_{name}" not in __all__]


def export(model: Any, target: str, **options: Any) -> Any:
    """Export a model to the target of that name.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    target : str
        One of the names in `TARGETS`: "c", "arduino", "sql", "onnx", "pmml", a programming language such as "python",
        or one added with `register`.
    **options : dict
        The parameters of the target's function.

    Returns
    -------
    str, Path or onnx.ModelProto
        Text; for Arduino the path of a folder, for ONNX a graph.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import export, to_sql
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> export(clf, "sql", dialect="sqlite") == to_sql(clf, "sqlite")
    True
    """
    check_choice("target", target, tuple(sorted(TARGETS)))
    return TARGETS[target](as_model(model), **options)


def register(name: str, function: Callable[..., Any]) -> None:
    """Add a target.

    Parameters
    ----------
    name : str
        Its name: an identifier that no other target has.
    function : callable
        It is called as ``function(model, **options)`` with a `SMaLLModel`, and its result is that of `export`. The
        command ``smallearn export`` passes the options that the function has parameters for, and ``-o`` if there is a
        parameter ``folder``; otherwise the result is to be text, bytes or an ONNX graph.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import TARGETS, export, register
    >>> register("rule", lambda model: model.rule)
    >>> export(SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True)), "rule")
    'Predict 1 if this score is above 0, otherwise 0.'
    >>> del TARGETS["rule"]
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"name={show(name)} must be an identifier: letters, digits and underscores.")
    if name in TARGETS and TARGETS[name] is not function:
        raise ValueError(f"There is a target {show(name)} already; choose another name.")
    TARGETS[name] = function
