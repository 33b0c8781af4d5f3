"""Generated sets with several classes. They show what a family of models can express, and count in no mean."""

import numpy as np

from benchmarks.scale.data import make

ROWS, COLUMNS, CLASSES = 1_500, 8, 4
BOXES, SIDES, CELLS = 3, 3, 3  # boxes of a class, columns that bound them, and how many fit side by side


def boxes() -> tuple[np.ndarray, np.ndarray]:
    """Each class is a union of boxes, which are cells of a grid over the first columns; the others are noise."""
    rng = np.random.default_rng(0)
    y, box = rng.integers(CLASSES, size=ROWS), rng.integers(BOXES, size=ROWS)
    cells = rng.choice(CELLS**SIDES, (CLASSES, BOXES), replace=False)
    corners = np.stack(np.unravel_index(cells, (CELLS,) * SIDES), axis=-1)
    X = rng.random((ROWS, COLUMNS))
    X[:, :SIDES] += corners[y, box]
    return X, y


def scores() -> tuple[np.ndarray, np.ndarray]:
    """The class is the greatest of as many sparse linear scores."""
    return make(ROWS, COLUMNS, CLASSES)
