"""``python -m benchmarks.flash FOLDER``: the most accurate model in 0.5 KB and 2 KB of flash on a Cortex-M0.

Two sets of images, usps_odd_even on its given split and mnist5k_low_high on five. Every method chooses its settings on
the training rows alone and is tested once, as the chip computes it. Bytes are those of the compiled code, constants
included; inputs are whole numbers already. Bonsai and ProtoNN need an environment of their own (see ``edgeml.py``), and
their code counts nothing.
"""

import argparse
import resource
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.flash.data import MNIST, SPLITS, USPS, Split, splits
from benchmarks.flash.forest import forest
from benchmarks.flash.found import Found
from benchmarks.flash.mlp import mlp
from benchmarks.flash.ours import smallearn
from benchmarks.timing import verdict

FLASH = (512, 2048)
OURS = "smallearn"
OWN = {OURS: smallearn, "forest": forest, "mlp": mlp}
OTHERS = {"bonsai": "Bonsai", "protonn": "ProtoNN"}
TARGETS = {USPS: 0.95, MNIST: 0.901}  # what ours has to reach in the smaller flash


@dataclass(frozen=True)
class Line:
    """One method on one split within one limit."""

    set: str
    split: int
    limit: int
    method: str
    about: str
    accuracy: float
    flash: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.set:<17} {self.split:>5} {self.limit:>6} {self.method:<15} {self.accuracy:>9.4f} {self.flash:>6} "
            f"{self.seconds:>7.0f}  {self.about}"
        )


def edgeml(python: Path, method: str, split: Split, flash: int) -> Found:
    """Bonsai or ProtoNN, trained in the other environment."""
    script = Path(__file__).parent / "edgeml.py"
    with tempfile.TemporaryDirectory() as folder:
        rows, answer = Path(folder, "rows.npz"), Path(folder, "answer.npz")
        np.savez(rows, X=split.X, y=split.y, X_test=split.X_test)
        command = [python, "-W", "ignore", script, method, rows, str(flash), answer]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        with np.load(answer) as given:
            predicted, size, about = given["predicted"], int(given["flash"]), str(given["about"])
    return Found(OTHERS[method], about, size, lambda _: predicted)


def ready(names: Sequence[str], split: Split, limit: int, python: Path | None) -> Iterator[Callable[[], Found]]:
    """Methods, by name, ready to be run."""
    for name in names:
        if name in OWN:
            yield partial(OWN[name], split.X, split.y, limit)
        elif python is not None:
            yield partial(edgeml, python, name, split, limit)


def run(split: Split, limit: int, train: Callable[[], Found]) -> Line:
    """Train a method and test it."""
    start = cpu_seconds()
    found = train()
    seconds = cpu_seconds() - start
    accuracy = float(np.mean(found.predict(split.X_test) == split.y_test))
    line = Line(split.set, split.number, limit, found.method, found.about, accuracy, found.flash, seconds)
    print(line, flush=True)
    return line


def cpu_seconds() -> float:
    """Of this process and of those that it started, compilers included."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def report(lines: list[Line]) -> None:
    """Means over the splits, and whether the targets are met."""
    cells = defaultdict(list)
    for line in lines:
        cells[line.set, line.limit, line.method].append(line)
    mean = {key: float(np.mean([line.accuracy for line in cell])) for key, cell in cells.items()}
    print("\nMeans over the splits")
    for (name, limit, method), cell in cells.items():
        bytes_, seconds = max(line.flash for line in cell), np.mean([line.seconds for line in cell])
        print(f"{name:<17} {limit:>6} {method:<15} {mean[name, limit, method]:>9.4f} {bytes_:>6} {seconds:>7.0f}")
    print()
    if not any(line.method == OURS for line in lines):
        return
    for name, limit in dict.fromkeys((line.set, line.limit) for line in lines):
        ours = mean[name, limit, OURS]
        most = max(line.flash for line in cells[name, limit, OURS])
        verdict(f"{name}: at most {limit} bytes ({most})", most <= limit)
        verdict(f"{name} in {limit} bytes: more than {TARGETS[name]:.1%} ({ours:.2%})", ours > TARGETS[name])
        for other in (method for set_, flash, method in mean if (set_, flash) == (name, limit) and method != OURS):
            theirs = mean[name, limit, other]
            verdict(f"{name} in {limit} bytes: ahead of {other} ({ours:.2%} against {theirs:.2%})", ours > theirs)
    for name in dict.fromkeys(line.set for line in lines):
        reached = [mean[name, limit, OURS] for limit in FLASH if (name, limit, OURS) in mean]
        if len(reached) == len(FLASH):
            verdict(f"{name}: more in more flash ({reached[0]:.2%}, {reached[1]:.2%})", reached[1] > reached[0])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.flash", description=__doc__)
    parser.add_argument("folder", type=Path, help="where usps_odd_even.csv.gz and mnist5k_low_high.csv.gz are")
    parser.add_argument("--edgeml", type=Path, metavar="PYTHON", help="the interpreter that has edgeml-pytorch")
    parser.add_argument("--sets", default=f"{USPS},{MNIST}", help="which sets, with commas")
    parser.add_argument("--flash", default=",".join(map(str, FLASH)), help="which limits, with commas")
    parser.add_argument("--splits", type=int, default=SPLITS, help=f"of {MNIST} ({SPLITS})")
    every = ",".join([*OWN, *OTHERS])
    parser.add_argument("--methods", default=every, help=f"which of {every}")
    given = parser.parse_args()
    names = given.methods.split(",")
    print(f"{'':<17} {'split':>5} {'limit':>6} {'':<15} {'accuracy':>9} {'bytes':>6} {'CPU s':>7}")
    with threadpool_limits(1):
        lines = [
            run(split, int(limit), train)
            for name in given.sets.split(",")
            for split in splits(given.folder, name, given.splits)
            for limit in given.flash.split(",")
            for train in ready(names, split, int(limit), given.edgeml)
        ]
    report(lines)
    if given.edgeml is None and set(names) & set(OTHERS):
        print("Bonsai and ProtoNN were not run: name an interpreter that has edgeml-pytorch with --edgeml.")


if __name__ == "__main__":
    main()
