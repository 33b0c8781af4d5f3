"""What the page asks for, as plain data that the other process understands, and as arguments of ``smallearn fit``."""

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from smallearn.cli.arguments import option_names
from smallearn.cli.errors import CommandError
from smallearn.cli.io.tables import ReadOptions


@dataclass(frozen=True)
class TableFacts:
    """A table that was given: where it is, what it is called, and how it is read."""

    path: Path
    name: str
    options: ReadOptions


@dataclass(frozen=True)
class Setup:
    """What to learn from a table, and how.

    Parameters
    ----------
    table : TableFacts
        The table.
    target : str
        The column of classes.
    drop, keep : tuple of str
        Columns that are not used, and those that are used although they look like an ID or a date.
    test_size : float
        The share of the rows that is held out to test the model; 0 for none.
    options : tuple of (str, str)
        Further options of ``smallearn fit`` and their values.
    """

    table: TableFacts
    target: str
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    test_size: float = 0.0
    options: tuple[tuple[str, str], ...] = ()

    def arguments(self) -> argparse.Namespace:
        """The arguments of ``smallearn fit``, checked as the command checks them."""
        from smallearn.cli.commands import fit

        commands = _Parser().add_subparsers(dest="command")
        parser = fit.add(commands)
        parser.set_defaults(options=option_names(parser))
        words = ["--output=model.json", *self._words(), "--", str(self.table.path)]
        return parser.parse_args(words)

    @property
    def tested_on(self) -> tuple[Any, ...]:
        """What the rows of the test depend on."""
        seed = dict(self.options).get("seed", "0") if self.test_size else None
        return self.table, self.target, self.test_size, seed

    def without(self, features: Sequence[str]) -> "Setup":
        """The same without some features."""
        drop = (*self.drop, *(name for name in features if name not in self.drop))
        return replace(self, drop=drop, keep=tuple(name for name in self.keep if name not in drop))

    def with_features(self, other: "Setup") -> "Setup":
        """The same with the features of another as well."""
        drop = tuple(name for name in self.drop if name in other.drop)
        keep = dict.fromkeys([*self.keep, *other.keep])
        return replace(self, drop=drop, keep=tuple(name for name in keep if name not in drop))

    def command(self) -> str:
        """What to type for the same fit, as a shell takes it."""
        words = [f"--target={self.target}", *self._words()[1:]]
        return shlex.join(["smallearn", "fit", self.table.name, *words, "--output=model.json"])

    def _words(self) -> list[str]:
        reading = self.table.options
        words = [f"--target={self.target}"]
        words += [f"--encoding={reading.encoding}"] if reading.encoding != "utf-8" else []
        words += [f"--missing={text}" for text in reading.missing]
        words += [f"--drop={name}" for name in self.drop] + [f"--keep={name}" for name in self.keep]
        words += [f"--test-size={self.test_size:g}"] if self.test_size else []
        return words + [f"--{name}={value}" for name, value in self.options]


@dataclass(frozen=True)
class Changes:
    """What a person changes of a model; its other weights are then refitted.

    Parameters
    ----------
    cuts : tuple of (str, float, float)
        The feature, the cut and the new cut.
    drop : tuple of str
        Terms, as they are printed.
    forbid : tuple of str
        Features.
    replaces : bool
        Whether terms that leave are replaced by others, as far as that helps.
    """

    cuts: tuple[tuple[str, float, float], ...] = ()
    drop: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    replaces: bool = False

    @property
    def name(self) -> str:
        """What a model with these changes is called."""
        cuts = [f"{feature} cut at {new:.6g}, not {old:.6g}" for feature, old, new in self.cuts]
        without = [f"without {', '.join((*self.forbid, *self.drop))}"] if self.forbid or self.drop else []
        return "; ".join([*without, *cuts])


class _Parser(argparse.ArgumentParser):
    """Raises in place of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise CommandError(message)

    def exit(self, status: int = 0, message: str | None = None) -> Any:
        raise CommandError(message or "the arguments cannot be used")
