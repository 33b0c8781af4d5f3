"""smallearn: the model that `SMaLLClassifierCV` chooses for the chip, as the chip computes it."""

from functools import partial

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks.flash.found import CHIP, VALIDATION, Found
from smallearn import SMaLLClassifierCV
from smallearn.export import quantise

BYTES_EACH = 2  # of a term: an index and a weight
CODE = 80  # bytes that no model of many terms does without
MOST_TERMS = 650  # beyond which the search takes minutes
PROTOTYPES = (8, 16)
ALPHAS = (3e-4, 1e-4)


def smallearn(X: np.ndarray, y: np.ndarray, flash: int) -> Found:
    """Raw terms only; pixels have one unit, so they are not standardised."""
    most = min(MOST_TERMS, (flash - CODE) // BYTES_EACH)
    clf = SMaLLClassifierCV(
        most,
        min_terms=most // 2,
        n_prototypes=PROTOTYPES,
        alphas=ALPHAS,
        literals="raw",
        standardize=False,
        device=CHIP,
        max_flash=flash,
        cv=StratifiedShuffleSplit(1, test_size=VALIDATION, random_state=0),
        certificate=False,
        random_state=0,
        verbose=-1,
    ).fit(X, y)
    chosen = clf.best_params_
    about = f"{chosen['n_prototypes']} prototypes, {clf.n_terms_} terms, {clf.number_}"
    return Found("smallearn", about, clf.device_cost_.flash, partial(_predict, clf))


def _predict(clf: SMaLLClassifierCV, X: np.ndarray) -> np.ndarray:
    """What the chip answers."""
    if clf.number_ == "float32":
        return clf.predict(X)
    whole = quantise(clf.model_, clf.number_)
    return clf.classes_[whole.predict(whole.codes(X))]
