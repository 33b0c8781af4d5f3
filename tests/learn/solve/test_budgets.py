"""Costs, signs and every pooling of the budget: proximal step, bound, rounding and refit against slow oracles."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smallearn._learn.solve import geometry, rounding
from smallearn._learn.solve.objective import Penalty
from smallearn._learn.solve.solvers import accelerated, mirror_prox
from tests.helpers import oracle, problems

seeds = st.integers(0, 2**32 - 1)
poolings = st.sampled_from(["prototype", "total", "shared"])


def random_penalty(seed, d, pooling, alpha=0.05, signs=True):
    """Costs of few or many sizes, some of them 0 (anywhere) and some beyond the budget; signs on about half."""
    rng = np.random.default_rng(seed)
    cost = rng.choice([0.1, 0.2, 0.3, 1.0], d) if seed % 2 else rng.uniform(0.05, 2.0, d)
    cost[rng.random(d) < 0.2] = 0.0
    budget = float(rng.choice([0.3, 0.6, 1.1, 2.0]))
    sign = rng.integers(-1, 2, d) if signs else np.zeros(d)
    return Penalty(alpha, budget, cost, sign.astype(np.int8), pooling)


def random_objective(seed, pooling, n_classes=2, n=5, m=14, alpha=0.05, signs=True):
    objective, standard, _ = problems.random_problem(seed, m=m, n=n, n_classes=n_classes, alpha=alpha)
    return replace(objective, penalty=random_penalty(seed, n + 1, pooling, alpha, signs)), standard


@given(seeds, poolings, st.integers(1, 3), st.sampled_from([1e-3, 0.3, 20.0]))
def test_prox_agrees_with_bisection_under_every_budget(seed, pooling, p, rho):
    penalty = random_penalty(seed, 6, pooling, alpha=rho)
    V = np.random.default_rng(seed).normal(size=(p, 6)) * 10.0 ** (seed % 3)
    V[np.random.default_rng(seed + 1).random(V.shape) < 0.2] = 0.0
    W, mask, value = penalty.prox(V, 1.0)
    expected, expected_mask = oracle.prox_budget(V, penalty.cost, penalty.sign, pooling, penalty.budget, rho)
    np.testing.assert_allclose(W, expected, atol=1e-9 * np.abs(V).max())
    np.testing.assert_allclose(mask, expected_mask, atol=1e-9)
    used = mask > 0.0
    assert value == pytest.approx(0.5 * rho * np.sum(W[used] ** 2 / mask[used]), rel=1e-12)
    assert value == pytest.approx(penalty.value(W), rel=1e-9, abs=1e-300)
    assert np.all(penalty.sign * W >= 0.0)


@given(seeds, poolings, st.integers(1, 3))
def test_no_other_weights_and_mask_beat_those_of_the_prox(seed, pooling, p):
    rng = np.random.default_rng(seed)
    penalty = random_penalty(seed, 6, pooling, alpha=0.3)
    V = rng.normal(size=(p, 6))
    W, _, value = penalty.prox(V, 1.0)
    least = 0.5 * np.sum((W - V) ** 2) + value
    for scale in (1.0, 0.1, 1e-3):
        other = penalty.clip(W + scale * rng.normal(size=V.shape))
        assert least <= 0.5 * np.sum((other - V) ** 2) + penalty.value(other) + 1e-12


@given(seeds, poolings, st.integers(1, 3))
def test_penalty_and_conjugate_meet_the_fenchel_inequality_with_equality_at_the_prox(seed, pooling, p):
    """``penalty(W) + penalty*(V - W) = <W, V - W>`` exactly where W is the proximal step of V."""
    rng = np.random.default_rng(seed)
    penalty = random_penalty(seed, 6, pooling, alpha=0.3)
    V = rng.normal(size=(p, 6))
    W, _, value = penalty.prox(V, 1.0)
    slope = V - W
    # Where an entry is never in, or of the wrong sign, any slope that pushes outward is a subgradient.
    assert value + penalty.conjugate(-slope) == pytest.approx(float(np.sum(W * slope)), abs=1e-10)
    other = penalty.clip(rng.normal(size=V.shape))
    assert penalty.value(other) + penalty.conjugate(-slope) >= float(np.sum(other * slope)) - 1e-12


@given(seeds, poolings, st.sampled_from([2, 3]))
def test_the_solver_closes_the_gap_under_every_budget(seed, pooling, n_classes):
    objective, _ = random_objective(seed, pooling, n_classes, n=8, m=20, alpha=0.02)
    relaxed = accelerated.solve(objective, None, 1e-7, 10_000)
    assert relaxed.converged
    zero = np.zeros(objective.shape)
    for descend in (accelerated._by_models, accelerated._by_passes):
        W, _, _ = descend(objective, zero, 1e-7, 10_000)
        assert objective.primal(W) == pytest.approx(relaxed.primal, rel=3e-7)
    start = np.random.default_rng(seed).normal(size=objective.shape)
    assert accelerated.solve(objective, start, 1e-7, 10_000).primal == pytest.approx(relaxed.primal, rel=3e-7)


@pytest.mark.parametrize("pooling", ["prototype", "total", "shared"])
@pytest.mark.parametrize("priced", [False, True])
@pytest.mark.parametrize("signed", [False, True])
def test_a_working_set_gives_the_bound_over_all_columns(pooling, priced, signed):
    """Many columns, so that the solver leaves most of them alone."""
    rng = np.random.default_rng(0)
    objective, _, _ = problems.random_problem(0, m=100, n=80, alpha=0.02)
    cost = np.append(rng.uniform(0.5, 2.0, 80) if priced else np.ones(80), 0.0)
    sign = np.append(rng.integers(-1, 2, 80) * signed, 0).astype(np.int8)
    objective = replace(objective, penalty=Penalty(0.02, 3.0, cost, sign, pooling))
    relaxed = accelerated.solve(objective, None, 1e-8, 10_000)
    assert relaxed.converged
    W, _, _ = accelerated._by_passes(objective, np.zeros(objective.shape), 1e-8, 20_000)
    assert objective.primal(W) == pytest.approx(relaxed.primal, rel=1e-7)


@given(seeds, poolings, st.booleans())
@settings(max_examples=25)
def test_brute_force_over_all_supports_lies_between_bound_and_rounded_objective(seed, pooling, signs):
    objective, standard = random_objective(seed, pooling, n=3, m=10, signs=signs)
    keep = slice(0, min(2, objective.shape[0]))
    objective = replace(
        objective,
        assignment=replace(
            objective.assignment,
            own=np.minimum(objective.assignment.own, keep.stop - 1),
            owner=objective.assignment.owner[keep],
        ),
    )
    penalty = objective.penalty
    relaxed = accelerated.solve(objective, None, 1e-8, 10_000)
    support = rounding.round_support(objective, relaxed)
    assert penalty.allows(support)
    W, value = rounding.refit(objective, support, relaxed.W)
    candidates = oracle.supports(objective.shape[0], penalty.cost, pooling, penalty.budget)
    best = oracle.best_support(standard, objective.roles, penalty.sign, penalty.alpha, candidates)
    assert relaxed.dual <= best + 1e-7
    assert best <= value + 1e-7
    assert value == pytest.approx(objective.sparse_primal(W), rel=1e-9)


@given(seeds, poolings, st.sampled_from([2, 3]))
def test_a_rounded_support_keeps_the_budget_and_leaves_nothing_affordable(seed, pooling, n_classes):
    objective, _ = random_objective(seed, pooling, n_classes, n=7)
    penalty = objective.penalty
    support = rounding.round_support(objective, accelerated.solve(objective, None, 1e-6, 1000))
    assert penalty.allows(support)
    assert support[:, penalty.cost == 0.0].all()
    assert not penalty.affordable(support).any()
    if pooling == "shared":
        assert np.all(support == support[0])


@given(seeds, poolings, st.integers(1, 3))
def test_affordable_entries_are_those_that_keep_the_budget_when_added(seed, pooling, p):
    rng = np.random.default_rng(seed)
    penalty = random_penalty(seed, 6, pooling)
    support = rng.random((p, 6)) < 0.2
    if not penalty.allows(support):
        assert np.any(penalty.spent(support) > penalty.budget)
        return
    affordable = penalty.affordable(support)
    for index in np.ndindex(p, 6):
        more = support.copy()
        more[index] = True
        assert affordable[index] == (penalty.allows(more) and not support[index])


def test_what_a_support_costs_is_told_for_each_pool():
    support = np.array([[True, False, True], [True, True, False]])
    cost = np.array([1.0, 2.5, 0.0])
    spent = {
        pooling: Penalty(1.0, 3.0, cost, np.zeros(3, dtype=np.int8), pooling).spent(support).tolist()
        for pooling in ("prototype", "total", "shared")
    }
    assert spent == {"prototype": [1.0, 3.5], "total": [4.5], "shared": [3.5]}


@given(seeds, st.sampled_from([2, 3]), st.sampled_from([1e-4, 0.1]))
def test_refitting_with_signs_meets_the_optimality_conditions_and_agrees_with_bounded_lbfgs(seed, n_classes, alpha):
    objective, _, W = problems.random_problem(seed, m=30, n_classes=n_classes, alpha=alpha)
    rng = np.random.default_rng(seed)
    sign = rng.integers(-1, 2, objective.shape[1]).astype(np.int8)
    objective = replace(objective, penalty=replace(objective.penalty, sign=sign))
    support = rng.random(W.shape) < 0.7
    support[0, 0] = True
    refitted, value = rounding.refit(objective, support, W)
    slope = objective.sums(refitted).gradient + alpha * refitted
    held = support & (refitted == 0.0) & (sign != 0)
    assert np.all(sign * refitted >= 0.0)
    assert not refitted[~support].any()
    assert np.abs(slope[support & ~held]).max(initial=0.0) < 1e-7
    assert np.min((sign * slope)[held], initial=0.0) > -1e-7
    assert value == pytest.approx(objective.sparse_primal(refitted), rel=1e-9)
    _, other = rounding._lbfgs(objective, support, np.where(support & (sign * W >= 0.0), W, 0.0))
    assert value <= other * (1.0 + 1e-9)
    assert other == pytest.approx(value, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("sign", [0, 1])
def test_refitting_on_no_column_at_all_gives_the_loss_of_zero_weights(sign):
    objective, _, W = problems.random_problem(1)
    objective = replace(objective, penalty=replace(objective.penalty, sign=np.full(6, sign, dtype=np.int8)))
    refitted, value = rounding.refit(objective, np.zeros(W.shape, dtype=bool), W)
    assert not refitted.any()
    assert value == pytest.approx(objective.loss(np.zeros(W.shape)))


def test_columns_that_are_always_in_may_stand_anywhere():
    objective, _, _ = problems.random_problem(5, m=40, n=5, k=2)
    columns = np.array([3, 0, 1, 2, 4, 5])
    moved = Penalty(0.05, 2.0, np.array([0.0, 1.0, 1.0, 1.0, 1.0, 0.0]), np.zeros(6, dtype=np.int8))
    there = replace(objective.penalty, cost=np.array([1.0, 1.0, 1.0, 0.0, 1.0, 0.0]))
    V = np.random.default_rng(0).normal(size=(2, 6))
    np.testing.assert_allclose(moved.prox(V[:, columns], 0.1)[0], there.prox(V, 0.1)[0][:, columns])
    relaxed = accelerated.solve(replace(objective, penalty=moved), None, 1e-8, 1000)
    assert relaxed.converged
    assert np.all(relaxed.mask[:, [0, 5]] == 1.0)


def test_restricting_and_counting_agree_with_the_full_penalty():
    penalty = random_penalty(7, 8, "total")
    columns = np.array([1, 3, 4, 7])
    V = np.zeros((2, 8))
    V[:, columns] = np.random.default_rng(1).normal(size=(2, 4))
    np.testing.assert_allclose(
        penalty.prox(V, 0.5)[0][:, columns], penalty.restrict(columns).prox(V[:, columns], 0.5)[0]
    )
    pools = Penalty.count(0.1, 3, 5, 1).pools(2)
    assert pools.choice == 3
    assert pools.always.tolist() == [5, 11]


def test_a_budget_and_costs_of_their_own_for_each_prototype():
    cost = np.array([[1.0, np.inf, 0.0, 1.0], [2.0, 1.0, 1.0, 1.0]])
    penalty = Penalty(1.0, np.array([1.0, 2.0]), cost, np.zeros(4, dtype=np.int8))
    V = np.array([[4.0, 9.0, 1.0, 2.0], [1.0, 3.0, 2.0, 1.0]])
    W, mask, _ = penalty.prox(V, 0.3)
    for j in range(2):
        row, row_mask = oracle.prox_budget(V[[j]], cost[j], penalty.sign, "prototype", penalty.budget[j], 0.3)
        np.testing.assert_allclose(W[j], row[0], atol=1e-12)
        np.testing.assert_allclose(mask[j], row_mask[0], atol=1e-12)
    assert penalty.conjugate(V) == pytest.approx(0.5 * (16.0 + 1.0 + 9.0 + 4.0))
    assert penalty.affordable(np.zeros((2, 4), dtype=bool)).tolist() == [[True, False, True, True], [True] * 4]
    assert penalty.clip(V)[0].tolist() == [4.0, 0.0, 1.0, 2.0]


def test_the_knapsack_takes_part_of_the_last_item():
    penalty = Penalty(1.0, 3.0, np.array([2.0, 2.0, 1.0, 9.0]), np.array([0, 0, 1, 0], dtype=np.int8))
    G = np.array([[4.0, 2.0, 7.0, 50.0]])  # the third may not rise, the last is too dear
    assert penalty.conjugate(G) == pytest.approx(0.5 * (16.0 + 2.0))
    assert penalty.conjugate(-G) == pytest.approx(0.5 * (49.0 + 16.0))


def test_mirror_prox_says_which_budgets_it_knows():
    objective, _, _ = problems.random_problem(0)
    others = [
        replace(objective.penalty, pooling="total"),
        replace(objective.penalty, cost=np.array([1.0, 2.0, 1.0, 1.0, 1.0, 0.0])),
        replace(objective.penalty, sign=np.ones(6, dtype=np.int8)),
    ]
    for penalty in others:
        with pytest.raises(ValueError, match="use solver='accelerated'"):
            mirror_prox.solve(replace(objective, penalty=penalty), None, 1e-3, 10, mirror_prox.StepOptions())


def test_many_shared_items_and_numbers_far_apart_are_no_trouble():
    V = np.array([[3e-300, 1e150, 0.0], [4e-300, 0.0, 0.0]])
    pools = Penalty(1.0, 1.0, np.ones(3), np.zeros(3, dtype=np.int8), "shared").pools(2)
    np.testing.assert_allclose(geometry.sizes(V, pools), [5e-300, 1e150, 0.0])
    rng = np.random.default_rng(0)
    V = rng.normal(size=(2, 300))
    penalty = Penalty(0.5, 20.0, rng.uniform(0.1, 3.0, 300), np.zeros(300, dtype=np.int8), "shared")
    expected, _ = oracle.prox_budget(V, penalty.cost, penalty.sign, "shared", 20.0, 0.5)
    np.testing.assert_allclose(penalty.prox(V, 1.0)[0], expected, atol=1e-12)
