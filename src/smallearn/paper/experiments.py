"""The experiments by name."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import matplotlib  # noqa: F401  a missing package is reported before any work is done
import scikit_posthocs  # noqa: F401

from smallearn._run.resumable import ForeignFileError
from smallearn.paper import big_picture, breast_cancer, claims, compare, sparse, surfaces, table1
from smallearn.paper.claims import Outcome
from smallearn.paper.compare import IncompleteError, Settings
from smallearn.paper.data import BREAST_CANCER, FRIEDMAN, FUNDS, TABLE1, WIDE, DataError, Source, data_folder
from smallearn.paper.files import write_text

__all__ = ["ERRORS", "EXPERIMENTS", "IncompleteError", "check", "reduced", "run", "settings", "write_claims"]


class Experiment(NamedTuple):
    """An experiment and its data sets. ``large``: these have about ten times as many rows as the others."""

    run: Callable[[Settings], Outcome]
    sources: tuple[Source, ...]
    large: bool = False


EXPERIMENTS = {
    "table1": Experiment(run=table1.run, sources=TABLE1),
    "surfaces": Experiment(run=surfaces.run, sources=(FUNDS,)),
    "breast-cancer": Experiment(run=breast_cancer.run, sources=(BREAST_CANCER,)),
    "sparse": Experiment(run=sparse.run, sources=WIDE, large=True),
    "big-picture": Experiment(run=big_picture.run, sources=(FRIEDMAN,), large=True),
}
ERRORS = (DataError, ForeignFileError, IncompleteError, OSError)


def settings(output: Path, folder: Path | None, splits: int, jobs: int, seed: int) -> Settings:
    """What the user asked for. Without a folder, the data come from that of the environment variable, or OpenML."""
    return Settings(output=output, folder=data_folder(folder), splits=splits, jobs=jobs, seed=seed)


def reduced(name: str, asked: Settings) -> Settings:
    """Fewer splits where data sets are large, so that all experiments together take less than an hour."""
    return replace(asked, splits=min(asked.splits, max(5, asked.splits // 4))) if EXPERIMENTS[name].large else asked


def check(names: list[str], asked: Settings) -> None:
    """Raise one error that lists every data set that cannot be loaded, before any work is done."""
    compare.check(list(dict.fromkeys(source for name in names for source in EXPERIMENTS[name].sources)), asked)


def run(name: str, asked: Settings) -> Outcome:
    """Run an experiment and write its results below the output folder."""
    return EXPERIMENTS[name].run(asked)


def write_claims(outcomes: dict[str, Outcome], output: Path) -> Path:
    """Write the claims of all experiments that were run to one page."""
    page = output / "claims.md"
    write_text(page, f"# The paper's claims\n\n{compare.SOFTWARE}.\n\n{claims.table(outcomes)}\n")
    return page
