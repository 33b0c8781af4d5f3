"""``smallearn --print-completion``: what makes a shell complete the command's arguments."""

import argparse
from typing import Any

from smallearn.cli.common import PROBLEM
from smallearn.cli.terminal import complain

SHELLS = ("bash", "zsh", "tcsh")


class PrintCompletion(argparse.Action):
    """Print the completions for a shell and leave."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: Any = None) -> None:
        """By shtab, from the parser itself."""
        try:
            import shtab
        except ImportError:
            complain("smallearn --print-completion needs shtab, which is not installed: pip install 'smallearn[cli]'.")
            parser.exit(PROBLEM)
        _list_choices(parser)
        print(shtab.complete(parser, shell=values))
        parser.exit(0)


def _list_choices(parser: argparse.ArgumentParser) -> None:
    """Choices as lists, for shtab takes every dict of them for commands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _list_choices(command)
        elif action.choices is not None:
            action.choices = list(action.choices)
