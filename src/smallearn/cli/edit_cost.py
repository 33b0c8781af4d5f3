"""What ``edit`` tells of a change: scores before and after, and the decisions that differ."""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._text import joined, percent, show
from smallearn.cli.console import Console, heading
from smallearn.cli.metrics import metric_of, score_of
from smallearn.cli.rare_classes import Found, found_of, rare_class
from smallearn.model import SMaLLModel

FIGURES = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "auc": "ROC AUC", "log_loss": "log loss"}
FOLDS = 5


@dataclass(frozen=True)
class Cost:
    """What a change costs on some rows.

    Parameters
    ----------
    n_rows : int
        The number of rows.
    which : str
        Which rows they are: "held out", "training" or empty.
    scores : dict from str to (float, float)
        Each score before and after the change, by its name for scripts.
    names : dict from str to str
        What each score is called for readers.
    found : (Found, Found) or None
        The rows of the rare class before and after, if a class is rare.
    label : label or None
        That class.
    moved : list of (label, label, int)
        Classes before and after, and the number of rows that moved from the one to the other.
    """

    n_rows: int
    which: str
    scores: dict[str, tuple[float, float]]
    names: dict[str, str]
    found: tuple[Found, Found] | None
    label: Any
    moved: list[tuple[Any, Any, int]]

    @property
    def n_changed(self) -> int:
        """The number of decisions that the change changes."""
        return sum(number for _, _, number in self.moved)

    def lines(self) -> list[tuple[str, str, str]]:
        """Each score before and after, as text."""
        lines = [("", "before", "after")]
        for name, values in self.scores.items():
            before, after = (f"{value:.1%}" if "accuracy" in name else f"{value:.3f}" for value in values)
            lines.append((self.names[name], before, after))
        if self.found is not None:
            for share in ("recall", "precision"):
                before, after = (_percent(getattr(one, share)) for one in self.found)
                lines.append((f"{share} of {show(self.label)}", before, after))
        return lines

    def print(self, arguments: argparse.Namespace, n_classes: int) -> None:
        """Print it."""
        which = {"held out": " held out from training", "training": ", the training rows"}.get(self.which, "")
        print(heading(f"\nOn {arguments.data.name}: {self.n_rows:,} {'row' if self.n_rows == 1 else 'rows'}{which}"))
        lines = self.lines()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for name, *values in lines:
            cells = "  ".join(value.rjust(width) for value, width in zip(values, widths[1:], strict=True))
            print(f"  {name.ljust(widths[0])}  {cells}")
        moves = joined([f"{n:,} from {show(a)} to {show(b)}" for a, b, n in self.moved])
        told = f": {moves}" if self.moved and n_classes < 5 else ""
        share = percent(self.n_changed / self.n_rows)
        print(f"Decisions changed: {self.n_changed:,} of {self.n_rows:,} ({share}){told}.")

    def facts(self) -> dict[str, Any]:
        """The same for scripts."""
        rare = None
        if self.found is not None:
            shares = {
                share: dict(zip(("before", "after"), (getattr(one, share) for one in self.found), strict=True))
                for share in ("recall", "precision")
            }
            rare = {"class": self.label, **shares}
        return {
            "rows": self.n_rows,
            "is_training_data": self.which == "training",
            "is_held_out": self.which == "held out",
            "scores": {name: {"before": b, "after": a} for name, (b, a) in self.scores.items()},
            "rare_class": rare,
            "decisions_changed": self.n_changed,
            "moved": [{"from": a, "to": b, "rows": n} for a, b, n in self.moved],
        }


def cost_of(
    model: SMaLLModel,
    edited: SMaLLModel,
    X: Any,
    y: np.ndarray,
    *,
    is_held_out: bool,
    by_folds: tuple[float, float] | None,
) -> Cost:
    """The scores of both models on some rows, and the decisions that differ."""
    from smallearn.evaluation import evaluate

    judged = evaluate(model, X, y), evaluate(edited, X, y)
    scores: dict[str, tuple[float, float]] = {}
    names = {**FIGURES, "held_out_accuracy": f"accuracy on held-out rows ({FOLDS} folds)"}
    metric = metric_of(model)
    if metric is not None:
        scores[metric.name] = score_of(model, metric.scoring, X, y), score_of(edited, metric.scoring, X, y)
        names.setdefault(metric.name, metric.text)
    for name in FIGURES:
        values = [getattr(one, name) for one in judged]
        if None not in values and name not in scores:
            scores[name] = values[0].value, values[1].value
    if by_folds is not None:
        scores["held_out_accuracy"] = by_folds
    label = rare_class(model)
    found = None
    if label is not None:
        found = found_of(model, label, judged[0].confusion), found_of(model, label, judged[1].confusion)
    codes = [model.codes(one.predict(X)) for one in (model, edited)]
    moved = np.zeros((len(model.classes), len(model.classes)), dtype=np.int64)
    np.add.at(moved, (codes[0], codes[1]), 1)
    np.fill_diagonal(moved, 0)
    return Cost(
        n_rows=len(y),
        which="held out" if is_held_out else "training" if judged[0].is_training_data else "",
        scores={name: (float(before), float(after)) for name, (before, after) in scores.items()},
        names=names,
        found=found,
        label=label,
        moved=[(model.classes[a], model.classes[b], int(moved[a, b])) for a, b in np.argwhere(moved).tolist()],
    )


def accuracy_by_folds(
    model: SMaLLModel, edited: SMaLLModel, given: tuple[Any, Any], arguments: argparse.Namespace, console: Console
) -> tuple[float, float] | None:
    """The accuracy by cross-validation of the weights, of both models: each fold is predicted by weights that were
    fitted to the others. None if a class has too few rows."""
    from sklearn.model_selection import StratifiedKFold

    from smallearn import refit

    X, y = given
    if np.unique(y, return_counts=True)[1].min() < FOLDS:
        return None
    right = np.zeros(2)
    with console.progress(FOLDS, "folds") as bar:
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(np.zeros(len(y)), y):
            before = refit(model, X.iloc[train], y[train])
            after = refit(edited, X.iloc[train], y[train], keep=arguments.keep, replace_terms=arguments.replace)
            right += [np.sum(one.predict(X.iloc[test]) == y[test]) for one in (before, after)]
            bar.step()
    return float(right[0] / len(y)), float(right[1] / len(y))


def _percent(share: float | None) -> str:
    return "–" if share is None else percent(share)
