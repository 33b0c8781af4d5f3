"""Confidence intervals."""

import pytest
from scipy.stats import binomtest

from smallearn.evaluation import Interval, wilson
from smallearn.evaluation._intervals import normal


def test_a_share_of_few_rows_stays_within_its_limits():
    assert wilson(3, 3).high == 1.0
    assert wilson(3, 3).low == pytest.approx(0.4385, abs=1e-3)
    assert wilson(0, 3).low == 0.0


def test_wilson_is_that_of_scipy():
    for hits, n in ((0, 5), (3, 10), (40, 40)):
        expected = binomtest(hits, n).proportion_ci(0.95, "wilson")
        assert wilson(hits, n) == Interval(value=hits / n, low=expected.low, high=expected.high)


def test_a_normal_interval_stays_within_its_bounds():
    wide = normal(0.5, 0.1, highest=1.0)
    assert (wide.low, wide.high) == pytest.approx((0.5 - 1.959964 * 0.1, 0.5 + 1.959964 * 0.1), abs=1e-6)
    assert normal(0.95, 0.1, highest=1.0).high == 1.0
    assert normal(0.05, 0.1).low == 0.0
