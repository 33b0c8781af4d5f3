"""Training rows that many searches share."""

import numpy as np

from smallearn._learn.choose.training_set import TrainingSet
from smallearn._learn.data.problem import build_problem
from smallearn._learn.solve import assignment


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


def test_no_run_of_k_means_is_repeated_and_none_depends_on_earlier_questions(monkeypatch):
    asked = []
    real = assignment.by_kmeans
    monkeypatch.setattr(assignment, "by_kmeans", lambda *given: (asked.append(given[1]), real(*given))[1])
    training, _ = training_set()
    first = training.by_kmeans({1: 3}, 1)
    more = training.by_kmeans({1: 3}, 3)
    assert more[0] is first[0]
    training.by_kmeans({1: 2}, 2)
    training.by_kmeans({1: 3}, 2)
    assert asked == [{1: 3}] * 3 + [{1: 2}] * 2
    fresh, _ = training_set()
    fresh.by_kmeans({0: 2}, 3)
    for one, other in zip(more, fresh.by_kmeans({1: 3}, 3), strict=True):
        np.testing.assert_array_equal(one.own, other.own)
