"""What ``fit`` prints of the model that it trained: its scores, and commands to go on with."""

import argparse
import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from smallearn._text import count, percent, show
from smallearn.cli.held_out import HeldOutScores
from smallearn.cli.rare_classes import found_of, rare_class
from smallearn.cli.rounding import chosen_loss
from smallearn.model import SMaLLModel
from smallearn.model._sentences import alternatives_sentence, smaller_sentence

LOW_RECALL = 0.5
MOST_NUMBERS = 20  # of rows held out, in a line


@dataclass(frozen=True)
class FitResult:
    """A trained model with what is known of how good it is.

    Parameters
    ----------
    model : SMaLLModel
        The model.
    positive : label or None
        The class that the metric is about, if it is about one.
    held_out : HeldOutScores or None
        Its scores on the rows that were held out, if any were.
    training_confusion : ndarray or None
        Its confusion matrix on the training rows, where these are at hand.
    """

    model: SMaLLModel
    positive: Any
    held_out: HeldOutScores | None
    training_confusion: np.ndarray | None

    @property
    def confusion(self) -> np.ndarray | None:
        """The confusion matrix on the rows held out, or else on the training rows."""
        return self.training_confusion if self.held_out is None else self.held_out.evaluation.confusion

    @property
    def majority(self) -> tuple[Any, float]:
        """The most common class, and its share of the training rows."""
        assert self.model.data is not None
        counts = self.model.data.class_counts
        return self.model.classes[counts.index(max(counts))], max(counts) / sum(counts)

    @property
    def told_class(self) -> Any:
        """The class whose recall and precision are told: a rare one, or that of the metric; None if there is none."""
        return rare_class(self.model) if self.positive is None else self.positive

    def recall_and_precision(self) -> dict[str, Any] | None:
        """Of `told_class`: its label, the numbers of rows found, there and flagged, and the shares."""
        if self.told_class is None or self.confusion is None:
            return None
        told = found_of(self.model, self.told_class, self.confusion)
        return {
            "class": self.told_class,
            "rows": told.there,
            "flagged": told.flagged,
            "found": told.found,
            "recall": told.recall,
            "precision": told.precision,
        }

    # --- as text -----------------------------------------------------------------------------------------------------

    def lines(self, arguments: argparse.Namespace) -> list[str]:
        """Lines about the model, printed after it; the score to rely on first."""
        lines = [*self._held_out_lines(), *self._rare_class_lines(arguments)]
        lines += [*self._which_rows_lines(arguments), *self._cross_validated_lines()]
        if (smaller := smaller_sentence(self.model)) is not None:
            lines.append(smaller)
        if arguments.n_alternatives:
            lines.append(alternatives_sentence(self.model))
        if (standard := self.model.standard_models) is not None:
            each = ", ".join(f"{one.name} {one.score:.1%}" for one in standard.models)
            lines.append(f"Accuracy of standard models by cross-validation: {each}.")
        owner = self.model.sole_owner
        if arguments.positive_class is None and owner == 0:  # of two classes, people expect the second
            other = str(self.model.classes[1 - owner])
            option = shlex.quote(f"--positive={other}") if other.startswith("-") else f"--positive {shlex.quote(other)}"
            of = show(self.model.classes[owner])
            lines.append(f"High scores mean {of}. Use {show(option, quote=False)} to reverse.")
        return lines

    def _baseline(self, share: float) -> str:
        assert self.model.data is not None
        counts = self.model.data.class_counts
        why = ", the most common class" if counts.count(max(counts)) == 1 else ""
        return f"Always guessing {show(self.majority[0])}{why}: {share:.1%}."

    def _named(self, value: float) -> tuple[str, str]:
        """The metric and a score by it."""
        chosen = self.model.selection
        assert chosen is not None
        if chosen.metric == "negative mean cost":
            return "Mean cost", f"{-value:.3f}"
        about = "" if self.positive is None else f" of {show(self.positive)}"
        name = chosen.metric.replace("_", " ")
        return f"{name[:1].upper()}{name[1:]}{about}", chosen.told(value)

    def _which_rows_lines(self, arguments: argparse.Namespace) -> Iterator[str]:
        """Which rows were held out, and where they are."""
        if self.held_out is None:
            return
        assert self.model.data is not None
        n_rows = self.held_out.evaluation.n_rows
        total = n_rows + sum(self.model.data.class_counts)
        drawn = f"Held out: {n_rows:,} of {total:,} rows, drawn class by class with --seed {arguments.seed}"
        saved = "" if arguments.save_test is None else f"; {show(str(arguments.save_test), quote=False)} has them"
        yield f"{drawn}{saved}. On the same table, evaluate, edit and report know them again."

    def _held_out_lines(self) -> Iterator[str]:
        if self.held_out is None:
            return
        evaluation = self.held_out.evaluation
        n_rows = f"{evaluation.n_rows:,} {'row' if evaluation.n_rows == 1 else 'rows'}"
        accuracy = f"Accuracy on the {n_rows} held out: {evaluation.accuracy}."
        name, value = self._named(self.held_out.score)
        if name != "Accuracy":
            yield f"{name} on the {n_rows} held out: {value}."
            accuracy = f"Accuracy there: {evaluation.accuracy}."
        yield f"{accuracy} {self._baseline(evaluation.frequent)}"

    def _rare_class_lines(self, arguments: argparse.Namespace) -> Iterator[str]:
        facts = self.recall_and_precision()
        if facts is None:
            return
        label = show(facts["class"])
        where = "" if self.held_out is not None else "On the training rows, so a little optimistic: "
        found, there, flagged = (f"{facts[name]:,}" for name in ("found", "rows", "flagged"))
        recall = f"{where}finds {found} of the {there} rows of class {label} (recall {percent(facts['recall'] or 0.0)})"
        right = "predicts that class for none"
        if facts["flagged"]:
            precision = percent(facts["precision"])
            right = f"{found} of the {flagged} rows that it predicts as {label} are right (precision {precision})"
        yield f"{recall[:1].upper()}{recall[1:]}; {right}."
        ways = _ways_to_find_more(arguments, len(self.model.classes))
        if (facts["recall"] or 0.0) < LOW_RECALL and ways:
            yield f"To find more of them, at the price of more false alarms: {ways}."

    def _cross_validated_lines(self) -> Iterator[str]:
        chosen = self.model.selection
        assert chosen is not None
        name, value = self._named(chosen.score)
        error = " on a single fold"
        if len(chosen.scores) > 1:
            error = f" ± {chosen.spread:.3f}" if name == "Mean cost" else f" ± {chosen.told(chosen.spread)}"
        line = f"{name} by cross-validation: {value}{error}."
        yield f"{line} {self._baseline(self.majority[1])}" if name == "Accuracy" and self.held_out is None else line

    def detail_lines(self, rows: Any) -> list[str]:
        """With ``-v``: the choice by cross-validation, the columns that are ignored, and the rows held out."""
        chosen = self.model.selection
        assert chosen is not None
        lines = [f"Folds: {', '.join(chosen.told(score) for score in chosen.scores)}", "Best score of each size:"]
        for step in chosen.frontier:
            size = f"{count(step.n_terms, 'term')} in {count(step.n_prototypes, 'prototype')}"
            lines.append(f"  {size}: {chosen.told(step.score)} ± {chosen.told(step.spread)}")
        lines += [f"Ignored: {show(name)}, which {_reason(why)}" for name, why in rows.ignored.items()]
        if self.held_out is not None:
            numbers = self.held_out.numbers.tolist()
            first = ", ".join(map(str, numbers[:MOST_NUMBERS]))
            more = f" … ({len(numbers):,} rows; all with --json)" if len(numbers) > MOST_NUMBERS else ""
            lines.append(f"Rows held out, counted from 1 below the header: {first}{more}")
        return lines


def next_commands(arguments: argparse.Namespace, result: FitResult) -> list[str]:
    """Commands to go on with, as a shell takes them; on the first file if there are several."""
    model, data = shlex.quote(str(arguments.output)), shlex.quote(str(arguments.data[0]))
    reading = "" if arguments.encoding == "utf-8" else f" --encoding {shlex.quote(arguments.encoding)}"
    label = result.told_class
    ranked = "" if label is None else f" --rank-by {shlex.quote(str(label))}"
    report = shlex.quote(str(arguments.output.with_suffix(".html")))
    cost = [] if arguments.device is None else [f"smallearn cost {model} {data}{reading}"]
    return [
        f"smallearn explain {model} {data}{reading}",
        f"smallearn report {model} {data}{reading} -o {report}",
        *cost,
        f"smallearn predict {model} NEW.csv{reading}{ranked} -o scored.csv",
        f"smallearn export {model} --to c",
    ]


def facts_of(result: FitResult, arguments: argparse.Namespace, rows: Any, selector: Any) -> dict[str, Any]:
    """The result, for scripts."""
    model = result.model
    assert model.data is not None
    assert model.selection is not None
    facts = {
        "model": str(arguments.output),
        "target": arguments.target,
        "rows": rows.n_rows,
        "classes": [
            {"label": label, "rows": number}
            for label, number in zip(model.classes, model.data.class_counts, strict=True)
        ],
        "metric": model.selection.metric,
        "positive": result.positive,
        "score": model.selection.score,
        "spread": model.selection.spread,
        "most_frequent_class": result.majority[1],
        "rare_class": result.recall_and_precision(),
        "held_out": None if result.held_out is None else _held_out_facts(result.held_out, arguments.seed),
        "n_terms": model.n_terms,
        "n_prototypes": len(model.prototypes),
        "decision_threshold": model.decision_threshold,
        "features": [term.label for term in model.features],
        "left_out": rows.ignored,
        "objective": model.training.objective if model.training else None,
        "lower_bound": model.training.lower_bound if model.training else None,
    }
    if arguments.device is not None:
        facts |= {"number": selector.number_, "cost": asdict(selector.device_cost_)}
        facts["format_loss"] = asdict(chosen_loss(model, rows))
    return facts


def _held_out_facts(held_out: HeldOutScores, seed: int) -> dict[str, Any]:
    evaluation = held_out.evaluation
    figures = ("accuracy", "balanced_accuracy", "auc", "log_loss", "brier")
    return {
        "rows": evaluation.n_rows,
        "seed": seed,
        "numbers": held_out.numbers.tolist(),
        "score": held_out.score,
        **{
            name: None if value is None else {"value": value.value, "low": value.low, "high": value.high}
            for name, value in ((name, getattr(evaluation, name)) for name in figures)
        },
        "most_frequent_class": evaluation.frequent,
        "confusion": evaluation.confusion.tolist(),
    }


def _ways_to_find_more(arguments: argparse.Namespace, n_classes: int) -> str:
    """Options that find more of a rare class, as far as they are not in use."""
    if arguments.cost_matrix is not None or arguments.decision_threshold is not None:
        return ""
    ways = [] if arguments.scoring is not None else ["--metric f1" if n_classes == 2 else "--metric f1_macro"]
    ways += [] if arguments.class_weight is not None else ["--class-weight balanced"]
    return " or ".join(ways)


def _reason(why: str) -> str:
    return "is dropped as asked" if why == "as asked" else why
