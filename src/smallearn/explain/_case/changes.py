"""A change of a row that changes its decision."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._text import of_unit, show
from smallearn.explain._case.domains import OTHER
from smallearn.model._sentences import value_text


@dataclass(frozen=True)
class Change:
    """A feature that changes from one value to another.

    Parameters
    ----------
    feature : int
        The position of the feature in the training data.
    label : str
        The name of the feature.
    before : object
        The value of the row; None if it is missing.
    after : object
        The new value.
    unit : str or None
        What the feature is measured in.

    Examples
    --------
    >>> from smallearn.explain import Change
    >>> Change(feature=0, label="age", before=50, after=38.0, unit="years").text
    'age from 50 to 38 years'
    """

    feature: int
    label: str
    before: Any
    after: Any
    unit: str | None = None

    @property
    def text(self) -> str:
        """The change on one line: ``age from 50 to 38 years``.

        Returns
        -------
        str
            A phrase without a verb.
        """
        is_truth = isinstance(self.before, bool | np.bool_) and self.after in (0.0, 1.0)
        after = self.after if self.after is OTHER else value_text(bool(self.after) if is_truth else self.after)
        return f"{show(self.label, quote=False)} from {value_text(self.before)} to {after}{of_unit(self.unit)}"


@dataclass(frozen=True)
class Flip:
    """Changes that together make the model predict another class.

    Parameters
    ----------
    changes : tuple of Change
        One for each feature that changes.
    label : class label
        What the model predicts then.
    size : float
        The sum of the changes: of a number relative to its range in training; 1 for another category, or for a value
        in place of a missing one.

    Examples
    --------
    >>> from smallearn.explain import Change, Flip
    >>> change = Change(feature=0, label="colour", before="red", after="blue")
    >>> Flip(changes=(change,), label="yes", size=1.0).text
    "colour from 'red' to 'blue' makes it 'yes'"
    """

    changes: tuple[Change, ...]
    label: Any
    size: float

    @property
    def text(self) -> str:
        """The changes and their effect: ``age from 50 to 38 makes it 'yes'``.

        Returns
        -------
        str
            A sentence without its full stop.
        """
        changes = " and ".join(change.text for change in self.changes)
        return f"{changes} {'makes' if len(self.changes) == 1 else 'make'} it {show(self.label)}"
