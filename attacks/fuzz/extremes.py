"""Model files of extreme size: deep, long, with huge numbers, from the future. Each is refused in time, or works."""

import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

from attacks.findings import complaint
from attacks.fuzz.loaded import check_model
from attacks.pool import Attempt, Outcome
from smallearn import SMaLLModel, load_model
from tests.helpers.models import CARD, YES

GIGABYTE = 10**9
SECONDS = 90.0  # of processor time: a gigabyte has to be read


def _with(**fields) -> str:
    return json.dumps(json.loads(YES.to_json()) | fields)


def _literals(count: int) -> str:
    """A model with so many literals of one feature."""
    tree = json.loads(CARD.to_json())
    term = tree["prototypes"][0]["terms"][0]
    tree["prototypes"][0]["terms"] = [term | {"value": float(i)} for i in range(count)]
    return json.dumps(tree)


def _prototypes(count: int) -> str:
    tree = json.loads(YES.to_json())
    return json.dumps(tree | {"prototypes": tree["prototypes"][:1] * count})


TEXTS: dict[str, Callable[[], str]] = {
    "lists in lists, 100,000 deep": lambda: "[" * 100_000,
    "objects in objects, 100,000 deep": lambda: '{"a":' * 100_000,
    "lists in a field, 990 deep": lambda: _with(training="?").replace('"?"', "[" * 990 + "]" * 990),
    "a number of 5,000 digits": lambda: _with(scale=7).replace("7", "9" * 5_000, 1),
    "a number of a million digits": lambda: _with(scale="?").replace('"?"', "9" * 10**6),
    "a weight of 1e308": lambda: YES.to_json().replace("2.0", "1e308"),
    "two weights of 1e308": lambda: YES.to_json().replace("2.0", "1e308").replace("-1.0", "1e308"),
    "a million million features": lambda: _with(n_features=10**12),
    "10^30 features": lambda: _with(n_features=10**30),
    "labels of 999,999 characters": lambda: _with(class_dtype="<U999999"),
    "5,000 literals of one feature": lambda: _literals(5_000),
    "100,000 literals of one feature": lambda: _literals(100_000),
    "100,000 prototypes": lambda: _prototypes(100_000),
    "100,000 classes": lambda: _with(classes=list(range(100_000))),
    "a label of 10 MB": lambda: _with(classes=["no", "y" * 10**7]),
    "format 11": lambda: _with(version=11),
    "format 10^30": lambda: _with(version=10**30),
}


def _spaces(path: Path) -> None:
    with path.open("wb") as file:
        for _ in range(GIGABYTE // 10**6):
            file.write(b" " * 10**6)


def _digits(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"[")
        for _ in range(GIGABYTE // 10**6):
            file.write(b"1," * (10**6 // 2))


FILES: dict[str, Callable[[Path], None]] = {"a gigabyte of spaces": _spaces, "a gigabyte of numbers": _digits}


def prepare() -> Attempt:
    """The attempt."""
    check_model(YES)
    return attempt


def count() -> int:
    """How many there are."""
    return len(TEXTS) + len(FILES)


def attempt(_: random.Random, number: int) -> Outcome:
    """One of them."""
    if number < len(TEXTS):
        name, make = list(TEXTS.items())[number]
        return judge(name, lambda: SMaLLModel.from_json(make()))
    name, write = list(FILES.items())[number - len(TEXTS)]
    with tempfile.TemporaryDirectory(prefix="smallearn-extremes-") as folder:
        path = Path(folder, "model.json")
        write(path)
        return judge(name, lambda: load_model(path))


def judge(name: str, load: Callable[[], SMaLLModel]) -> Outcome:
    """Refused with a ValueError, a gigabyte also for want of memory; or it works."""
    try:
        model = load()
    except ValueError as error:
        if len(str(error)) > 2000:
            return Outcome(("extreme files, refused",), ((f"{name}: a refusal too long to read", str(error)[:300]),))
        return Outcome(("extreme files, refused",))
    except MemoryError as error:
        wrong = () if "gigabyte" in name else ((complaint(error, f"{name}: loads"), ""),)
        return Outcome(("extreme files, refused",), wrong)
    try:
        check_model(model)
    except Exception as error:
        wrong = ((complaint(error, f"{name}: loads, then fails"), f"{error}"[:500]),)
        return Outcome(("extreme files, loaded",), wrong)
    return Outcome(("extreme files, loaded",))
