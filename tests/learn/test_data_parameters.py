"""Parameters that need the data: features by name or position, classes, weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn._learn.data_parameters import (
    Features,
    check_class_weight,
    check_cut_points,
    check_positive_class,
    check_sample_weight,
    count_threads,
)

NAMES = ["age", "height", "mass"]


@given(st.integers(1, 6), st.data())
def test_names_positions_negative_positions_and_masks_mean_the_same_features(n, data):
    features = Features(n, [f"f{l}" for l in range(n)])
    chosen = sorted(data.draw(st.sets(st.integers(0, n - 1))))
    mask = np.isin(np.arange(n), chosen)
    ways = [chosen, [f"f{l}" for l in chosen], [l - n for l in chosen], mask, mask.tolist(), chosen + chosen]
    for way in ways:
        assert features.positions("always_in", way) == chosen


@given(st.integers(1, 6), st.data())
def test_a_dict_fills_in_the_default_and_a_list_has_them_all(n, data):
    features = Features(n)
    some = data.draw(st.dictionaries(st.integers(0, n - 1), st.floats(-5.0, 5.0)))
    expected = [some.get(l, 7.0) for l in range(n)]
    assert features.numbers("feature_costs", some, 7.0).tolist() == expected
    assert features.numbers("feature_costs", expected, 0.0).tolist() == expected


@pytest.mark.parametrize("key", ["Age", "", 3, -4, 1.0, True, None, (0,)])
def test_a_feature_that_is_not_there_is_refused(key):
    with pytest.raises(ValueError, match=r"always_in (names|has) the feature"):
        Features(3, NAMES).index("always_in", key)


def test_a_long_list_of_names_is_cut_short():
    with pytest.raises(ValueError, match=r"'f9', …\.$"):
        Features(30, [f"f{l}" for l in range(30)]).index("always_in", "age")


def test_a_feature_with_cut_points_by_name_and_by_position_is_refused():
    features = Features(3, NAMES)
    assert check_cut_points(features, {"age": [1, 2], 2: []}, False, ()) == {0: [1.0, 2.0], 2: []}
    with pytest.raises(ValueError, match="twice, by name and by position"):
        check_cut_points(features, {"age": [1.0], 0: [2.0]}, False, ())


@pytest.mark.parametrize(
    ("positive_class", "classes", "owners"),
    [(None, [0, 1], [1]), ("auto", [0, 1], [1, 0]), ("no", ["no", "yes"], [0]), (None, [0, 1, 2], [None])],
)
def test_the_classes_that_may_own_prototypes(positive_class, classes, owners):
    assert check_positive_class(positive_class, classes) == owners


def test_a_class_called_auto_is_not_meant_by_auto():
    assert check_positive_class("auto", ["auto", "manual"]) == [1, 0]


@given(st.lists(st.floats(0.0, 1e6), min_size=1, max_size=9).filter(any))
def test_sample_weights_are_kept_as_they_are(weights):
    np.testing.assert_array_equal(check_sample_weight(weights, np.zeros((len(weights), 1))), weights)


def test_without_sample_weights_every_row_weighs_one():
    assert check_sample_weight(None, np.zeros((3, 2))).tolist() == [1.0, 1.0, 1.0]


def test_class_weights_follow_the_order_of_the_classes():
    assert check_class_weight({"b": 2.0}, ["a", "b"]).tolist() == [1.0, 2.0]
    assert check_class_weight(None, ["a", "b"]).tolist() == [1.0, 1.0]
    assert check_class_weight("balanced", ["a", "b"]) is None


@pytest.mark.parametrize(("n_jobs", "threads"), [(None, 1), (3, 3), (-1, 4), (-2, 3), (-9, 1)])
def test_threads_are_counted_as_joblib_counts_them(monkeypatch, n_jobs, threads):
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert count_threads(n_jobs) == threads
