"""Calibration curves."""

from itertools import pairwise

import numpy as np
import pytest

from smallearn import plot
from smallearn.evaluation import wilson
from tests.helpers.models import ROWS, THREE, YES
from tests.helpers.pictures import MANY, PAIRS, RNG, N, drawn


@pytest.mark.parametrize("n_bins", [1, 5, 30])
def test_reliability_is_the_share_in_each_bin(n_bins):
    labels = np.where(RNG.random(N) < 0.5, "yes", "no")
    ax = plot.reliability(YES, MANY, labels, n_bins=n_bins)
    chance = YES.predict_proba(MANY)[:, 1]
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    bins = [(chance >= a) & ((chance < b) | (b == 1.0)) for a, b in pairwise(edges)]
    line = next(found for found in ax.lines if found.get_marker() == "o")
    assert line.get_xdata() == pytest.approx([chance[one].mean() for one in bins if one.any()])
    assert line.get_ydata() == pytest.approx([(labels[one] == "yes").mean() for one in bins if one.any()])
    intervals = [wilson(int((labels[one] == "yes").sum()), int(one.sum())) for one in bins if one.any()]
    (ends,) = (found.get_segments() for found in ax.collections if hasattr(found, "get_segments"))
    assert [end[:, 1].tolist() for end in ends] == [pytest.approx([one.low, one.high]) for one in intervals]
    heights = np.array([bar.get_height() for bar in ax.patches])
    assert heights / heights.max() == pytest.approx(np.array([one.sum() for one in bins]) / max(map(sum, bins)))


def test_reliability_is_of_the_class_asked_for():
    ax = plot.reliability(THREE, PAIRS, THREE.predict(PAIRS), label="c", n_bins=1)
    line = next(found for found in ax.lines if found.get_marker() == "o")
    assert line.get_ydata() == pytest.approx([(THREE.predict(PAIRS) == "c").mean()])
    assert ax.get_xlabel() == "predicted probability of c"
    drawn(plot.reliability(YES, ROWS[:1], ["no"]))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"n_bins": 0}, "n_bins=0 is not a positive integer"),
        ({"n_bins": True}, "n_bins=True"),
        ({"label": "maybe"}, "label='maybe' is not a class of the model; its classes are 'no', 'yes'"),
        ({"y": ["no"]}, "one label for each of the 4 rows"),
        ({"y": ["no", "yes", "off", "no"]}, "does not know: 'off'; its classes are 'no', 'yes'"),
        ({"X": ROWS[:0]}, "at least one row"),
        ({"X": ROWS[0]}, "rows × features"),
    ],
)
def test_bad_rows_and_options_are_named(given, problem):
    with pytest.raises(ValueError, match=problem):
        plot.reliability(**{"model": YES, "X": ROWS, "y": ["no", "yes", "no", "no"], **given})
