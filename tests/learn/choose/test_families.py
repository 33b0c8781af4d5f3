"""Which families are compared, and what one search of a family finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn._learn.choose.families import (
    FEW_ROWS,
    NEIGHBOURS,
    ROWS_EACH,
    ROWS_PER_CLASS,
    ROWS_PER_TERM,
    SEARCHED_ROWS,
    CandidateModel,
    Family,
    RowLimits,
    Task,
    list_families,
    train_family,
)
from smallearn._learn.data.problem import build_problem
from smallearn._learn.solve.budgets import Budget


def problem_of(m=60, n_classes=2, literals="raw", weight=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 3))
    y = np.arange(m) % n_classes
    X[:, 0] += y
    return build_problem(X, y, np.ones(m) if weight is None else weight, literals=literals, cut_points=4)


def listed(
    problem, max_terms=6, n_prototypes=(1, 2), alphas=(0.1, 0.01, 0.001), literals=("raw", "both"), owners=(1, 0)
):
    options = {"n_prototypes": n_prototypes, "alphas": alphas, "literals": literals, "owners": owners}
    return list_families(problem, max_terms, **options)


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
    st.lists(st.sampled_from([1.0, 0.1, 0.01, 0.001]), min_size=1, max_size=4),
)
def test_every_combination_is_listed_once(n_prototypes, alphas):
    families = listed(problem_of(literals="both"), n_prototypes=n_prototypes, alphas=alphas)
    assert len(set(families)) == len(families)
    seen = {
        (family.literals, family.n_prototypes, family.owner, alpha) for family in families for alpha in family.alphas
    }
    assert seen == {
        (kind, p, owner, alpha)
        for kind in ("raw", "both")
        for p in n_prototypes
        for owner in ((1,) if p == 1 else (1, 0))
        for alpha in alphas
    }
    assert all(1 <= len(family.alphas) <= NEIGHBOURS for family in families)
    assert all(list(family.alphas) == sorted(family.alphas, reverse=True) for family in families)


def test_literals_that_say_no_more_than_the_features_are_not_tried():
    assert {family.literals for family in listed(problem_of(literals="raw"))} == {"raw"}


@pytest.mark.parametrize(
    ("rows", "max_terms", "expected"),
    [
        (200, 1, {1}),
        (200, 3, {1, 2}),
        (200, 8, {1, 2, 3, 4}),
        (200, 18, {1, 2, 3, 4, 6}),
        (40, 8, {1, 2}),
        (10, 8, {1}),
    ],
)
def test_by_default_each_prototype_has_two_terms_and_ten_rows(rows, max_terms, expected):
    families = listed(problem_of(rows), max_terms, n_prototypes=None)
    assert {family.n_prototypes for family in families} == expected
    assert max(expected) * ROWS_EACH <= max(rows // 2, ROWS_EACH)
    doubled = listed(problem_of(rows // 2, weight=np.full(rows // 2, 2.0)), max_terms, n_prototypes=None)
    assert {family.n_prototypes for family in doubled} == expected  # a row of weight 2 is two rows


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_prototypes", [1, 2])
def test_a_search_finds_a_model_of_each_size_at_each_alpha(n_classes, n_prototypes):
    problem = problem_of(90, n_classes)
    task = Task(
        problem=problem, budget=Budget(6.0, "total"), min_terms=2, max_terms=6, scoring=None, seed=0, feature_names=None
    )
    family = Family("raw", n_prototypes, 1 if n_classes == 2 else None, (0.1, 0.01))
    models = train_family(task, task.training_set(problem), family, n_init=2)
    assert {alpha for alpha, _ in models} == {0.1, 0.01}
    sizes = {alpha: sorted(size for other, size in models if other == alpha) for alpha in family.alphas}
    assert sizes[0.1] == sizes[0.01]
    assert max(sizes[0.1]) <= 6
    for (alpha, _), state in models.items():
        search = task.search(task.rows(problem, family.owner), family, alpha)
        assert search.size(state) <= 6
        assert search.refit(state).value <= state.value * (1.0 + 1e-6)


@pytest.mark.parametrize(("owner", "n_prototypes", "limit"), [(1, 1, 12), (1, 3, 4), (None, 2, 2), (None, 12, 1)])
def test_by_prototype_the_terms_are_split_equally(owner, n_prototypes, limit):
    problem = problem_of(90, 2 if owner else 3)
    budget = Budget(12.0, "prototype")
    task = Task(problem=problem, budget=budget, min_terms=1, max_terms=12, scoring=None, seed=0)
    assert task.family_budget(Family("raw", n_prototypes, owner, (0.1,), "prototype")).limit == limit


def test_a_class_gets_no_more_prototypes_than_it_has_rows():
    problem = problem_of(30)
    task = Task(problem=problem, budget=Budget(4.0), min_terms=1, max_terms=4, scoring=None, seed=0)
    code = np.array([0, 0, 0, 1])
    assert task.counts(Family("raw", 3, 1, (0.1,)), code) == {1: 1}
    assert task.counts(Family("raw", 3, 0, (0.1,)), code) == {0: 3}


# --- how many rows are trained on ------------------------------------------------------------------------------------


def test_few_rows_are_all_trained_on():
    limits = RowLimits.automatic(FEW_ROWS, n_classes=2, max_terms=8)
    assert limits == RowLimits(first=FEW_ROWS, folds=FEW_ROWS, search=SEARCHED_ROWS)


def test_many_rows_give_larger_samples_and_most_of_all_to_the_families_left_and_no_more_from_some_number_on():
    assert RowLimits.automatic(64_000, 2, 8) == RowLimits(first=2_000, folds=4_000, search=SEARCHED_ROWS)
    assert RowLimits.automatic(160_000, 2, 8) == RowLimits(first=5_000, folds=10_000, search=10_000)
    most = RowLimits(first=4 * FEW_ROWS, folds=8 * FEW_ROWS, search=8 * FEW_ROWS)
    assert RowLimits.automatic(10**6, 2, 8) == RowLimits.automatic(10**9, 2, 8) == most


@pytest.mark.parametrize(
    ("n_classes", "max_terms", "least"),
    [(100, 8, 100 * ROWS_PER_CLASS), (2, 500, 500 * ROWS_PER_TERM), (100, 2000, 2000 * ROWS_PER_TERM)],
    ids=["many classes", "many terms", "both"],
)
def test_many_classes_and_many_terms_take_more_rows(n_classes, max_terms, least):
    assert RowLimits.automatic(1000, n_classes, max_terms) == RowLimits(least, least, max(least, SEARCHED_ROWS))


@given(st.integers(1, 10**9), st.integers(2, 1000), st.integers(1, 10_000))
def test_later_steps_of_a_selection_never_have_fewer_rows_and_more_data_never_give_fewer(n_rows, n_classes, max_terms):
    limits = RowLimits.automatic(n_rows, n_classes, max_terms)
    assert FEW_ROWS <= limits.first <= limits.folds <= limits.search
    for more in (
        (2 * n_rows, n_classes, max_terms),
        (n_rows, n_classes + 1, max_terms),
        (n_rows, n_classes, max_terms + 1),
    ):
        assert all(a <= b for a, b in zip(limits, RowLimits.automatic(*more), strict=True))


def test_models_that_count_terms_in_different_ways_have_different_shapes():
    shared, total = (CandidateModel(Family("raw", 1, None, (0.1,), pooling), 0.1, 4) for pooling in ("shared", "total"))
    assert shared.shape != total.shape == total._replace(n_terms=8).shape
