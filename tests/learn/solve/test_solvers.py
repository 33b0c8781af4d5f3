"""Every solver reaches the reference table, agrees with the others, and says honestly how far it got."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn import SMaLLClassifier
from smallearn._learn.solve.objective import Relaxation
from smallearn._learn.solve.solvers import SOLVERS, SolverEntry, accelerated, mirror_prox
from smallearn._run import deadline as deadlines
from smallearn._run.deadline import Deadline, enforce
from tests.helpers import problems
from tests.helpers.problems import REFERENCE

MIRROR_PROX = {
    "euclidean": mirror_prox.StepOptions("euclidean"),
    "fixed steps in one kernel": mirror_prox.StepOptions("euclidean", (0.1, 0.001)),
}

cells = pytest.mark.parametrize(("k", "alpha"), REFERENCE)
every_solver = pytest.mark.parametrize("entry", SOLVERS.values(), ids=SOLVERS)


@cells
@every_solver
def test_every_solver_reaches_the_reference(entry, k, alpha):
    objective = problems.breast_cancer(k, alpha)
    relaxed = entry.bind(1e-4, 10_000, None)(objective, None)
    assert relaxed.converged
    assert relaxed.W.shape == relaxed.mask.shape == relaxed.gradient.shape == objective.shape
    assert relaxed.primal == pytest.approx(objective.primal(relaxed.W))
    assert relaxed.primal == pytest.approx(REFERENCE[k, alpha], abs=1e-4)
    assert relaxed.dual == pytest.approx(REFERENCE[k, alpha], abs=1e-4)


@cells
def test_accelerated_reproduces_the_reference_to_six_digits(k, alpha):
    relaxed = accelerated.solve(problems.breast_cancer(k, alpha), None, 1e-8, 1000)
    assert relaxed.converged
    assert relaxed.primal == pytest.approx(REFERENCE[k, alpha], abs=6e-8)
    assert relaxed.dual == pytest.approx(REFERENCE[k, alpha], abs=6e-8)


@pytest.mark.parametrize("k", [3, *(pytest.param(k, marks=pytest.mark.slow) for k in (10, 30))])
def test_mirror_prox_in_the_euclidean_geometry_reaches_the_reference_with_its_last_iterate(k):
    options = mirror_prox.StepOptions("euclidean", (0.1, 0.0001), average=False)
    relaxed = mirror_prox.solve(problems.breast_cancer(k, 0.1), None, 1e-5, 6000, options)
    assert relaxed.primal == pytest.approx(REFERENCE[k, 0.1], abs=1e-4)
    assert relaxed.dual == pytest.approx(REFERENCE[k, 0.1], abs=1e-4)


@pytest.mark.parametrize(
    ("options", "steps", "gap"),
    [
        (mirror_prox.StepOptions("euclidean", (0.1, 0.001), average=False), 500, 5e-5),
        (mirror_prox.StepOptions("euclidean", (0.1, 0.001), average=False), 1000, 1e-5),
        (mirror_prox.StepOptions("euclidean", (0.1, 0.001), average=True), 2000, 1.65e-3),
        (mirror_prox.StepOptions("entropy", (0.1, 0.1), average=False), 500, 1e-5),
        (mirror_prox.StepOptions("entropy", (0.1, 0.1), average=True), 500, 1.25e-4),
    ],
)
def test_mirror_prox_with_fixed_steps_is_as_far_as_expected(options, steps, gap):
    relaxed = mirror_prox.solve(problems.breast_cancer(3, 0.1), None, 0.0, steps, options)
    assert 0.0 <= relaxed.primal - relaxed.dual <= gap
    assert relaxed.n_iter == steps


@pytest.mark.uncompiled
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_fixed_steps_in_one_kernel_are_the_same_steps(monkeypatch, seed, n_classes, average):
    objective, _, W = problems.random_problem(seed, m=30, n_classes=n_classes)
    options = mirror_prox.StepOptions("euclidean", (0.01, 0.001), average)
    for start, tol, steps in ((None, 0.0, 230), (W, 0.1, 600)):
        fused = mirror_prox.solve(objective, start, tol, steps, options)
        with monkeypatch.context() as patch:
            patch.setattr(mirror_prox, "SMALL", 0)
            plain = mirror_prox.solve(objective, start, tol, steps, options)
        assert (fused.n_iter, fused.converged) == (plain.n_iter, plain.converged)
        np.testing.assert_allclose(fused.W, plain.W, atol=1e-10)
        np.testing.assert_allclose(fused.mask, plain.mask, atol=1e-10)
        assert (fused.primal, fused.dual) == pytest.approx((plain.primal, plain.dual), rel=1e-10)


@pytest.mark.uncompiled
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3]), st.integers(1, 5), st.sampled_from([0.01, 0.1, 1.0]))
def test_every_way_down_leads_to_the_same_optimum(seed, n_classes, k, alpha):
    objective, _, W = problems.random_problem(seed, m=20, n_classes=n_classes, k=k, alpha=alpha)
    zero = np.zeros(objective.shape)
    with_columns = accelerated.solve(objective, None, 1e-7, 10_000)
    warm = accelerated.solve(objective, W, 1e-7, 10_000)
    by_models, _, _ = accelerated._by_models(objective, zero, 1e-7, 10_000)
    by_passes, _, _ = accelerated._by_passes(objective, zero, 1e-7, 10_000)
    assert with_columns.converged
    assert warm.converged
    for value in (warm.primal, objective.primal(by_models), objective.primal(by_passes)):
        assert value == pytest.approx(with_columns.primal, rel=3e-7)


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3]), st.sampled_from(["entropy", "euclidean"]))
def test_mirror_prox_is_an_independent_witness(seed, n_classes, geometry):
    objective, _, _ = problems.random_problem(seed, n_classes=n_classes, alpha=0.5)
    fast = accelerated.solve(objective, None, 1e-9, 10_000)
    slow = mirror_prox.solve(objective, None, 1e-3, 1500, mirror_prox.StepOptions(geometry, average=False))
    assert slow.dual <= fast.primal * (1.0 + 1e-9)
    assert fast.dual <= slow.primal * (1.0 + 1e-9)
    assert slow.gap < 1e-2


@pytest.mark.uncompiled
def test_a_start_at_the_optimum_is_recognised_at_once():
    objective = problems.breast_cancer(3, 0.01)
    first = accelerated.solve(objective, None, 1e-6, 1000)
    again = accelerated.solve(objective, first.W, 1e-5, 1000)
    assert again.n_iter == 1
    np.testing.assert_array_equal(again.W, first.W)
    again = mirror_prox.solve(objective, first.W, 1e-4, 1000, mirror_prox.StepOptions(average=False))
    assert again.n_iter <= mirror_prox.CHECK_EVERY


@pytest.mark.uncompiled
@every_solver
def test_a_start_is_left_as_it_was(entry):
    objective = problems.breast_cancer(3, 0.01)
    start = np.ones(objective.shape)
    entry.bind(1e-4, 1000, None)(objective, start)
    assert np.all(start == 1.0)


@pytest.mark.uncompiled
@every_solver
def test_the_gap_reached_is_reported_when_iterations_run_out(entry):
    relaxed = entry.bind(1e-8, 3, None)(problems.breast_cancer(3, 0.01), None)
    assert not relaxed.converged
    assert relaxed.n_iter <= 3
    assert relaxed.dual < REFERENCE[3, 0.01] < relaxed.primal


class Clock:
    """A clock that goes on by a second whenever it is read."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        self.now += 1.0
        return self.now


@pytest.mark.parametrize(
    "solve",
    [
        *(entry.bind(1e-6, 2_000, None) for entry in SOLVERS.values()),
        *(partial(mirror_prox.solve, tol=1e-6, max_iter=2_000, options=options) for options in MIRROR_PROX.values()),
        partial(mirror_prox.solve, tol=0.0, max_iter=2_000, options=MIRROR_PROX["fixed steps in one kernel"]),
    ],
    ids=[*SOLVERS, *MIRROR_PROX, "without tol"],
)
def test_at_the_deadline_a_solver_stops_with_the_best_point_so_far_and_a_bound_that_holds(monkeypatch, solve):
    objective = problems.breast_cancer(3, 0.01)
    whole = solve(objective, None)
    monkeypatch.setattr(deadlines, "time", Clock())
    iterations = []
    for seconds in (0, 1, 3, 6):
        with enforce(Deadline(seconds)) as deadline:
            relaxed = solve(objective, None)
        assert deadline.cut_short == ["the relaxation"]
        assert not relaxed.converged
        assert relaxed.primal == pytest.approx(objective.primal(relaxed.W))
        assert relaxed.dual <= REFERENCE[3, 0.01] + 1e-7 <= relaxed.primal + 2e-7
        iterations.append(relaxed.n_iter)
    assert iterations == sorted(iterations)
    assert iterations[0] < iterations[-1] < whole.n_iter


@pytest.mark.uncompiled
@every_solver
def test_a_deadline_that_is_not_reached_changes_nothing(entry):
    objective = problems.breast_cancer(3, 0.01)
    solve = entry.bind(1e-4, 10_000, None)
    with enforce(Deadline(1e6)) as deadline:
        limited = solve(objective, None)
    whole = solve(objective, None)
    assert deadline.cut_short == []
    assert (limited.primal, limited.dual, limited.n_iter) == (whole.primal, whole.dual, whole.n_iter)
    np.testing.assert_array_equal(limited.W, whole.W)


@pytest.mark.uncompiled
def test_the_mask_spends_the_budget_and_fits_the_weights():
    objective = problems.breast_cancer(3, 0.01)
    relaxed = accelerated.solve(objective, None, 1e-10, 1000)
    np.testing.assert_allclose(relaxed.mask[:, :30].sum(axis=1), 3.0)
    assert np.all(relaxed.mask[:, 30] == 1.0)
    # At the saddle point W = -G ε / λ.
    np.testing.assert_allclose(relaxed.W, -relaxed.gradient * relaxed.mask / 0.01, atol=1e-4)


# --- a solver never sees X -------------------------------------------------------------------------------------------


class Shown:
    """An objective that shows what `Relaxation` lists and nothing else."""

    names = frozenset(name for name in vars(Relaxation) if not name.startswith("_"))

    def __init__(self, objective):
        self.__hidden = objective

    def __getattr__(self, name):
        assert name in self.names, f"a solver asked for {name!r}"
        value = getattr(self.__hidden, name)
        return (lambda columns: Shown(value(columns))) if name == "restrict" else value


@pytest.mark.uncompiled
def test_the_relaxation_that_a_solver_takes_has_no_rows():
    assert not {"rows", "assignment", "labels", "roles"} & Shown.names
    with pytest.raises(AssertionError, match="asked for 'rows'"):
        Shown(problems.breast_cancer(3, 0.1)).rows  # noqa: B018


@pytest.mark.uncompiled
@every_solver
@pytest.mark.parametrize("start", [None, "given"])
def test_every_solver_asks_for_nothing_but_the_relaxation(entry, start):
    objective = problems.breast_cancer(3, 0.1)
    W = None if start is None else np.ones(objective.shape)
    found, expected = (entry.bind(1e-6, 100, None)(shown, W) for shown in (Shown(objective), objective))
    assert found.primal == expected.primal


@pytest.mark.uncompiled
@pytest.mark.parametrize("options", MIRROR_PROX.values(), ids=MIRROR_PROX)
def test_mirror_prox_with_options_asks_for_nothing_but_the_relaxation(options):
    objective = problems.breast_cancer(3, 0.1)
    found, expected = (mirror_prox.solve(shown, None, 1e-3, 60, options) for shown in (Shown(objective), objective))
    assert found.primal == expected.primal


# --- the registry ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LoudOptions:
    volume: int = 1


@pytest.fixture
def loud(monkeypatch):
    """The settings that a registered solver was called with."""
    calls = []

    def solve(relaxation, start, tol, max_iter, options):
        calls.append((tol, max_iter, options))
        return accelerated.solve(relaxation, start, tol, max_iter)

    monkeypatch.setitem(SOLVERS, "loud", SolverEntry(solve, LoudOptions))
    return calls


@pytest.mark.uncompiled
def test_a_solver_needs_one_line_in_the_registry(loud):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    clf = SMaLLClassifier(1, 1, solver="loud", solver_options={"volume": 11}, max_iter=50).fit(X, y)
    assert loud[0] == (clf.tol, 50, LoudOptions(volume=11))
    assert clf.objective_ == SMaLLClassifier(1, 1, max_iter=50).fit(X, y).objective_


@pytest.mark.uncompiled
def test_the_registry_says_which_solvers_and_options_are_allowed(loud):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    assert list(SOLVERS)[-1] == "loud"
    with pytest.raises(ValueError, match=f"solver='quiet' is not one of {', '.join(map(repr, SOLVERS))}"):
        SMaLLClassifier(solver="quiet").fit(X, y)
    with pytest.raises(ValueError, match=r"\['pitch'\], which solver='loud' does not know; it takes volume\."):
        SMaLLClassifier(solver="loud", solver_options={"pitch": 1}).fit(X, y)
    assert not loud
