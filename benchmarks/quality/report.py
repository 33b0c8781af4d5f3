"""Tables and a plot of the results: a summary for each number of terms, then every data set."""

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.quality.rivals import METHODS
from benchmarks.quality.run import UNBOUNDED, Plan
from smallearn._run.files import write_whole

OURS = "smallearn"
FAR = 0.02  # data sets on which we are further behind than this are listed

# Distinct without colour: marker and line style differ; the colours are Okabe and Ito's.
STYLES = {
    "smallearn": ("#000000", "o", "-"),
    "abess": ("#0072B2", "s", "--"),
    "l1 logistic": ("#E69F00", "^", "-."),
    "tree": ("#009E73", "D", ":"),
    "FIGS": ("#CC79A7", "v", (0, (5, 1, 1, 1, 1, 1))),
    "gradient boosting": ("#555555", "", (0, (8, 4))),
}


def write(plan: Plan, results: pd.DataFrame, folder: Path) -> str:
    """Write table.md, summary.csv, sets.csv, accuracy.png and accuracy.svg; return the summary."""
    methods = [name for name in METHODS if (results["method"] == name).any()]
    complete, left_out = _complete(plan, results, methods)
    lines = ["# Accuracy of small models", ""]
    if not complete:
        lines += ["No data set is complete yet: " + ", ".join(left_out) + "."]
        write_whole(folder / "table.md", "\n".join(lines) + "\n")
        return "\n".join(lines)
    wanted = {
        (entry.name, number) for entry in plan.entries if entry.name in complete for number in plan.numbers(entry)
    }
    selected = [trial in wanted for trial in results[["set", "split"]].itertuples(index=False, name=None)]
    trials = results[selected]  # the same splits for every method, even if some ran on more
    bounded = [name for name in methods if METHODS[name].bounded]
    summaries, per_set, details = [], [], []
    lines += [
        f"{len(complete)} data sets, stratified 70/30 splits ({_splits(plan, complete)}), all choices by inner "
        "cross-validation on the training rows. Accuracies in %, means over splits and then over data sets.",
        "",
    ]
    if left_out:
        lines += ["Left out, because results of some splits are missing: " + ", ".join(left_out) + ".", ""]
    for T in plan.terms:
        means = _means(trials, T, methods)
        summary = _summary(means, bounded)
        lines += [f"## At most {T} terms", "", *_markdown(summary.reset_index(names="method")), ""]
        lines += _ceiling(means, bounded)
        if OURS in bounded and len(bounded) > 1:
            lines += _behind(trials, means, T, bounded)
        details += [f"## Data sets, at most {T} terms", "", *_per_set_table(means, methods, bounded), ""]
        summaries.append(summary.assign(terms=T))
        per_set.append(means.assign(terms=T))
    pd.concat(summaries).to_csv(folder / "summary.csv", index_label="method")
    pd.concat(per_set).to_csv(folder / "sets.csv", index_label="set")
    write_whole(folder / "table.md", "\n".join(lines + details) + "\n")
    _plot(pd.concat(per_set), methods, folder)
    return "\n".join(lines)


def _complete(plan: Plan, results: pd.DataFrame, methods: list[str]) -> tuple[list[str], list[str]]:
    """Data sets with all results (every method, split and number of terms), and the others."""
    done = set(results[["set", "method", "terms", "split"]].itertuples(index=False, name=None))
    complete, left_out = [], []
    for entry in plan.entries:
        wanted = ((entry.name, m, T, n) for m in methods for T in plan.terms_of(m) for n in plan.numbers(entry))
        (complete if all(trial in done for trial in wanted) else left_out).append(entry.name)
    return (complete, left_out) if methods else ([], [*left_out, *complete])


def _splits(plan: Plan, complete: list[str]) -> str:
    counts = sorted({len(plan.numbers(entry)) for entry in plan.entries if entry.name in complete})
    return " or ".join(map(str, counts)) + " per data set"


def _means(trials: pd.DataFrame, T: int, methods: list[str]) -> pd.DataFrame:
    """Mean accuracy over the splits: a row for each data set, a column for each method."""
    means = _table(trials, T, methods).T.groupby(level="set", sort=False).mean().reindex(columns=methods)
    return means.round(9)  # equal up to rounding is a tie


def _table(trials: pd.DataFrame, T: int, methods: list[str]) -> pd.DataFrame:
    """Accuracies at T terms or without a bound: a row for each method, a column for each data set and split."""
    at = trials[trials["terms"].isin([T, UNBOUNDED])]
    return at.pivot(index="method", columns=["set", "split"], values="accuracy").reindex(methods)


def _summary(means: pd.DataFrame, bounded: list[str]) -> pd.DataFrame:
    """A row for each method: mean accuracy, mean rank, wins (ties shared) and the largest shortfall."""
    small = means[bounded]
    winners = small.eq(small.max(axis=1), axis=0)
    rows = {}
    for name in means.columns:
        row = {"mean accuracy": 100 * means[name].mean(), "mean rank": np.nan, "wins": np.nan}
        if name in bounded and len(bounded) > 1:
            row["mean rank"] = small.rank(axis=1, ascending=False)[name].mean()
            row["wins"] = (winners[name] / winners.sum(axis=1)).sum()
            behind = small.drop(columns=name).max(axis=1) - small[name]
            row["worst shortfall"] = 100 * max(behind.max(), 0.0)
            row["on"] = behind.idxmax() if behind.max() > 0 else ""
        rows[name] = row
    return pd.DataFrame.from_dict(rows, orient="index")


def _ceiling(means: pd.DataFrame, bounded: list[str]) -> list[str]:
    """The methods without a bound, and how far the others are from them."""
    lines = []
    for name in means.columns.difference(bounded):
        gaps = ", ".join(f"{other} {100 * (means[other] - means[name]).mean():+.2f}" for other in bounded)
        mean = 100 * means[name].mean()
        lines += [f"{name[0].upper()}{name[1:]} (no bound): {mean:.2f}. Difference to it: {gaps}.", ""]
    return lines


def _behind(trials: pd.DataFrame, means: pd.DataFrame, T: int, bounded: list[str]) -> list[str]:
    """Data sets where smallearn is two percentage points and two standard errors behind the best bounded rival.

    The standard error is that of the paired differences over splits, as if splits were independent. They share rows, so
    the true standard error is larger and the list may be too long.
    """
    table = _table(trials, T, bounded)
    items = []
    for name in means.index:
        rival = means.loc[name, bounded].drop(OURS).idxmax()
        gaps = (table.loc[rival] - table.loc[OURS])[name].to_numpy()
        error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.inf
        if gaps.mean() > FAR and gaps.mean() > 2.0 * error:
            items.append(
                f"- {name}: {100 * gaps.mean():.1f} percentage points behind {rival} (standard error {100 * error:.1f})"
            )
    head = (
        f"{OURS} is more than {100 * FAR:.0f} percentage points and two standard errors behind its best bounded rival"
    )
    return [
        f"{head} on " + (f"{len(items)} data sets:" if items else "no data set."),
        "",
        *items,
        *([""] if items else []),
    ]


def _per_set_table(means: pd.DataFrame, methods: list[str], bounded: list[str]) -> list[str]:
    """A table of all data sets, the best bounded method in bold."""
    best = means[bounded].max(axis=1)

    def cell(name: str, method: str) -> str:
        value = means.loc[name, method]
        return f"**{100 * value:.1f}**" if method in bounded and value == best[name] else f"{100 * value:.1f}"

    rows = [[name, *(cell(name, method) for method in methods)] for name in means.index]
    return _markdown(pd.DataFrame(rows, columns=["data set", *methods]))


def _markdown(frame: pd.DataFrame) -> list[str]:
    """The lines of a Markdown table."""

    def cell(value: object) -> str:
        if isinstance(value, str):
            return value
        return "" if pd.isna(value) else f"{value:.2f}"

    rules = ["---"] + ["---" if name == "on" else "---:" for name in frame.columns[1:]]
    lines = ["| " + " | ".join(frame.columns) + " |", "|" + "|".join(rules) + "|"]
    return lines + ["| " + " | ".join(map(cell, row)) + " |" for row in frame.itertuples(index=False)]


def _plot(per_set: pd.DataFrame, methods: list[str], folder: Path) -> None:
    """Mean accuracy against the number of terms."""
    try:
        import matplotlib
    except ImportError:
        print("No plot: matplotlib is not installed (pip install 'smallearn[plot]').")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    terms = sorted(per_set["terms"].unique())
    mean = 100 * per_set.groupby("terms")[methods].mean()
    figure, axes = pyplot.subplots(figsize=(8.0, 4.2), layout="constrained")
    for name in methods:
        colour, marker, style = STYLES[name]
        axes.plot(
            terms,
            mean[name],
            color=colour,
            marker=marker,
            linestyle=style,
            linewidth=2.2 if name == OURS else 1.4,
            markersize=6,
            label=name if METHODS[name].bounded else f"{name} (no bound)",
        )
    axes.set_xticks(terms)
    axes.set_xlabel("terms allowed (non-zero weights, splits)")
    axes.set_ylabel(f"mean accuracy on {per_set.index.nunique()} data sets, %")
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside center right", frameon=False, handlelength=4.5)
    for ending in ("png", "svg"):
        figure.savefig(folder / f"accuracy.{ending}", dpi=150)
    pyplot.close(figure)
