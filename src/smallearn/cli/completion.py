"""``smallearn --print-completion``: a script that makes a shell complete the arguments."""

import argparse
from typing import Any

from smallearn.cli.console import Console
from smallearn.cli.errors import ExitCode, not_installed

SHELLS = ("bash", "zsh", "tcsh")


class PrintCompletion(argparse.Action):
    """Print the completion script for a shell and exit."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: Any = None) -> None:
        """Let shtab write it, from the parser itself."""
        try:
            import shtab
        except ModuleNotFoundError:
            Console().error(f"{not_installed('smallearn --print-completion', 'shtab', 'cli')}.")
            parser.exit(ExitCode.FAILED)
        _list_choices(parser)
        print(shtab.complete(parser, shell=values))
        parser.exit(ExitCode.DONE)


def _list_choices(parser: argparse.ArgumentParser) -> None:
    """Make choices lists: shtab takes every dict of choices for commands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _list_choices(command)
        elif action.choices is not None:
            action.choices = list(action.choices)
