"""Assembling: the model and the fitted attributes say the same, and making them changes nothing."""

from dataclasses import fields, replace

import numpy as np
import pytest

from smallearn import SMaLLClassifier, SMaLLClassifierCV
from smallearn._learn.assemble import AssembleOptions, assemble, remember_rows
from smallearn._learn.data.problem import build_problem
from smallearn._learn.solve import descent, starts
from smallearn._learn.solve.budgets import Budget
from smallearn._learn.solve.solvers import accelerated


def solved(n_classes=2, literals="raw", signs=None):
    """A problem of 80 rows and a solution of two prototypes and at most two terms each."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=80), [0.0] if n_classes == 2 else [-0.5, 0.5])
    problem = build_problem(X, y, np.ones(80), literals=literals, cut_points=5)
    budget = Budget(limit=2.0, signs=signs)
    owner = 1 if n_classes == 2 else None
    rows = problem.rows(owner, True, 1)
    plan = descent.Plan(
        penalty=budget.penalty(0.01, problem.candidates, True, owner),
        solver=lambda objective, start: accelerated.solve(objective, start, tol=1e-4, max_iter=1000),
        refit=True,
        rounds=10,
        verbose=False,
        sample_weight=problem.sample_weight,
    )
    counts = dict.fromkeys([1] if n_classes == 2 else range(3), 2)
    options = {"kind": "kmeans", "n_init": 1, "random_state": 0}
    (first,) = starts.best(problem, rows, plan.penalty, counts, **options)
    return X, problem, descent.train(rows, first, plan), budget


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("literals", ["raw", "both"])
@pytest.mark.parametrize("max_points", [None, 5])
def test_the_attributes_agree_with_the_model(n_classes, literals, max_points):
    X, problem, solution, budget = solved(n_classes, literals)
    fitted = assemble(problem, solution, budget, AssembleOptions(alpha=0.01, max_points=max_points))
    model = fitted.model
    assert model.classes == tuple(fitted.classes.tolist())
    assert fitted.prototype_classes.tolist() == [fitted.classes[prototype.owner] for prototype in model.prototypes]
    for prototype, support in zip(model.prototypes, fitted.support, strict=True):
        assert {term.feature for term in prototype.terms} == set(np.flatnonzero(support).tolist())
    constants = model.scale * np.array([prototype.intercept for prototype in model.prototypes])
    np.testing.assert_allclose(constants, fitted.intercepts)
    assert (fitted.weights is None) == (literals == "both")
    if fitted.weights is not None:
        np.testing.assert_allclose(model.scale * model.scores(X), X @ fitted.weights.T + fitted.intercepts)
    assert model.is_score_card == (max_points is not None)
    assert fitted.lower_bound <= fitted.objective == model.training.objective
    assert fitted.optimality_gap == model.training.optimality_gap


def test_assembling_twice_gives_the_same_and_leaves_the_solution_as_it_was():
    _, problem, solution, budget = solved(literals="both")
    before = solution.W.copy()
    options = AssembleOptions(alpha=0.01, max_points=3)
    one, two = (assemble(problem, solution, budget, options) for _ in range(2))
    np.testing.assert_array_equal(solution.W, before)
    for field in fields(one):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(two, field.name))


def test_points_never_have_a_sign_that_is_not_allowed():
    _, problem, solution, _ = solved()
    unsigned = assemble(problem, solution, Budget(limit=2.0), AssembleOptions(alpha=0.01, max_points=1))
    signed = assemble(
        problem, solution, Budget(limit=2.0, signs=np.zeros(4)), AssembleOptions(alpha=0.01, max_points=1)
    )
    real = assemble(problem, solution, Budget(limit=2.0), AssembleOptions(alpha=0.01))
    assert np.all(signed.weights * real.weights >= 0.0)
    assert np.abs(unsigned.weights).sum() >= np.abs(signed.weights).sum()


def test_names_and_means_are_in_the_terms_if_asked_for():
    _, problem, solution, budget = solved()
    names = np.array(["a", "b", "c", "d"], dtype=object)
    options = AssembleOptions(alpha=0.01, feature_names=names, fills_gaps=True)
    for term in assemble(problem, solution, budget, options).model.terms:
        assert term.name == names[term.feature]
        assert term.mean == pytest.approx(problem.X[:, term.feature].mean())
    for term in assemble(problem, solution, budget, replace(options, feature_names=None, fills_gaps=False)).model.terms:
        assert term.name is None
        assert term.mean is None


def test_rows_are_remembered_as_far_as_the_model_can_read_them():
    X, problem, solution, budget = solved()
    model = assemble(problem, solution, budget, AssembleOptions(alpha=0.01)).model
    y = problem.classes[problem.code]
    known = remember_rows(model, X, y)
    assert known.was_trained_on(X[::-1], y[::-1])
    assert not known.was_trained_on(X + 1.0, y)
    assert remember_rows(model, X[:, :1], y) is model


@pytest.mark.parametrize(
    "estimator", [SMaLLClassifier(1, 2), SMaLLClassifierCV(2, cv=2, n_prototypes=1, alphas=[0.01], random_state=0)]
)
def test_a_fit_replaces_every_attribute_of_an_earlier_one(estimator):
    X, problem, *_ = solved()
    y = problem.classes[problem.code]
    estimator.fit(X, y)
    estimator.stale_ = True
    first = vars(estimator).copy()
    estimator.fit(X[:, :3], y)
    assert not hasattr(estimator, "stale_")
    assert estimator.n_features_in_ == 3
    assert estimator.support_.shape[1] == 3
    assert estimator.model_ is not first["model_"]
