"""What is told of texts that are read as missing values, such as ``n/a``, and that a database keeps as they are."""

from collections.abc import Iterable

from smallearn._text import joined, show

MOST_NAMED = 3  # columns that have the same texts


def note_of(by_column: Iterable[tuple[str, tuple[str, ...]]]) -> str | None:
    """A note on the texts that were read as missing values, by column; None if there are none."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, texts in by_column:
        groups.setdefault(texts, []).append(name)
    if not groups:
        return None
    found = "; ".join(f"{joined(list(map(show, texts)))} in {_columns(names)}" for texts, names in groups.items())
    return f"Read as missing values: {found}. In a database they have to be NULL."


def _columns(names: list[str]) -> str:
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return joined([*map(show, names[:MOST_NAMED]), *more])
