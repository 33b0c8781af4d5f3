"""From an assignment to a model: relax, round, refit, then move rows between prototypes while the objective falls."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from smallearn import assignment as assignments
from smallearn import rounding
from smallearn.blocks import Assignment, Rows
from smallearn.objective import Objective, Penalty, Relaxed

Solver = Callable[[Objective, np.ndarray | None], Relaxed]


@dataclass(frozen=True)
class Plan:
    """How to train: the penalty, a solver of the relaxation, whether to refit, and how often rows may move."""

    penalty: Penalty
    solver: Solver
    refit: bool
    rounds: int
    verbose: bool


@dataclass(frozen=True)
class Solution:
    """A model in standardised space (``W``, p × d) with the relaxation that bounds it, both at ``assignment``."""

    W: np.ndarray
    support: np.ndarray
    value: float
    assignment: Assignment
    relaxed: Relaxed
    n_iter: int


def train(rows: Rows, assignment: Assignment, plan: Plan) -> Solution:
    """Descend from ``assignment``. The objective never rises from round to round."""
    filled, alive = assignments.drop_empty(assignment)
    current = _solve(rows, filled, plan, start=None)
    if plan.rounds:
        current = _reseed(rows, current, assignment.owner[~alive], plan)
    _report(plan, "start", current)
    for count in range(plan.rounds):
        following = _reassign(rows, current, plan)
        if following is None:
            break
        _report(plan, f"round {count + 1}", following)
        settled = following.value >= current.value * (1.0 - 1e-9)
        if following.value <= current.value:
            current = following
        if settled:
            break
    return current


def _solve(rows: Rows, assignment: Assignment, plan: Plan, start: np.ndarray | None) -> Solution:
    """Relax, round and refit at a fixed assignment."""
    objective = Objective(rows, assignment, plan.penalty)
    relaxed = plan.solver(objective, start)
    support = rounding.round_support(objective, relaxed)
    if plan.refit:
        W, value = rounding.refit(objective, support, relaxed.W)
    else:
        W, value = rounding.from_dual(objective, relaxed, support)
    return Solution(W, support, value, assignment, relaxed, relaxed.n_iter)


def _reassign(rows: Rows, current: Solution, plan: Plan) -> Solution | None:
    """Give each row to its best prototype and train there; None if no row moves.

    With W fixed a move never raises the objective, but rounding anew can. So the old support is refitted too, and the
    better of the two kept; the bound is that of the new assignment either way.
    """
    if len(np.unique(current.assignment.owner)) == len(current.assignment.owner):
        return None  # one prototype a class: there is nowhere to move
    own = assignments.best_scoring(_scores(rows, current.W), rows.labels.code, current.assignment)
    if np.array_equal(own, current.assignment.own):
        return None
    moved = Assignment(own, current.assignment.owner)
    filled, alive = assignments.drop_empty(moved)
    fresh = _solve(rows, filled, plan, start=current.relaxed.W[alive])
    objective = Objective(rows, filled, plan.penalty)
    following = replace(fresh, n_iter=current.n_iter + fresh.n_iter)
    W, support = current.W[alive], current.support[alive]
    if not (plan.refit and np.array_equal(support, fresh.support)):  # else the refit is the same
        W, value = rounding.refit(objective, support, W) if plan.refit else (W, objective.sparse_primal(W))
        if value < fresh.value:
            following = replace(following, W=W, support=support, value=value)
    return following if alive.all() else _reseed(rows, following, moved.owner[~alive], plan)


def _reseed(rows: Rows, current: Solution, vacancies: np.ndarray, plan: Plan) -> Solution:
    """Try to fill each vacancy (a class that lost a prototype) with the rows that its class serves worst; keep the new
    prototype if that lowers the objective."""
    for label in vacancies:
        code = rows.labels.code
        own, owner = current.assignment.own, current.assignment.owner
        Z = _scores(rows, current.W)
        rival = np.where(owner[None, :] != code[:, None], Z, -np.inf).max(axis=1)
        if rows.labels.zero_owner >= 0:
            rival = np.maximum(rival, 0.0)
        member = np.flatnonzero(code == label)
        margin = Z[member, own[member]] - rival[member]
        # Those on the wrong side, though no more than half of the class; if there are none, the nearest quarter.
        bar = min(0.0, float(np.median(margin))) if np.any(margin < 0.0) else float(np.quantile(margin, 0.25))
        worst = member[margin <= bar]
        if len(worst) == len(member):
            continue
        place = int(np.flatnonzero(owner == label)[-1]) + 1  # prototypes stay stacked by class
        seeded = np.where(own >= place, own + 1, own)
        seeded[worst] = place
        assignment = Assignment(seeded, np.insert(owner, place, label))
        if len(assignments.drop_empty(assignment)[0].owner) < len(assignment.owner):
            continue  # the worst rows are all that another prototype had
        trial = _solve(rows, assignment, plan, start=np.insert(current.relaxed.W, place, 0.0, axis=0))
        n_iter = current.n_iter + trial.n_iter
        current = replace(trial if trial.value < current.value else current, n_iter=n_iter)
    return current


def _scores(rows: Rows, W: np.ndarray) -> np.ndarray:
    columns = np.flatnonzero(np.any(W != 0.0, axis=0))
    return rows.restrict(columns).scores(W[:, columns])


def _report(plan: Plan, name: str, solution: Solution) -> None:
    if plan.verbose:
        print(
            f"[SMaLL] {name}: objective {solution.value:.6f}, bound {solution.relaxed.dual:.6f}, "
            f"{len(solution.W)} prototypes, {solution.relaxed.n_iter} iterations"
        )
