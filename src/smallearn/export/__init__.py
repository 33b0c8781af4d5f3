"""A trained model where predictions are made: C, Arduino, Python, JavaScript, Rust, SQL, ONNX.

Every target is written from the same flat list of terms (`flatten`), in a file of its own. `TARGETS` has them by name;
`register` adds one.
"""

from collections.abc import Callable
from typing import Any

from smallearn._text import listed, show
from smallearn.export._c.arduino import to_arduino
from smallearn.export._c.writer import to_c
from smallearn.export._fixed.float32 import float32_error_bound
from smallearn.export._fixed.quantise import IntegerModel, quantise
from smallearn.export._flat import FlatModel, FlatTerm, Input, flatten, model_hash
from smallearn.export._onnx.writer import register_onnx, to_onnx
from smallearn.export._scripts.javascript import to_javascript
from smallearn.export._scripts.python import to_python
from smallearn.export._scripts.rust import to_rust
from smallearn.export._sql.writer import to_sql
from smallearn.model import SMaLLModel

__all__ = [
    "TARGETS",
    "FlatModel",
    "FlatTerm",
    "Input",
    "IntegerModel",
    "export",
    "flatten",
    "float32_error_bound",
    "model_hash",
    "quantise",
    "register",
    "register_onnx",
    "to_arduino",
    "to_c",
    "to_javascript",
    "to_onnx",
    "to_python",
    "to_rust",
    "to_sql",
]

TARGETS: dict[str, Callable[..., Any]] = {
    "c": to_c,
    "arduino": to_arduino,
    "python": to_python,
    "javascript": to_javascript,
    "rust": to_rust,
    "sql": to_sql,
    "onnx": to_onnx,
}


def export(model: SMaLLModel, target: str, **options: Any) -> Any:
    """What the target of this name makes of the model: text, but for Arduino (a folder) and ONNX (a ModelProto)."""
    if target not in TARGETS:
        raise ValueError(f"There is no target {show(target)}; there are {listed(sorted(TARGETS))}.")
    return TARGETS[target](model, **options)


def register(name: str, function: Callable[..., Any]) -> None:
    """Add a target of one's own, ``function(model, **options)``; a name that is taken is refused."""
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"The name of a target is a word, not {show(name)}.")
    if name in TARGETS and TARGETS[name] is not function:
        raise ValueError(f"The target {show(name)} is there already; take another name.")
    TARGETS[name] = function
