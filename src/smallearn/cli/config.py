"""``--config``: options of a command in a TOML file. They stand in front of those of the command line, which win."""

import argparse
import difflib
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from smallearn._text import listed, show
from smallearn.cli.arguments import add_path
from smallearn.cli.errors import CommandError

OPTION, SHORTEST = "--config", "--con"  # what it may be shortened to


def add_config(parser: argparse.ArgumentParser) -> None:
    """``--config``."""
    add_path(
        parser,
        OPTION,
        metavar="FILE",
        help="take options from a TOML file: a key is an option's name without the dashes, such as max-terms = 6; a "
        "list is for a repeatable option; options on the command line win",
    )


def with_config(argv: Sequence[str], make_commands: Callable[[], dict[str, argparse.ArgumentParser]]) -> list[str]:
    """The arguments, with those of the file that ``--config`` names; ``make_commands`` makes parsers to try them on."""
    if not any(text.startswith(SHORTEST) for text in argv):
        return list(argv)
    parser = make_commands().get(argv[0])
    if parser is None or OPTION not in parser._option_string_actions:
        return list(argv)
    actions = {name: (action, action.nargs) for action in parser._actions for name in _names(action)}
    given = _given(parser, argv[1:])
    path = given.get("config")
    return list(argv) if path is None else [argv[0], *_arguments(path, actions, given), *argv[1:]]


def _given(parser: argparse.ArgumentParser, argv: Sequence[str]) -> dict[str, Any]:
    """The arguments that are on the command line, by where they go. It changes the parser."""
    for group in parser._mutually_exclusive_groups:
        group.required = False
    for action in parser._actions:
        action.required, action.default = False, argparse.SUPPRESS
        if not action.option_strings:
            action.nargs = "*"
    return vars(parser.parse_known_args(argv)[0])


def _arguments(path: Path, actions: dict[str, Any], given: dict[str, Any]) -> list[str]:
    """The options in a file as a command line, without those that are ``given`` anyway."""
    options, positionals = [], []
    for key, value in _read(path).items():
        action, nargs = actions.get(key.replace("_", "-"), (None, None))
        if action is None:
            near = difflib.get_close_matches(key.replace("_", "-"), actions, n=3, cutoff=0.6)
            hint = f"; did you mean {' or '.join(map(show, near))}?" if near else f"; there are {listed(list(actions))}"
            raise CommandError(f"{path} has the key {show(key)}, which is no option of this command{hint}")
        if action.dest in given:
            continue
        texts = list(_texts(path, key, value, action, nargs))
        if action.option_strings:
            options += texts
        else:
            positionals += texts
    return [*positionals, *options]


def _names(action: argparse.Action) -> list[str]:
    """The keys that mean an option."""
    if not action.option_strings:
        return [action.dest]
    if action.dest in ("help", "config"):
        return []
    return [option[2:] for option in action.option_strings if option.startswith("--")]


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise CommandError(f"{path} is not UTF-8 text, as TOML is") from None
    except tomllib.TOMLDecodeError as error:
        raise CommandError(f"{path} is not TOML: {error}") from None
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from None


def _texts(path: Path, key: str, value: Any, action: argparse.Action, nargs: Any) -> Iterator[str]:
    """A value as arguments."""
    option = max(action.option_strings, key=len, default="")
    if nargs == 0:
        if not isinstance(value, bool):
            raise CommandError(f"{path}: {show(key)} is true or false, not {show(value)}")
        yield from [option] if value else []
        return
    if isinstance(value, dict):
        value = [f"{name}={_text(path, key, one)}" for name, one in value.items()]
    repeatable = nargs == "+" or not isinstance(action, argparse._StoreAction)
    if isinstance(value, list) and not repeatable:
        raise CommandError(f"{path}: {show(key)} has several values, but the option takes one")
    for one in value if isinstance(value, list) else [value]:
        text = _text(path, key, one)
        yield f"{option}={text}" if option else text


def _text(path: Path, key: str, value: Any) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):  # cut points, a group
        return ",".join(map(str, value))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise CommandError(f"{path}: {show(key)} has the value {show(value)}; write text, a number, or a list of these")
    return str(value)
