"""What can be downloaded of a model: its file, its page, and every export that needs no compiler."""

import io
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import util
from inspect import signature
from pathlib import Path
from typing import Any

from smallearn._run.files import scratch_folder
from smallearn.cli.errors import LIBRARY_ERRORS, CommandError, message_of
from smallearn.model import SMaLLModel

NUMBERS = {  # the first is the default of the library
    "c": ("float32", "float64", "int32", "int16", "int8"),
    "arduino": ("int16", "float32", "int32", "int8"),
    "rust": ("float64", "float32", "int32", "int16", "int8"),
}
FILES = {"c": "model.h", "python": "model.py", "javascript": "model.mjs", "rust": "model.rs", "sql": "model.sql"}
FILES |= {"pmml": "model.pmml", "onnx": "model.onnx", "arduino": "SmallModel.zip"}
NAMES = {"c": "C", "arduino": "Arduino library", "python": "Python", "javascript": "JavaScript", "rust": "Rust"}
NAMES |= {"sql": "SQL", "onnx": "ONNX", "pmml": "PMML"}
NEEDS = {"onnx": ("onnx", "skl2onnx")}
LIBRARY = "SmallModel"  # the name of the Arduino library


@dataclass(frozen=True)
class Download:
    """A file to download, and what there is to say of it."""

    name: str
    content: bytes
    notes: tuple[str, ...] = ()


def offered() -> list[dict[str, Any]]:
    """The exports that there are, with the options of each and their values."""
    from smallearn.export import TARGETS
    from smallearn.export._sql.dialects import DIALECTS

    found = []
    for target, function in TARGETS.items():
        lacking = [module for module in NEEDS.get(target, ()) if util.find_spec(module) is None]
        takes = signature(function).parameters
        options: dict[str, list[str]] = {}
        if target in NUMBERS:
            options["number"] = list(NUMBERS[target])
        if "dialect" in takes:
            usual = takes["dialect"].default
            options |= {"dialect": [usual, *sorted(set(DIALECTS) - {usual})], "table": []}
        found.append(
            {
                "target": target,
                "name": NAMES.get(target, target),
                "options": options,
                "needs": f"pip install 'smallearn[{target}]'" if lacking else None,
            }
        )
    return found


def as_chosen(model: SMaLLModel, size: str | None, threshold: str | None) -> SMaLLModel:
    """The model of the size and with the threshold that are set on the page."""
    if size is not None and size != str(model.n_terms):
        sizes = {str(one.n_terms): one for one in model.frontier_models}
        if size not in sizes:
            there = ", ".join(sorted({*sizes, str(model.n_terms)}, key=int))
            raise CommandError(f"there is no model of size {size}; there are {there}")
        # The fingerprint is that of the features in use, which are others.
        data = None if model.data is None else replace(model.data, fingerprint="")
        model = replace(sizes[size], data=data)
    if threshold is None:
        return model
    if len(model.classes) != 2:
        raise CommandError("a threshold is for two classes")
    try:
        return replace(model, decision_threshold=float(threshold), cost_matrix=None)
    except ValueError as error:
        raise CommandError(str(error)) from None


def exported(model: SMaLLModel, target: str, options: Mapping[str, str]) -> Download:
    """The model in another language."""
    entry = next((one for one in offered() if one["target"] == target), None)
    if entry is None:
        raise CommandError(f"there is no export {target!r}")
    if entry["needs"] is not None:
        raise CommandError(f"this export needs more packages: {entry['needs']}")
    unknown = [name for name in options if name not in entry["options"]]
    if unknown:
        raise CommandError(f"this export has no option {unknown[0]!r}")
    chosen = dict(options)
    if target in ("c", "rust") and chosen.get("number", "").startswith("int"):
        chosen["readings"] = "float"  # the function takes measurements as they are, and rounds them itself
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            content = _content(model, target, chosen)
    except (*LIBRARY_ERRORS, ImportError, TypeError) as error:
        raise CommandError(message_of(error, {})) from None
    notes = dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, UserWarning))
    return Download(name=FILES.get(target, f"model.{target}"), content=content, notes=tuple(notes))


def _content(model: SMaLLModel, target: str, options: dict[str, str]) -> bytes:
    from smallearn.export import TARGETS

    function = TARGETS[target]
    if "folder" in signature(function).parameters:
        with scratch_folder() as place:
            return _packed(Path(function(model, folder=place / LIBRARY, **options)))
    made = function(model, **options)
    content = made if isinstance(made, str | bytes) else made.SerializeToString()
    return content.encode() if isinstance(content, str) else content


def _packed(folder: Path) -> bytes:
    """A folder as a zip archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder.parent))
    return packed.getvalue()
