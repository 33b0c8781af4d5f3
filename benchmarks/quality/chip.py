"""Bytes of flash on a Cortex-M0, inputs of 16 bits: our models, and of a tree the smaller of two libraries' programs.

Inputs are in the model's numbers already, and only those that it uses, for the tree as for ours. emlearn's function for
one tree is called directly: its ``predict`` adds a vote, which a single tree does not need.
"""

from copy import deepcopy

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from smallearn import SMaLLModel
from smallearn.devices import cost
from smallearn.devices._measure import measure

CHIP, LARGEST = "cortex-m0", 2**15 - 1
NUMBERS = ("int16", "int8x16")  # whose inputs have 16 bits


def flash_of_model(model: SMaLLModel, X: np.ndarray) -> int:
    """Bytes of one of our models in int16, in the smaller layout. X: a few rows."""
    return cost(model, CHIP, NUMBERS[0], X, method="measure", layout="best").flash


def flash_of_tree(tree: DecisionTreeClassifier, X: np.ndarray) -> int:
    """Bytes of a fitted tree. X: its training rows."""
    from benchmarks.devices.rivals import emlearn_program, micromlgen_program

    used = np.unique(tree.tree_.feature[tree.tree_.feature >= 0])
    if not used.size:
        return 0  # it returns a constant, as the empty program does that bytes are counted from
    programs = (
        emlearn_program(on_columns(tree, used, codes=X), len(used), "tree_0"),
        micromlgen_program(on_columns(tree, used), len(used)),
    )
    return min(measure(program, CHIP, np.zeros((1, len(used)))).flash for program in programs)


def on_columns(
    tree: DecisionTreeClassifier, used: np.ndarray, codes: np.ndarray | None = None
) -> DecisionTreeClassifier:
    """The tree as a function of the columns that it uses; with ``codes``, of whole numbers over their range in it."""
    tree = deepcopy(tree)
    split = tree.tree_.feature >= 0
    if codes is not None:
        column = codes[:, tree.tree_.feature[split]]
        low, span = column.min(axis=0), np.ptp(column, axis=0)
        tree.tree_.threshold[split] = np.floor((tree.tree_.threshold[split] - low) / span * LARGEST)
    tree.tree_.feature[split] = np.searchsorted(used, tree.tree_.feature[split])
    tree.n_features_in_ = len(used)
    return tree
