"""The rivals, each as the best program that it writes: emlearn, m2cgen, micromlgen.

What they get for nothing: emlearn's trees are written as nested conditions, its inputs are scaled to int16 by the range
of the training rows; the scaling before m2cgen's logistic regression is folded into its weights; the constants of
micromlgen, written as double, are compiled as float. Each is imported where it is used.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from smallearn.devices._toolchain import Program

LARGEST = 2**15 - 1


@dataclass(frozen=True)
class Entry:
    """A program, and how rows become its inputs."""

    name: str
    program: Program
    encode: Callable[[np.ndarray], np.ndarray]


def emlearn_tree(X: np.ndarray, y: np.ndarray) -> Entry:
    """A tree of depth 3 on int16."""
    return _emlearn("emlearn tree of depth 3, int16", DecisionTreeClassifier(max_depth=3, random_state=0), X, y)


def emlearn_small_forest(X: np.ndarray, y: np.ndarray) -> Entry:
    """Ten trees on int16, which vote."""
    return _emlearn("emlearn forest of 10, int16", RandomForestClassifier(10, random_state=0), X, y)


def emlearn_forest(X: np.ndarray, y: np.ndarray) -> Entry:
    """A hundred trees, scikit-learn's default, on int16."""
    return _emlearn("emlearn forest of 100, int16", RandomForestClassifier(100, random_state=0), X, y)


def _emlearn(name: str, model, X: np.ndarray, y: np.ndarray) -> Entry:
    low, span = X.min(axis=0), np.ptp(X, axis=0)

    def encode(rows: np.ndarray) -> np.ndarray:
        return np.clip(np.round((rows - low) / span * LARGEST), -LARGEST, LARGEST)

    return Entry(name, emlearn_program(model.fit(encode(X), y), X.shape[1]), encode)


def emlearn_program(model, n_inputs: int, function: str = "predict") -> Program:
    """A tree or a forest that was trained on whole numbers, on int16; ``tree_0`` is the first tree without a vote."""
    with np.errstate():  # importing emlearn lets all numpy errors raise
        import emlearn

    source = emlearn.convert(model, method="inline", dtype="int16_t", leaf_bits=0).save(name="rival", format="c")
    return Program(source, f"return rival_{function}(x, {n_inputs});", "int16", n_inputs)


def m2cgen_logistic(X: np.ndarray, y: np.ndarray) -> Entry:
    """Logistic regression on scaled features, in double."""
    import m2cgen

    scaler = StandardScaler().fit(X)
    model = LogisticRegression(max_iter=1000).fit(scaler.transform(X), y)
    model.intercept_ = model.intercept_ - (model.coef_ * scaler.mean_ / scaler.scale_).sum(axis=1)
    model.coef_ = model.coef_ / scaler.scale_
    program = Program(m2cgen.export_to_c(model), "return score((double *)x) > 0.0;", "float64", X.shape[1])
    return Entry("m2cgen logistic regression", program, lambda rows: rows)


def m2cgen_tree(X: np.ndarray, y: np.ndarray) -> Entry:
    """A tree of depth 3, in double."""
    import m2cgen

    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    body = "double of[2]; score((double *)x, of); return of[1] > of[0];"
    return Entry(
        "m2cgen tree of depth 3",
        Program(m2cgen.export_to_c(model), body, "float64", X.shape[1]),
        lambda rows: rows,
    )


def micromlgen_tree(X: np.ndarray, y: np.ndarray) -> Entry:
    """A tree of depth 3, in float."""
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    return Entry("micromlgen tree of depth 3", micromlgen_program(model, X.shape[1]), lambda rows: rows)


def micromlgen_program(model, n_inputs: int) -> Program:
    """A trained tree, in float."""
    import micromlgen

    source = micromlgen.port(model).replace("#include <cstdarg>", "#include <stdarg.h>")  # avr-gcc has no C++ library
    body = "Eloquent::ML::Port::DecisionTree tree; return tree.predict((float *)x);"
    return Program(source, body, "float32", n_inputs, ("-fsingle-precision-constant",), cpp=True)


RIVALS = (emlearn_tree, emlearn_small_forest, emlearn_forest, m2cgen_logistic, m2cgen_tree, micromlgen_tree)
