"""How good a model is on the rows: scores, errors, and standard models for comparison."""

from typing import Any

import numpy as np

from smallearn._text import count, percent, show, typeset
from smallearn.evaluation import Comparison, Evaluation, _captions, evaluate
from smallearn.evaluation._evaluate import _roc_auc_of_many
from smallearn.evaluation._groups import groups_of
from smallearn.evaluation._tally import Tally
from smallearn.model import SMaLLModel
from smallearn.model._decision import class_scores
from smallearn.report._subject import Subject
from smallearn.report._tables import Table


def judged_of(subject: Subject, model: SMaLLModel, *, resampled: bool) -> Evaluation | None:
    """The scores of a model on the rows; intervals are normal approximations unless ``resampled``."""
    rows, code = subject.rows, subject.code
    if rows is None or code is None:
        return None
    if resampled:
        return evaluate(model, rows, subject.y)
    tally = Tally(model)
    tally.add(rows, code, np.arange(len(code)))
    z = model.scores(rows)
    several = len(np.unique(code)) > 1
    return Evaluation(
        **tally.scores(),
        auc=_roc_auc_of_many(code, ranked_by(model, z)) if several else None,
        classes=model.classes,
        is_training_data=subject.judged is not None and subject.judged.is_training_data,
        roc=None,
        groups=tuple(groups_of(model, rows, model.decide(z) != code)),
    )


def ranked_by(model: SMaLLModel, z: np.ndarray) -> np.ndarray:
    """What rows are ranked by: log-odds of the second of two classes, else the probability of each class."""
    if len(model.classes) > 2:
        return model.chances(z)
    by_class = class_scores(z, model.owners, 2)
    return by_class[:, 1] - by_class[:, 0]


def scores_of(subject: Subject, model: SMaLLModel, judged: Evaluation) -> dict[str, Any]:
    """The table of scores."""
    return {
        "text": typeset(" ".join(judged.summary(model, rows=f"the {subject.rows_text}"))),
        "caption": "Scores on the training rows" if judged.is_training_data else "Scores on these rows",
        "table": Table(
            name="Table of scores", head=("score", "value (95% interval)", "meaning"), lines=list(judged.figures())
        ),
    }


def confusion_of(judged: Evaluation) -> dict[str, Any]:
    """The confusion matrix of more than two classes."""
    (true, *_, correct), *lines = judged.confusion_lines()
    head = (true, *(line[0] for line in lines), correct)
    return {"caption": _captions.CONFUSION, "head": head, "lines": lines}


def warning_of(subject: Subject) -> str | None:
    """That the scores are optimistic, if the rows are those of training."""
    if subject.judged is None or not subject.judged.is_training_data:
        return None
    chosen = subject.model.selection
    better = "" if chosen is None else f" Expect a cross-validated {chosen.metric} of {typeset(chosen.text)}."
    return f"The rows on this page are the training rows, so the scores on them are optimistic.{better}"


def errors_of(subject: Subject, judged: Evaluation) -> dict[str, Any]:
    """How many rows are predicted wrongly, in which groups, and the errors with the highest probability."""
    wrong = judged.n_rows - int(np.trace(judged.confusion))
    if not wrong:
        return {"text": f"None of the {count(judged.n_rows, 'row')} is predicted wrongly.", "tables": []}
    groups = [(group.text, f"{group.n_rows:,}", f"{group.wrong:.1%}") for group in judged.groups]
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
        Table(name=_captions.ERRORS, head=_captions.ERRORS_HEAD, lines=errors, numbers=(0, 3)),
    ]
    return {
        "text": f"{wrong:,} of the {judged.n_rows:,} rows ({wrong / judged.n_rows:.1%}) are predicted wrongly.",
        "tables": [table for table in tables if table.lines],
    }


def comparison_of(subject: Subject, compared: Comparison | None) -> dict[str, Any] | None:
    """The table of standard models; None without rows, or without standard models."""
    if compared is None or subject.judged is None:
        return None
    lines = compared.lines(subject.model, subject.judged)
    head = _captions.COMPARISON_HEAD
    table = Table(name=_captions.COMPARISON, head=head, lines=lines, numbers=(1, 3), own=0)
    return {"text": compared.words(subject.model, subject.judged), "table": table}
