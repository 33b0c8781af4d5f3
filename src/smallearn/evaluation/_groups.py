"""Groups of rows in which errors are frequent: by the prototype that decides and by the values of each feature."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from smallearn._text import exact, show, show_category
from smallearn.model import SMaLLModel
from smallearn.model._columns import Column
from smallearn.model._rows import Rows
from smallearn.model._sentences import score_name

MOST_GROUPS, FEWEST_ROWS = 5, 10  # that are listed; that a group has, unless 5% of all rows are more
FEW_VALUES = 5  # of a number: each is a group; more values are split at the quartiles


@dataclass(frozen=True)
class Group:
    """Rows that have something in common, and how many of them are predicted wrongly.

    Parameters
    ----------
    text : str
        What they have in common: ``"age above 40, up to 60"``.
    n_rows : int
        The number of rows in the group.
    wrong : float
        The share of these rows that is predicted wrongly.

    Examples
    --------
    >>> from smallearn.evaluation import Group
    >>> Group(text="colour is missing", n_rows=20, wrong=0.75).wrong
    0.75
    """

    text: str
    n_rows: int
    wrong: float


def groups_of(model: SMaLLModel, rows: Rows, wrong: np.ndarray) -> list[Group]:
    """The groups with the highest error rates above the overall one; ``wrong`` is true for each row in error."""
    partitions: list[tuple[list[str], np.ndarray]] = []
    if len(model.prototypes) > 1:
        names = _names_of_prototypes(model)
        partitions.append((names, model.winners(model.scores(rows))))
    partitions += [_partition(rows.columns[term.feature]) for term in model.features]
    fewest = max(FEWEST_ROWS, len(wrong) // 20)
    groups = []
    for names, part in partitions:
        n_rows = np.bincount(part, minlength=len(names))
        errors = np.bincount(part, weights=wrong, minlength=len(names))
        groups += [
            Group(text=names[i], n_rows=int(n_rows[i]), wrong=float(errors[i] / n_rows[i]))
            for i in np.flatnonzero(n_rows >= fewest)
        ]
    worse = [group for group in groups if group.wrong > wrong.mean()]
    return sorted(worse, key=lambda group: -group.wrong)[:MOST_GROUPS]


def _names_of_prototypes(model: SMaLLModel) -> list[str]:
    """What rows have in common whose greatest score is that of a prototype."""
    if len(set(model.owners)) == len(model.owners) and model.sole_owner is None and model.decision[1:3] == (None, None):
        return [f"predicted {show_category(model.classes[owner])}" for owner in model.owners]
    return [f"highest is the {score_name(model, j)}" for j in range(len(model.prototypes))]


def _partition(column: Column) -> tuple[list[str], np.ndarray]:
    """The rows split by category, by value or at the quartiles: the text of each part, and the part of each row.

    Part 0 holds the rows without a value.
    """
    name = show(column.label, quote=False)
    missing = column.missing
    part = np.zeros(len(missing), dtype=np.int64)
    try:
        numbers = column.numbers[~missing]
    except ValueError:  # text
        number: dict[Any, int] = {}
        part[~missing] = [number.setdefault(value, len(number)) + 1 for value in column.values[~missing].tolist()]
        return [f"{name} is missing", *(f"{name} is {show_category(value)}" for value in number)], part
    values = np.unique(numbers)
    if len(values) <= FEW_VALUES:
        part[~missing] = np.searchsorted(values, numbers) + 1
        return [f"{name} is missing", *(f"{name} is {_short(value, 6)}" for value in values)], part
    ends = np.unique(np.quantile(numbers, [0.0, 0.25, 0.5, 0.75, 1.0]))
    part[~missing] = np.maximum(np.searchsorted(ends, numbers), 1)
    first, *others = pairwise(ends)
    spans = [f"from {_short(first[0])} to {_short(first[1])}"]
    spans += [f"above {_short(low)}, up to {_short(high)}" for low, high in others]
    return [f"{name} is missing", *(f"{name} {span}" for span in spans)], part


def _short(value: float, digits: int = 4) -> str:
    """A number in so many digits, without an exponent unless it is very large or small: 115700."""
    return exact(float(f"{value:.{digits}g}"))
