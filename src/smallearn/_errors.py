"""Errors about parameters: Python writes ``max_terms=0`` in the message, the command line ``--max-terms 0``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from smallearn._text import show


class _Unset(Enum):
    UNSET = 0


@dataclass(frozen=True)
class Parameter:
    """A parameter that a message mentions, with the value in question if there is one.

    >>> str(Parameter("max_terms", 0)), str(Parameter("device"))
    ('max_terms=0', 'device')
    """

    name: str
    value: Any = _Unset.UNSET

    @property
    def has_value(self) -> bool:
        """Whether the message mentions a value too."""
        return self.value is not _Unset.UNSET

    def __str__(self) -> str:
        if not self.has_value:
            return self.name
        return f"{self.name}={show(self.value) if isinstance(self.value, str) else repr(self.value)}"


class ParameterError(ValueError):
    """A parameter has a value that cannot be used.

    Parameters
    ----------
    *parts : str or Parameter
        The message, in pieces. Each `Parameter` is written as the caller knows it.

    Examples
    --------
    >>> error = ParameterError(Parameter("max_flash", 9), " is a limit on a chip; set ", Parameter("device"), ".")
    >>> str(error)
    'max_flash=9 is a limit on a chip; set device.'
    >>> error.message(lambda parameter: f"--{parameter.name}")
    '--max_flash is a limit on a chip; set --device.'
    """

    def __init__(self, *parts: str | Parameter):
        super().__init__(*parts)
        self.parts = parts

    def message(self, write: Callable[[Parameter], str]) -> str:
        """The message, with each parameter as ``write`` writes it."""
        return "".join(part if isinstance(part, str) else write(part) for part in self.parts)

    def __str__(self) -> str:
        return self.message(str)


def check_choice(name: str, value: Any, allowed: Sequence[str], hint: str = "") -> None:
    """Raise unless ``value`` is one of the ``allowed`` texts; ``hint`` ends the message.

    >>> check_choice("layout", "tree", ("code", "table"))
    Traceback (most recent call last):
        ...
    smallearn._errors.ParameterError: layout='tree' is not one of 'code', 'table'.
    """
    if not isinstance(value, str) or value not in allowed:
        raise ParameterError(Parameter(name, value), f" is not one of {', '.join(map(repr, allowed))}{hint}.")
