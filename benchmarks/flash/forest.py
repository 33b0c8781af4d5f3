"""A forest as emlearn writes it, on int16: as many trees and leaves as validation prefers and the flash holds."""

from copy import deepcopy
from functools import partial

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.devices.rivals import LARGEST, emlearn_program
from benchmarks.flash.found import CHIP, Found, validation_split
from smallearn.devices._measure import measure

TREES = (1, 3, 5, 10)
BYTES_PER_LEAF = (10, 13, 17, 24)  # of all trees: how many leaves are tried


def forest(X: np.ndarray, y: np.ndarray, flash: int) -> Found:
    """The best of the forests that fit."""
    fit, compare = validation_split(y)
    settings = sorted({(trees, max(2, flash // each // trees)) for trees in TREES for each in BYTES_PER_LEAF})
    scored = {one: _train(X[fit], y[fit], *one).score(encode(X[compare]), y[compare]) for one in settings}
    for setting in sorted(settings, key=lambda one: -scored[one]):
        model = _train(X, y, *setting)
        size = bytes_of(model)
        if size <= flash:
            trees, leaves = setting
            return Found("emlearn forest", f"{trees} trees, {leaves} leaves each", size, partial(_predict, model))
    raise ValueError(f"No forest takes at most {flash} bytes.")


def encode(X: np.ndarray) -> np.ndarray:
    """Pixels as whole numbers."""
    return np.round(X * LARGEST)


def bytes_of(model: RandomForestClassifier) -> int:
    """The flash of a forest as a function of the pixels that it uses."""
    used = np.unique(np.concatenate([tree.tree_.feature[tree.tree_.feature >= 0] for tree in model.estimators_]))
    model = deepcopy(model)
    for tree in model.estimators_:
        split = tree.tree_.feature >= 0
        tree.tree_.feature[split] = np.searchsorted(used, tree.tree_.feature[split])
        tree.n_features_in_ = len(used)
    model.n_features_in_ = len(used)
    function = "tree_0" if len(model.estimators_) == 1 else "predict"
    return measure(emlearn_program(model, len(used), function), CHIP, np.zeros((1, len(used)))).flash


def _train(X: np.ndarray, y: np.ndarray, trees: int, leaves: int) -> RandomForestClassifier:
    features = None if trees == 1 else "sqrt"
    model = RandomForestClassifier(
        trees, max_leaf_nodes=leaves, max_features=features, bootstrap=trees > 1, random_state=0
    )
    return model.fit(encode(X), y)


def _predict(model: RandomForestClassifier, X: np.ndarray) -> np.ndarray:
    return model.predict(encode(X))
