"""smallearn: the model that `SMaLLClassifierCV` chooses for the chip, as the chip computes it.

The settings were compared on training rows: of usps_odd_even, of three splits of mnist5k_low_high, and of
scikit-learn's digits, where it pays as well that both classes own prototypes. No test row of usps_odd_even had a part
in them. Training rows of one split of mnist5k_low_high are test rows of others: its numbers may be a little too good.
"""

from functools import partial

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks.flash.found import CHIP, VALIDATION, Found
from smallearn import SMaLLClassifierCV
from smallearn.export import quantise

BYTES_EACH = 2  # of a term: an index and a weight
CODE = 130  # bytes that no model of many terms does without
MOST_TERMS = 900  # beyond which the search takes minutes
PROTOTYPES = (4, 8, 12)  # of each class
ALPHAS = (1e-3, 3e-4)


def smallearn(X: np.ndarray, y: np.ndarray, flash: int) -> Found:
    """Raw terms only; pixels have one unit, so they are not standardised. Each class is several digits: both own
    prototypes."""
    most = min(MOST_TERMS, (flash - CODE) // BYTES_EACH)
    clf = SMaLLClassifierCV(
        most,
        min_terms=most // 2,
        n_prototypes=PROTOTYPES,
        alphas=ALPHAS,
        literals="raw",
        positive_class="both",
        standardize=False,
        device=CHIP,
        max_flash=flash,
        cv=StratifiedShuffleSplit(1, test_size=VALIDATION, random_state=0),
        certificate=False,
        random_state=0,
        verbose=-1,
    ).fit(X, y)
    about = f"{len(clf.model_.prototypes)} prototypes, {clf.n_terms_} terms, {clf.number_}"
    return Found("smallearn", about, clf.device_cost_.flash, partial(_predict, clf))


def _predict(clf: SMaLLClassifierCV, X: np.ndarray) -> np.ndarray:
    """What the chip answers."""
    if clf.number_ == "float32":
        return clf.predict(X)
    whole = quantise(clf.model_, clf.number_)
    return clf.classes_[whole.predict(whole.codes(X))]
