"""Tables of results: means over splits and then over data sets, ranks, and models of equal bytes."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from benchmarks.quality.methods import CONSTANT, EVERY_WEIGHT, FITTING, OURS, TREE
from benchmarks.quality.metrics import METRICS
from benchmarks.quality.run import UNBOUNDED

SIZES = {  # columns of the results that are no metric of the answers
    "rows": ("Terms: rows of the card", False),
    "weights": ("Terms: every weight", False),
    "bytes": ("Bytes of flash on a Cortex-M0, int16", False),
    "seconds": ("CPU seconds, choice included", False),
}
COLUMNS = METRICS | SIZES
FAR = 0.02  # further behind than this is far, if it is two standard errors as well
BYTES, OUR_BYTES = "tree's bytes", "our bytes"


def at(trials: pd.DataFrame, T: int) -> pd.DataFrame:
    """The trials with at most T terms or without a bound."""
    return trials[trials["terms"].isin([T, UNBOUNDED])]


def means(trials: pd.DataFrame, T: int, methods: Sequence[str], column: str = "accuracy") -> pd.DataFrame:
    """Means over the splits: a row for each data set, a column for each method."""
    table = at(trials, T).pivot_table(index="set", columns="method", values=column, sort=False, dropna=False)
    return table.reindex(columns=list(methods)).round(9)  # equal up to rounding is a tie


def ranks(accuracy: pd.DataFrame) -> pd.Series:
    """The mean rank of each method; 1 is best, ties share."""
    return accuracy.rank(axis=1, ascending=False).mean()


def by_budget(
    trials: pd.DataFrame, terms: Sequence[int], methods: Sequence[str], bounded: Sequence[str], column: str
) -> list[str]:
    """A Markdown table of one column of the results: methods × numbers of terms, the best bounded method in bold.

    Accuracy comes with the mean rank among the bounded methods.
    """
    title, more = COLUMNS[column]
    factor = 100.0 if title.endswith("%") else 1.0
    digits = 3 if column == "log_loss" else 0 if column == "bytes" else 2
    found = {T: factor * means(trials, T, methods, column).mean() for T in terms}
    rows = []
    for name in methods:
        cells = []
        for T in terms:
            value, rivals = found[T][name], found[T][list(bounded)]
            text = "" if np.isnan(value) else f"{value:,.{digits}f}"
            best = column in METRICS and name in bounded and value == (rivals.max() if more else rivals.min())
            text = f"**{text}**" if best else text
            if column == "accuracy" and name in bounded and len(bounded) > 1:
                text += f" ({ranks(means(trials, T, bounded))[name]:.2f})"
            cells.append(text)
        if any(cells):
            rows.append([name if name in (*bounded, CONSTANT) else f"{name} (no bound)", *cells])
    return [f"### {title}", "", *markdown(pd.DataFrame(rows, columns=["", *(f"{T} terms" for T in terms)])), ""]


def behind(trials: pd.DataFrame, T: int, bounded: Sequence[str]) -> list[str]:
    """Data sets where smallearn is two percentage points and two standard errors behind the best bounded rival.

    The standard error is that of the paired differences over splits, as if splits were independent. They share rows, so
    the true standard error is larger and the list may be too long.
    """
    rivals = [name for name in bounded if name not in (OURS, EVERY_WEIGHT, FITTING)]
    best = means(trials, T, rivals).idxmax(axis=1)
    accuracy = at(trials, T).set_index(["method", "set", "split"])["accuracy"]
    items = []
    for name, rival in best.items():
        gaps = (accuracy[rival][name] - accuracy[OURS][name]).to_numpy()
        error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.inf
        if gaps.mean() > FAR and gaps.mean() > 2.0 * error:
            text = f"{100 * gaps.mean():.1f} percentage points behind {rival} (standard error {100 * error:.1f})"
            items.append(f"{name}, {T} terms: {text}")
    return items


def equal_bytes(trials: pd.DataFrame, terms: Sequence[int]) -> pd.DataFrame:
    """The tree and our model of at most its bytes: a row for each data set and number of splits of the tree."""
    cells = ["set", "split", "terms"]
    measured = trials[trials["bytes"].notna() & trials["terms"].isin(terms)].set_index(cells)
    tree, ours = (measured.loc[measured["method"] == name, ["bytes", "accuracy"]] for name in (TREE, FITTING))
    ours.columns, tree.columns = [OUR_BYTES, FITTING], [BYTES, TREE]
    return tree.join(ours, how="inner").groupby(["set", "terms"], sort=False).mean()


def per_set(accuracy: pd.DataFrame, bounded: Sequence[str]) -> list[str]:
    """A Markdown table of all data sets, the best bounded method in bold."""
    best = accuracy[list(bounded)].max(axis=1)

    def cell(name: str, method: str) -> str:
        value = accuracy.loc[name, method]
        return f"**{100 * value:.1f}**" if method in bounded and value == best[name] else f"{100 * value:.1f}"

    rows = [[name, *(cell(name, method) for method in accuracy.columns)] for name in accuracy.index]
    return markdown(pd.DataFrame(rows, columns=["data set", *accuracy.columns]))


def markdown(frame: pd.DataFrame) -> list[str]:
    """The lines of a Markdown table."""

    def cell(value: object) -> str:
        if isinstance(value, str):
            return value
        return "" if pd.isna(value) else f"{value:.2f}"

    lines = ["| " + " | ".join(frame.columns) + " |", "|---" + "|---:" * (frame.shape[1] - 1) + "|"]
    return lines + ["| " + " | ".join(map(cell, row)) + " |" for row in frame.itertuples(index=False)]
