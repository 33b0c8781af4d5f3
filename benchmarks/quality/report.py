"""The report: for two classes and for more, tables of means, pictures, where we are behind, and every data set."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.quality import diagrams, tables
from benchmarks.quality.data import Entry
from benchmarks.quality.methods import BOOSTING, FITTING, OURS, TREE
from benchmarks.quality.run import Plan
from benchmarks.quality.search import Method
from smallearn._run.files import write_whole

TITLES = {False: "Two classes", True: "More than two classes"}
ENDINGS = {False: "two-classes", True: "more-classes"}


@dataclass(frozen=True)
class Section:
    """The complete results of one kind of data sets: two classes, or more. ``trials`` are those that means count."""

    several: bool
    terms: tuple[int, ...]
    methods: dict[str, Method]
    trials: pd.DataFrame
    generated: pd.DataFrame
    left_out: list[str]
    splits: str

    @property
    def bounded(self) -> list[str]:
        """The names of the bounded methods."""
        return [name for name, method in self.methods.items() if method.bounded and not method.by_bytes]

    @property
    def compared(self) -> list[str]:
        """The names of the methods that are compared by their numbers of terms, or have no bound."""
        return [name for name, method in self.methods.items() if not method.by_bytes]

    def cells(self) -> list[str]:
        """Data sets and numbers of terms where smallearn is far behind a bounded rival."""
        return [item for T in self.terms for item in tables.behind(self.trials, T, self.bounded)]

    @property
    def sets(self) -> list[str]:
        """The data sets that means count."""
        return list(self.trials["set"].unique())


def sections(plan: Plan, results: pd.DataFrame) -> list[Section]:
    """A section for each kind of data sets in the plan."""
    kinds = [several for several in (False, True) if any(entry.several == several for entry in plan.entries)]
    return [_section(plan, results, several) for several in kinds]


def _section(plan: Plan, results: pd.DataFrame, several: bool) -> Section:
    entries = [entry for entry in plan.entries if entry.several == several]
    here = results[results["set"].isin([entry.name for entry in entries])]
    methods = {name: one for name, one in plan.methods_of(several).items() if (here["method"] == name).any()}
    complete = [entry for entry in entries if methods and _is_complete(plan, here, entry, methods)]
    wanted = {(entry.name, number) for entry in complete for number in plan.numbers(entry)}
    used = [pair in wanted for pair in here[["set", "split"]].itertuples(index=False, name=None)]
    trials = here[here["method"].isin(methods) & np.array(used, dtype=bool)]  # the same splits for every method
    made = trials["set"].isin([entry.name for entry in complete if entry.generated])
    counts = sorted({len(plan.numbers(entry)) for entry in complete})
    return Section(
        several=several,
        terms=plan.terms(several),
        methods=methods,
        trials=trials[~made],
        generated=trials[made],
        left_out=[entry.name for entry in entries if entry not in complete],
        splits=" or ".join(map(str, counts)),
    )


def _is_complete(plan: Plan, results: pd.DataFrame, entry: Entry, methods: dict[str, Method]) -> bool:
    """Whether there are results of every method, split and number of terms."""
    of_set = results[results["set"] == entry.name]
    done = set(of_set[["method", "terms", "split"]].itertuples(index=False, name=None))
    return all(
        (name, T, number) in done
        for name, method in methods.items()
        for T in plan.trials_of(entry, method)
        for number in plan.numbers(entry)
    )


def write(found: list[Section], folder: Path) -> str:
    """Write table.md, the results behind it as CSV, and the pictures; return the text without the data sets."""
    folder.mkdir(parents=True, exist_ok=True)
    lines, details = ["# Accuracy of small models", ""], []
    for section in found:
        lines += [f"## {TITLES[section.several]}", ""]
        if section.left_out:
            lines += ["Left out, because some results are missing: " + ", ".join(section.left_out) + ".", ""]
        if len(section.trials):
            lines += _summary(section)
            details += _details(section)
            _files(section, folder)
        if len(section.generated):
            lines += _generated(section)
    write_whole(folder / "table.md", "\n".join(lines + details) + "\n")
    return "\n".join(lines)


def _summary(section: Section) -> list[str]:
    lines = [
        f"{len(section.sets)} data sets, stratified 70/30 splits ({section.splits} per data set), all choices by inner "
        "cross-validation on the training rows. Means over splits and then over data sets; the accuracy with the mean "
        "rank among bounded methods.",
        "",
    ]
    for column in tables.COLUMNS:
        if column != "bytes" or section.trials["bytes"].notna().any():
            lines += tables.by_budget(section.trials, section.terms, section.compared, section.bounded, column)
    if BOOSTING in section.methods:
        for T in section.terms:
            accuracy = tables.means(section.trials, T, section.compared)
            gaps = (100 * (accuracy[name] - accuracy[BOOSTING]).mean() for name in section.bounded)
            text = ", ".join(f"{name} {gap:+.2f}" for name, gap in zip(section.bounded, gaps, strict=True))
            lines += [f"Difference to {BOOSTING} at {T} terms: {text}.", ""]
    if OURS in section.bounded and len(section.bounded) > 1:
        cells = section.cells()
        head = f"{OURS} is more than 2 percentage points and two standard errors behind its best bounded rival in "
        lines += [f"{head}{len(cells)} of {len(section.sets) * len(section.terms)} cells.", ""]
        lines += [f"- {cell}" for cell in cells] + ([""] if cells else [])
    return lines + _equal_bytes(section)


def _equal_bytes(section: Section) -> list[str]:
    if not {TREE, FITTING} <= set(section.methods):
        return []
    table = tables.equal_bytes(section.trials, section.terms)
    if table.empty:
        return []
    mean = table.groupby("terms").mean()
    mean[[TREE, FITTING]] *= 100.0
    mean.insert(0, "tree's splits", [f"at most {T:g}" for T in mean.index])
    return [
        "### Accuracy at equal bytes on a Cortex-M0, inputs of 16 bits, %",
        "",
        "Our model is the one with the best score in the inner cross-validation among those that take no more bytes "
        "than the tree; if all take more, the most frequent class. Its answers are those of the chip.",
        "",
        *tables.markdown(mean),
        "",
    ]


def _generated(section: Section) -> list[str]:
    lines = ["### Generated sets, accuracy in %; in no mean", ""]
    for T in section.terms:
        accuracy = tables.means(section.generated, T, section.compared)
        lines += [f"At most {T} terms:", "", *tables.per_set(accuracy, section.bounded), ""]
    return lines


def _details(section: Section) -> list[str]:
    lines = []
    for T in section.terms:
        accuracy = tables.means(section.trials, T, section.compared)
        lines += [f"## {TITLES[section.several]}: data sets, at most {T} terms", ""]
        lines += [*tables.per_set(accuracy, section.bounded), ""]
    return lines


def _files(section: Section, folder: Path) -> None:
    """The means of each data set as CSV, and the pictures."""
    ending, names = ENDINGS[section.several], section.compared
    accuracy = {T: tables.means(section.trials, T, names) for T in section.terms}
    per_set = pd.concat([table.assign(terms=T) for T, table in accuracy.items()])
    per_set.to_csv(folder / f"sets-{ending}.csv", index_label="set")
    diagrams.draw_accuracy(per_set, names, section.bounded, folder, f"accuracy-{ending}")
    if len(section.bounded) > 1:
        ranked = {T: table[section.bounded] for T, table in accuracy.items()}
        diagrams.draw_ranks(ranked, folder, f"ranks-{ending}")
