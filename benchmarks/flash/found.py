"""What every method gives back, and what all of them share."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import train_test_split

CHIP = "cortex-m0"
VALIDATION = 0.25  # share of the training rows on which settings are compared


@dataclass(frozen=True)
class Found:
    """A model that was chosen on training rows: its bytes of flash, and what the chip predicts."""

    method: str
    about: str
    flash: int
    predict: Callable[[np.ndarray], np.ndarray]


def validation_split(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that settings are fitted to, and those on which they are compared."""
    fit, compare = train_test_split(np.arange(len(y)), test_size=VALIDATION, stratify=y, random_state=0)
    return fit, compare
