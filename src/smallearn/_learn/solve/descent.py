"""From an assignment to a model: relax, round, refit, then move rows between prototypes while the objective falls."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from smallearn._learn.data.blocks import Assignment, Rows
from smallearn._learn.solve import assignment as assignments
from smallearn._learn.solve import rounding
from smallearn._learn.solve.certify import certify
from smallearn._learn.solve.objective import Objective, Penalty, Relaxed
from smallearn._learn.solve.support_search import LEAST_FALL, Search, State
from smallearn._run.progress import Status

Solver = Callable[[Objective, np.ndarray | None], Relaxed]


@dataclass(frozen=True)
class Plan:
    """How to train: the penalty, a solver of the relaxation, whether to refit, and how often rows may move."""

    penalty: Penalty
    solver: Solver
    refit: bool
    rounds: int
    verbose: bool
    sample_weight: np.ndarray
    local_search: bool = False


@dataclass(frozen=True)
class Solution:
    """A model in standardised space (``W``, p × d) with the relaxation that bounds it, both at ``assignment``."""

    W: np.ndarray
    support: np.ndarray
    value: float
    assignment: Assignment
    relaxed: Relaxed
    n_iter: int
    proven: float = 0.0
    """A lower bound that branch and bound proved, beside that of the relaxation."""
    certified: bool = False
    n_relaxations: int = 0
    """Solved by branch and bound."""

    @property
    def bound(self) -> float:
        """The best lower bound known at this assignment."""
        return max(self.relaxed.dual, self.proven)


def train(rows: Rows, assignment: Assignment, plan: Plan) -> Solution:
    """Descend from ``assignment``. The objective never rises from line to line of the report."""
    filled, alive = assignments.drop_empty(assignment)
    current = _solve(rows, filled, plan, start=None)
    if plan.rounds:
        current = _reseed(rows, current, assignment.owner[~alive], plan)
    _report(plan, "start", current)
    left, steady = plan.rounds, False
    while left > 0:
        # Once relaxing anew brings back the same support, rows may settle on it before the next relaxation.
        following, used = _reassign(rows, current, plan, left if steady else 1)
        if used == 0:
            break
        left -= used
        steady = np.array_equal(following.support, current.support)
        _report(plan, f"round {plan.rounds - left}", following)
        settled = following.value >= current.value * (1.0 - 1e-9)
        if following.value <= current.value:
            current = following
        if settled:
            break
    return _swap(rows, current, plan) if plan.local_search else current


def from_state(rows: Rows, state: State, plan: Plan) -> Solution:
    """The solution at a state that a search over supports reached: refitted to the end, and bounded anew."""
    d = rows.n_columns
    filled, alive = assignments.drop_empty(state.assignment)
    objective = Objective(rows, filled, plan.penalty)
    support, start = state.support(d)[alive], state.weights(d)[alive]
    support[:, plan.penalty.cost == 0.0] = True  # always in, though a sign may have held its weight at 0
    W, value = rounding.refit(objective, support, start)
    relaxed = plan.solver(objective, start)
    return Solution(W, support, value, filled, relaxed, relaxed.n_iter)


def prove(rows: Rows, current: Solution, plan: Plan, tol: float, time_limit: float | None) -> Solution:
    """Prove by branch and bound that no support within the budget is better at this assignment, or find the best."""
    objective = Objective(rows, current.assignment, plan.penalty)
    incumbent = (current.W, current.support, current.value)
    with Status(plan.verbose) as status:
        proof = certify(
            objective,
            incumbent,
            tol,
            time_limit,
            lambda now: status.update(f"certify: {now.nodes} relaxations, gap {now.optimality_gap:.2%}"),
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


def _swap(rows: Rows, current: Solution, plan: Plan) -> Solution:
    """Swap terms, and let rows move, until nothing that promises a lower objective brings it."""
    search = Search(rows, plan.penalty, moving=plan.rounds > 0)
    state = search.resume(current.assignment, current.support, current.W)
    state = search.polish(state, removals=len(state.theta), tries=3)
    if not state.value < current.value * (1.0 - LEAST_FALL):
        return current
    better = from_state(rows, search.tidy(state), plan)
    _report(plan, "swaps", better)
    return replace(better, n_iter=current.n_iter + better.n_iter) if better.value < current.value else current


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


def _reassign(rows: Rows, current: Solution, plan: Plan, rounds: int) -> tuple[Solution, int]:
    """Move rows to better prototypes, then relax and round anew there; returns the number of rounds used too.

    With W fixed a move never raises the objective, but rounding anew can. So the better of the old support and the new
    is kept; the bound is that of the new assignment either way.
    """
    moved, W, used = _settle(rows, current, plan, rounds)
    if used == 0:
        return current, 0
    filled, alive = assignments.drop_empty(moved)
    fresh = _solve(rows, filled, plan, start=current.relaxed.W[alive])
    following = replace(fresh, n_iter=current.n_iter + fresh.n_iter)
    support = current.support[alive]
    if not (plan.refit and np.array_equal(support, fresh.support)):  # else the weights are the same
        W, value = _weigh(Objective(rows, filled, plan.penalty), support, W[alive], plan)
        if value < fresh.value:
            following = replace(following, W=W, support=support, value=value)
    if not alive.all():
        following = _reseed(rows, following, moved.owner[~alive], plan)
    return following, used


def _settle(rows: Rows, current: Solution, plan: Plan, rounds: int) -> tuple[Assignment, np.ndarray, int]:
    """Give each row to its best prototype and refit on the support at hand, in turn: cheap, for only the columns in use
    are looked at. Ends when no row moves, when a prototype is left without rows, or after ``rounds``."""
    assignment, W, used = current.assignment, current.W, 0
    if len(np.unique(assignment.owner)) == len(assignment.owner):
        return assignment, W, 0  # one prototype a class: there is nowhere to move
    columns = np.flatnonzero(current.support.any(axis=0))
    small = Objective(rows, assignment, plan.penalty).restrict(columns)
    support, weights = current.support[:, columns], current.W[:, columns]
    value = current.value
    while used < rounds:
        own = assignments.best_scoring(small.rows.scores(weights), rows.labels.code, assignment)
        if np.array_equal(own, assignment.own):
            break
        used += 1
        assignment = Assignment(own, assignment.owner)
        if not assignments.drop_empty(assignment)[1].all():
            break
        before = value
        weights, value = _weigh(replace(small, assignment=assignment), support, weights, plan)
        if value >= before * (1.0 - 1e-9):
            break
    W = np.zeros(W.shape)
    W[:, columns] = weights
    return assignment, W, used


def _weigh(objective: Objective, support: np.ndarray, W: np.ndarray, plan: Plan) -> tuple[np.ndarray, float]:
    """The weights on a support at hand, starting from ``W``: refitted, or left as they are."""
    return rounding.refit(objective, support, W) if plan.refit else (W, objective.sparse_primal(W))


def _reseed(rows: Rows, current: Solution, vacancies: np.ndarray, plan: Plan) -> Solution:
    """Try to fill each vacancy (a class that lost a prototype) with the rows that its class serves worst; keep the new
    prototype if that lowers the objective."""
    for label in vacancies:
        code = rows.labels.code
        own, owner = current.assignment.own, current.assignment.owner
        Z = _scores(rows, current.W)
        rival = np.where(owner[None, :] != code[:, None], Z, -np.inf).max(axis=1)
        if rows.labels.has_zero:
            rival = np.maximum(rival, 0.0)
        member = np.flatnonzero(code == label)
        margin = Z[member, own[member]] - rival[member]
        # Those on the wrong side, though no more than half of the class; if there are none, the nearest quarter.
        share = 0.5 if np.any(margin < 0.0) else 0.25
        bar = _weighted_quantile(margin, plan.sample_weight[member], share)
        worst = member[margin <= (min(0.0, bar) if share == 0.5 else bar)]
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


def _weighted_quantile(values: np.ndarray, weight: np.ndarray, share: float) -> float:
    """The least value with at least that share of the weight at or below it: a row of weight 2 counts twice."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(reached, share * reached[-1] * (1.0 - 1e-12))])


def _scores(rows: Rows, W: np.ndarray) -> np.ndarray:
    columns = np.flatnonzero(np.any(W != 0.0, axis=0))
    return rows.restrict(columns).scores(W[:, columns])


def _report(plan: Plan, name: str, solution: Solution) -> None:
    if plan.verbose:
        print(
            f"[SMaLL] {name}: objective {solution.value:.6f}, bound {solution.relaxed.dual:.6f}, "
            f"{len(solution.W)} prototypes, {solution.relaxed.n_iter} iterations"
        )
