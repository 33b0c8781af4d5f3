"""The experiments by name."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import matplotlib  # noqa: F401  what is missing is told before any work is done
import scikit_posthocs  # noqa: F401

from smallearn._run.resumable import ForeignFileError
from smallearn.paper import big_picture, breast_cancer, claims, compare, sparse, surfaces, table1
from smallearn.paper.claims import Outcome
from smallearn.paper.compare import IncompleteError, Settings
from smallearn.paper.data import BREAST_CANCER, FRIEDMAN, FUNDS, TABLE1, WIDE, DataError, Source, folder_given
from smallearn.paper.files import write_text

__all__ = ["ERRORS", "EXPERIMENTS", "IncompleteError", "check", "reduced", "run", "settings", "write_claims"]


class Experiment(NamedTuple):
    """``large``: its sets are ten times as large as those of the others."""

    run: Callable[[Settings], Outcome]
    sources: tuple[Source, ...]
    large: bool = False


EXPERIMENTS = {
    "table1": Experiment(table1.run, TABLE1),
    "surfaces": Experiment(surfaces.run, (FUNDS,)),
    "breast-cancer": Experiment(breast_cancer.run, (BREAST_CANCER,)),
    "sparse": Experiment(sparse.run, WIDE, large=True),
    "big-picture": Experiment(big_picture.run, (FRIEDMAN,), large=True),
}
ERRORS = (DataError, ForeignFileError, IncompleteError, OSError)


def settings(output: Path, folder: Path | None, splits: int, jobs: int, seed: int) -> Settings:
    """What the user asked for; data come from the folder that was named, that of the environment, or OpenML."""
    return Settings(output, folder_given(folder), splits, jobs, seed)


def reduced(name: str, asked: Settings) -> Settings:
    """Fewer splits where sets are large, so that all experiments together end within the hour."""
    return replace(asked, splits=min(asked.splits, max(5, asked.splits // 4))) if EXPERIMENTS[name].large else asked


def check(names: list[str], asked: Settings) -> None:
    """All sets that cannot be had are told at once, before any work."""
    compare.check(list(dict.fromkeys(source for name in names for source in EXPERIMENTS[name].sources)), asked)


def run(name: str, asked: Settings) -> Outcome:
    """Run an experiment and write its results below the output folder."""
    return EXPERIMENTS[name].run(asked)


def write_claims(outcomes: dict[str, Outcome], output: Path) -> Path:
    """All claims of the experiments that were run, on one page."""
    page = output / "claims.md"
    write_text(page, f"# The paper's claims\n\n{compare.SOFTWARE}.\n\n{claims.table(outcomes)}\n")
    return page
