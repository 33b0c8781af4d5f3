"""Methods against each other on the same splits: what the table and two of the figures are made of."""

import time
import warnings
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
KEY = COLUMNS[:6]  # what is measured on other data or with other software is another result
WORDS = ("set", "method", "data", "software", "terms")
SOFTWARE = f"smallearn {smallearn.__version__}; scikit-learn {sklearn.__version__}"


@dataclass(frozen=True)
class Settings:
    """What the user asked for."""

    output: Path
    folder: Path | None = None
    splits: int = 5
    jobs: int = 1
    seed: int = 0


class IncompleteError(Exception):
    """Some fits failed, so that there is nothing to compare; what succeeded is kept."""


def check(sources: list[data.Source], settings: Settings) -> None:
    """What cannot be had is told before hours of work."""
    if told := data.missing(sources, settings.folder):
        raise data.DataError("\n".join(told))


def compare(sources: list[data.Source], names: list[str], settings: Settings) -> pd.DataFrame:
    """Every method on every split of every set: a row for each, from the results kept where there are any."""
    check(sources, settings)
    scores = Scores(settings.output / "scores.csv", COLUMNS, KEY, WORDS)
    scores.prepare()
    done = scores.done()
    cells = [
        (settings.seed, source.name, name, number, data.load(source, settings.folder).fingerprint, SOFTWARE)
        for source in sources
        for number in range(settings.splits)
        for name in names
    ]
    by_name = {source.name: source for source in sources}
    tasks = {
        f"{name} on {cell}, split {number}": partial(score, by_name[cell], name, settings.folder, seed, number)
        for seed, cell, name, number, *versions in cells
        if (seed, cell, name, number, *versions) not in done
    }
    failures = run(tasks, scores, settings.jobs)
    if failures:
        raise IncompleteError(
            f"{len(failures)} of {len(tasks)} fits failed; the first: {failures[0]}. Pages and figures were not "
            "written anew. What succeeded is kept; the same command tries the others again."
        )
    return scores.read().set_index(list(KEY)).loc[cells].reset_index()


def score(source: data.Source, name: str, folder: Path | None, seed: int, number: int) -> list[dict[str, Any]]:
    """Train a method on one split and test it."""
    given, method = data.split(source, folder, seed, number), methods.BY_NAME[name]
    begin = time.perf_counter()
    with warnings.catch_warnings(), sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore")  # one that did not converge is judged by its accuracy
        fitted = method.make(given.X.shape[1], number, source.owner).fit(given.X, given.y)
    accuracy = float(np.mean(fitted.predict(given.X_test) == given.y_test))
    cell = {"seed": seed, "set": source.name, "method": name, "split": number, "software": SOFTWARE}
    found = {
        "data": data.load(source, folder).fingerprint,
        "accuracy": accuracy,
        "features": method.used(fitted, given.X.shape[1]),
        "terms": methods.terms_by_prototype(fitted),
        "seconds": time.perf_counter() - begin,
    }
    return [cell | found]


def means(results: pd.DataFrame, names: list[str], value: str = "accuracy") -> pd.DataFrame:
    """Sets × methods, in the order given."""
    return results.groupby(["set", "method"], sort=False)[value].mean().unstack()[names]


def deviations(results: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """The standard deviation over the splits, sets × methods."""
    return results.groupby(["set", "method"], sort=False)["accuracy"].std(ddof=0).unstack()[names]


def ranks(accuracy: pd.DataFrame) -> pd.Series:
    """The mean rank of each method over the sets, 1 the best; equals share."""
    return accuracy.round(9).rank(axis=1, ascending=False).mean()
