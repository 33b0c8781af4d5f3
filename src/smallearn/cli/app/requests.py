"""From what the page sends to what is asked for; whatever is not as the page sends it is refused."""

import sys
from collections.abc import Mapping
from typing import Any

from smallearn._text import show
from smallearn.cli.app.session import Session
from smallearn.cli.app.setup import Changes, Setup
from smallearn.cli.errors import CommandError
from smallearn.cli.io.tables import ReadOptions

# The options of ``smallearn fit`` that the page offers.
OPTIONS = ("max-terms", "prototypes", "positive", "points", "literals", "metric", "class-weight", "certificate", "seed")
MOST_HELD_OUT = 0.5


def options_of(asked: Mapping[str, Any], usual: ReadOptions) -> ReadOptions:
    """How a table is to be read."""
    encoding = asked.get("encoding", usual.encoding)
    missing = texts(asked, "missing") if "missing" in asked else usual.missing
    if not isinstance(encoding, str):
        raise CommandError("the encoding is not text")
    return ReadOptions(encoding=encoding, missing=tuple(text.strip() for text in missing))


def setup_of(asked: Mapping[str, Any], session: Session) -> Setup:
    """What to learn, and how; the time limit is at most that of the command."""
    target = asked.get("target")
    if not isinstance(target, str):
        raise CommandError("choose the target: the column of classes")
    given = asked.get("options", {})
    if not isinstance(given, dict):
        raise CommandError("the options are not a JSON object")
    unknown = [name for name in given if name not in OPTIONS]
    if unknown:
        raise CommandError(f"this page has no option {show(unknown[0])}")
    options = {name: str(value) for name, value in given.items() if value not in ("", None)}
    limit = _number(asked.get("time_limit", session.limit), "the time limit", 1.0, session.limit)
    setup = Setup(
        table=session.table(asked.get("table")),
        target=target,
        drop=texts(asked, "drop"),
        keep=texts(asked, "keep"),
        test_size=_number(asked.get("test_size", 0.0), "the share of rows held out", 0.0, MOST_HELD_OUT),
        options=(*options.items(), ("time-limit", f"{limit:g}")),
    )
    setup.arguments()  # checked as the command checks them
    return setup


def changes_of(asked: Mapping[str, Any]) -> Changes:
    """What is changed of a model."""
    given = asked.get("cuts", [])
    if not isinstance(given, list) or not all(isinstance(one, list) and len(one) == 3 for one in given):
        raise CommandError("cuts is not a list of a feature, its cut and the new cut each")
    cuts = tuple((str(feature), _cut(old), _cut(new)) for feature, old, new in given)
    return Changes(cuts, texts(asked, "drop"), texts(asked, "forbid"), replaces=asked.get("replaces") is True)


def _cut(value: Any) -> float:
    return _number(value, "a cut", -sys.float_info.max, sys.float_info.max)


def texts(asked: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of texts."""
    found = asked.get(name, [])
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise CommandError(f"{name} is not a list of texts")
    return tuple(found)


def _number(value: Any, name: str, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise CommandError(f"{name} is a number from {low:g} to {high:g}, not {show(value)}")
    return float(value)
