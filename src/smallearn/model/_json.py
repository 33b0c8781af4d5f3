"""A model as JSON text and as a file. Data, never code: what is read is checked field by field before use.

`write` takes and `read` returns the fields of `SMaLLModel`, so that this file knows its parts but not the class.

The rule for the format:

- A change of the format raises its number, the field ``version``. Any field that is added, removed or read differently
  is a change.
- Files of every earlier format always load and give the same predictions. ``tests/model/files`` has one of each, with
  known predictions; a new format adds another, and none is changed.
- A smallearn that meets a newer format refuses it by its number. It never guesses.

Format 2 added literals, score cards and further budgets, format 3 the ranges of the features, format 4 how the model
was chosen and on what data, format 5 models without a certificate, whose lower bound is null, format 6 the decision
threshold and the cost matrix, format 7 prototypes of both of two classes, format 8 the values that a model accepts,
format 9 how it is compiled for a chip, format 10 optional fields (see `_json_optional`), the models of other sizes and
the alternatives, which are written like the model itself. A model is written in the oldest format from 6 on that holds
it, which earlier versions read.
"""

import errno
import json
import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from smallearn._run.files import write_whole
from smallearn._text import listed, show
from smallearn._version import __version__
from smallearn.model._decision import sole_owner
from smallearn.model._json_optional import FIELDS, read_optional, write_optional
from smallearn.model._json_values import (
    budget,
    category,
    check_text,
    fields_of,
    finite_number,
    no_constant,
    no_duplicates,
    of_type,
    positive_number,
    short_whole,
    whole_number,
)
from smallearn.model._parts import (
    Accepted,
    DataFacts,
    Deployment,
    Prototype,
    Range,
    Selection,
    Step,
    Term,
    Training,
)

FORMAT, VERSION = "smallearn-model", 10  # the kind of file, and the number of its format
# Fields of format 10 that hold further models, which have no such models themselves.
NESTED = ("frontier_models", "alternatives")
# The types of class labels that a model can hold, as numpy writes them.
CLASS_DTYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|U[1-9][0-9]{0,5}|O)")
# The fields that each format added to a model, a term and a training record, and the kinds of terms that it added.
ADDED: dict[int, dict[str, tuple[str, ...]]] = {
    2: {
        "model": ("scale",),
        "term": ("value", "mean", "unit"),
        "training": ("budget", "max_cost", "certified"),
        "kind": ("at_most", "above", "equals", "missing"),
    },
    3: {"model": ("ranges",)},
    4: {"model": ("selection", "data")},
    6: {"model": ("decision_threshold", "cost_matrix")},
    8: {"model": ("accepted",)},
    9: {"model": ("deployment",)},
}


# --- writing ---------------------------------------------------------------------------------------------------------


def write(model: dict[str, Any]) -> str:
    """The fields of a model as JSON text, with every number exact."""
    version = _oldest_format(model)
    content = {"format": FORMAT, "version": version, **_written(model, version)}
    if version > 9:
        nested = {name: [_written(vars(one), version) for one in model[name]] for name in NESTED if model[name]}
        content |= {**write_optional(model), **nested}
    text = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        line = text[: error.start].rpartition("\n")[2] + text[error.start : error.end]
        raise ValueError(f"No file can hold the text {show(line.strip())}: it has half of a surrogate pair.") from None
    return text


def _written(model: dict[str, Any], version: int) -> dict[str, Any]:
    """The fields of a model that its format always has, as JSON."""
    for label in model["classes"]:
        _check_writable(label, "Class")
    for term in (term for prototype in model["prototypes"] for term in prototype.terms):
        if term.value is not None:
            _check_writable(term.value, "Value")
    for known in (value for one in model["accepted"] for value in one.categories or ()):
        _check_writable(known, "Value")
    content = {
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
        "decision_threshold": model["decision_threshold"],
        "cost_matrix": model["cost_matrix"],
    }
    if version > 7:
        content["accepted"] = [asdict(one) for one in model["accepted"]]
    if version > 8:
        content["deployment"] = None if model["deployment"] is None else asdict(model["deployment"])
    return content


def _oldest_format(model: dict[str, Any]) -> int:
    """The number of the oldest format that holds a model, from 6 on."""
    if any(model[name] for name in (*NESTED, *FIELDS)):
        return 10
    if model["deployment"] is not None:
        return 9
    if model["accepted"]:
        return 8
    owners = [prototype.owner for prototype in model["prototypes"]]
    return 7 if len(model["classes"]) == 2 and sole_owner(owners, 2) is None else 6


def _check_writable(value: Any, role: str) -> None:
    """Raise ValueError unless JSON can hold the value and return it unchanged."""
    if not isinstance(value, bool | int | float | str) or value in (math.inf, -math.inf) or value != value:
        kind = type(value).__name__
        raise ValueError(f"{role} {value!r} is a {kind}; JSON holds finite numbers, strings and booleans.")


def save(text: str, path: str | os.PathLike) -> None:
    """Write a file whole or not at all: an interruption leaves the old one or the new one."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(target.parent))
    if target.is_dir():
        raise ValueError(f"{target} is a folder; a model is written to a file.")
    write_whole(path, text)


# --- reading ---------------------------------------------------------------------------------------------------------


def load(path: str | os.PathLike) -> str:
    """The text of a file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError("not a smallearn model: not UTF-8 text.") from None


def read(text: str) -> dict[str, Any]:
    """The fields of a model, from what `write` returned in this or an earlier version. Anything else is refused."""
    try:
        content = json.loads(text, object_pairs_hook=no_duplicates, parse_constant=no_constant, parse_int=short_whole)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"Not a smallearn model: not valid JSON ({error}).") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f'Not a smallearn model: the field "format" is not {FORMAT!r}.')
    version = content.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise ValueError(
            f"The model's file has format {show(version)}; smallearn {__version__} reads formats 1 to {VERSION}. "
            "Install a newer smallearn, or save the model again with this one."
        )
    optional = [name for name in (*NESTED, *FIELDS) if version > 9 and name in content]
    model = _read_model(content, version, ("format", "version", *optional))
    if version > 9:
        model |= {name: _read_models(content[name], name, version) for name in NESTED if name in content}
        model |= read_optional(content)
    return model


def _read_models(entry: Any, where: str, version: int) -> tuple[dict[str, Any], ...]:
    """The fields of each of some models."""
    models = []
    for position, one in enumerate(of_type(entry, list, where)):
        try:
            models.append(_read_model(one, version))
        except ValueError as error:
            raise ValueError(f"{where}[{position}]: {error}") from None
    return tuple(models)


def _read_model(content: Any, version: int, besides: Sequence[str] = ()) -> dict[str, Any]:
    """The fields that a model of this format always has; ``besides`` are others that are read elsewhere."""
    names = ("classes", "class_dtype", "n_features", "prototypes", "training")
    fields = fields_of(content, "model", (*besides, *names, *_added("model", version)))
    dtype = of_type(fields["class_dtype"], str, "class_dtype")
    classes = _read_classes(of_type(fields["classes"], list, "classes"), dtype)
    n_features = whole_number(fields["n_features"], "n_features", 1)
    prototypes = tuple(
        _read_prototype(entry, f"prototypes[{j}]", len(classes), n_features, version)
        for j, entry in enumerate(of_type(fields["prototypes"], list, "prototypes"))
    )
    if version < 7 and len(classes) == 2 and len({prototype.owner for prototype in prototypes}) > 1:
        raise ValueError(f"With two classes, one of them owns all the prototypes in format {version}.")
    return {
        "classes": classes,
        "class_dtype": dtype,
        "n_features": n_features,
        "prototypes": prototypes,
        "training": None if fields["training"] is None else _read_training(fields["training"], version),
        "scale": positive_number(fields["scale"], "scale") if version > 1 else 1.0,
        "ranges": tuple(
            _read_range(entry, f"ranges[{position}]", n_features)
            for position, entry in enumerate(of_type(fields["ranges"], list, "ranges") if version > 2 else ())
        ),
        "selection": _read_selection(fields["selection"]) if version > 3 and fields["selection"] is not None else None,
        "data": _read_data(fields["data"], len(classes)) if version > 3 and fields["data"] is not None else None,
        "decision_threshold": positive_number(fields["decision_threshold"], "decision_threshold")
        if version > 5
        else 0.5,
        "cost_matrix": _or_null(_read_costs)(fields["cost_matrix"], "cost_matrix") if version > 5 else None,
        "accepted": tuple(
            _read_accepted(entry, f"accepted[{position}]", n_features)
            for position, entry in enumerate(of_type(fields["accepted"], list, "accepted") if version > 7 else ())
        ),
        "deployment": _or_null(_read_deployment)(fields["deployment"], "deployment") if version > 8 else None,
    }


def _added(part: str, version: int) -> list[str]:
    """What formats up to ``version`` added to a part."""
    return [name for number, parts in ADDED.items() if number <= version for name in parts.get(part, ())]


def _read_selection(entry: Any) -> Selection:
    fields = fields_of(entry, "selection", ("metric", "scores", "max_terms", "frontier"))
    scores = of_type(fields["scores"], list, "selection.scores")
    if not scores:
        raise ValueError("selection.scores: expected the score of at least one fold.")
    return Selection(
        metric=of_type(fields["metric"], str, "selection.metric"),
        scores=tuple(finite_number(score, f"selection.scores[{position}]") for position, score in enumerate(scores)),
        max_terms=whole_number(fields["max_terms"], "selection.max_terms", 0),
        frontier=tuple(
            _read_step(step, f"selection.frontier[{position}]")
            for position, step in enumerate(of_type(fields["frontier"], list, "selection.frontier"))
        ),
    )


def _read_step(entry: Any, where: str) -> Step:
    fields = fields_of(entry, where, ("n_terms", "n_prototypes", "score", "spread"))
    return Step(
        n_terms=whole_number(fields["n_terms"], f"{where}.n_terms", 0),
        n_prototypes=whole_number(fields["n_prototypes"], f"{where}.n_prototypes", 1),
        score=finite_number(fields["score"], f"{where}.score"),
        spread=finite_number(fields["spread"], f"{where}.spread"),
    )


def _read_data(entry: Any, n_classes: int) -> DataFacts:
    fields = fields_of(entry, "data", ("fingerprint", "class_counts", "target", "source"))
    counts = of_type(fields["class_counts"], list, "data.class_counts")
    if len(counts) != n_classes:
        raise ValueError(f"data.class_counts: expected {n_classes} numbers, one for each class, found {len(counts)}.")
    return DataFacts(
        fingerprint=of_type(fields["fingerprint"], str, "data.fingerprint"),
        class_counts=tuple(whole_number(n, f"data.class_counts[{position}]", 0) for position, n in enumerate(counts)),
        target=None if fields["target"] is None else of_type(fields["target"], str, "data.target"),
        source=None if fields["source"] is None else of_type(fields["source"], str, "data.source"),
    )


def _read_costs(entry: Any, where: str) -> tuple[tuple[float, ...], ...]:
    rows = [of_type(row, list, f"{where}[{i}]") for i, row in enumerate(of_type(entry, list, where))]
    return tuple(
        tuple(finite_number(cost, f"{where}[{i}][{k}]") for k, cost in enumerate(row)) for i, row in enumerate(rows)
    )


def _read_range(entry: Any, where: str, n_features: int) -> Range:
    fields = fields_of(entry, where, ("feature", "low", "high"))
    feature = whole_number(fields["feature"], f"{where}.feature", 0, n_features - 1)
    low, high = finite_number(fields["low"], f"{where}.low"), finite_number(fields["high"], f"{where}.high")
    if low > high:
        raise ValueError(f"{where}.low: {low} is above high, {high}.")
    return Range(feature=feature, low=low, high=high)


def _read_accepted(entry: Any, where: str, n_features: int) -> Accepted:
    fields = fields_of(entry, where, ("feature", "categories", "missing"))
    categories = fields["categories"]
    if categories is not None:
        values = enumerate(of_type(categories, list, f"{where}.categories"))
        categories = tuple(category(value, f"{where}.categories[{position}]") for position, value in values)
    return Accepted(
        feature=whole_number(fields["feature"], f"{where}.feature", 0, n_features - 1),
        categories=categories,
        missing=of_type(fields["missing"], bool, f"{where}.missing"),
    )


def _read_deployment(entry: Any, where: str) -> Deployment:
    fields = fields_of(entry, where, ("chip", "number", "layout", "readings", "counts"))
    chip, number, layout, readings = (
        of_type(fields[name], str, f"{where}.{name}") for name in ("chip", "number", "layout", "readings")
    )
    counts = []
    for position, one in enumerate(of_type(fields["counts"], list, f"{where}.counts")):
        place = f"{where}.counts[{position}]"
        if len(of_type(one, list, place)) != 5:
            raise ValueError(f"{place}: expected label, scale, offset, least and greatest count.")
        numbers = [finite_number(value, f"{place}[{i}]") for i, value in enumerate(one[1:3], start=1)]
        ends = [whole_number(value, f"{place}[{i}]", -(2**31), 2**31) for i, value in enumerate(one[3:], start=3)]
        counts.append((of_type(one[0], str, f"{place}[0]"), *numbers, *ends))
    return Deployment(chip=chip, number=number, layout=layout, readings=readings, counts=tuple(counts))


def _read_classes(labels: list, dtype: str) -> tuple:
    """The labels, if a numpy array of this type holds them exactly."""
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
        if isinstance(label, str):
            check_text(label, f"classes[{position}]")
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
    fields = fields_of(entry, where, ("class", "intercept", "terms"))
    owner = whole_number(fields["class"], f"{where}.class", 0, n_classes - 1)
    intercept = finite_number(fields["intercept"], f"{where}.intercept")
    terms = tuple(
        _read_term(term, f"{where}.terms[{position}]", n_features, version)
        for position, term in enumerate(of_type(fields["terms"], list, f"{where}.terms"))
    )
    seen = set()
    for position, term in enumerate(terms):
        if (term.feature, term.kind, term.value) in seen:
            raise ValueError(f"{where}.terms[{position}]: the prototype has the term {term.text} twice.")
        seen.add((term.feature, term.kind, term.value))
    return Prototype(owner=owner, intercept=intercept, terms=terms)


def _read_term(entry: Any, where: str, n_features: int, version: int) -> Term:
    fields = fields_of(entry, where, ("kind", "feature", "weight", "name", *_added("term", version)))
    kind = fields["kind"]
    known = ("raw", *_added("kind", version))
    if kind not in known:
        raise ValueError(f"{where}.kind: {show(kind)} is not one of {listed(known)}, the kinds of format {version}.")
    name = None if fields["name"] is None else of_type(fields["name"], str, f"{where}.name")
    feature = whole_number(fields["feature"], f"{where}.feature", 0, n_features - 1)
    weight = finite_number(fields["weight"], f"{where}.weight")
    if version == 1:
        return Term(feature=feature, weight=weight, name=name)
    for field, owner in (("value", kind in ("at_most", "above", "equals")), ("mean", kind == "raw")):
        if not owner and fields[field] is not None:
            raise ValueError(f"{where}.{field}: a term of kind {kind!r} has none, found {show(fields[field])}.")
    value = fields["value"]
    if kind in ("at_most", "above"):
        value = finite_number(value, f"{where}.value")
    elif kind == "equals":
        value = category(value, f"{where}.value")
    mean = None if fields["mean"] is None else finite_number(fields["mean"], f"{where}.mean")
    unit = None if fields["unit"] is None else positive_number(fields["unit"], f"{where}.unit")
    if unit is not None and kind != "raw":
        raise ValueError(f"{where}.unit: a term of kind {kind!r} has none, found {unit}.")
    return Term(feature=feature, weight=weight, name=name, kind=kind, value=value, mean=mean, unit=unit)


def _read_training(entry: Any, version: int) -> Training:
    def whole(value: Any, where: str) -> int:
        return whole_number(value, where, 1)

    readers: dict[str, Callable[[Any, str], Any]] = {
        "smallearn": lambda value, where: of_type(value, str, where),
        "n_rows": whole,
        "alpha": finite_number,
        "n_nonzero": whole if version == 1 else _or_null(whole),
        "objective": finite_number,
        "lower_bound": finite_number if version < 5 else _or_null(finite_number),
    }
    fields = fields_of(entry, "training", (*readers, *_added("training", version)))
    if version > 1:
        readers |= {
            "budget": budget,
            "max_cost": _or_null(positive_number),
            "certified": lambda value, where: of_type(value, bool, where),
        }
    facts = Training(**{name: read(fields[name], f"training.{name}") for name, read in readers.items()})
    if facts.objective <= 0.0 or facts.alpha <= 0.0:
        raise ValueError("training: objective and alpha must be positive.")
    if facts.n_nonzero is None and facts.max_cost is None:
        raise ValueError("training: n_nonzero and max_cost are both null; one of them was the limit.")
    if facts.certified and facts.lower_bound is None:
        raise ValueError("training: certified is true, but lower_bound is null; a proof has a bound.")
    return facts


def _or_null(read: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    """The same for a value that may be null."""
    return lambda value, where: None if value is None else read(value, where)
