"""One error of a model."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mistake:
    """A row that is predicted wrongly.

    Parameters
    ----------
    row : int
        Its position, from 0.
    truth, predicted : label
        The true class and the predicted one.
    probability : float
        The probability of the predicted class by the model.

    Examples
    --------
    >>> from smallearn.evaluation import Mistake
    >>> Mistake(row=75, truth="malignant", predicted="benign", probability=0.974).predicted
    'benign'
    """

    row: int
    truth: Any
    predicted: Any
    probability: float
