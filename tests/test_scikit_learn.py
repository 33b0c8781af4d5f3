"""Both estimators pass every check of scikit-learn's."""

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

from smallearn import SMaLLClassifier, SMaLLClassifierCV

ESTIMATORS = {
    "default": SMaLLClassifier(),
    "no limit": SMaLLClassifier(n_prototypes=1, n_nonzero=None),
    "mirror-prox": SMaLLClassifier(solver="mirror-prox", tol=1e-2),
    "literals": SMaLLClassifier(literals="both", local_search=True),
    "total": SMaLLClassifier(budget="total"),
    "selection": SMaLLClassifierCV(3, alphas=[0.01], n_prototypes=[1, 2], cv=2, n_init=1, random_state=0),
}
CHECKS = [
    pytest.param(estimator, check, id=f"{name}-{check.func.__name__}")
    for name, estimator in ESTIMATORS.items()
    for _, check in estimator_checks_generator(estimator)
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("default:n_prototypes=:UserWarning")
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(clone(estimator))
