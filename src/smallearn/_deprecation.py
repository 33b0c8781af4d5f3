"""Warnings about what will be removed. CONTRIBUTING.md has the policy: how long a deprecated name still works.

A function, class or parameter that is renamed or goes away keeps working and warns with a `FutureWarning`, which Python
shows to everybody, until the version that is named as its ``removal``.
"""

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def warn_deprecated(what: str, *, since: str, removal: str, instead: str, stacklevel: int = 2) -> None:
    """Warn that ``what`` is deprecated, at the line that called the function which calls this one.

    Parameters
    ----------
    what : str
        The name as users write it: ``"frontier"``, ``"the parameter 'k' of refit"``.
    since, removal : str
        The version that warns first and the one without the name, both as ``"MAJOR.MINOR"``.
    instead : str
        What to use, as users write it.
    stacklevel : int, default=2
        As in `warnings.warn`, counted from the function that calls this one.
    """
    if _minor(removal) <= _minor(since):
        raise ValueError(f"{what}: removal={removal!r} does not come after since={since!r}.")
    message = f"{what} is deprecated since smallearn {since} and will be removed in {removal}. Use {instead} instead."
    warnings.warn(message, FutureWarning, stacklevel=stacklevel + 1)


def deprecated(*, since: str, removal: str, instead: str) -> Callable[[F], F]:
    """A function or class that still works, and warns when it is called; the arguments are as in `warn_deprecated`."""

    def decorate(function: F) -> F:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            warn_deprecated(function.__name__, since=since, removal=removal, instead=instead)
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate


def renamed_parameter(old: str, new: str, *, since: str, removal: str) -> Callable[[F], F]:
    """A function whose keyword argument ``old`` is now ``new``: the old one still works, and warns."""

    def decorate(function: F) -> F:
        what = f"the parameter {old!r} of {function.__name__}"

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if old in kwargs:
                if new in kwargs:
                    raise TypeError(
                        f"{function.__name__} got both {new!r} and {old!r}, its old name; pass {new!r} alone."
                    )
                warn_deprecated(what, since=since, removal=removal, instead=repr(new))
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate


def _minor(version: str) -> tuple[int, int]:
    """``(0, 2)`` of ``"0.2"``."""
    parts = version.split(".")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise ValueError(f"{version!r} is no version of the form 'MAJOR.MINOR', as '0.2'.")
    return int(parts[0]), int(parts[1])
