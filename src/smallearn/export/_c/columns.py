"""What `predict` compares: a column for each prototype, in which all terms are added up before any is compared.

A column is the score of a prototype. In whole numbers with more than two classes it is how far the score is ahead of
that of the first prototype, offsets of the decision included, if the sums then need no wider type: whoever is ahead is
predicted, and one column less is needed. The column of the first prototype itself is its score.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from smallearn.export._c.model import CModel
from smallearn.export._fixed.codes import Count
from smallearn.export._fixed.numbers import Row
from smallearn.export._fixed.quantise import CODE_BITS, IntegerModel, bits_for


@dataclass(frozen=True)
class Columns:
    """The columns of a model. ``first`` is the prototype that the others are compared with, or None."""

    c: CModel
    first: int | None

    @classmethod
    def of(cls, c: CModel, most_bits: int) -> "Columns":
        """Compared with the first prototype if whole numbers of this many bits hold that, otherwise as they are."""
        if not c.is_float and not c.target.flat.has_one_owner:
            ahead = cls(c, c.target.flat.by_class[0])
            if ahead.bits <= most_bits:
                return ahead
        return cls(c, None)

    @property
    def others(self) -> list[int]:
        """The prototypes whose columns decide, ordered by class so that ties go to the first."""
        return [j for j in self.c.target.flat.by_class if j != self.first]

    @cached_property
    def shifts(self) -> list[float]:
        """What is in each column beyond the score, or beyond the difference to the score of the first prototype."""
        target = self.c.target
        if self.c.is_float or not target.offsets:
            return [0] * len(target.intercepts)
        offsets = [target.offsets[owner] for owner in target.flat.owners]
        return (
            offsets
            if self.first is None
            else [0 if j == self.first else offset - offsets[self.first] for j, offset in enumerate(offsets)]
        )

    @cached_property
    def starts(self) -> list[float]:
        """Where each column begins."""
        return [start + shift for start, shift in zip(self.ahead(self.c.target.intercepts), self.shifts, strict=True)]

    def weights(self, row: Row) -> list[float]:
        """What a literal adds to each column where it holds, or what a raw term multiplies."""
        return self.ahead([0 if term is None else term.weight for term in row])

    def instead(self, row: Row) -> list[float] | None:
        """What a raw term adds to each column where its value is missing; None if that is no value of its own."""
        numbers = [None if term is None else term.instead for term in row]
        return None if all(number is None for number in numbers) else self.ahead([number or 0 for number in numbers])

    def ahead(self, numbers: Sequence[float]) -> list[float]:
        """Numbers of the prototypes, those of all but the first less that of the first."""
        if self.first is None:
            return list(numbers)
        return [number if j == self.first else number - numbers[self.first] for j, number in enumerate(numbers)]

    # --- types -------------------------------------------------------------------------------------------------------

    @cached_property
    def bits(self) -> int:
        """The width of the smallest type that holds every partial sum of every column, in any order."""
        return max(map(bits_for, self.intervals))

    @cached_property
    def intervals(self) -> list[tuple[int, int]]:
        """For each column, an interval that holds every product and every partial sum, as `Rounded.intervals`."""
        target = self.c.target
        assert isinstance(target, IntegerModel)
        ends = [[min(0, int(start)), max(0, int(start))] for start in self.starts]
        for row in target.rows:
            first = next(term for term in row if term is not None)
            factors = codes_of(target, first.input) if first.kind == "raw" else (0, 1)
            others = self.instead(row) or [0] * len(ends)
            for own, weight, other in zip(ends, self.weights(row), others, strict=True):
                added = [0, int(other), *(int(weight) * factor for factor in factors)]
                own[0] += min(added)
                own[1] += max(added)
        return [(least, greatest) for least, greatest in ends]

    @property
    def type(self) -> str:
        """The type of a column."""
        return self.c.sum_type() if self.c.is_float else self.c.fast_type(self.bits)

    # --- expressions -------------------------------------------------------------------------------------------------

    def score(self, prototype: int) -> str:
        """The score of a prototype, from the columns ``z``."""
        parts = [f"z[{prototype}]"]
        if self.first is not None and prototype != self.first:
            parts.insert(0, f"z[{self.first}]")
        shift = self.shifts[prototype]
        text = " + ".join(parts) + (f" {'-' if shift > 0 else '+'} {abs(shift)}" if shift else "")
        return f"({self.c.score_type})({text})"

    def compared(self, prototype: int) -> str:
        """What decides: the column, in floats with the offset of its class."""
        target = self.c.target
        offset = target.offsets[target.flat.owners[prototype]] if self.c.is_float and target.offsets else 0.0
        return f"z[{prototype}] + {self.c.number(offset)}" if offset else f"z[{prototype}]"


def codes_of(target: IntegerModel, position: int) -> tuple[int, int]:
    """The least and the greatest code of an input in a product."""
    coder, most = target.coders[position], 2 ** (CODE_BITS[target.number] - 1)
    return (coder.least, coder.greatest) if isinstance(coder, Count) else (-most, most - 1)
