"""The work of a certificate and of a search, as they are counted; which models the bound is about."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from smallearn import SMaLLClassifierCV
from smallearn._learn.choose.certificate import (
    EACH,
    EACH_MOVING,
    MOST_ITER,
    SHARE,
    work_of_certificate,
    work_of_search,
)
from smallearn._learn.choose.families import CandidateModel, Family
from smallearn._learn.choose.final import train_choice
from smallearn._learn.choose.results import Results
from smallearn._learn.choose.scores import FoldScore
from smallearn._learn.solve.solvers.accelerated import MOST_UNKNOWNS


def results_of(*, n_prototypes=1, owner=1, n_terms=3, folds=(0, 1)):
    """Candidate models of one family with 1 to ``n_terms`` terms, run on some of five folds."""
    results = Results(5, 100.0)
    family = Family(literals="raw", n_prototypes=n_prototypes, owner=owner, alphas=(0.01,))
    for fold in folds:
        for size in range(1, n_terms + 1):
            results.enter(fold, {CandidateModel(family, 0.01, size): FoldScore(reported=0.5, deciding=0.5)})
    return results


def test_the_work_of_a_certificate_grows_with_the_weights_until_the_solver_leaves_some_out():
    assert work_of_certificate(50, 2, 60) == 4 * work_of_certificate(50, 1, 60)
    assert work_of_certificate(50, 1, MOST_UNKNOWNS) == 50 * MOST_ITER * MOST_UNKNOWNS
    assert work_of_certificate(50, 10, 10**6) == 50 * MOST_ITER * MOST_UNKNOWNS


@pytest.mark.parametrize(
    ("results", "n_classes", "each_row"),
    [
        (results_of(), 2, 6 * EACH),
        (results_of(folds=(4,)), 2, 3 * EACH),
        (results_of(n_terms=5, folds=range(5)), 2, 25 * EACH),
        (results_of(n_prototypes=3), 2, 6 * 3 * EACH_MOVING),
        (results_of(owner=None), 4, 6 * EACH),
        (results_of(owner=None, n_prototypes=2), 4, 6 * 8 * EACH_MOVING),
    ],
)
def test_the_work_of_a_search_counts_every_model_on_every_fold_and_moving_rows_more(results, n_classes, each_row):
    assert work_of_search(results, 1, n_classes) == each_row
    assert work_of_search(results, 80, n_classes) == 80 * each_row


def test_the_default_search_pays_for_the_certificate_of_the_largest_model():
    default = results_of(n_prototypes=2, n_terms=10, folds=range(5))  # one of the families that reach the last fold
    assert work_of_certificate(1000, 4, 10**4) <= SHARE * 4 * work_of_search(default, 1000, 2)


def test_the_bound_of_a_one_sided_model_holds_for_models_that_are_not():
    rng = np.random.default_rng(1)
    present = rng.random((500, 12)) < 0.2
    logit = 3.0 * present[:, :3].sum(axis=1) - 3.0 * present[:, 3:6].sum(axis=1)
    y = (rng.random(500) < 1.0 / (1.0 + np.exp(-logit))).astype(int)
    X = sparse.csr_matrix(present.astype(float))
    selector = SMaLLClassifierCV(3, alphas=[0.01], n_prototypes=1, cv=3, random_state=0)
    task, results, _ = selector._race(selector._validated_data(X, y, None), min_terms=3, n_models=1)
    task = replace(task, certificate_share=np.inf)
    one_sided, free = (
        train_choice(task, results, results.choose([c for c in results.complete() if c.family.one_sided is which]), 1)
        for which in (True, False)
    )
    assert one_sided.fitted.objective > free.fitted.objective + 0.01
    assert one_sided.fitted.lower_bound <= free.fitted.objective
