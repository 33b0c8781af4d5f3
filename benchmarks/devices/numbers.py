"""``make bench-devices ARGS="--data folder"``: what whole numbers cost in accuracy, on the quality benchmark's sets.

The same trained model answers every test row in float64 and by the integer models that C is written from.
"""

from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.quality import data
from benchmarks.timing import verdict
from smallearn import SMaLLClassifier
from smallearn.export import quantise

MOST_LOST = {"int16": 0.002, "int8": 0.01}
KINDS = ("raw", "both")


def losses(folder: Path, entry: data.Entry, number: int) -> dict[tuple[str, str], tuple[float, float]]:
    """For each kind of terms and numbers: accuracy in float64 and in whole numbers, on one split."""
    found = {}
    given = data.split(folder, entry, number)
    for kind in KINDS:
        with threadpool_limits(1):
            model = SMaLLClassifier(2, 5, literals=kind, random_state=0).fit(given.X, given.y).model_
        exact = float(np.mean(model.predict(given.X_test) == given.y_test))
        for name in MOST_LOST:
            whole = quantise(model, name)
            answers = np.array(model.classes)[whole.predict(whole.codes(given.X_test))]
            found[kind, name] = (exact, float(np.mean(answers == given.y_test)))
    return found


def main(folder: Path, jobs: int, splits: int) -> None:
    """Print what each format loses on each set, and on average."""
    entries = data.manifest(folder)
    cells = [(entries[name], number) for name in data.SETS for number in range(splits)]
    found = Parallel(n_jobs=jobs)(delayed(losses)(folder, *cell) for cell in cells)
    columns = list(found[0])
    print(f"Points of accuracy lost against float64; two prototypes of five terms, mean of {splits} splits.")
    print(f"{'':<22} {'float64':>8}" + "".join(f" {f'{kind}, {name}':>14}" for kind, name in columns))
    lost: dict[tuple[str, str], list[float]] = {column: [] for column in columns}
    for name in data.SETS:
        mine = [one for (entry, _), one in zip(cells, found, strict=True) if entry.name == name]
        for column in columns:
            lost[column].append(float(np.mean([one[column][0] - one[column][1] for one in mine])))
        exact = np.mean([one[columns[0]][0] for one in mine])
        print(f"{name:<22} {100 * exact:>8.2f}" + "".join(f" {100 * lost[column][-1]:>14.2f}" for column in columns))
    print(f"{'mean':<31}" + "".join(f" {100 * np.mean(lost[column]):>14.3f}" for column in columns))
    for kind, name in columns:
        mean = float(np.mean(lost[kind, name]))
        limit = MOST_LOST[name]
        verdict(f"{kind}, {name}: {100 * mean:.3f} points lost, at most {100 * limit:g}", mean <= limit)
