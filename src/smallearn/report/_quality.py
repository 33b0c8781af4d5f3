"""How good the model is: scores, curves, errors, and standard models for comparison."""

from typing import Any

import numpy as np

from smallearn._text import count, percent, show, typeset
from smallearn.evaluation import Comparison, Evaluation, Interval, _captions
from smallearn.model import SMaLLModel
from smallearn.plot._colours import BLUE, GREY
from smallearn.report._pictures import Picture, draw
from smallearn.report._subject import Subject
from smallearn.report._tables import Table

NARROW = 4.8  # inches, of pictures side by side


def quality_of(subject: Subject) -> dict[str, Any]:
    """The figures at the top of the page, and the sections on scores and errors."""
    judged = subject.judged
    content: dict[str, Any] = {"facts": _facts(subject), "warning": _warning(subject), "scores": None, "errors": None}
    if judged is None:
        return content
    head, *lines = judged.confusion_lines()
    return content | {
        "scores": {
            "text": typeset(" ".join(judged.summary(subject.model, rows=f"the {subject.rows_text}"))),
            "caption": "Scores on the training rows" if judged.is_training_data else "Scores on these rows",
            "table": Table(
                name="Table of scores", head=("score", "value (95% interval)", "meaning"), lines=list(judged.figures())
            ),
        },
        "confusion": {"caption": _captions.CONFUSION, "head": head, "lines": lines},
        "curves": _curves(subject, judged),
        "errors": _errors(subject, judged),
    }


def _facts(subject: Subject) -> list[tuple[str, str, str]]:
    """Name, value and explanation of the figures at the top of the page."""
    model, judged, selection = subject.model, subject.judged, subject.model.selection
    facts = []
    if judged is not None and not judged.is_training_data:
        low, high = judged.accuracy.low, judged.accuracy.high
        text = f"{low:.1%} to {high:.1%} (95% interval), {subject.rows_text}; {judged.baseline}"
        facts.append(("accuracy on these rows", f"{judged.accuracy.value:.1%}", text))
    if selection is not None:
        text = f"± {selection.told(selection.spread)} (standard error), on held-out training rows"
        facts.append((f"cross-validated {selection.metric}", typeset(selection.told(selection.score)), text))
    elif judged is not None and judged.is_training_data:
        text = f"{subject.rows_text}; {judged.baseline}"
        facts.append(("accuracy on the training rows", f"{judged.accuracy.value:.1%}", text))
    return [
        *facts,
        ("terms", str(model.n_terms), _terms_note(model)),
        ("features", f"{len(model.features)} of {model.n_features}", "used"),
    ]


def _terms_note(model: SMaLLModel) -> str:
    scores = count(len(model.prototypes), "score")
    return f"in {scores}" if model.n_terms == len(model.terms) else f"shared by {scores}, {len(model.terms)} weights"


def _warning(subject: Subject) -> str | None:
    if subject.judged is None or not subject.judged.is_training_data:
        return None
    better = "" if subject.model.selection is None else " Rely on the cross-validated score."
    return f"The rows on this page are the training rows, so the scores on them are optimistic.{better}"


def _curves(subject: Subject, judged: Evaluation) -> list[Picture]:
    """The ROC curve, with two classes, and the calibration curve."""
    from smallearn import plot

    if judged.auc is None:
        return []
    positive = show(judged.classes[1], quote=False)
    pictures = [] if judged.roc is None else [_roc(judged.roc, judged.auc, positive)]
    pictures.append(
        draw(
            lambda ax: plot.reliability(subject.model, subject.rows, subject.y, ax=ax),
            name="reliability",
            alt=f"Calibration curve: observed share of {positive} against its predicted probability.",
            caption=f"Calibrated probabilities of {positive} lie on the diagonal; bars are 95% intervals.",
            height=4.4,
            width=NARROW,
        )
    )
    return pictures


def _roc(rates: tuple[np.ndarray, np.ndarray], auc: Interval, positive: str) -> Picture:
    def paint(ax: Any) -> None:
        ax.plot(*rates, color=BLUE, linewidth=2)
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--")
        ax.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        ax.set_title(f"ROC curve, area {auc.value:.3f}")

    return draw(
        paint,
        name="roc",
        alt=f"ROC curve. The area under it is {auc.value:.3f}.",
        caption=f"True positive rate against false positive rate; {positive} is the positive class.",
        height=4.4,
        width=NARROW,
    )


def _errors(subject: Subject, judged: Evaluation) -> dict[str, Any]:
    """How many rows are predicted wrongly, in which groups, and the errors with the highest probability."""
    wrong = judged.n_rows - int(np.trace(judged.confusion))
    if not wrong:
        return {"text": f"None of the {count(judged.n_rows, 'row')} is predicted wrongly.", "tables": []}
    groups = [(group.text, str(group.n_rows), f"{group.wrong:.1%}") for group in judged.groups]
    errors = [
        (
            str(subject.number_of(one.row)),
            show(one.truth, quote=False),
            show(one.predicted, quote=False),
            percent(one.probability),
        )
        for one in judged.mistakes
    ]
    tables = [
        Table(name=_captions.GROUPS, head=_captions.GROUPS_HEAD, lines=groups, numbers=(1, 2)),
        Table(name=_captions.ERRORS, head=_captions.ERRORS_HEAD, lines=errors, numbers=(3,)),
    ]
    return {
        "text": f"{wrong} of the {judged.n_rows} rows ({wrong / judged.n_rows:.1%}) are predicted wrongly.",
        "tables": [table for table in tables if table.lines],
    }


def comparison_of(subject: Subject, compared: Comparison | None) -> dict[str, Any] | None:
    """The table of standard models; None without rows, or without standard models."""
    if compared is None or subject.judged is None:
        return None
    lines = compared.lines(subject.model, subject.judged)
    table = Table(name=_captions.COMPARISON, head=_captions.COMPARISON_HEAD, lines=lines, numbers=(1, 3), own=0)
    return {"text": compared.words(subject.model, subject.judged), "table": table}
