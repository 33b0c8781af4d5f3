"""Small data sets for the paper's experiments."""

from pathlib import Path

import pandas as pd

from smallearn import datasets
from smallearn.paper import data
from smallearn.paper.compare import Settings


def write_set(folder: Path, stem: str, rows: int, columns: int, seed: int = 0) -> None:
    """Write a made data set as a CSV file with the labels last."""
    X, y = datasets.friedman(rows, max(5, columns), random_state=seed, return_X_y=True)
    frame = pd.DataFrame(X[:, :columns], columns=[f"x{l}" for l in range(columns)])
    frame.assign(target=y).to_csv(folder / f"{stem}.csv", index=False)


def write_sets(folder: Path) -> None:
    """Write three sets of Table 1, that of Figure 1 and two of Figure 3, all small."""
    for seed, source in enumerate(data.TABLE1[:3]):
        write_set(folder, source.stem, 40, 3, seed)
    write_set(folder, data.FUNDS.stem, 40, 2)
    write_set(folder, data.WIDE[0].stem, 60, 12, 0)
    write_set(folder, data.WIDE[1].stem, 60, 12, 1)


def settings_for(folder: Path, **changes) -> Settings:
    """One split of the sets in the folder, with the results beside it."""
    return Settings(**{"output": folder.parent / "out", "folder": folder, "splits": 1, **changes})
