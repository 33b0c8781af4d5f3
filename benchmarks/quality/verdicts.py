"""What we promise of our accuracy, and whether it holds. What was not measured is not judged."""

from collections.abc import Iterator

from benchmarks.quality import tables
from benchmarks.quality.methods import BOOSTING, EVERY_WEIGHT, FITTING, OURS, TREE
from benchmarks.quality.report import Section

FAR_CELLS = 4 / 128  # share of data sets and numbers of terms where we may be far behind a rival
TO_BOOSTING, AT = 2.0, 20  # percentage points behind boosting with more than two classes, and the number of terms

Verdict = tuple[str, bool]


def verdicts(section: Section) -> Iterator[Verdict]:
    """Each promise on one kind of data sets, and whether it is met."""
    if OURS not in section.methods or section.trials.empty:
        return
    rivals = [name for name in section.bounded if name not in (OURS, EVERY_WEIGHT)]
    if rivals:
        for T in section.terms:
            yield from _best(section, T, rivals)
    if section.several:
        yield from _every_weight(section)
        yield from _boosting(section)
        yield from _bytes(section)
    elif rivals and section.trials.groupby("set")["split"].nunique().min() > 1:  # one split has no standard error
        n_cells, cells = len(section.sets) * len(section.terms), section.cells()
        text = f"far behind the best bounded rival in at most {FAR_CELLS:.1%} of the cells ({len(cells)} of {n_cells})"
        yield text, len(cells) <= FAR_CELLS * n_cells


def _best(section: Section, T: int, rivals: list[str]) -> Iterator[Verdict]:
    columns = ("accuracy", "balanced_accuracy") if section.several else ("accuracy",)
    for column in columns:
        mean = 100 * tables.means(section.trials, T, section.bounded, column).mean()
        rival = mean[rivals].idxmax()
        text = f"{T} terms: best mean {column.replace('_', ' ')} ({mean[OURS]:.2f}; {rival} {mean[rival]:.2f})"
        yield text, mean[OURS] >= mean[rival]
    rank = tables.ranks(tables.means(section.trials, T, section.bounded))
    rival = rank[rivals].idxmin()
    yield f"{T} terms: best mean rank ({rank[OURS]:.2f}; {rival} {rank[rival]:.2f})", rank[OURS] <= rank[rival]


def _every_weight(section: Section) -> Iterator[Verdict]:
    if not {EVERY_WEIGHT, TREE} <= set(section.methods):
        return
    for T in section.terms:
        mean = 100 * tables.means(section.trials, T, section.bounded).mean()
        text = f"{T} terms, every weight counted: at least the tree's mean accuracy"
        yield f"{text} ({mean[EVERY_WEIGHT]:.2f}; {mean[TREE]:.2f})", mean[EVERY_WEIGHT] >= mean[TREE]


def _boosting(section: Section) -> Iterator[Verdict]:
    if BOOSTING in section.methods and AT in section.terms:
        mean = 100 * tables.means(section.trials, AT, list(section.methods)).mean()
        gap = mean[BOOSTING] - mean[OURS]
        yield f"{AT} terms: within {TO_BOOSTING:g} points of boosting's default ({gap:.2f})", gap <= TO_BOOSTING


def _bytes(section: Section) -> Iterator[Verdict]:
    if not {TREE, FITTING} <= set(section.methods):
        return
    mean = 100 * tables.equal_bytes(section.trials, section.terms).groupby("terms").mean()
    for T, row in mean.iterrows():
        text = (
            f"at the bytes of a tree of {T:g} splits: at least its mean accuracy ({row[FITTING]:.2f}; {row[TREE]:.2f})"
        )
        yield text, row[FITTING] >= row[TREE]
