"""The experiments by name."""

from pathlib import Path

import matplotlib  # noqa: F401  what is missing is told before any work is done
import scikit_posthocs  # noqa: F401

from smallearn.paper import big_picture, breast_cancer, claims, sparse, surfaces, table1
from smallearn.paper.cells import ForeignFileError
from smallearn.paper.claims import Outcome
from smallearn.paper.compare import IncompleteError, Settings
from smallearn.paper.data import DataError, folder_given
from smallearn.paper.files import write_text

EXPERIMENTS = {
    "table1": table1.run,
    "surfaces": surfaces.run,
    "breast-cancer": breast_cancer.run,
    "sparse": sparse.run,
    "big-picture": big_picture.run,
}
ERRORS = (DataError, ForeignFileError, IncompleteError, OSError)


def run(name: str, output: Path, folder: Path | None, splits: int, jobs: int, seed: int) -> Outcome:
    """Run an experiment and write its results below ``output``."""
    return EXPERIMENTS[name](Settings(output, folder_given(folder), splits, jobs, seed))


def write_claims(outcomes: dict[str, Outcome], output: Path) -> Path:
    """All claims of the experiments that were run, on one page."""
    page = output / "claims.md"
    write_text(page, f"# The paper's claims\n\n{claims.table(outcomes)}\n")
    return page
