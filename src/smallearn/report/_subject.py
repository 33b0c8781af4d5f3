"""What a page is about: the model, the rows that were read for it, and how it did on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from smallearn._text import count, show
from smallearn.evaluation import Evaluation
from smallearn.model import Rows, SMaLLModel


@dataclass(frozen=True)
class Subject:
    """The model and what was given with it.

    ``rows`` and ``y`` are None if not given; ``judged`` is None without either. ``row_numbers`` are those of the rows
    in the file ``source``; None for 1, 2, …. ``sampled_from`` is the number of rows if ``rows`` are a sample of them.
    """

    model: SMaLLModel
    rows: Rows | None = None
    y: Any = None
    judged: Evaluation | None = None
    units: Mapping[str, str] | None = None
    source: str | None = None
    row_numbers: Sequence[int] | None = None
    sampled_from: int | None = None

    @property
    def rows_text(self) -> str:
        """``171 rows of test.csv``."""
        read = 0 if self.rows is None else self.rows.n_rows
        n_rows = count(read if self.sampled_from is None else self.sampled_from, "row")
        return n_rows if self.source is None else f"{n_rows} of {show(self.source, quote=False)}"

    def number_of(self, row: int) -> int:
        """The number of a row in its file, by its position."""
        return row + 1 if self.row_numbers is None else int(self.row_numbers[row])
