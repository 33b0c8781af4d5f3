"""Which class is rare: accuracy says little of it."""

from collections.abc import Sequence

RARE = 0.2  # share of the rows; with more than two classes it is half of an equal share


def rare_position(counts: Sequence[float]) -> int | None:
    """The position of the rarest class, by the rows or the share of each class; None if no class is rare."""
    least = min(counts)
    return counts.index(least) if least < min(RARE, 0.5 / len(counts)) * sum(counts) else None
