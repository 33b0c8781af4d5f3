"""What an experiment leaves behind: scores, a Markdown page, figures."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from smallearn._run.files import draft_of, write_whole


def write_text(path: Path, text: str) -> None:
    """Write a file, whole or not at all, in a folder that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)


def write_scores(path: Path, frame: pd.DataFrame) -> None:
    """A CSV file of single scores."""
    write_text(path, frame.to_csv(index=False, float_format="%.6f"))


def write_figure(folder: Path, figure) -> None:
    """figure.svg and figure.png."""
    folder.mkdir(parents=True, exist_ok=True)
    looks: dict[str, dict[str, Any]] = {"svg": {"metadata": {"Date": None}}, "png": {"dpi": 150}}
    for kind, options in looks.items():
        with draft_of(folder / f"figure.{kind}") as draft:
            figure.savefig(draft, format=kind, bbox_inches="tight", facecolor="white", **options)


def new_figure(width: float, height: float):
    """An empty figure, in inches, that needs no screen."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
