"""``make bench-devices``: what models of the breast cancer data cost on three chips, and how often they are right.

Each model is a function on an array in RAM, in its own kind of numbers, in the same program. Accuracy is that of the
compiled code. Models are chosen on the training part alone: 70% of the rows. Inputs are in the model's numbers already:
what it takes to scale a measurement to int16 or int8 is not counted, for anyone; ``--whole`` counts it. ``--fit`` makes
the estimates of `smallearn.devices._estimate` anew, ``--data folder`` tells what whole numbers lose on many data
sets.
"""

import argparse
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.devices import fit, numbers, whole
from benchmarks.devices.rivals import RIVALS, Entry
from benchmarks.timing import verdict
from smallearn import SMaLLClassifier, SMaLLClassifierCV, SMaLLModel
from smallearn.devices import CHIPS
from smallearn.devices._measure import Measured, measure
from smallearn.devices._rows import encode
from smallearn.devices._toolchain import Program
from smallearn.export._c.writer import to_c
from smallearn.export._fixed.quantise import target_of

SIZES = (3, 6, 12)  # most terms of our models; one more has them all
NUMBERS = ("float32", "int16", "int8")
OWN = [name for name, chip in CHIPS.items() if not chip.like]  # chips with estimates of their own
COMPARED = ("atmega328p", "cortex-m0", "cortex-m4")
FIRST = "atmega328p"  # where accuracy on all splits is measured


@dataclass(frozen=True)
class Line:
    """One model on one split: accuracy on each chip, and what it costs there."""

    name: str
    accuracy: dict[str, float]
    measured: dict[str, Measured]

    @property
    def least(self) -> float:
        """The accuracy, should the chips not agree."""
        return min(self.accuracy.values())

    def beats(self, other: "Line") -> bool:
        """At least as accurate, and on every chip smaller and faster, in no more RAM."""
        pairs = [(self.measured[chip], other.measured[chip]) for chip in self.measured]
        return self.least >= other.least and all(
            ours.flash < theirs.flash and ours.ram <= theirs.ram and max(ours.counts) < max(theirs.counts)
            for ours, theirs in pairs
        )


def ours(X: np.ndarray, y: np.ndarray) -> list[Entry]:
    """Our models in each kind of numbers: those of each size chosen by cross-validation on these rows, and one of all
    features with the penalty that is scikit-learn's default for logistic regression."""
    with threadpool_limits(1):
        models = [
            SMaLLClassifierCV(size, literals="raw", n_prototypes=(1, 2), random_state=0, verbose=-1).fit(X, y).model_
            for size in SIZES
        ]
        every = SMaLLClassifier(n_prototypes=1, n_nonzero=None, alpha=1 / len(y), random_state=0).fit(X, y)
    return [
        _entry(f"smallearn, {len(model.terms)} terms, {number}", model, number, X.shape[1])
        for model in [*models, every.model_]
        for number in NUMBERS
    ]


def _entry(name: str, model: SMaLLModel, number: str, n_features: int) -> Entry:
    target = target_of(model, number)
    inputs, kind = encode(target, np.zeros((1, n_features)))
    program = Program(to_c(model, number), "return model_predict(x);", kind, inputs.shape[1])
    return Entry(name, program, lambda rows: encode(target, rows)[0])


def split(seed: int, chips: tuple[str, ...]) -> list[Line]:
    """Every model on one split."""
    warnings.simplefilter("ignore")  # rivals use what numpy and scikit-learn have given up
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    lines = []
    for entry in [*ours(X, y), *(rival(X, y) for rival in RIVALS)]:
        rows = entry.encode(X_test)
        measured = {chip: measure(entry.program, chip, rows) for chip in chips}
        accuracy = {chip: float(np.mean(np.array(found.answers) == y_test)) for chip, found in measured.items()}
        lines.append(Line(entry.name, accuracy, measured))
    return lines


def report(lines: list[Line], means: list[float], splits: int) -> None:
    """The table, and for each rival which of our models beats it."""
    print(
        "\nBreast cancer, 70/30, stratified, seed 0. Flash and RAM in bytes; cycles (ATmega) and instructions at worst."
    )
    chips = "".join(f" | {CHIPS[chip].title.split()[0]:^19}" for chip in COMPARED)
    print(f"{'':<34} {'accuracy':>8} {f'mean of {splits}':>10}{chips}")
    print(f"{'':<53}" + "".join(f" | {'flash':>6} {'RAM':>4} {CHIPS[chip].counts[:7]:>7}" for chip in COMPARED))
    for line, mean in zip(lines, means, strict=True):
        cells = "".join(f" | {one.flash:>6} {one.ram:>4} {max(one.counts):>7}" for one in line.measured.values())
        print(f"{line.name:<34} {line.least:>8.4f} {mean:>10.4f}{cells}")
    own = [line for line in lines if line.name.startswith("smallearn")]
    print("\nAt least as accurate on this split and on average, smaller and faster on all three chips:")
    for line, mean in zip(lines[len(own) :], means[len(own) :], strict=True):
        better = [one for one, other in zip(own, means[: len(own)], strict=True) if one.beats(line) and other >= mean]
        least = min(better, key=lambda one: one.measured[FIRST].flash).name if better else "none of ours"
        verdict(f"than {line.name}: {least}", bool(better))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.devices", description=__doc__)
    parser.add_argument("--splits", type=int, default=20, help="splits that accuracy is the mean of (20)")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each on one thread (1)")
    parser.add_argument("--data", type=Path, help="folder of the quality benchmark: what whole numbers lose there")
    parser.add_argument("--whole", action="store_true", help="the whole way from floats and counts to the decision")
    parser.add_argument("--fit", action="store_true", help="measure random models and write estimates.json")
    parser.add_argument("--chips", nargs="+", choices=OWN, default=OWN, metavar="CHIP", help="the chips of --fit (all)")
    parser.add_argument("--models", type=int, default=60, help="random models of --fit (60: 7 minutes for each chip)")
    given = parser.parse_args()
    if given.fit:
        fit.main(given.jobs, given.chips, given.models)
        return
    if given.whole:
        whole.main(given.data)
        return
    if given.data is not None:
        numbers.main(given.data, given.jobs, min(given.splits, 2))
        return
    chips = [COMPARED] + [(FIRST,)] * (given.splits - 1)
    found = Parallel(n_jobs=given.jobs)(delayed(split)(seed, some) for seed, some in enumerate(chips))
    means = [float(np.mean([lines[place].accuracy[FIRST] for lines in found])) for place in range(len(found[0]))]
    report(found[0], means, given.splits)


if __name__ == "__main__":
    main()
