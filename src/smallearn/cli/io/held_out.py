"""``--test-size``: which rows are held out from training, class by class, without a table in memory."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from smallearn._text import count, show
from smallearn.cli.errors import CommandError
from smallearn.cli.io.rules import FEWEST_ROWS, Share
from smallearn.model import HeldOut, SMaLLModel

_STEP, _CLASS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_MIXING = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
_LAST_SHIFT = np.uint64(31)


def held_out_of(share: Share, class_counts: Sequence[int], classes: Sequence[object]) -> HeldOut:
    """How many rows of each class are held out. Enough remain to train on."""
    counts = [max(0, min(round(share.size * number), number - FEWEST_ROWS)) for number in class_counts]
    if sum(number > 0 for number in counts) < 2:
        at = counts.index(min(counts))
        raise CommandError(
            f"--test-size {share.size:g} leaves no row of class {show(classes[at])} to test on, as at least "
            f"{FEWEST_ROWS} of its {count(class_counts[at], 'row')} have to be trained on; leave --test-size out, and "
            "rely on the score by cross-validation"
        )
    return HeldOut(seed=share.seed, class_counts=tuple(counts))


class Split:
    """Tells of rows that come chunk by chunk, in the order of the table, which are held out.

    Of each class these are rows drawn at random; which ones depends on the seed, the number of rows of the class and
    their order alone.
    """

    def __init__(self, held_out: HeldOut, class_counts: Sequence[int]):
        pairs = enumerate(zip(class_counts, held_out.class_counts, strict=True))
        self._chosen = [_drawn(n_rows, n_held, held_out.seed, code) for code, (n_rows, n_held) in pairs]
        self._seen = [0] * len(self._chosen)

    @classmethod
    def of_model(cls, model: SMaLLModel) -> Self | None:
        """The split of the table that a model was trained on a part of; None if it was trained on all of it."""
        held_out = model.table.held_out
        if held_out is None or model.data is None:
            return None
        return cls(held_out, [sum(pair) for pair in zip(model.data.class_counts, held_out.class_counts, strict=True)])

    def holds_out(self, code: np.ndarray) -> np.ndarray:
        """Which rows of the next chunk are held out, from the position of each class; -1 is no class.

        Rows of a class beyond the number that there are in the table are not held out.
        """
        held = np.zeros(len(code), dtype=bool)
        for one, chosen in enumerate(self._chosen):
            rows = np.flatnonzero(code == one)
            begin = self._seen[one]
            self._seen[one] += len(rows)
            known = chosen[begin : begin + len(rows)]
            held[rows[: len(known)]] = known
        return held


def _drawn(n_rows: int, n_held: int, seed: int, code: int) -> np.ndarray:
    """Which of the rows of a class are held out: those with the least of different hashes (splitmix64)."""
    with np.errstate(over="ignore"):
        lots = np.arange(1, n_rows + 1, dtype=np.uint64) + (np.uint64(seed) + np.uint64(code) * _CLASS) * _STEP
        lots *= _STEP
        for shift, factor in _MIXING:
            lots ^= lots >> shift
            lots *= factor
        lots ^= lots >> _LAST_SHIFT
    held = np.zeros(n_rows, dtype=bool)
    held[np.argpartition(lots, n_held - 1)[:n_held] if n_held else []] = True
    return held
