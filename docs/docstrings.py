"""Check the docstring of every public name with numpydoc's validation; part of ``make lint``.

Classes and functions need a summary, every parameter, what is returned and an example; methods and properties the same
but for the example.
"""

import importlib
import inspect
import sys
from collections.abc import Iterator

from numpydoc.validate import validate

MODULES = (
    "",
    ".model",
    ".evaluation",
    ".datasets",
    ".explain",
    ".export",
    ".devices",
    ".plot",
    ".report",
    ".dask",
    ".tables",
)
CHECKS = {
    "GL01": None,  # not used: text may begin beside the quotes
    "GL06": "unknown section",
    "GL07": "sections in the wrong order",
    "GL08": "no docstring",
    "SS01": "no summary",
    "SS06": "summary longer than a line",
    "PR01": "parameters not documented",
    "PR02": "unknown parameters",
    "PR03": "parameters in the wrong order",
    "PR07": "parameter without a description",
    "RT01": "no Returns section",
    "YD01": "no Yields section",
    "EX01": "no example",
}


def public_names() -> Iterator[tuple[str, bool]]:
    """Each public name, dotted, and whether it is a class or function of a module (rather than of a class)."""
    for suffix in MODULES:
        module = importlib.import_module(f"smallearn{suffix}")
        for name in module.__all__:
            thing = getattr(module, name)
            if not (inspect.isclass(thing) or inspect.isfunction(thing)):
                continue
            yield f"{module.__name__}.{name}", True
            if inspect.isclass(thing):
                yield from ((f"{module.__name__}.{name}.{member}", False) for member in _members(thing))


def _members(kind: type) -> Iterator[str]:
    """Methods and properties that users call, as far as they are defined here."""
    for name, member in inspect.getmembers(kind):
        function = member.fget if isinstance(member, property) else inspect.unwrap(getattr(member, "__func__", member))
        if name.startswith("_") or not (inspect.isfunction(function)):
            continue
        if function.__module__.startswith("smallearn") and "<locals>" not in function.__qualname__:
            yield name


def main() -> int:
    """Print what is wrong; 1 if anything is."""
    wrong = []
    checked = dict(public_names())
    for name, top in checked.items():
        for code, message in validate(name)["errors"]:
            if CHECKS.get(code) and (top or code != "EX01"):
                wrong.append(f"{name}: {code} {message}")
    print("\n".join(wrong))
    print(f"docstrings: {len(checked)} public names, {len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
