"""The search over supports: its refits, its promises of gain, and where it ends, against brute force."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from smallearn import datasets
from smallearn._learn import search_kernels
from smallearn._learn.data.blocks import DenseRows
from smallearn._learn.data.labels import Assignment
from smallearn._learn.kernels import NO_PROTOTYPE
from smallearn._learn.solve import rounding, support_search
from smallearn._learn.solve.objective import Objective, Penalty
from smallearn._learn.solve.scoring import LOSS_SHARE
from smallearn._learn.solve.support_search import (
    LEAST_FALL,
    LEAST_RISE,
    SHORTLIST,
    SMALL,
    SupportSearch,
    next_above,
    next_below,
)
from smallearn._learn.solve.support_state import MANY_ENTRIES, Entries
from tests.helpers import oracle, problems

POOLINGS = ("prototype", "total", "shared")
TIGHT = 1e-14


def precise_fit(search, assignment, support):
    prototype, column = np.nonzero(support)
    entries = Entries(prototype=prototype, column=column, theta=np.zeros(len(column)))
    return search._fit(assignment, entries, precision=TIGHT)


def random_support(rng, shape, share=0.5):
    support = rng.random(shape) < share
    support[:, -1] = True  # the constant
    return support


def any_penalty(rng, n, pooling, p, priced, signed, alpha=0.05):
    """A budget for about half of the columns, with costs and signs or without, and the constant always in."""
    cost = rng.uniform(0.5, 2.0, n) if priced else np.ones(n)
    sign = rng.integers(-1, 2, n) if signed else np.zeros(n)
    budget = {"prototype": 2.0, "total": 1.5 * p, "shared": 3.0}[pooling]
    return Penalty(alpha, budget, np.append(cost, 0.0), np.append(sign, 0).astype(np.int8), pooling)


def check_state(search, state, Z):
    """What holds of every state: budget, signs, the constant, and a value that is its own."""
    d = search.rows.n_columns
    W, support = state.weights(d), state.support(d)
    assert search.penalty.allows(support)
    assert np.all(search.penalty.sign * W >= 0.0)
    assert support[:, search.penalty.cost == 0.0].all()
    assert np.all(np.diff(state.prototype) >= 0)
    np.testing.assert_allclose(state.Z, W @ Z.T, atol=1e-10)
    loss = oracle.mean_loss(Z, W, search.labels.roles(state.assignment))
    assert state.value == pytest.approx(loss + 0.5 * search.penalty.alpha * np.sum(W * W), rel=1e-10)
    code, zero_owner = search.labels.code, search.labels.zero_owner
    assert np.array_equal(state.assignment.own == NO_PROTOTYPE, code == zero_owner)
    member = state.assignment.members()
    assert np.array_equal(state.assignment.owner[state.assignment.own[member]], code[member])


# --- refits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1e-3, 0.1])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_a_refit_has_the_weights_and_the_inverse_hessian_of_the_slow_one(seed, n_classes, alpha):
    objective, _, _ = problems.random_problem(seed, m=40, n=6, n_classes=n_classes, alpha=alpha)
    support = random_support(np.random.default_rng(seed), objective.shape)
    search = SupportSearch(objective.rows, objective.penalty, moving=False)
    state = precise_fit(search, objective.assignment, support)
    W, value = rounding.refit(objective, support, np.zeros(support.shape))
    assert state.value == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(state.weights(objective.shape[1]), W, atol=1e-6)
    np.testing.assert_allclose(state.inverse_hessian @ hessian(objective, state), np.eye(len(state.theta)), atol=1e-5)


def hessian(objective, state, extra=()):
    """That of the objective on the entries of a state, then on ``extra`` entries (prototype, column)."""
    p, d = objective.shape
    everything = np.tile(np.arange(d), (p, 1))
    full = objective.curvature(state.weights(d), everything).hessian
    entries = [*zip(state.prototype, state.column, strict=True), *extra]
    flat = [j * d + l for j, l in entries]
    return full[np.ix_(flat, flat)] + objective.penalty.alpha * np.eye(len(flat))


def test_a_rough_refit_is_never_better_than_the_minimum_and_near_it():
    objective, _, _ = problems.random_problem(3, m=60, n=6)
    support = random_support(np.random.default_rng(3), objective.shape)
    search = SupportSearch(objective.rows, objective.penalty, moving=False)
    least = rounding.refit(objective, support, np.zeros(support.shape))[1]
    found = search.resume(objective.assignment, support, np.zeros(support.shape)).value
    assert least <= found * (1.0 + 1e-12)
    assert found <= least * (1.0 + 1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_entries_of_the_wrong_sign_are_dropped(seed):
    objective, Z, _ = problems.random_problem(seed, m=40, n=6, n_classes=2)
    sign = np.array([1, 1, 1, -1, -1, -1, 0], dtype=np.int8)
    search = SupportSearch(objective.rows, replace(objective.penalty, sign=sign, budget=6.0))
    check_state(
        search, search.resume(objective.assignment, np.ones(objective.shape, dtype=bool), np.zeros(objective.shape)), Z
    )


# --- what to try -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_gains_of_the_shortlist_are_those_of_the_quadratic_model_with_all_weights_free(seed, n_classes):
    objective, _, _ = problems.random_problem(seed, m=50, n=7, n_classes=n_classes, k=7, alpha=0.05)
    p, d = objective.shape
    support = np.zeros((p, d), dtype=bool)
    support[:, [0, -1]] = True
    search = SupportSearch(objective.rows, objective.penalty, moving=False)
    state = precise_fit(search, objective.assignment, support)
    slope = objective.sums(state.weights(d)).gradient + objective.penalty.alpha * state.weights(d)
    single = search.single_gains(state)
    found = search.shortlist(state)
    gains = [addition.gain for addition in found]
    assert gains == sorted(gains, reverse=True)
    assert len(found) == min(SHORTLIST, p * (d - 2))
    for gain, j, l, step, _ in found:
        H = hessian(objective, state, [(j, l)])
        direction = np.append(np.zeros(len(state.theta)), slope[j, l])
        newton = np.linalg.solve(H, direction)
        assert gain == pytest.approx(0.5 * direction @ newton, rel=1e-5)
        np.testing.assert_allclose(step, -newton, rtol=1e-4, atol=1e-6)
        assert gain >= single[j, l] * (1.0 - 1e-9)
        assert single[j, l] == pytest.approx(0.5 * slope[j, l] ** 2 / H[-1, -1], rel=1e-8)
    listed = {(j, l) for _, j, l, *_ in found}
    rest = [single[j, l] for j in range(p) for l in range(1, d - 1) if (j, l) not in listed]
    assert max(rest, default=0.0) <= min(single[j, l] for _, j, l, *_ in found)


@pytest.mark.parametrize("seed", range(3))
def test_where_the_objective_is_nearly_quadratic_the_gain_is_the_fall(seed):
    objective, _, _ = problems.random_problem(seed, m=50, n=6, k=6, alpha=1.0)
    search = SupportSearch(objective.rows, objective.penalty, moving=False)
    state = precise_fit(search, objective.assignment, random_support(np.random.default_rng(seed), objective.shape, 0.3))
    for addition in search.shortlist(state):
        gain, j, l, *_ = addition
        support = state.support(objective.shape[1])
        support[j, l] = True
        fall = state.value - rounding.refit(objective, support, np.zeros(support.shape))[1]
        assert fall == pytest.approx(gain, rel=0.05, abs=1e-6)
        assert search.add(state, addition).value == pytest.approx(state.value - fall, rel=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_gain_of_a_shared_term_is_that_of_the_quadratic_model_with_all_weights_free(seed, n_classes):
    objective, _, _ = problems.random_problem(seed, m=50, n=7, n_classes=n_classes, k=7, alpha=0.3)
    p, d = objective.shape
    support = np.zeros((p, d), dtype=bool)
    support[:, [0, -1]] = True
    search = SupportSearch(objective.rows, replace(objective.penalty, pooling="shared"), moving=False)
    state = precise_fit(search, objective.assignment, support)
    slope = objective.sums(state.weights(d)).gradient + objective.penalty.alpha * state.weights(d)
    found = search.shortlist(state)
    assert sorted(addition.column for addition in found) == list(range(1, d - 1))
    assert [a.gain for a in found] == sorted((a.gain for a in found), reverse=True)
    for addition in found:
        l = addition.column
        H = hessian(objective, state, [(j, l) for j in range(p)])
        direction = np.append(np.zeros(len(state.theta)), slope[:, l])
        newton = np.linalg.solve(H, direction)
        assert addition.gain == pytest.approx(0.5 * direction @ newton, rel=1e-4)
        np.testing.assert_allclose(addition.step, -newton, rtol=1e-3, atol=1e-5)
        entries, inverse = state.with_shared(l, addition.step, *addition.curvature)
        if len(entries.theta) >= MANY_ENTRIES:
            order = np.lexsort((entries.column == l, entries.prototype))
            assert (order == np.arange(len(order))).all()
            last = np.concatenate([np.flatnonzero(entries.column != l), np.flatnonzero(entries.column == l)])
            np.testing.assert_allclose(inverse[np.ix_(last, last)] @ H, np.eye(len(H)), atol=1e-3)
        grown = search.add(state, addition)
        assert (grown.column == l).sum() == p
        assert grown.value <= state.value - 0.5 * addition.gain


@pytest.mark.parametrize("seed", range(3))
def test_the_cheapest_shared_term_is_the_one_whose_loss_costs_least(seed):
    objective, _, _ = problems.random_problem(seed, m=80, n=5, n_classes=3, k=5, alpha=0.5)
    search = SupportSearch(objective.rows, replace(objective.penalty, pooling="shared"), moving=False)
    state = precise_fit(search, objective.assignment, np.ones(objective.shape, dtype=bool))
    first = search.cheapest(state)[0]
    cost = {}
    for l in range(objective.shape[1] - 1):
        cost[l] = search.drop(state, np.flatnonzero(state.column == l)).value - state.value
    assert cost[state.column[first[0]]] <= 1.1 * min(cost.values())


@pytest.mark.parametrize("rise", [-0.2, 0.7])
def test_the_inverse_hessian_at_another_lambda_is_that_of_the_hessian_there(rise):
    rng = np.random.default_rng(0)
    root = rng.standard_normal((8, 8))
    H = root @ root.T + np.eye(8)
    tilted = search_kernels.at_other_alpha(np.linalg.inv(H), rise)
    np.testing.assert_allclose(tilted @ (H + rise * np.eye(8)), np.eye(8), atol=1e-9)


def test_the_cheapest_entry_is_the_one_whose_loss_costs_least():
    objective, _, _ = problems.random_problem(5, m=60, n=6, k=6, alpha=0.3)
    search = SupportSearch(objective.rows, objective.penalty, moving=False)
    state = precise_fit(search, objective.assignment, np.ones(objective.shape, dtype=bool))
    cost = []
    for entries in search.cheapest(state):
        assert state.column[entries[0]] < 6  # the constant stays
        support = state.support(7)
        support[state.prototype[entries], state.column[entries]] = False
        cost.append(rounding.refit(objective, support, np.zeros(support.shape))[1] - state.value)
        assert search.drop(state, entries, TIGHT).value == pytest.approx(state.value + cost[-1], rel=1e-9)
    assert len(cost) == 6 * len(objective.assignment.owner)
    assert np.argmin(cost) == 0
    assert np.corrcoef(np.arange(len(cost)), np.argsort(np.argsort(cost)))[0, 1] > 0.95


def test_columns_that_are_not_allowed_are_never_tried():
    objective, _, _ = problems.random_problem(2, m=40, n=6, k=6)
    allowed = np.array([True, False, True, False, True, False, True])
    search = SupportSearch(objective.rows, objective.penalty, allowed)
    full = search.grow_to(search.start(objective.assignment), 99)
    assert set(full.column.tolist()) == {0, 2, 4, 6}


# --- moves -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("priced", [False, True])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_state_on_every_path_keeps_budget_signs_and_its_own_value(pooling, priced, signed, n_classes):
    objective, Z, _ = problems.random_problem(7, m=30, n=6, n_classes=n_classes)
    start = objective.assignment
    rng = np.random.default_rng(7)
    penalty = any_penalty(rng, 6, pooling, len(start.owner), priced, signed)
    search = SupportSearch(objective.rows, penalty)
    states = [search.start(start)]
    states += search.upward(states[0], 99, 2)
    assert [search.size(state) for state in states] == sorted({search.size(state) for state in states})
    full = search.descend(start, 99)
    states += [full, *search.downward(full, 1, 2)]
    assert search.size(states[-1]) <= 1
    for state in states:
        check_state(search, state, Z)
        for moved in (search.polish(state, 9, tries=2), search.reassign(state)):
            check_state(search, moved, Z)
            assert moved.value <= state.value
        check_state(search, search.drop_unused(state), Z)


@pytest.mark.parametrize("alpha", [0.3, 0.03])
@pytest.mark.parametrize("seed", range(5))
def test_polish_ends_where_no_single_swap_helps(seed, alpha):
    objective, _, _ = problems.random_problem(seed, m=40, n=6, k=2, alpha=alpha)
    p, d = objective.shape
    search = SupportSearch(objective.rows, objective.penalty, moving=False)
    support = np.zeros((p, d), dtype=bool)
    support[:, [4, 5, 6]] = True  # an arbitrary start
    first = search.resume(objective.assignment, support, np.zeros((p, d)))
    state = search.polish(first, removals=99, tries=99)
    assert state.value <= first.value
    for j, out, into in itertools.product(range(p), range(d - 1), range(d - 1)):
        swapped = state.support(d)
        if not swapped[j, out] or swapped[j, into]:
            continue
        swapped[j, [out, into]] = [False, True]
        assert rounding.refit(objective, swapped, np.zeros((p, d)))[1] >= state.value * (1.0 - 2.0 * LEAST_FALL)


@pytest.mark.parametrize("seed", range(4))
def test_no_state_beats_brute_force_at_its_assignment_and_one_prototype_gets_near_it(seed):
    objective, Z, _ = problems.random_problem(seed, m=40, n=6, n_classes=2, k=2, alpha=0.05)
    owner = 1 - objective.rows.labels.zero_owner
    own = np.where(objective.rows.labels.code == owner, 0, NO_PROTOTYPE)
    start = Assignment(own=own, owner=np.array([owner]))
    search = SupportSearch(objective.rows, objective.penalty)
    state = search.polish(search.descend(start, 2), removals=9, tries=9)
    candidates = oracle.supports(1, objective.penalty.cost, "prototype", 2.0)
    best = oracle.best_support(Z, objective.rows.labels.roles(start), objective.penalty.sign, 0.05, candidates)
    assert best * (1.0 - 1e-6) <= state.value <= best * 1.02


def test_a_swap_that_does_not_help_is_none():
    objective, _, _ = problems.random_problem(0, m=40, n=6, k=2, alpha=0.3)
    search = SupportSearch(objective.rows, objective.penalty, moving=False)
    state = search.polish(search.descend(objective.assignment, 99), removals=99, tries=99)
    assert search.swap(state, 99, 99) is None
    assert search.polish(state, 99, 99) is state


def test_rows_move_to_the_prototype_that_scores_them_best():
    objective, Z, _ = problems.random_problem(11, m=60, n=4, n_classes=3, k=4)
    search = SupportSearch(objective.rows, objective.penalty)
    state = search.reassign(
        search.resume(objective.assignment, np.ones(objective.shape, dtype=bool), np.zeros(objective.shape))
    )
    still = search.fixed().refit(state)
    assert np.array_equal(still.assignment.own, state.assignment.own)
    scores = np.where(state.assignment.owner == search.labels.code[:, None], state.Z.T, -np.inf)
    lost = scores.max(axis=1) - scores[np.arange(60), state.assignment.own]
    assert np.mean(lost > 1e-6) <= 0.05
    assert (
        state.value
        < search.fixed()
        .resume(objective.assignment, np.ones(objective.shape, dtype=bool), np.zeros(objective.shape))
        .value
    )
    check_state(search, state, Z)


def test_tidy_drops_a_prototype_without_rows_and_keeps_one_of_each_class():
    objective, Z, _ = problems.random_problem(4, m=30, n=4, n_classes=3, k=2)
    code = objective.rows.labels.code
    owner = np.array([0, 0, 1, 2])
    assignment = Assignment(own=np.array([0, 2, 3])[code], owner=owner)  # prototype 1 has no rows
    search = SupportSearch(objective.rows, objective.penalty, moving=False)
    state = search.grow_to(search.start(assignment), 99)
    tidied = search.drop_unused(state)
    assert tidied.assignment.owner.tolist() == [0, 1, 2]
    check_state(search, tidied, Z)
    assert search.drop_unused(tidied) is tidied
    bare = search.drop_unused(search.start(assignment))  # no terms at all: one prototype for each class all the same
    assert bare.assignment.owner.tolist() == [0, 1, 2]


def test_a_trace_has_a_model_of_every_size():
    objective, Z, _ = problems.random_problem(1, m=60, n=6, n_classes=2)
    penalty = replace(objective.penalty, budget=5.0, pooling="total")
    owner = 1 - objective.rows.labels.zero_owner
    search = SupportSearch(objective.rows, penalty)
    for p in (1, 2):
        own = np.where(objective.rows.labels.code == owner, np.arange(60) % p, NO_PROTOTYPE)
        found = search.trace([Assignment(own=own, owner=np.full(p, owner))], 2, 5)
        assert max(found) == 5
        assert set(found) >= {2, 3, 4, 5}
        for size, state in found.items():
            assert search.size(state) == size
            check_state(search, state, Z)


def test_the_same_search_under_another_penalty_shares_its_columns_and_nothing_else():
    objective, Z, _ = problems.random_problem(1, m=40, n=5)
    search = SupportSearch(objective.rows, objective.penalty, moving=False)
    state = search.descend(objective.assignment, 99)
    other = search.with_penalty(replace(objective.penalty, alpha=1.0))
    moved = other.refit(state)
    check_state(other, moved, Z)
    support = state.support(objective.shape[1])
    heavier = Objective(objective.rows, state.assignment, other.penalty)
    assert moved.value == pytest.approx(rounding.refit(heavier, support, np.zeros(support.shape))[1], rel=1e-4)


# --- out of a dead end -----------------------------------------------------------------------------------------------


def noisy_dnf(p, seed, noise):
    """The search for a hidden formula, and the assignment that belongs to it."""
    data = datasets.random_dnf(p, 2, 10, 600, noise=noise, random_state=seed)
    X, y = data.data.astype(float), data.target.astype(np.int64)
    labels = problems.equal_weights(y, zero_owner=0)
    rows = DenseRows(X, problems.scaling_of(X), intercept=True, labels=labels)
    return SupportSearch(rows, replace(Penalty.count(1e-3, 2 * p, 10, 1), pooling="total")), y


def test_merit_is_accuracy_less_a_share_of_the_log_loss_of_the_greatest_score():
    search, y = noisy_dnf(3, 0, 0.1)
    own = np.where(y == 1, np.arange(len(y)) % 3, NO_PROTOTYPE)
    state = search.descend(Assignment(own=own, owner=np.ones(3, dtype=int)), 6)
    margin = np.where(y == 1, 1.0, -1.0) * state.Z.max(axis=0)
    expected = np.mean(margin > 0.0) - LOSS_SHARE * np.mean(np.log1p(np.exp(-margin)))
    assert search.merit(state) == pytest.approx(expected, abs=1e-8)


def test_prototypes_that_begin_anew_never_make_it_worse_and_free_those_that_are_stuck():
    before, after = [], []
    for seed in range(8):
        search, y = noisy_dnf(3, seed, 0.1)
        own = np.where(y == 1, np.random.default_rng(seed).integers(0, 3, len(y)), NO_PROTOTYPE)
        stuck = search.descend(Assignment(own=own, owner=np.ones(3, dtype=int)), 6)
        freed = search.reseed(stuck, 6)
        assert search.size(freed) <= 6
        before.append(search.merit(stuck))
        after.append(search.merit(freed))
    rise = np.array(after) - before
    assert np.all(rise >= 0.0)
    assert np.sum(rise > LEAST_RISE) >= 3


def test_a_prototype_alone_in_its_class_is_not_begun_anew():
    objective, _, _ = problems.random_problem(3, m=30, n=4, n_classes=3, k=2)
    code = objective.rows.labels.code
    search = SupportSearch(objective.rows, objective.penalty)
    state = search.descend(Assignment(own=code, owner=np.arange(3)), 6)
    assert search.reseed(state, 6) is state


# --- sizes -----------------------------------------------------------------------------------------------------------


def grid(most):
    sizes = [0]
    while sizes[-1] < most:
        sizes.append(next_above(sizes[-1]))
    return sizes


def test_the_sizes_of_models_have_no_gaps_up_to_small_and_then_gaps_that_double():
    sizes = grid(8 * SMALL)
    assert sizes[: SMALL + 1] == list(range(SMALL + 1))
    steps = np.diff(sizes)
    assert set(steps.tolist()) == {1, 2, 4, 8}
    assert np.all(np.diff(steps) >= 0)
    assert max(steps / np.array(sizes[1:])) <= 1.0
    assert all(step <= max(1.0, 2.0 * size / SMALL) for size, step in zip(sizes[1:], steps, strict=True))


def test_the_next_size_below_is_the_one_from_which_it_is_the_next_above():
    sizes = grid(20 * SMALL)
    for below, above in itertools.pairwise(sizes):
        assert next_below(above) == below
        for between in range(below + 1, above):  # a size off the grid steps onto it
            assert next_below(between) == below
            assert next_above(between) == above


def test_above_small_terms_are_added_and_dropped_several_at_a_time(monkeypatch):
    monkeypatch.setattr(support_search, "SMALL", 2)
    objective, Z, _ = problems.random_problem(1, m=60, n=10, n_classes=2)
    owner = 1 - objective.rows.labels.zero_owner
    start = Assignment(own=np.where(objective.rows.labels.code == owner, 0, NO_PROTOTYPE), owner=np.array([owner]))
    search = SupportSearch(objective.rows, replace(objective.penalty, budget=10.0))
    up = list(search.upward(search.start(start), 10, 1))
    assert [search.size(state) for state in up] == [1, 2, 4, 8, 10]
    down = list(search.downward(up[-1], 1, 1))
    assert [search.size(state) for state in down] == [8, 4, 2, 1]
    for state in [*up, *down]:
        check_state(search, state, Z)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_terms_that_are_added_together_keep_the_budget(pooling):
    objective, Z, _ = problems.random_problem(7, m=30, n=6, n_classes=3)
    penalty = any_penalty(np.random.default_rng(7), 6, pooling, len(objective.assignment.owner), True, False)
    search = SupportSearch(objective.rows, penalty)
    grown = search.grow(search.start(objective.assignment), 5)
    assert 1 <= search.size(grown) <= 5
    check_state(search, grown, Z)


# --- on other rows ---------------------------------------------------------------------------------------------------


def test_a_state_of_some_rows_is_placed_on_all_of_them():
    objective, Z, _ = problems.random_problem(11, m=60, n=4, n_classes=3, k=4)
    part = np.arange(0, 60, 2)
    on_part = SupportSearch(objective.rows.take(part), objective.penalty)
    search = SupportSearch(objective.rows, objective.penalty)
    start = Assignment(own=objective.assignment.own[part], owner=objective.assignment.owner)
    state = on_part.grow_to(on_part.start(start), 6)
    placed = search.place(state)
    check_state(search, placed, Z)
    np.testing.assert_array_equal(placed.support(5), state.support(5))
