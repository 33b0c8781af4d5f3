"""Training rows that many searches share."""

import numpy as np

from smallearn._learn.choose.training_set import TrainingSet
from smallearn._learn.data.problem import build_problem
from smallearn._learn.solve import starts


def training_set():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    problem = build_problem(X, (X[:, 0] > 0.0).astype(int), np.ones(60))
    made = []

    def make_rows(problem, owner):
        made.append(owner)
        return problem.rows(owner, True, 1)

    return TrainingSet(problem, make_rows, 5), made


def test_rows_are_made_once_for_each_owner_and_columns_once_for_all():
    training, made = training_set()
    assert training.rows(1) is training.rows(1)
    assert training.rows(0).labels.zero_owner == 1
    assert training.columns is training.columns
    assert made == [1, 0, None]


def test_k_means_is_run_once_for_each_question_and_does_not_depend_on_earlier_ones(monkeypatch):
    asked = []
    real = starts.by_kmeans
    monkeypatch.setattr(starts, "by_kmeans", lambda *given: (asked.append(given[1:3]), real(*given))[1])
    training, _ = training_set()
    first = training.by_kmeans({1: 3}, 2)
    assert training.by_kmeans({1: 3}, 2) is first
    training.by_kmeans({1: 2}, 2)
    training.by_kmeans({1: 3}, 1)
    training.by_kmeans({0: 3}, 2)
    assert asked == [({1: 3}, 2), ({1: 2}, 2), ({1: 3}, 1), ({0: 3}, 2)]
    fresh, _ = training_set()
    fresh.by_kmeans({0: 2}, 3)
    for one, other in zip(first, fresh.by_kmeans({1: 3}, 2), strict=True):
        np.testing.assert_array_equal(one.own, other.own)
