"""The certificate of a chosen model, and whether it is worth its time.

Work is counted, not timed, so that the same data give the same answer on every machine. The unit is what the solver
does in one iteration for one weight and one row. A certificate takes at most `MOST_ITER` iterations on all rows, each
for `MOST_UNKNOWNS` weights or so; with fewer weights, fewer iterations in proportion. The search takes `EACH` for each
candidate model and each row that it is trained on in a fold; where a class has several prototypes, between which rows
move, `EACH_MOVING` for each prototype. These two were measured: ``python -m benchmarks.certificate_share`` compares the
rule with the clock.
"""

from functools import partial

from smallearn._learn.choose.families import Task
from smallearn._learn.choose.results import Results
from smallearn._learn.data.blocks import SummedRows
from smallearn._learn.solve import descent
from smallearn._learn.solve.objective import Penalty
from smallearn._learn.solve.solvers import accelerated
from smallearn._run.deadline import present

TOL, MOST_ITER = 1e-3, 200  # how far the relaxation is solved
SHARE = 0.1  # of the search's work that certificates may add, if they are computed where they are cheap
EACH, EACH_MOVING = 500, 2000
CERTIFICATE = "the certificate"  # what is cut short when time is up


def add_certificate(
    task: Task, results: Results, rows: SummedRows, found: descent.Found, penalty: Penalty
) -> descent.Found:
    """The model with its certificate, if the task asks for it and there is time; else as it was."""
    n_rows = task.problem.n_rows
    in_fold = min(task.limits.folds or n_rows, n_rows)
    affordable = task.certificate_share * work_of_search(results, in_fold, len(task.problem.classes))
    if work_of_certificate(n_rows, *found.W.shape) > affordable:
        return found
    if present().stops(CERTIFICATE):
        return found
    solver = partial(accelerated.solve, tol=TOL, max_iter=MOST_ITER, work=CERTIFICATE)
    return descent.bounded(rows, found, penalty, solver)


def work_of_certificate(n_rows: int, n_prototypes: int, n_columns: int) -> int:
    """The work of a certificate, about, at most."""
    most = accelerated.MOST_UNKNOWNS
    return n_rows * MOST_ITER * min(n_prototypes * n_columns, most) ** 2 // most


def work_of_search(results: Results, n_rows: int, n_classes: int) -> int:
    """The work of the comparison of candidate models on folds of ``n_rows`` rows, about."""
    work = 0
    for candidate, scores in results.scores.items():
        family = candidate.family
        n_prototypes = family.n_prototypes * (n_classes if family.owner is None else 1)
        each = EACH if family.n_prototypes == 1 else EACH_MOVING * n_prototypes
        work += each * sum(score is not None for score in scores)
    return work * n_rows
