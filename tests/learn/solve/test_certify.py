"""Branch and bound agrees with brute force, and what it says when stopped early is true."""

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smallearn import SMaLLClassifier
from smallearn._learn.data.blocks import DenseRows, Scaling
from smallearn._learn.data.labels import Assignment
from smallearn._learn.kernels import NO_PROTOTYPE
from smallearn._learn.solve import rounding
from smallearn._learn.solve.certify import Incumbent, Proof, certify
from smallearn._learn.solve.objective import Objective, Penalty
from smallearn._run.deadline import Deadline, enforce
from tests.helpers import oracle, problems

seeds = st.integers(0, 2**32 - 1)


def hard_problem(seed, p, n, penalty, m=40):
    """Correlated columns, two of them equal, and labels that depend on a few."""
    objective, _, _ = problems.random_problem(seed, m=m, n=n)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n)) @ rng.normal(size=(n, n))
    X[:, n - 1] = X[:, 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    code = (X[:, :3].sum(axis=1) + rng.normal(size=m) > 0.0).astype(np.int64)
    code[:2] = [0, 1]
    labels = replace(objective.rows.labels, code=code, zero_owner=0)
    own = np.where(code == 1, rng.integers(0, p, m), NO_PROTOTYPE)
    rows = DenseRows(X, Scaling.none(n), intercept=True, labels=labels)
    return Objective(rows=rows, assignment=Assignment(own=own, owner=np.ones(p, dtype=np.int64)), penalty=penalty)


def weakest(objective):
    """A model on the first support that keeps the budget: a poor incumbent."""
    penalty = objective.penalty
    support = np.broadcast_to(penalty.cost == 0.0, objective.shape).copy()
    while penalty.affordable(support).any():
        if penalty.pooling == "shared":
            support[:, np.flatnonzero(penalty.affordable(support).any(axis=0))[-1]] = True
        else:
            support.flat[np.flatnonzero(penalty.affordable(support))[-1]] = True
    W, value = rounding.refit(objective, support, np.zeros(objective.shape))
    return Incumbent(W=W, support=support, value=value)


def brute_force(objective):
    penalty = objective.penalty
    zero = np.zeros(objective.shape)
    candidates = oracle.supports(objective.shape[0], penalty.cost, penalty.pooling, penalty.budget)
    return min(rounding.refit(objective, support, zero)[1] for support in candidates)


def check(objective, proof, best, tol=1e-6):
    assert proof.complete
    assert proof.lower_bound <= best * (1.0 + 1e-9)
    assert best <= proof.value * (1.0 + 1e-9)
    assert proof.value <= best * (1.0 + 2.0 * tol)
    assert 0.0 <= proof.optimality_gap <= tol
    assert objective.penalty.allows(proof.support)
    assert not proof.W[~proof.support].any()
    assert proof.value == pytest.approx(objective.sparse_primal(proof.W), rel=1e-9)


@given(seeds, st.integers(3, 10), st.integers(1, 3), st.sampled_from([1e-4, 1e-2, 0.1]))
@settings(max_examples=20)
def test_one_prototype_agrees_with_brute_force(seed, n, k, alpha):
    objective = hard_problem(seed, 1, n, Penalty.count(alpha, k, n, 1))
    check(objective, certify(objective, weakest(objective), tol=1e-6), brute_force(objective))


@given(seeds, st.integers(3, 5), st.integers(1, 2), st.sampled_from([1e-3, 1e-2, 0.1]))
@settings(max_examples=15)
def test_two_prototypes_agree_with_brute_force(seed, n, k, alpha):
    objective = hard_problem(seed, 2, n, Penalty.count(alpha, k, n, 1))
    check(objective, certify(objective, weakest(objective), tol=1e-6), brute_force(objective))


@given(seeds, st.sampled_from(["prototype", "total", "shared"]), st.booleans(), st.booleans())
@settings(max_examples=25)
def test_every_budget_agrees_with_brute_force(seed, pooling, priced, signed):
    rng = np.random.default_rng(seed)
    cost = np.append(rng.choice([0.1, 0.2, 0.3, 0.7], 4) if priced else np.ones(4), 0.0)
    sign = np.append(rng.integers(-1, 2, 4) * signed, 0).astype(np.int8)
    penalty = Penalty(0.01, 0.6 if priced else 2.0, cost, sign, pooling)
    objective = hard_problem(seed, 2, 4, penalty)
    check(objective, certify(objective, weakest(objective), tol=1e-6), brute_force(objective))


def test_a_branch_that_costs_more_than_there_is_holds_no_support():
    """Where two columns that may each be paid for may not be paid for together, the proof keeps within the budget."""
    X = np.random.RandomState(0).randn(50, 5)
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0.0).astype(int)
    costs = np.array([1.0, 2.0, 3.0, 1.5, 2.5])
    for max_cost in (1.5, 3.2, 4.1):
        found = SMaLLClassifier(1, feature_costs=costs, max_cost=max_cost, certify=True, random_state=0).fit(X, y)
        assert costs[found.support_[0]].sum() <= max_cost
        assert found.optimality_gap_ <= 1e-4


def test_with_several_classes():
    objective, _, _ = problems.random_problem(3, m=40, n=4, n_classes=3, k=1, alpha=0.05)
    check(objective, certify(objective, weakest(objective), tol=1e-6), brute_force(objective))


def test_the_breast_cancer_data_are_proven_in_few_relaxations():
    """λ = 0.01, one prototype: brute force over the 4,060 supports of three gives the same."""
    two = problems.breast_cancer(3, 0.01)
    own = np.where(two.assignment.own != NO_PROTOTYPE, 0, NO_PROTOTYPE)
    objective = replace(two, assignment=Assignment(own=own, owner=np.ones(1, dtype=np.int64)))
    proof = certify(objective, weakest(objective), tol=1e-6)
    assert proof.complete
    assert proof.value == pytest.approx(0.17097041, abs=1e-8)
    assert np.flatnonzero(proof.support[0]).tolist() == [20, 21, 27, 30]
    assert proof.supports_total == 4060
    assert proof.nodes < 0.05 * 4060
    five = replace(objective, penalty=Penalty.count(0.01, 5, 30, 1))
    proof = certify(five, weakest(five), tol=1e-4)
    assert proof.complete
    assert proof.value == pytest.approx(0.1443103, abs=2e-5)
    assert proof.nodes < 0.005 * proof.supports_total


def test_a_proof_that_is_cut_short_is_honest_and_its_progress_is_reported():
    objective = problems.breast_cancer(3, 0.001)
    states: list[Proof] = []
    begin = time.monotonic()
    with enforce(Deadline(0.5)) as deadline:
        proof = certify(objective, weakest(objective), tol=1e-6, progress=states.append)
    assert time.monotonic() - begin < 5.0
    assert deadline.cut_short == ["the proof"]
    assert not proof.complete
    assert states
    bounds = [state.lower_bound for state in states]
    values = [state.value for state in states]
    assert bounds == sorted(bounds)
    assert values == sorted(values, reverse=True)
    assert bounds[-1] <= proof.lower_bound < proof.value <= values[-1]
    with enforce(Deadline(1.0)):
        longer = certify(objective, Incumbent(W=proof.W, support=proof.support, value=proof.value), tol=1e-6)
    assert longer.value <= proof.value
    assert proof.lower_bound <= longer.value


def test_stopped_at_once_the_bound_holds_and_only_the_proof_is_cut_short():
    objective = problems.breast_cancer(3, 0.01)
    with enforce(Deadline(0.0)) as deadline:
        proof = certify(objective, weakest(objective), tol=1e-6)
    assert deadline.cut_short == ["the proof"]
    assert proof.nodes == 1
    assert not proof.complete
    assert 0.0 <= proof.lower_bound <= problems.REFERENCE[3, 0.01] + 1e-7


def test_with_room_for_every_feature_there_is_nothing_to_prove():
    objective = problems.breast_cancer(30, 0.01)
    with enforce(Deadline(0.0)) as deadline:
        proof = certify(objective, weakest(objective), tol=1e-6)
    assert deadline.cut_short == []
    assert proof.complete
    assert proof.nodes == 1
    assert proof.supports_total == 1
