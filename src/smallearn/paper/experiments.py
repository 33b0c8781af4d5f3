"""The experiments by name."""

from pathlib import Path

import matplotlib  # noqa: F401  what is missing is told before any work is done
import scikit_posthocs  # noqa: F401

from smallearn.paper import big_picture, breast_cancer, sparse, surfaces, table1
from smallearn.paper.cells import ForeignFileError
from smallearn.paper.compare import IncompleteError, Settings
from smallearn.paper.data import DataError, folder_given

EXPERIMENTS = {
    "table1": table1.run,
    "surfaces": surfaces.run,
    "breast-cancer": breast_cancer.run,
    "sparse": sparse.run,
    "big-picture": big_picture.run,
}
ERRORS = (DataError, ForeignFileError, IncompleteError, OSError)


def run(name: str, output: Path, folder: Path | None, splits: int, jobs: int, seed: int) -> str:
    """Run an experiment and write its results below ``output``; returns a summary."""
    return EXPERIMENTS[name](Settings(output, folder_given(folder), splits, jobs, seed))
