"""Optional fields of a model's file, since format 10: each is there only if the model has something in it.

``FIELDS`` has an entry for each, which is also a field of `SMaLLModel` with an empty default. The other sizes and the
alternatives of a model, which are models themselves, are in `_json`.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from smallearn._text import listed, show
from smallearn.model._edit import ACTIONS, Edit
from smallearn.model._histograms import Histogram, Reference
from smallearn.model._json_values import (
    LARGEST_WHOLE,
    category,
    fields_of,
    finite_number,
    of_type,
    positive_number,
    whole_number,
)
from smallearn.model._parts import Description, Familiar, HeldOut, StandardModels, TableFacts

LIMITS = ("max_flash", "max_ram", "max_cycles", "max_time_us")
LARGEST_SEED = 10**300
MOST_ROWS = 10**308  # weights are counted, of whatever size


@dataclass(frozen=True)
class OptionalField:
    """How a field is written as JSON, and read: ``read(entry, where)``."""

    write: Callable[[Any], Any]
    read: Callable[[Any, str], Any]


def write_optional(model: dict[str, Any]) -> dict[str, Any]:
    """The optional fields of a model that are not empty, as JSON."""
    return {name: field.write(model[name]) for name, field in FIELDS.items() if model[name]}


def read_optional(content: dict[str, Any]) -> dict[str, Any]:
    """The optional fields that a file has, as fields of `SMaLLModel`."""
    return {name: field.read(content[name], name) for name, field in FIELDS.items() if name in content}


def _records(value: Any) -> list[dict[str, Any]]:
    """A tuple of records."""
    return [asdict(one) for one in value]


def _read_descriptions(entry: Any, where: str) -> tuple[Description, ...]:
    found = []
    for position, one in enumerate(of_type(entry, list, where)):
        place = f"{where}[{position}]"
        fields = fields_of(one, place, ("name", "words", "unit"))
        texts = {
            field: None if fields[field] is None else of_type(fields[field], str, f"{place}.{field}")
            for field in ("words", "unit")
        }
        found.append(Description(name=of_type(fields["name"], str, f"{place}.name"), **texts))
    return tuple(found)


def _read_limits(entry: Any, where: str) -> tuple[tuple[str, float], ...]:
    limits = of_type(entry, dict, where)
    unknown = sorted(set(limits) - set(LIMITS))
    if unknown:
        raise ValueError(f"{where}: {listed(unknown)} is no limit; these are {listed(LIMITS)}")
    return tuple((name, positive_number(limit, f"{where}.{name}")) for name, limit in limits.items())


# --- histograms of the training rows ---------------------------------------------------------------------------------


def _write_reference(reference: Reference) -> dict[str, Any]:
    histograms = {name: [_write_histogram(one) for one in getattr(reference, name)] for name in ("scores", "features")}
    return asdict(reference) | histograms | {"predicted": [_short(count) for count in reference.predicted]}


def _write_histogram(histogram: Histogram) -> dict[str, Any]:
    content = asdict(histogram) | {"counts": [_short(count) for count in histogram.counts]}
    return content | {name: _short(content[name]) for name in ("missing", "other")}


def _short(count: float) -> float | int:
    """A whole number without a point, which is read as the same number."""
    return int(count) if float(count).is_integer() and count < LARGEST_WHOLE else count


def _read_reference(entry: Any, where: str) -> Reference:
    fields = fields_of(entry, where, ("n_rows", "scores", "predicted", "features", "scored_by", "decided_by"))
    return Reference(
        n_rows=whole_number(fields["n_rows"], f"{where}.n_rows", 1, MOST_ROWS),
        scores=_read_histograms(fields["scores"], f"{where}.scores"),
        predicted=_read_numbers(fields["predicted"], f"{where}.predicted"),
        features=_read_histograms(fields["features"], f"{where}.features"),
        scored_by=of_type(fields["scored_by"], str, f"{where}.scored_by"),
        decided_by=of_type(fields["decided_by"], str, f"{where}.decided_by"),
    )


def _read_histograms(entry: Any, where: str) -> tuple[Histogram, ...]:
    return tuple(_read_histogram(one, f"{where}[{i}]") for i, one in enumerate(of_type(entry, list, where)))


def _read_histogram(entry: Any, where: str) -> Histogram:
    fields = fields_of(entry, where, ("counts", "edges", "categories", "missing", "other", "feature"))
    edges, categories, feature = fields["edges"], fields["categories"], fields["feature"]
    if categories is not None:
        values = enumerate(of_type(categories, list, f"{where}.categories"))
        categories = tuple(category(value, f"{where}.categories[{i}]") for i, value in values)
    try:
        return Histogram(
            counts=_read_numbers(fields["counts"], f"{where}.counts"),
            edges=None if edges is None else _read_numbers(edges, f"{where}.edges"),
            categories=categories,
            missing=finite_number(fields["missing"], f"{where}.missing"),
            other=finite_number(fields["other"], f"{where}.other"),
            feature=None if feature is None else whole_number(feature, f"{where}.feature", 0),
        )
    except ValueError as error:
        raise ValueError(str(error) if str(error).startswith(where) else f"{where}: {error}") from None


def _read_numbers(entry: Any, where: str) -> tuple[float, ...]:
    return tuple(finite_number(value, f"{where}[{i}]") for i, value in enumerate(of_type(entry, list, where)))


def _read_standard_models(entry: Any, where: str) -> StandardModels:
    fields = fields_of(entry, where, ("models", "folds", "n_rows", "sampled_from"))
    rows = {
        name: None if fields[name] is None else whole_number(fields[name], f"{where}.{name}", 1)
        for name in ("n_rows", "sampled_from")
    }
    models = []
    for position, one in enumerate(of_type(fields["models"], list, f"{where}.models")):
        place = f"{where}.models[{position}]"
        known = fields_of(one, place, ("name", "score", "spread", "size", "seconds"))
        models.append(
            Familiar(
                name=of_type(known["name"], str, f"{place}.name"),
                score=finite_number(known["score"], f"{place}.score"),
                spread=finite_number(known["spread"], f"{place}.spread"),
                size=of_type(known["size"], str, f"{place}.size"),
                seconds=None if known["seconds"] is None else finite_number(known["seconds"], f"{place}.seconds"),
            )
        )
    return StandardModels(tuple(models), folds=whole_number(fields["folds"], f"{where}.folds", 1), **rows)


def _read_edits(entry: Any, where: str) -> tuple[Edit, ...]:
    found = []
    for position, one in enumerate(of_type(entry, list, where)):
        place = f"{where}[{position}]"
        fields = fields_of(one, place, ("action", "what", "before", "after", "score"))
        action = of_type(fields["action"], str, f"{place}.action")
        if action not in ACTIONS:
            raise ValueError(f"{place}.action: expected one of {listed(ACTIONS)}, found {show(action)}.")
        numbers = {
            name: None if fields[name] is None else finite_number(fields[name], f"{place}.{name}")
            for name in ("before", "after")
        }
        score = None if fields["score"] is None else whole_number(fields["score"], f"{place}.score", 1)
        found.append(Edit(action, of_type(fields["what"], str, f"{place}.what"), **numbers, score=score))
    return tuple(found)


# --- the table that it was trained on --------------------------------------------------------------------------------


LATER: dict[str, Any] = {"missing": [], "missing_by_column": [], "positive": None}  # the first files of format 10 lack


def _read_table(entry: Any, where: str) -> TableFacts:
    if isinstance(entry, dict):
        entry = LATER | entry
    fields = fields_of(entry, where, ("ids", "renamed", "held_out", *LATER))
    pairs = enumerate(of_type(fields["renamed"], list, f"{where}.renamed"))
    return TableFacts(
        ids=_read_texts(fields["ids"], f"{where}.ids"),
        renamed=tuple(_read_pair(pair, f"{where}.renamed[{position}]") for position, pair in pairs),
        held_out=None if fields["held_out"] is None else _read_held_out(fields["held_out"], f"{where}.held_out"),
        missing=_read_texts(fields["missing"], f"{where}.missing"),
        missing_by_column=_read_by_column(fields["missing_by_column"], f"{where}.missing_by_column"),
        positive=None if fields["positive"] is None else of_type(fields["positive"], str, f"{where}.positive"),
    )


def _read_texts(entry: Any, where: str) -> tuple[str, ...]:
    texts = enumerate(of_type(entry, list, where))
    return tuple(of_type(text, str, f"{where}[{position}]") for position, text in texts)


def _read_pair(entry: Any, where: str) -> tuple[str, str]:
    texts = _read_texts(entry, where)
    if len(texts) != 2:
        raise ValueError(f"{where}: expected two texts, found {len(texts)}.")
    return texts[0], texts[1]


def _read_by_column(entry: Any, where: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found = []
    for position, pair in enumerate(of_type(entry, list, where)):
        place = f"{where}[{position}]"
        if len(of_type(pair, list, place)) != 2:
            raise ValueError(f"{place}: expected a column and its texts, found {len(pair)} entries.")
        found.append((of_type(pair[0], str, f"{place}[0]"), _read_texts(pair[1], f"{place}[1]")))
    return tuple(found)


def _read_held_out(entry: Any, where: str) -> HeldOut:
    fields = fields_of(entry, where, ("seed", "class_counts"))
    counts = enumerate(of_type(fields["class_counts"], list, f"{where}.class_counts"))
    return HeldOut(
        seed=whole_number(fields["seed"], f"{where}.seed", 0, LARGEST_SEED),
        class_counts=tuple(whole_number(n, f"{where}.class_counts[{position}]", 0) for position, n in counts),
    )


FIELDS = {
    "descriptions": OptionalField(write=_records, read=_read_descriptions),
    "device_limits": OptionalField(write=dict, read=_read_limits),
    "standard_models": OptionalField(write=asdict, read=_read_standard_models),
    "reference": OptionalField(write=_write_reference, read=_read_reference),
    "edits": OptionalField(write=_records, read=_read_edits),
    "table": OptionalField(write=asdict, read=_read_table),
}
