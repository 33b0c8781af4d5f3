"""Internal: a file for each language. The files without an underscore in front are targets.

The file ``lua.py`` is the target "lua": `smallearn.export`, the command ``smallearn export``, the app and the reference
find it here. It has a function ``to_lua``, and ``NAME`` and ``FILE``: what people call the language, and the usual name
of a file. docs/develop/add_a_language.md leads through it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any


@dataclass(frozen=True)
class Language:
    """A target: what people call it, the usual name of a file, and the function that writes it."""

    name: str
    file: str
    write: Callable[..., Any]


def languages() -> dict[str, Language]:
    """Every language of this folder by the name of its file."""
    names = sorted(found.name for found in iter_modules(__path__) if not found.name.startswith("_"))
    modules = {name: import_module(f"{__name__}.{name}") for name in names}
    return {name: Language(one.NAME, one.FILE, getattr(one, f"to_{name}")) for name, one in modules.items()}
