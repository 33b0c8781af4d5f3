"""Rows and models to draw, and what a picture says."""

from dataclasses import replace

import numpy as np
import pandas as pd

from smallearn.model import Selection, Step
from tests.helpers.models import YES

RNG = np.random.default_rng(0)
N = 60
ODD = pd.DataFrame(
    {
        "age": np.where(RNG.random(N) < 0.2, np.nan, RNG.integers(20, 80, N)),
        "colour": RNG.choice(["red", "blue", "green", None], N),
        "other": RNG.normal(size=N),
        "member": RNG.choice([True, False], N),
    }
)
ODD_LABELS = np.where(RNG.random(N) < 0.5, "yes", "no")
MANY = RNG.normal(size=(N, 3))
PAIRS = RNG.normal(size=(N, 2)) * 2.0
CHOSEN = replace(YES, selection=Selection("accuracy", (0.9, 0.8), 4, (Step(1, 1, 0.7, 0.05), Step(3, 2, 0.85, 0.02))))


def drawn(ax):
    """The Axes, once they have been rendered."""
    ax.get_figure().canvas.draw()
    return ax


def words(ax):
    legend = [] if ax.get_legend() is None else ax.get_legend().get_texts()
    texts = [*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels(), ax.title, ax._left_title, *legend]
    return [text.get_text() for text in [*texts, ax.xaxis.label, ax.yaxis.label]]
