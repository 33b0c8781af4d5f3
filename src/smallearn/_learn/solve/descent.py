"""From an assignment to a model: relax, round, refit, then move rows between prototypes while the objective falls."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from smallearn._learn.data.blocks import SummedRows, TrainingRows
from smallearn._learn.data.labels import LOG_LOSS, Assignment, renumber
from smallearn._learn.data.many_rows import ManyRows
from smallearn._learn.data.tilted import TiltedRows
from smallearn._learn.solve import assignment as assignments
from smallearn._learn.solve import rounding
from smallearn._learn.solve.certify import Incumbent, certify
from smallearn._learn.solve.objective import Objective, Penalty, Relaxed, Solver
from smallearn._learn.solve.solvers import accelerated
from smallearn._learn.solve.support_search import LEAST_FALL, SupportSearch
from smallearn._learn.solve.support_state import ColumnCache, State, fit, tempered
from smallearn._run.deadline import present
from smallearn._run.progress import Status

SETTLED = 1e-3  # many rows have settled after a relative fall of the objective by less: the next is far smaller
TILTED_TOL = 1e-6  # relative gap to which the relaxation of a tilted sample is solved …
MOST_SETTLING = 10  # rounds in which many rows join prototypes
MAX_TILTED = 1000  # … in at most so many iterations


SOLVER: Solver = partial(accelerated.solve, tol=1e-4, max_iter=10_000)


@dataclass(frozen=True)
class Plan:
    """How to train: the penalty, a solver of the relaxation, whether to refit, and how many rounds rows may move."""

    penalty: Penalty
    refit: bool
    rounds: int
    solver: Solver = SOLVER
    verbose: bool = False
    sample_weight: np.ndarray = field(default_factory=lambda: np.empty(0))
    local_search: bool = False


@dataclass(frozen=True)
class Found:
    """A model in standardised space (``W``, p × d) and its objective at ``assignment``."""

    W: np.ndarray
    support: np.ndarray
    value: float
    assignment: Any
    """An `Assignment`; a `Placement` of many rows."""


@dataclass(frozen=True)
class Solution(Found):
    """A model with the relaxation that bounds it, both at ``assignment``."""

    relaxed: Relaxed
    n_iter: int
    proven: float = 0.0
    """The lower bound of branch and bound, if it ran."""
    certified: bool = False
    n_relaxations: int = 0
    """The relaxations that branch and bound solved."""

    @property
    def bound(self) -> float:
        """The best lower bound known at this assignment."""
        return max(self.relaxed.dual, self.proven)


def train(rows: TrainingRows, assignment: Assignment, plan: Plan) -> Solution:
    """Train from ``assignment``: relax, round, refit, move rows, and repeat while the objective falls.

    The objective never rises from line to line of the report. Ends early at the deadline.
    """
    filled, kept = assignments.drop_empty(assignment)
    current = _solve(rows, filled, plan, start=None)
    if plan.rounds:
        current = _reseed(rows, current, assignment.owner[~kept], plan)
    _report(plan, "start", current)
    return _polish(rows, _descend(rows, current, plan), plan)


def resume(rows: Any, sample: TrainingRows, found: Solution, plan: Plan) -> Solution:
    """Go on from a model of a ``sample`` on all ``rows``: settle it there, relax, round, refit, and repeat while the
    objective falls with another support."""
    current = _relax_settled(rows, sample, found, plan)
    _report(plan, "all rows", current)
    known = found.support
    while not np.array_equal(current.support, known) and not present().stops("the reassignment of rows"):
        known = current.support
        following = _relax_settled(rows, sample, current, plan)
        _report(plan, "other terms", following)
        if not following.value < current.value:
            break
        current = following
    return _polish(rows, current, plan)


def _descend(rows: TrainingRows, current: Solution, plan: Plan) -> Solution:
    """Move rows and relax again while the objective falls."""
    left, steady = plan.rounds, False
    while left > 0 and not current.assignment.one_per_class and not present().stops("the reassignment of rows"):
        # Once a new relaxation gives the same support, rows move on it until none does before the next relaxation.
        following, used = _reassign(rows, current, plan, left if steady else 1)
        if used == 0:
            break
        left -= used
        steady = np.array_equal(following.support, current.support)
        _report(plan, f"round {plan.rounds - left}", following)
        falls = following.value < current.value * (1.0 - 1e-9)
        if following.value <= current.value:
            current = following
        if not falls:
            break
    return current


def _polish(rows: Any, current: Solution, plan: Plan) -> Solution:
    """Swap terms, if the plan says so; of many rows only the sample is searched, before."""
    if not plan.local_search or isinstance(rows, ManyRows) or present().stops("the swaps of terms"):
        return current
    return _swap(rows, current, plan)


def settle(rows: ManyRows, sample: TrainingRows, found: Found, penalty: Penalty, *, refit: bool = True) -> Found:
    """A model of a ``sample`` on all rows: they join its prototypes, and its weights are refitted to them, in turn.

    Without ``refit``, its weights stay, and only the value is that of all rows.
    """
    plan = Plan(penalty=penalty, refit=refit, rounds=MOST_SETTLING if refit else 0)
    settled = _settle(rows, sample, found, plan)
    assignment, kept = assignments.drop_empty(settled.assignment)
    objective = Objective(rows=rows, assignment=assignment, penalty=penalty)
    W, value = _weigh(objective, found.support[kept], settled.W[kept], plan)
    return Found(W=W, support=found.support[kept], value=value, assignment=assignment)


def from_state(rows: TrainingRows, state: State, penalty: Penalty, sharpness: float = LOG_LOSS) -> Found:
    """The model at a state of a search over supports, refitted to full precision. Whatever the loss of the search, the
    value is that of the log loss. (Signs are for two classes, where that is the loss of every search.)"""
    d = rows.n_columns
    filled, kept = assignments.drop_empty(state.assignment)
    if penalty.signed:
        objective = Objective(rows=rows, assignment=filled, penalty=penalty)
        support, start = state.support(d)[kept], state.weights(d)[kept]
        support[:, penalty.cost == 0.0] = True  # always in, even where a sign constraint left the weight at 0
        W, value = rounding.refit(objective, support, start)
        return Found(W=W, support=support, value=value, assignment=filled)
    entries = state.entries.take(kept[state.prototype])
    entries = entries._replace(prototype=renumber(kept)[entries.prototype])
    labels = replace(rows.labels, sharpness=sharpness)
    final = fit(ColumnCache(rows), labels, penalty, filled, entries, precision=rounding.PRECISE, rounds=0)
    if sharpness == LOG_LOSS:
        return Found(W=final.weights(d), support=final.support(d), value=final.value, assignment=filled)
    W = tempered(final, labels, penalty.alpha).weights(d)
    value = Objective(rows=rows, assignment=filled, penalty=penalty).sparse_primal(W)
    return Found(W=W, support=final.support(d), value=value, assignment=filled)


def bounded(rows: SummedRows, found: Found, penalty: Penalty, solver: Solver) -> Solution:
    """The model with its lower bound: the relaxation is solved at its assignment."""
    relaxed = solver(Objective(rows=rows, assignment=found.assignment, penalty=penalty), found.W)
    return Solution(**vars(found), relaxed=relaxed, n_iter=relaxed.n_iter)


def prove(rows: TrainingRows, current: Solution, plan: Plan, tol: float) -> Solution:
    """Prove by branch and bound that no support within the budget is better at this assignment, or find the best."""
    objective = Objective(rows=rows, assignment=current.assignment, penalty=plan.penalty)
    incumbent = Incumbent(W=current.W, support=current.support, value=current.value)
    with Status(plan.verbose) as status:
        proof = certify(
            objective,
            incumbent,
            tol=tol,
            progress=lambda now: status.update(f"certify: {now.nodes} relaxations, gap {now.optimality_gap:.2%}"),
        )
    return replace(
        current,
        W=proof.W,
        support=proof.support,
        value=proof.value,
        proven=proof.lower_bound,
        certified=proof.complete,
        n_relaxations=proof.nodes,
    )


def _swap(rows: TrainingRows, current: Solution, plan: Plan) -> Solution:
    """Swap terms, and let rows move, until no promising swap lowers the objective."""
    search = SupportSearch(rows, plan.penalty, moving=plan.rounds > 0)
    state = search.resume(current.assignment, current.support, current.W)
    state = search.polish(state, removals=len(state.theta), tries=3)
    if not state.value < current.value * (1.0 - LEAST_FALL):
        return current
    found = from_state(rows, search.drop_unused(state), plan.penalty)
    better = bounded(rows, found, plan.penalty, plan.solver)
    _report(plan, "swaps", better)
    return replace(better, n_iter=current.n_iter + better.n_iter) if better.value < current.value else current


def _solve(
    rows: SummedRows,
    assignment: Assignment,
    plan: Plan,
    start: np.ndarray | None,
    near: np.ndarray | None = None,
    precision: float = rounding.PRECISE,
) -> Solution:
    """Relax from ``start``, round and refit at a fixed assignment; from ``near`` if it has the rounded support."""
    objective = Objective(rows=rows, assignment=assignment, penalty=plan.penalty)
    relaxed = plan.solver(objective, start)
    support = rounding.round_support(objective, relaxed)
    if plan.refit:
        if near is None or not np.array_equal(near != 0.0, support):
            near = relaxed.W
        W, value = rounding.refit(objective, support, near, precision)
    else:
        W, value = rounding.from_dual(objective, relaxed, support)
    return Solution(W=W, support=support, value=value, assignment=assignment, relaxed=relaxed, n_iter=relaxed.n_iter)


def _reassign(rows: TrainingRows, current: Solution, plan: Plan, rounds: int) -> tuple[Solution, int]:
    """Move rows to better prototypes, then relax and round there. Also returns the number of rounds used."""
    moved, W, used = _reassign_on_support(rows, current, plan, rounds)
    return (_relax_again(rows, current, moved, W, plan), used) if used else (current, 0)


def _relax_again(
    rows: Any,
    current: Solution,
    moved: Assignment,
    W: np.ndarray,
    plan: Plan,
    precision: float = rounding.PRECISE,
) -> Solution:
    """Relax and round where the rows have moved to; ``W`` has the weights there on the present support.

    With W fixed a move never raises the objective, but rounding again can. So the better of the old support and the new
    is kept; the bound is that of the new assignment either way.
    """
    filled, kept = assignments.drop_empty(moved)
    support, W = current.support[kept], W[kept]
    fresh = _solve(rows, filled, plan, start=current.relaxed.W[kept], near=W, precision=precision)
    following = replace(fresh, n_iter=current.n_iter + fresh.n_iter)
    if not (plan.refit and np.array_equal(support, fresh.support)):  # else the weights are the same
        objective = Objective(rows=rows, assignment=filled, penalty=plan.penalty)
        W, value = _weigh(objective, support, W, plan, precision)
        if value < fresh.value:
            following = replace(following, W=W, support=support, value=value)
    return following if kept.all() else _reseed(rows, following, moved.owner[~kept], plan)


def _reassign_on_support(
    rows: TrainingRows, current: Found, plan: Plan, rounds: int
) -> tuple[Assignment, np.ndarray, int]:
    """Assign each row to its best prototype and refit on the present support, in turn.

    Cheap, as only the columns in use are read. Ends when no row moves, when a prototype is left without rows, or after
    ``rounds``. Returns the assignment, W and the number of rounds.
    """
    assignment, W, used = current.assignment, current.W, 0
    columns = np.flatnonzero(current.support.any(axis=0))
    small = Objective(rows=rows, assignment=assignment, penalty=plan.penalty).restrict(columns)
    support, weights = current.support[:, columns], current.W[:, columns]
    value = current.value
    while used < rounds:
        moved = assignments.best_scoring(small.scores(weights), rows.labels.code, assignment)
        if np.array_equal(moved.own, assignment.own):
            break
        used += 1
        assignment = moved
        if not assignment.sizes().all():
            break
        before = value
        weights, value = _weigh(replace(small, assignment=assignment), support, weights, plan, rounding.ROUGH)
        if value >= before * (1.0 - 1e-9):
            break
    W = np.zeros(W.shape)
    W[:, columns] = weights
    return assignment, W, used


def _relax_settled(rows: SummedRows, sample: TrainingRows, found: Solution, plan: Plan) -> Solution:
    """Settle a model on all rows, then relax and round there; from the relaxed optimum of the tilted sample."""
    settled = _settle(rows, sample, found, plan)
    few = _join(sample, settled.W, found, plan).assignment
    V = found.relaxed.W
    tilt = _gradient(rows, V, settled.assignment) - _gradient(sample, V, few)
    tilted = Objective(rows=TiltedRows(sample, tilt), assignment=few, penalty=plan.penalty)
    start = accelerated.solve(tilted, V, TILTED_TOL, MAX_TILTED).W
    near = replace(found, relaxed=replace(found.relaxed, W=start))
    return _relax_again(rows, near, settled.assignment, settled.W, plan, rounding.CLOSE)


class _Joined(NamedTuple):
    """Rows with the prototypes that score them best under ``W``: the objective, and the gradient of the loss on the
    support."""

    W: np.ndarray
    assignment: Any
    value: float
    gradient: np.ndarray


def _settle(rows: SummedRows, sample: TrainingRows, found: Found, plan: Plan) -> _Joined:
    """All rows join the prototypes of ``found``, and its weights are refitted to them, in turn.

    Each step is computed on the tilted sample, where rows move and weights are refitted until no row moves.
    """
    at = _join(rows, found.W, found, plan)
    for _ in range(plan.rounds):
        few = _join(sample, at.W, found, plan)
        tilted = TiltedRows(sample, at.gradient - few.gradient)
        objective = Objective(rows=tilted, assignment=few.assignment, penalty=plan.penalty)
        W, value = _weigh(objective, found.support, at.W, plan, rounding.ROUGH)
        current = replace(found, W=W, value=value, assignment=few.assignment)
        _, W, _ = _reassign_on_support(tilted, current, plan, plan.rounds)
        following = _join(rows, W, found, plan)
        fall = at.value - following.value
        if fall > 0.0:
            at = following
        if fall <= SETTLED * at.value or present().stops("the reassignment of rows"):
            break
    return at


def _join(rows: SummedRows, W: np.ndarray, found: Found, plan: Plan) -> _Joined:
    columns = np.flatnonzero(found.support.any(axis=0))
    small, weights = rows.narrow(columns), np.ascontiguousarray(W[:, columns])
    assignment = assignments.place(small, weights, found.assignment.owner)
    loss, _, G = small.sums(weights, rows.labels.roles(assignment))
    gradient = np.zeros(W.shape)
    gradient[:, columns] = G
    value = loss + 0.5 * plan.penalty.alpha * float(np.sum(W * W))
    return _Joined(W=W, assignment=assignment, value=value, gradient=gradient)


def _gradient(rows: SummedRows, W: np.ndarray, assignment: Any) -> np.ndarray:
    return rows.sums(W, rows.labels.roles(assignment)).gradient


def _weigh(
    objective: Objective, support: np.ndarray, W: np.ndarray, plan: Plan, precision: float = rounding.PRECISE
) -> tuple[np.ndarray, float]:
    """Weights on a support, and their objective: refitted from ``W``, or left as they are."""
    return rounding.refit(objective, support, W, precision) if plan.refit else (W, objective.sparse_primal(W))


def _reseed(rows: Any, current: Solution, lost: np.ndarray, plan: Plan) -> Solution:
    """For each class that lost a prototype, start a new one from the rows of the class with the worst scores. Keep
    it if that lowers the objective. Many rows are not looked at one by one: there the prototype stays lost."""
    for label in [] if isinstance(rows, ManyRows) else lost:
        if present().stops("new prototypes"):
            break
        code = rows.labels.code
        own, owner = current.assignment.own, current.assignment.owner
        Z = _scores(rows, current.W)
        rival = np.where(owner[None, :] != code[:, None], Z, -np.inf).max(axis=1)
        if rows.labels.zero_owner is not None:
            rival = np.maximum(rival, 0.0)
        member = np.flatnonzero(code == label)
        margin = Z[member, own[member]] - rival[member]
        # The rows on the wrong side, but at most half of the class; if there are none, the nearest quarter.
        share = 0.5 if np.any(margin < 0.0) else 0.25
        threshold = _weighted_quantile(margin, plan.sample_weight[member], share)
        worst = member[margin <= (min(0.0, threshold) if share == 0.5 else threshold)]
        if len(worst) == len(member):
            continue
        new = int(np.flatnonzero(owner == label)[-1]) + 1  # prototypes of a class stay together
        seeded = np.where(own >= new, own + 1, own)
        seeded[worst] = new
        assignment = Assignment(own=seeded, owner=np.insert(owner, new, label))
        if not assignment.sizes().all():
            continue  # the worst rows are all the rows of another prototype
        trial = _solve(rows, assignment, plan, start=np.insert(current.relaxed.W, new, 0.0, axis=0))
        n_iter = current.n_iter + trial.n_iter
        current = replace(trial if trial.value < current.value else current, n_iter=n_iter)
    return current


def _weighted_quantile(values: np.ndarray, weight: np.ndarray, share: float) -> float:
    """The least value with at least that share of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(reached, share * reached[-1] * (1.0 - 1e-12))])


def _scores(rows: TrainingRows, W: np.ndarray) -> np.ndarray:
    """``X Wᵀ``, from the columns in use alone."""
    columns = np.flatnonzero(np.any(W != 0.0, axis=0))
    return rows.narrow(columns).scores(W[:, columns])


def _report(plan: Plan, name: str, solution: Solution) -> None:
    if plan.verbose:
        print(
            f"[SMaLL] {name}: objective {solution.value:.6f}, bound {solution.relaxed.dual:.6f}, "
            f"{len(solution.W)} prototypes, {solution.relaxed.n_iter} iterations"
        )
