"""Optional fields of a model's file, since format 10: each is there only if the model has something in it.

``FIELDS`` has an entry for each, which is also a field of `SMaLLModel` with an empty default. The other sizes and the
alternatives of a model, which are models themselves, are in `_json`.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from smallearn._text import listed
from smallearn.model._json_values import fields_of, of_type, positive_number
from smallearn.model._parts import Description

LIMITS = ("max_flash", "max_ram", "max_cycles", "max_time_us")


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


FIELDS = {
    "descriptions": OptionalField(write=_records, read=_read_descriptions),
    "device_limits": OptionalField(write=dict, read=_read_limits),
}
