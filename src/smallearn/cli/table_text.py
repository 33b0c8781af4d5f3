"""Tables of text on stdout."""

from collections.abc import Sequence

from smallearn.cli.console import heading


def print_section(
    title: str, lines: Sequence[tuple[str, ...]], *, right: Sequence[int], sentence: str | None = None
) -> None:
    """Print a title, a sentence if there is one, and a table."""
    print(heading(f"\n{title}"))
    if sentence is not None:
        print(sentence)
    print_table(lines, right)


def print_table(lines: Sequence[tuple[str, ...]], right: Sequence[int] = ()) -> None:
    """Print lines in columns; those in ``right`` are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print(f"  {'  '.join(cells)}".rstrip())
