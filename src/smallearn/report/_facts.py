"""What the model costs on chips, and what is known of its training."""

from collections.abc import Sequence
from typing import Any

from smallearn._text import show
from smallearn.devices import ToolchainError, cost
from smallearn.devices._chips import find_chip
from smallearn.model import SMaLLModel
from smallearn.model._sentences import budget_sentence, certificate_sentence
from smallearn.report._subject import Subject
from smallearn.report._tables import Table


def cost_of(model: SMaLLModel, chips: Sequence[str]) -> dict[str, Any] | None:
    """A table of flash, RAM and time of one prediction; None if there is no chip on which it can be computed."""
    lines, measured = [], []
    for chip in chips:
        for number in ("int8", "float32"):
            try:
                known = find_chip(chip)
                one = cost(model, known, number, layout="best")
            except (ValueError, ToolchainError, OverflowError):
                continue
            about = "" if one.measured else "about "
            unit = "cycles" if one.cycles is not None else "instructions"
            most = "at most " if one.bound else "typically up to " if one.measured else about
            flash, work = f"{about}{one.flash:,}", f"{most}{one.count:,} {unit}"
            lines.append((known.short_title or known.title, number, flash, f"{one.ram}", work, f"{one.time_us:.3g}"))
            measured.append(one.measured)
    if not lines:
        return None
    how = "compiled and run in a simulator" if all(measured) else "estimated where a chip's tools are not installed"
    head = ("chip", "numbers", "flash (bytes)", "RAM (bytes)", "prediction", "µs")
    return {
        "text": f"The cost of one prediction on small chips, {how}.",
        "table": Table(name="Cost by chip", head=head, lines=lines, numbers=(2, 3, 4, 5)),
    }


def training_of(subject: Subject) -> Table:
    """A table of what is known of the training data and the training."""
    lines = [*_data_lines(subject), *_training_lines(subject.model)]
    return Table(
        name="Facts about data and training", head=("fact", "value"), lines=lines or [("training", "not recorded")]
    )


def _data_lines(subject: Subject) -> list[tuple[str, str]]:
    model, data, judged = subject.model, subject.model.data, subject.judged
    lines = []
    if data is not None:
        if data.source is not None:
            lines.append(("training table", show(data.source, quote=False)))
        if data.target is not None:
            lines.append(("target column", show(data.target, quote=False)))
        counts = zip(model.classes, data.class_counts, strict=True)
        by_class = ", ".join(f"{n:,} of class {show(label)}" for label, n in counts)
        lines.append(("training rows", f"{sum(data.class_counts):,}: {by_class}"))
        if data.fingerprint:
            lines.append(("fingerprint of the training rows", data.fingerprint))
    if judged is not None:
        which = "the training rows" if judged.is_training_data else "not the training rows"
        if data is None or not data.fingerprint:
            which = "whether these are the training rows is not known"
        lines.append(("rows on this page", f"{subject.rows_text}; {which}"))
    if subject.sampled_from is not None and subject.rows is not None:
        lines.append(("pictures, ranges and importance", f"of {subject.rows.n_rows:,} rows drawn at random"))
    return lines


def _training_lines(model: SMaLLModel) -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    selection, training = model.selection, model.training
    lines.extend(("changed by hand", edit.text) for edit in model.edits)
    if selection is not None:
        folds = f"{len(selection.scores)}-fold cross-validation ({selection.metric})"
        lines.append(("chosen by", f"{folds}, at most {selection.max_terms} terms"))
    for name, sentence in (("budget", budget_sentence(model)), ("certificate", certificate_sentence(model))):
        if sentence is not None:
            lines.append((name, sentence))
    if training is not None:
        lines.append(("ridge penalty λ", f"{training.alpha:g}"))
        lines.append(("trained with", f"smallearn {training.smallearn}"))
    for extent in model.ranges:
        label = next(show(term.label, quote=False) for term in model.features if term.feature == extent.feature)
        lines.append((f"range of {label}", f"{extent.low:.6g} to {extent.high:.6g}"))
    return lines
