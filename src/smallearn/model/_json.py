"""A model as JSON text and as a file. Data, never code: what is read is checked field by field before use.

`write` takes and `read` gives the fields of `SMaLLModel`, so that this file knows its parts but not the class.
Version 2 added literals, score cards and further budgets, version 3 the ranges of the features, version 4 how the model
was chosen and on what data; older ones are read as what they meant.
"""

import errno
import json
import math
import os
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from smallearn._run.files import write_whole
from smallearn._text import listed, show
from smallearn.model._parts import (
    BUDGETS,
    KINDS,
    Category,
    DataFacts,
    Prototype,
    Range,
    Selection,
    Step,
    Term,
    Training,
)

FORMAT, VERSION = "smallearn-model", 4
# The types of class labels that a model can hold, as numpy writes them.
CLASS_DTYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|U[1-9][0-9]{0,5}|O)")
# What each version has beyond the fields that all have, in a model, a term and a training record.
NEW: dict[int, dict[str, tuple[str, ...]]] = {
    2: {"model": ("scale",), "term": ("value", "mean", "unit"), "training": ("budget", "max_cost", "certified")},
    3: {"model": ("ranges",)},
    4: {"model": ("selection", "data")},
}


# --- writing ---------------------------------------------------------------------------------------------------------


def write(model: dict[str, Any]) -> str:
    """JSON text with every number exact, from the fields of a model."""
    for label in model["classes"]:
        _check_writable(label, "Class")
    for term in (term for prototype in model["prototypes"] for term in prototype.terms):
        if term.value is not None:
            _check_writable(term.value, "Value")
    content = {
        "format": FORMAT,
        "version": VERSION,
        "classes": list(model["classes"]),
        "class_dtype": model["class_dtype"],
        "n_features": model["n_features"],
        "scale": model["scale"],
        "prototypes": [
            {
                "class": prototype.owner,
                "intercept": prototype.intercept,
                "terms": [asdict(term) for term in prototype.terms],
            }
            for prototype in model["prototypes"]
        ],
        "training": None if model["training"] is None else asdict(model["training"]),
        "ranges": [asdict(extent) for extent in model["ranges"]],
        "selection": None if model["selection"] is None else asdict(model["selection"]),
        "data": None if model["data"] is None else asdict(model["data"]),
    }
    return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _check_writable(value: Any, role: str) -> None:
    if not isinstance(value, bool | int | float | str) or value in (math.inf, -math.inf) or value != value:
        kind = type(value).__name__
        raise ValueError(f"{role} {value!r} is a {kind}; JSON holds finite numbers, strings and booleans.")


def save(text: str, path: str | os.PathLike) -> None:
    """Write a file whole or not at all: a crash leaves the old one or the new one."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(target.parent))
    if target.is_dir():
        raise ValueError(f"{target} is not a file that a model could replace.")
    write_whole(path, text)


# --- reading ---------------------------------------------------------------------------------------------------------


def load(path: str | os.PathLike) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError("not a smallearn model: not UTF-8 text.") from None


def read(text: str) -> dict[str, Any]:
    """The fields of the model that `write` wrote. Anything else is an error that says where and why."""
    try:
        content = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except (json.JSONDecodeError, RecursionError) as problem:
        raise ValueError(f"Not a smallearn model: not valid JSON ({problem}).") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f'Not a smallearn model: the field "format" is not {FORMAT!r}.')
    version = content.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise ValueError(
            f"The model has schema version {show(version)}; this smallearn reads versions 1 to {VERSION}. "
            "Upgrade smallearn, or export the model again."
        )
    names = ("format", "version", "classes", "class_dtype", "n_features", "prototypes", "training")
    fields = _fields(content, "model", names, version, "model")
    dtype = _of_type(fields["class_dtype"], str, "class_dtype")
    classes = _read_classes(_of_type(fields["classes"], list, "classes"), dtype)
    n_features = _whole(fields["n_features"], "n_features", 1)
    prototypes = tuple(
        _read_prototype(entry, f"prototypes[{j}]", len(classes), n_features, version)
        for j, entry in enumerate(_of_type(fields["prototypes"], list, "prototypes"))
    )
    return {
        "classes": classes,
        "class_dtype": dtype,
        "n_features": n_features,
        "prototypes": prototypes,
        "training": None if fields["training"] is None else _read_training(fields["training"], version),
        "scale": _positive(fields["scale"], "scale") if version > 1 else 1.0,
        "ranges": tuple(
            _read_range(entry, f"ranges[{position}]", n_features)
            for position, entry in enumerate(_of_type(fields["ranges"], list, "ranges") if version > 2 else ())
        ),
        "selection": _read_selection(fields["selection"]) if version > 3 and fields["selection"] is not None else None,
        "data": _read_data(fields["data"], len(classes)) if version > 3 and fields["data"] is not None else None,
    }


def _read_selection(entry: Any) -> Selection:
    fields = _fields(entry, "selection", ("metric", "scores", "max_terms", "frontier"))
    scores = _of_type(fields["scores"], list, "selection.scores")
    if not scores:
        raise ValueError("selection.scores: expected the score of at least one fold.")
    return Selection(
        metric=_of_type(fields["metric"], str, "selection.metric"),
        scores=tuple(_number(score, f"selection.scores[{position}]") for position, score in enumerate(scores)),
        max_terms=_whole(fields["max_terms"], "selection.max_terms", 0),
        frontier=tuple(
            _read_step(step, f"selection.frontier[{position}]")
            for position, step in enumerate(_of_type(fields["frontier"], list, "selection.frontier"))
        ),
    )


def _read_step(entry: Any, where: str) -> Step:
    fields = _fields(entry, where, ("n_terms", "n_prototypes", "score", "spread"))
    return Step(
        _whole(fields["n_terms"], f"{where}.n_terms", 0),
        _whole(fields["n_prototypes"], f"{where}.n_prototypes", 1),
        _number(fields["score"], f"{where}.score"),
        _number(fields["spread"], f"{where}.spread"),
    )


def _read_data(entry: Any, n_classes: int) -> DataFacts:
    fields = _fields(entry, "data", ("fingerprint", "class_counts", "target", "source"))
    counts = _of_type(fields["class_counts"], list, "data.class_counts")
    if len(counts) != n_classes:
        raise ValueError(f"data.class_counts: expected {n_classes} numbers, one for each class, found {len(counts)}.")
    return DataFacts(
        fingerprint=_of_type(fields["fingerprint"], str, "data.fingerprint"),
        class_counts=tuple(_whole(n, f"data.class_counts[{position}]", 0) for position, n in enumerate(counts)),
        target=None if fields["target"] is None else _of_type(fields["target"], str, "data.target"),
        source=None if fields["source"] is None else _of_type(fields["source"], str, "data.source"),
    )


def _read_range(entry: Any, where: str, n_features: int) -> Range:
    fields = _fields(entry, where, ("feature", "low", "high"))
    feature = _whole(fields["feature"], f"{where}.feature", 0, n_features - 1)
    low, high = _number(fields["low"], f"{where}.low"), _number(fields["high"], f"{where}.high")
    if low > high:
        raise ValueError(f"{where}.low: {low} is above high, {high}.")
    return Range(feature, low, high)


def _read_classes(labels: list, dtype: str) -> tuple:
    if not CLASS_DTYPE.fullmatch(dtype):
        raise ValueError(f"class_dtype: {show(dtype)} is not the type of a boolean, number, string or object array.")
    if len(labels) < 2:
        raise ValueError(f"classes: a model needs at least two, found {len(labels)}.")
    kind = np.dtype(dtype).kind
    kinds: dict[str, tuple[type, ...]] = {"b": (bool,), "i": (int,), "u": (int,), "f": (float, int), "U": (str,)}
    for position, label in enumerate(labels):
        allowed = kinds.get(kind, (bool, int, float, str))
        if not isinstance(label, allowed) or (isinstance(label, bool) and bool not in allowed):
            raise ValueError(f"classes[{position}]: {show(label)} does not fit the type {dtype!r}.")
        if isinstance(label, float) and not math.isfinite(label):
            raise ValueError(f"classes[{position}]: {label} is not a finite number.")
    if len(set(labels)) < len(labels):
        raise ValueError(f"classes: {show(labels)} names a class twice.")
    values = np.empty(len(labels), dtype=dtype)
    fits = kind not in "iu" or all(np.iinfo(dtype).min <= label <= np.iinfo(dtype).max for label in labels)
    try:
        with np.errstate(over="ignore"):
            values[:] = labels if fits else 0
    except OverflowError:  # a whole number beyond the range of floats
        fits = False
    if not fits or values.tolist() != labels:
        raise ValueError(f"classes: {show(labels)} do not fit the type {dtype!r}.")
    return tuple(values.tolist())


def _read_prototype(entry: Any, where: str, n_classes: int, n_features: int, version: int) -> Prototype:
    fields = _fields(entry, where, ("class", "intercept", "terms"))
    owner = _whole(fields["class"], f"{where}.class", 0, n_classes - 1)
    intercept = _number(fields["intercept"], f"{where}.intercept")
    terms = tuple(
        _read_term(term, f"{where}.terms[{position}]", n_features, version)
        for position, term in enumerate(_of_type(fields["terms"], list, f"{where}.terms"))
    )
    seen = set()
    for position, term in enumerate(terms):
        if (term.feature, term.kind, term.value) in seen:
            raise ValueError(f"{where}.terms[{position}]: the term {term.text} stands there twice.")
        seen.add((term.feature, term.kind, term.value))
    return Prototype(owner, intercept, terms)


def _read_term(entry: Any, where: str, n_features: int, version: int) -> Term:
    fields = _fields(entry, where, ("kind", "feature", "weight", "name"), version, "term")
    kind = fields["kind"]
    known = KINDS if version > 1 else ("raw",)
    if kind not in known:
        raise ValueError(f"{where}.kind: {show(kind)} is not one of {listed(known)}, the kinds of version {version}.")
    name = None if fields["name"] is None else _of_type(fields["name"], str, f"{where}.name")
    feature = _whole(fields["feature"], f"{where}.feature", 0, n_features - 1)
    weight = _number(fields["weight"], f"{where}.weight")
    if version == 1:
        return Term(feature, weight, name)
    for field, owner in (("value", kind in ("at_most", "above", "equals")), ("mean", kind == "raw")):
        if not owner and fields[field] is not None:
            raise ValueError(f"{where}.{field}: a term of kind {kind!r} has none, found {show(fields[field])}.")
    value = fields["value"]
    if kind in ("at_most", "above"):
        value = _number(value, f"{where}.value")
    elif kind == "equals":
        value = _category(value, f"{where}.value")
    mean = None if fields["mean"] is None else _number(fields["mean"], f"{where}.mean")
    unit = None if fields["unit"] is None else _positive(fields["unit"], f"{where}.unit")
    if unit is not None and kind != "raw":
        raise ValueError(f"{where}.unit: a term of kind {kind!r} has none, found {unit}.")
    return Term(feature, weight, name, kind, value, mean, unit)


def _read_training(entry: Any, version: int) -> Training:
    def whole(value: Any, where: str) -> int:
        return _whole(value, where, 1)

    readers: dict[str, Callable[[Any, str], Any]] = {
        "smallearn": lambda value, where: _of_type(value, str, where),
        "n_rows": whole,
        "alpha": _number,
        "n_nonzero": whole if version == 1 else lambda value, where: None if value is None else whole(value, where),
        "objective": _number,
        "lower_bound": _number,
    }
    fields = _fields(entry, "training", tuple(readers), version, "training")
    if version > 1:
        readers |= {
            "budget": _budget,
            "max_cost": lambda value, where: None if value is None else _positive(value, where),
            "certified": lambda value, where: _of_type(value, bool, where),
        }
    facts = Training(**{name: read(fields[name], f"training.{name}") for name, read in readers.items()})
    if facts.objective <= 0.0 or facts.alpha <= 0.0:
        raise ValueError("training: objective and alpha must be positive.")
    if facts.n_nonzero is None and facts.max_cost is None:
        raise ValueError("training: n_nonzero and max_cost are both null; one of them was the limit.")
    return facts


def _fields(
    entry: Any, where: str, names: tuple[str, ...], version: int = 1, part: str | None = None
) -> dict[str, Any]:
    """The entry, if it is an object of exactly these fields and those that ``version`` added to this ``part``."""
    if part is not None:
        names += tuple(name for number, new in NEW.items() if number <= version for name in new.get(part, ()))
    if not isinstance(entry, dict):
        raise ValueError(f"{where}: expected an object, found {show(entry)}.")
    missing, unknown = set(names) - set(entry), set(entry) - set(names)
    if missing or unknown:
        raise ValueError(f"{where}: missing fields {sorted(missing)}, unknown fields {sorted(unknown)}.")
    return entry


def _of_type(value: Any, kind: type, where: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{where}: expected {kind.__name__}, found {show(value)}.")
    return value


def _whole(value: Any, where: str, low: int, high: int | None = None) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < low or (high is not None and value > high):
        limits = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{where}: expected a whole number {limits}, found {show(value)}.")
    return value


def _number(value: Any, where: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= 1.7976931348623157e308:
        raise ValueError(f"{where}: expected a finite number, found {show(value)}.")
    return float(value)


def _positive(value: Any, where: str) -> float:
    number = _number(value, where)
    if number <= 0.0:
        raise ValueError(f"{where}: expected a positive number, found {show(value)}.")
    return number


def _category(value: Any, where: str) -> Category:
    """As it is: True is not 1 and 1 is not 1.0, although they compare equal."""
    if not isinstance(value, str | bool):
        if not isinstance(value, int | float):
            raise ValueError(f"{where}: expected text, a finite number or a boolean, found {show(value)}.")
        _number(value, where)
    return value


def _budget(value: Any, where: str) -> str:
    if value not in BUDGETS:
        raise ValueError(f"{where}: expected one of {listed(BUDGETS)}, found {show(value)}.")
    return value


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("Not a smallearn model: a field stands twice in one object.")
    return content


def _no_constant(name: str) -> None:
    raise ValueError(f"Not a smallearn model: {name} is not a finite number.")
