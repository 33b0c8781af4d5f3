"""Accuracy against size, drawn."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from smallearn import SMaLLClassifierCV, plot
from smallearn.devices import cost
from tests.helpers.models import RANGED, YES
from tests.helpers.pictures import CHOSEN


def test_a_frontier_has_the_scores_and_marks_the_choice():
    ax = plot.frontier(CHOSEN)
    line = ax.lines[0]
    assert line.get_xdata().tolist() == [1, 3]
    assert line.get_ydata().tolist() == [0.7, 0.85]
    star = next(found for found in ax.lines if found.get_marker() == "*")
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (3, pytest.approx(0.85))
    assert ax.get_legend().get_texts()[0].get_text() == "chosen: 3 terms in 2 prototypes, 85.0%"
    ends = ax.collections[0].get_segments()
    assert [end[:, 1].tolist() for end in ends] == [pytest.approx([0.65, 0.75]), pytest.approx([0.83, 0.87])]


def test_points_without_a_choice_have_no_star_and_may_be_drawn_by_bytes():
    models = [replace(RANGED, prototypes=RANGED.prototypes[:1]), RANGED]
    points = [SimpleNamespace(n_terms=n, score=n / 5, spread=0.1, model=m) for n, m in enumerate(models, start=2)]
    ax = plot.frontier(points)
    assert all(line.get_marker() != "*" for line in ax.lines)
    ax = plot.frontier(points, by="bytes", chip="cortex-m0")
    sizes = ax.lines[0].get_xdata()
    assert 0 < sizes[0] < sizes[1]
    assert ax.get_xlabel().startswith("bytes of flash (")
    ax = plot.frontier(points, by="bytes", chip="cortex-m0", number="float32", layout="best")
    spent = [cost(model, "cortex-m0", "float32", layout="best").flash for model in models]
    assert ax.lines[0].get_xdata().tolist() == spent != sizes.tolist()
    assert ", float32" in ax.get_xlabel()


@pytest.mark.parametrize(
    ("points", "options", "problem"),
    [
        (YES, {}, "has no frontier"),
        (CHOSEN, {"by": "bytes"}, "by='bytes' needs the model of each point"),
        (CHOSEN, {"by": "weight"}, "by='weight' is not one of 'terms', 'bytes'"),
        ([], {}, "points is empty"),
        ([3], {}, "points has a int"),
        ("text", {}, "'text' is a path, not a model"),
        (SMaLLClassifierCV(), {}, "call fit first"),
    ],
)
def test_a_frontier_that_cannot_be_says_why(points, options, problem):
    with pytest.raises((ValueError, TypeError), match=problem):
        plot.frontier(points, **options)
