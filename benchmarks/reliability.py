"""``python -m benchmarks.reliability FOLDER``: are probabilities right on unseen rows?

FOLDER is that of `benchmarks.quality`; sets with more classes are in its folder ``classes``. The expected calibration
error is the mean distance of probability and frequency in 15 bins of equally many rows; with more than two classes, the
mean over the classes. The rival is l2 logistic regression without class weights.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.quality.data import HELD_OUT, MAX_ROWS, Split, manifest, split
from benchmarks.timing import verdict
from smallearn import SMaLLClassifierCV

TERMS, SPLITS, BINS = 10, 3, 15
MARGIN = 0.02
TWO = (
    *("spambase", "credit-g", "diabetes", "heloc", "qsar-biodeg", "cpu_act", "2dplanes", "compas-two-years"),
    *("mammography", "coil2000", "ozone-level-8hr", "MagicTelescope"),
)
MORE = ("ecoli", "vowel", "wine_quality_red", "led7", "nursery")


def calibration_error(chances: np.ndarray, code: np.ndarray) -> float:
    """The mean distance of probability and frequency, in bins of equally many rows."""
    columns = [1] if chances.shape[1] == 2 else range(chances.shape[1])
    errors = []
    for label in columns:
        order = np.argsort(chances[:, label], kind="stable")
        bins = [part for part in np.array_split(order, BINS) if len(part)]
        errors += [
            sum(len(part) * abs((chances[part, label] - (code[part] == label)).mean()) for part in bins) / len(order)
        ]
    return float(np.mean(errors))


def problems(folder: Path) -> Iterator[tuple[str, Split]]:
    """Every data set and split."""
    entries = manifest(folder)
    for name in TWO:
        for number in range(SPLITS):
            yield name, split(folder, entries[name], number)
    tables = {name: _table(folder / "classes" / f"{name}.csv.gz") for name in MORE}
    plain = {"iris": load_iris, "wine": load_wine, "digits": load_digits}
    for name, (X, y) in {**tables, **{name: read(return_X_y=True) for name, read in plain.items()}}.items():
        for number in range(SPLITS):
            parts = StratifiedShuffleSplit(1, test_size=HELD_OUT, random_state=number)
            train, test = next(parts.split(X, y))
            train = train[:MAX_ROWS]
            yield name, Split(X=X[train], y=y[train], X_test=X[test], y_test=y[test])


def _table(path: Path) -> tuple[np.ndarray, np.ndarray]:
    table = pd.read_csv(path)
    X = table.iloc[:, :-1].to_numpy(np.float64)
    return np.where(np.isnan(X), np.nanmedian(X, axis=0), X), table.iloc[:, -1].to_numpy()


def main() -> None:
    """Print the calibration error of every data set, the means, and whether the target is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of data sets")
    folder = parser.parse_args().folder
    errors: dict[str, list[list[float]]] = {}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for name, rows in problems(folder):
            models = [
                make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
                SMaLLClassifierCV(TERMS, random_state=0, verbose=-1),
                SMaLLClassifierCV(TERMS, random_state=0, verbose=-1, class_weight="balanced"),
            ]
            found = []
            for model in models:
                model.fit(rows.X, rows.y)
                code = np.searchsorted(model.classes_, rows.y_test)
                found.append(calibration_error(model.predict_proba(rows.X_test), code))
            errors.setdefault(name, []).append(found)
            if len(errors[name]) == SPLITS:
                print(_line(name, np.mean(errors[name], axis=0)), flush=True)
    for text, names in (("two classes", TWO), ("more classes", [name for name in errors if name not in TWO])):
        logistic, plain, weighted = np.mean([np.mean(errors[name], axis=0) for name in names], axis=0)
        print(_line(f"mean, {text}", [logistic, plain, weighted]))
        for kind, value in (("no weights", plain), ("balanced", weighted)):
            behind = value - logistic
            verdict(f"{text}, {kind}: at most {MARGIN} above logistic regression ({behind:+.3f})", behind <= MARGIN)


def _line(name: str, values) -> str:
    names = ("logistic regression", "smallearn", "balanced")
    return f"  {name:<20}" + "".join(f"  {n} {value:.3f}" for n, value in zip(names, values, strict=True))


if __name__ == "__main__":
    main()
