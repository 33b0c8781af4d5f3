"""Optional fields of a model's file, since format 10: each is there only if the model has something in it.

``FIELDS`` has an entry for each, which is also a field of `SMaLLModel` with an empty default. The other sizes and the
alternatives of a model, which are models themselves, are in `_json`.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from smallearn._text import listed, show
from smallearn.model._edit import ACTIONS, Edit
from smallearn.model._json_values import fields_of, finite_number, of_type, whole_number
from smallearn.model._parts import Description


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


FIELDS = {
    "descriptions": OptionalField(write=_records, read=_read_descriptions),
    "edits": OptionalField(write=_records, read=_read_edits),
}
