"""Internal: the command ``smallearn``."""

from smallearn.cli.entry import main, make_parser

__all__ = ["main", "make_parser"]
