"""Every picture of the models that are hard to draw: all text is inside, nothing overlaps, nothing warns."""

import warnings
from inspect import isfunction
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text

from smallearn import plot
from tests.helpers.pictures import drawn, words
from tests.plot.cases import CASES, LONG, case

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


def ticks(axis):
    """The labels that are shown along an axis."""
    if not axis.axes.axison:
        return []
    low, high = sorted(axis.get_view_interval())
    shown = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [label for tick in shown for label in (tick.label1, tick.label2) if label.get_visible() and label.get_text()]


def texts(figure):
    """All texts that are shown."""
    of_axes = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    labels = {id(label) for axis in of_axes for tick in axis.get_major_ticks() for label in (tick.label1, tick.label2)}
    every = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    others = [text for text in every if id(text) not in labels]
    return [*others, *(label for axis in of_axes for label in ticks(axis))]


def test_every_function_is_drawn_here():
    assert {name.split(",")[0] for name in PICTURES} == {
        name for name in plot.__all__ if isfunction(getattr(plot, name))
    }


@pytest.mark.parametrize("of", CASES)
@pytest.mark.parametrize("name", PICTURES)
def test_all_text_is_within_the_figure_and_no_tick_labels_overlap(name, of):
    figure = picture(name, of).get_figure()
    boxes = {text.get_text(): text.get_window_extent() for text in texts(figure)}
    assert [
        text
        for text, box in boxes.items()
        if box.x0 < -1 or box.y0 < -1 or box.x1 > figure.bbox.width + 1 or box.y1 > figure.bbox.height + 1
    ] == []
    for ax in figure.axes:
        across = [label.get_window_extent() for label in ticks(ax.xaxis) if not label.get_rotation()]
        up = [label.get_window_extent() for label in ticks(ax.yaxis)]
        places = [sorted((box.x0, box.x1) for box in across), sorted((box.y0, box.y1) for box in up)]
        for lower, upper in (pair for along in places for pair in pairwise(along)):
            assert lower[1] <= upper[0] + 1


@pytest.mark.parametrize("name", ["violins", "score_card", "contributions"])
def test_names_that_differ_only_at_their_ends_are_told_apart(name):
    texts = " ".join(words(picture(name, "24 terms"))).replace("\n", " ")
    assert all(f"measurement of the cell nucleus {number}" in texts for number in range(24))


def test_a_name_that_is_too_long_keeps_its_beginning_and_its_end():
    text = "".join(words(picture("violins", "long names"))).replace("\n", "")
    assert f"{LONG[:20]}" in text
    assert f"{LONG[-18:]}_2" in text


def test_jittered_points_of_whole_numbers_are_within_axes_with_whole_ticks():
    ax = picture("decision_surface", "whole numbers")
    for at, (low, high) in enumerate((ax.get_xlim(), ax.get_ylim())):
        places = np.concatenate([np.asarray(points.get_offsets())[:, at] for points in ax.collections[-2:]])
        assert low < places.min()
        assert places.max() < high
    for axis in (ax.xaxis, ax.yaxis):
        assert all(place == round(place) for place in axis.get_ticklocs())


def test_booleans_are_named_along_an_axis_and_where_they_are_fixed():
    ax = picture("decision_surface", "Booleans")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["False", "True"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["False", "True"]
    assert "fixed: owns the house = False" in ax.get_xlabel()


def test_bars_of_close_values_do_not_overlap():
    ax = picture("violins", "whole numbers")
    bars = [bar for bar in ax.patches if bar.get_height() > 0]
    places = sorted({(round(bar.get_x(), 9), round(bar.get_x() + bar.get_width(), 9)) for bar in bars})
    assert len(places) > 8
    rooms = sorted((low, high) for low, high in places if low < -0.2)
    assert all(one[1] < other[0] for one, other in pairwise(rooms))


def test_pictures_in_small_axes_are_drawn_without_a_warning():
    for name in PICTURES:
        _, axes = plt.subplots(2, 2, figsize=(6.0, 5.0))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            picture(name, "six classes", axes[0, 0])
        assert not told, name
