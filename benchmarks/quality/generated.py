"""Generated sets with several classes. They show what a family of models can express, and count in no mean."""

import numpy as np

from benchmarks.scale.data import make

ROWS, COLUMNS, CLASSES = 1_500, 10, 5
BOXES, SIDES, WIDTH = 2, 2, 0.4  # boxes of a class, columns that bound a box, and how wide it is there


def boxes() -> tuple[np.ndarray, np.ndarray]:
    """Each class is a union of boxes: intervals of a few columns, the other columns free. Boxes may overlap."""
    rng = np.random.default_rng(0)
    y = rng.integers(CLASSES, size=ROWS)
    box = rng.integers(BOXES, size=ROWS)
    X = rng.random((ROWS, COLUMNS))
    for label in range(CLASSES):
        for number in range(BOXES):
            rows = np.flatnonzero((y == label) & (box == number))
            for column in rng.choice(COLUMNS, SIDES, replace=False):
                X[rows, column] = rng.uniform(0.0, 1.0 - WIDTH) + WIDTH * X[rows, column]
    return X, y


def scores() -> tuple[np.ndarray, np.ndarray]:
    """The class is the greatest of as many sparse linear scores."""
    return make(ROWS, COLUMNS, CLASSES)
