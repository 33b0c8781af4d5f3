"""What an experiment writes: single scores, a Markdown page, figures."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from smallearn._run.files import draft_of, write_whole


def write_text(path: Path, text: str) -> None:
    """Write a file, whole or not at all; create its folder if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)


def write_results(folder: Path, *, scores: pd.DataFrame, page: Sequence[str], figure: Any = None) -> None:
    """Write scores.csv, table.md from the lines of the page and, if there is a figure, figure.svg and figure.png."""
    write_text(folder / "scores.csv", scores.to_csv(index=False, float_format="%.6f"))
    write_text(folder / "table.md", "\n".join(page) + "\n")
    if figure is None:
        return
    formats: dict[str, dict[str, Any]] = {"svg": {"metadata": {"Date": None}}, "png": {"dpi": 150}}
    for kind, options in formats.items():
        with draft_of(folder / f"figure.{kind}") as draft:
            figure.savefig(draft, format=kind, bbox_inches="tight", facecolor="white", **options)


def new_figure(width: float, height: float) -> Any:
    """An empty figure of this size in inches, drawn without a display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
