"""The whole way from a reading to a decision on an ATmega328P, from floats and from 10-bit counts, beside the rivals.

Every function takes what the device reads: floats in the units of the data, or counts from 0 to 1023 over the range of
the training rows. Trees have one to ten splits. Accuracy, bytes and the dearest test row are means over splits of the
rows; all choices are made on the training rows. For each rival it is asked whether one of our sizes and number formats
is at least as accurate and smaller, faster, or both.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from benchmarks.devices.rivals import Entry, emlearn_program, m2cgen_logistic, micromlgen_program
from benchmarks.quality.data import load, manifest
from benchmarks.timing import verdict
from smallearn import SMaLLClassifier, SMaLLClassifierCV, SMaLLModel
from smallearn.devices._measure import measure
from smallearn.devices._rows import encode
from smallearn.devices._toolchain import Program
from smallearn.export import to_c
from smallearn.export._fixed.quantise import target_of

CHIP, COUNTS = "atmega328p", 1023
SETS = ("MagicTelescope", "diabetes")  # of a folder, beside the breast cancer data
SPLITS, ROWS = 3, 2_000
SIZES = (1, 2, 3, 4, 6, 8)  # most terms of our models
NUMBERS = {"float": ("int8", "int16"), "counts": ("int8", "int8x16")}
TREES = (1, 2, 3, 5, 7, 10)  # splits


@dataclass(frozen=True)
class Means:
    """Over the splits."""

    name: str
    accuracy: float
    flash: float
    cycles: float


def main(folder: Path | None) -> None:
    """Every data set."""
    for name, read in data_sets(folder):
        X, y = read()
        for readings in ("float", "counts"):
            _compare(name, readings, X, y)


def data_sets(folder: Path | None) -> Iterator[tuple[str, Callable[[], tuple[np.ndarray, np.ndarray]]]]:
    """The breast cancer data, and those of a folder."""
    yield "breast cancer", lambda: load_breast_cancer(return_X_y=True)
    if folder is not None:
        entries = manifest(folder)
        for name in SETS:
            yield name, lambda name=name: load(folder, entries[name])


def _compare(name: str, readings: str, X: np.ndarray, y: np.ndarray) -> None:
    found: dict[str, list[tuple[float, float, float]]] = {}
    for seed in range(SPLITS):
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=0.3, stratify=y, random_state=seed, train_size=min(ROWS, int(0.7 * len(y)))
        )
        X_test, y_test = X_test[:ROWS], y_test[:ROWS]
        for entry in (*ours(X_train, y_train, readings), *rivals(X_train, y_train, readings)):
            measured = measure(entry.program, CHIP, entry.encode(X_test))
            accuracy = float(np.mean(np.array(measured.answers) == y_test))
            found.setdefault(entry.name, []).append((accuracy, measured.flash, max(measured.counts)))
    lines = [Means(key, *np.mean(values, axis=0)) for key, values in found.items() if len(values) == SPLITS]
    print(f"\n{name}, from {'floats' if readings == 'float' else 'counts'}: means of {SPLITS} splits, ATmega328P")
    for line in lines:
        print(f"  {line.name:<44} {line.accuracy:.4f} {line.flash:>8.0f} bytes {line.cycles:>8.0f} cycles")
    own = [line for line in lines if line.name.startswith("smallearn")]
    for rival in lines[len(own) :]:
        both = readings == "counts" or "logistic" in rival.name
        wanted = "smaller and faster" if both else "smaller or faster"
        better = [
            line
            for line in own
            if line.accuracy >= rival.accuracy
            and (all if both else any)((line.flash < rival.flash, line.cycles < rival.cycles))
        ]
        least = min(better, key=lambda line: line.flash).name if better else "none of ours"
        verdict(f"at least as accurate and {wanted} than {rival.name}: {least}", bool(better))


# --- the methods -----------------------------------------------------------------------------------------------------


def ours(X: np.ndarray, y: np.ndarray, readings: str) -> Iterator[Entry]:
    """Our models, each size chosen by cross-validation, in several number formats."""
    counts = {f"x{l}": (*_scale(X[:, l]), 0, COUNTS) for l in range(X.shape[1])} if readings == "counts" else None
    for literals in ("both", "thresholds", "raw"):
        for size in SIZES:
            with threadpool_limits(1):
                clf = SMaLLClassifierCV(size, literals=literals, random_state=0, verbose=-1).fit(X, y)
            yield from _entries(f"{literals}, at most {size} terms", clf.model_, readings, counts)
    every = SMaLLClassifier(n_prototypes=1, n_nonzero=None, alpha=1 / len(y), random_state=0).fit(X, y)
    yield from _entries("raw, all features", every.model_, readings, counts)


def _entries(name: str, model: SMaLLModel, readings: str, counts: dict | None) -> Iterator[Entry]:
    """A model in several number formats."""
    model = model.for_complete_rows()
    for number in NUMBERS[readings]:
        target = target_of(model, number, readings=readings, counts=counts)
        source = to_c(model, number, readings=readings, counts=counts)
        kind = encode(target, np.zeros((1, model.n_features)))[1]
        program = Program(source, "return model_predict_readings(x);", kind, len(target.flat.inputs))
        yield Entry(f"smallearn, {name}, {number}", program, lambda rows, target=target: encode(target, rows)[0])


def rivals(X: np.ndarray, y: np.ndarray, readings: str) -> Iterator[Entry]:
    """Trees as micromlgen and emlearn write them, and logistic regression as m2cgen does."""
    if readings == "float":
        for splits in TREES:
            tree = DecisionTreeClassifier(max_leaf_nodes=splits + 1, random_state=0).fit(X, y)
            yield Entry(f"micromlgen tree of {splits} splits", micromlgen_program(tree, X.shape[1]), lambda rows: rows)
        yield m2cgen_logistic(X, y)
        return
    scales = [_scale(X[:, l]) for l in range(X.shape[1])]
    slope, start = np.array(scales).T

    def to_counts(rows: np.ndarray) -> np.ndarray:
        return np.clip(np.rint((rows - start) / slope), 0, COUNTS)

    for splits in TREES:
        tree = DecisionTreeClassifier(max_leaf_nodes=splits + 1, random_state=0).fit(to_counts(X), y)
        yield Entry(f"emlearn tree of {splits} splits", emlearn_program(tree, X.shape[1]), to_counts)


def _scale(x: np.ndarray) -> tuple[float, float]:
    """Slope and start of counts over the range of a feature."""
    low, high = float(x.min()), float(x.max())
    return ((high - low) / COUNTS or 1.0), low
