"""Every picture of the models that are hard to draw: all text is inside, nothing overlaps, nothing warns."""

import warnings
from inspect import isfunction
from itertools import pairwise

import pytest
from matplotlib.text import Text

from smallearn import plot
from tests.helpers.pictures import drawn
from tests.plot.cases import CASES, case

PICTURES = {
    "violins": lambda one, ax: plot.violins(one.model, one.X, one.y, ax=ax),
    "violins, rows alike": lambda one, ax: plot.violins(one.model, one.X, ax=ax),
    "violins, ranges": lambda one, ax: plot.violins(one.model, ax=ax),
    "decision_surface": lambda one, ax: plot.decision_surface(
        one.model, one.X, one.y, features=[term.label for term in one.model.features[:2]], ax=ax
    ),
    "frontier": lambda one, ax: plot.frontier(one.model, ax=ax),
    "score_card": lambda one, ax: plot.score_card(one.model, ax=ax),
    "contributions": lambda one, ax: plot.contributions(one.model, one.X.iloc[0], ax=ax),
    "reliability": lambda one, ax: plot.reliability(one.model, one.X, one.y, ax=ax),
}


def picture(name, of, ax=None):
    """The Axes of a picture, rendered, of a case; any warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return drawn(PICTURES[name](case(of), ax))


def boxes(figure):
    """Where the visible texts of the figure are, in pixels."""
    renderer = figure.canvas.get_renderer()
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [(text.get_text(), text.get_window_extent(renderer)) for text in texts]


def ticks(axis):
    """The boxes of the labels that are shown along an axis."""
    low, high = sorted(axis.get_view_interval())
    return [
        tick.label1.get_window_extent() if tick.label1.get_visible() else tick.label2.get_window_extent()
        for tick in axis.get_major_ticks()
        if low <= tick.get_loc() <= high and (tick.label1.get_text() or tick.label2.get_text())
    ]


def test_every_function_is_drawn_here():
    assert {name.split(",")[0] for name in PICTURES} == {
        name for name in plot.__all__ if isfunction(getattr(plot, name))
    }


@pytest.mark.parametrize("of", CASES)
@pytest.mark.parametrize("name", PICTURES)
def test_all_text_is_within_the_figure_and_no_tick_labels_overlap(name, of):
    figure = picture(name, of).get_figure()
    outside = [
        text
        for text, box in boxes(figure)
        if box.x0 < -1 or box.y0 < -1 or box.x1 > figure.bbox.width + 1 or box.y1 > figure.bbox.height + 1
    ]
    assert outside == []
    for ax in figure.axes:
        slopes = any(text.get_rotation() for text in ax.get_xticklabels())
        across = [] if slopes or not ax.axison else sorted((box.x0, box.x1) for box in ticks(ax.xaxis))
        up = sorted((box.y0, box.y1) for box in ticks(ax.yaxis)) if ax.axison else []
        for lower, upper in (*pairwise(across), *pairwise(up)):
            assert lower[1] <= upper[0] + 1
