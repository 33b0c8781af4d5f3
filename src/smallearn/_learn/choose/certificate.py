"""The certificate of a chosen model, and whether it is worth its time.

Work is counted, not timed, so that the same data give the same answer on every machine. The unit is a pass of the
solver over all rows for one weight. A certificate takes at most `MOST_ITER` iterations, each over `MOST_UNKNOWNS`
weights or so; with fewer weights, fewer iterations in proportion. The search takes `PASSES` for each prototype of each
candidate model on each fold, and `PASSES_MOVING` where a class has several prototypes and rows move between them. The
number of rows cancels out. The constants were measured; ``python -m benchmarks.certificate_share`` compares the rule
with the clock.
"""

from functools import partial

from smallearn._learn.choose.families import Task
from smallearn._learn.choose.results import Results
from smallearn._learn.data.blocks import TrainingRows
from smallearn._learn.solve import descent
from smallearn._learn.solve.objective import Penalty
from smallearn._learn.solve.solvers import accelerated
from smallearn._run.deadline import present

TOL, MOST_ITER = 1e-3, 200  # how far the relaxation is solved
SHARE = 0.1  # of the search's work that certificates may add, if they are computed where they are cheap
PASSES, PASSES_MOVING = 500, 4000  # for each prototype of a candidate model on a fold; the second if rows can move


def add_certificate(
    task: Task, results: Results, rows: TrainingRows, found: descent.Found, penalty: Penalty
) -> descent.Found:
    """The model with its certificate, if the task asks for it and there is time; else as it was."""
    affordable = task.certificate_share * work_of_search(results, len(task.problem.classes))
    if work_of_certificate(*found.W.shape) > affordable:
        return found
    if present().stops("the certificate"):
        return found
    return descent.bounded(rows, found, penalty, partial(accelerated.solve, tol=TOL, max_iter=MOST_ITER))


def work_of_certificate(n_prototypes: int, n_columns: int) -> int:
    """About how many passes a certificate takes at most."""
    most = accelerated.MOST_UNKNOWNS
    return MOST_ITER * min(n_prototypes * n_columns, most) ** 2 // most


def work_of_search(results: Results, n_classes: int) -> int:
    """About how many passes the comparison of the candidate models took."""
    n_passes = 0
    for candidate, scores in results.scores.items():
        family = candidate.family
        owners = n_classes if family.owner is None else 1
        each = PASSES if family.n_prototypes == 1 else PASSES_MOVING
        n_passes += owners * family.n_prototypes * each * sum(score is not None for score in scores)
    return n_passes
