"""How many rows of a rare class a model finds: what accuracy hides."""

from typing import Any, NamedTuple

import numpy as np

from smallearn.model import SMaLLModel
from smallearn.model._rare import rare_position


class Found(NamedTuple):
    """How many rows of a class there are, are predicted, and are both."""

    there: int
    flagged: int
    found: int

    @property
    def recall(self) -> float | None:
        """The share of the rows of the class that are found; None if there are none."""
        return self.found / self.there if self.there else None

    @property
    def precision(self) -> float | None:
        """The share of the rows predicted so that are right; None if there are none."""
        return self.found / self.flagged if self.flagged else None


def rare_class(model: SMaLLModel) -> Any:
    """The rarest class of the training rows, if accuracy says little of it; else None."""
    if model.data is None:
        return None
    position = rare_position(model.data.class_counts)
    return None if position is None else model.classes[position]


def found_of(model: SMaLLModel, label: Any, confusion: np.ndarray) -> Found:
    """How many rows of a class are found, from a confusion matrix."""
    at = model.classes.index(label)
    return Found(int(confusion[at].sum()), int(confusion[:, at].sum()), int(confusion[at, at]))
