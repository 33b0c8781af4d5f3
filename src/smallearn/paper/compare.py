"""Methods compared on the same splits: the scores behind every table and figure."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn

import smallearn
from smallearn._run.resumable import Scores, run
from smallearn.paper import data, methods

COLUMNS = ("seed", "set", "method", "split", "data", "software", "accuracy", "features", "terms", "seconds")
KEY = COLUMNS[:6]  # a score on other data or with other software is another score
TEXT = ("set", "method", "data", "software", "terms")
SOFTWARE = f"smallearn {smallearn.__version__}; scikit-learn {sklearn.__version__}"


@dataclass(frozen=True)
class Settings:
    """What the user asked for. ``folder`` has the data sets; None means OpenML."""

    output: Path
    folder: Path | None = None
    splits: int = 5
    jobs: int = 1
    seed: int = 0


class IncompleteError(Exception):
    """Some fits failed, so there is nothing to compare. The scores of the others are kept."""


def check(sources: Sequence[data.Source], settings: Settings) -> None:
    """Raise an error that lists every data set that cannot be loaded, before hours of work."""
    if errors := data.missing(sources, settings.folder):
        raise data.DataError("\n".join(errors))


def compare(sources: Sequence[data.Source], names: Sequence[str], settings: Settings) -> pd.DataFrame:
    """Score every method on every split of every data set, a row each; scores from earlier runs are reused."""
    check(sources, settings)
    scores = Scores(path=settings.output / "scores.csv", columns=COLUMNS, key=KEY, text=TEXT)
    scores.prepare()
    done = scores.done()
    by_name = {source.name: source for source in sources}
    keys = [
        (settings.seed, source.name, name, number, data.load(source, settings.folder).fingerprint, SOFTWARE)
        for source in sources
        for number in range(settings.splits)
        for name in names
    ]
    trials = {
        f"{method} on {name}, split {number}": partial(score, by_name[name], method, settings.folder, seed, number)
        for seed, name, method, number, *versions in keys
        if (seed, name, method, number, *versions) not in done
    }
    failures = run(trials, scores, settings.jobs)
    if failures:
        raise IncompleteError(
            f"{len(failures)} of {len(trials)} fits failed; the first: {failures[0]}. Pages and figures were not "
            "updated. The other scores are kept; run the same command to try the failed fits again."
        )
    return scores.read().set_index(list(KEY)).loc[keys].reset_index()


def score(source: data.Source, name: str, folder: Path | None, seed: int, number: int) -> list[dict[str, Any]]:
    """Train a method on one split and test it."""
    split, method = data.split(source, folder, seed, number), methods.BY_NAME[name]
    start = time.perf_counter()
    with warnings.catch_warnings(), sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore")  # a method that did not converge is judged by its accuracy
        fitted = method.make(split.X.shape[1], number, source.owner).fit(split.X, split.y)
    accuracy = float(np.mean(fitted.predict(split.X_test) == split.y_test))
    row = {
        "seed": seed,
        "set": source.name,
        "method": name,
        "split": number,
        "data": data.load(source, folder).fingerprint,
        "software": SOFTWARE,
        "accuracy": accuracy,
        "features": method.count_features(fitted, split.X.shape[1]),
        "terms": methods.terms_by_prototype(fitted),
        "seconds": time.perf_counter() - start,
    }
    return [row]


def means(results: pd.DataFrame, names: Sequence[str], value: str = "accuracy") -> pd.DataFrame:
    """The mean of a column over the splits, data sets × methods, in the order of ``names``."""
    return results.groupby(["set", "method"], sort=False)[value].mean().unstack()[list(names)]


def deviations(results: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The standard deviation of the accuracy over the splits, data sets × methods."""
    return results.groupby(["set", "method"], sort=False)["accuracy"].std(ddof=0).unstack()[list(names)]


def ranks(accuracy: pd.DataFrame) -> pd.Series:
    """The mean rank of each method over the data sets, 1 is best; ties share the mean of their ranks."""
    return accuracy.round(9).rank(axis=1, ascending=False).mean()
