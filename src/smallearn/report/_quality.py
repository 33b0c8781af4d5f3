"""How good the model is: scores, curves, mistakes, and familiar models beside it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from smallearn._text import count, percent, show
from smallearn.evaluation import Comparison, Evaluation
from smallearn.model import SMaLLModel
from smallearn.report._pictures import Picture, draw
from smallearn.report._tables import Table, typeset

NARROW = 4.8  # inches, of pictures that stand side by side


def quality_of(
    model: SMaLLModel, X: Any, y: Any, judged: Evaluation | None, source: str | None, rows: Sequence[int] | None
) -> dict[str, Any]:
    kept = model.selection
    facts: list[tuple[str, str, str]] = []
    warning = None
    of_file = "" if source is None else f" of {show(source, quote=False)}"
    if kept is not None:
        name = "accuracy" if kept.metric == "accuracy" else kept.metric
        words = f"± {kept.told(kept.spread)} (standard error), on training rows held out in turn"
        facts.append((f"{name}, cross-validated", typeset(kept.told(kept.score)), words))
    if judged is not None and not judged.is_training_data:
        low, high = judged.accuracy.low, judged.accuracy.high
        base = f"{judged.frequent:.1%} by always saying the same"
        words = f"{low:.1%} to {high:.1%} (95% interval), {judged.n_rows} rows{of_file}; {base}"
        facts.insert(0, ("accuracy on these rows", f"{judged.accuracy.value:.1%}", words))
    if judged is not None and judged.is_training_data:
        better = "" if kept is None else " The cross-validated score is the one to go by."
        warning = f"The rows on this page are those that the model was trained on. Scores on them flatter it.{better}"
        if kept is None:
            facts.append(("accuracy in training", f"{judged.accuracy.value:.1%}", f"{judged.n_rows} rows"))
    facts += [
        ("terms", str(len(model.terms)), f"in {count(len(model.prototypes), 'score')}"),
        ("features", f"{len(model.features)} of {model.n_features}", "in use"),
    ]
    content: dict[str, Any] = {"facts": facts, "warning": warning, "scores": None, "errors": None}
    if judged is None:
        return content
    content |= {
        "scores": {
            "words": _score_words(model, judged, of_file),
            "caption": "On the rows that it was trained on" if judged.is_training_data else "On these rows",
            "table": Table("Scores", ("score", "value (95% interval)", "what it is"), list(judged.figures()), ()),
        },
        "confusion": _confusion(judged),
        "curves": _curves(model, X, y, judged),
        "errors": _errors(judged, rows),
    }
    return content


def _score_words(model: SMaLLModel, judged: Evaluation, of_file: str) -> str:
    kept = model.selection
    if not judged.is_training_data:
        known = "" if model.data is None else " This is not the table that it was trained on."
        worse = ""
        if judged.accuracy.value <= judged.frequent:
            worse = " Always giving the answer that is most frequent here would be right as often, or more often."
        return f"On the {count(judged.n_rows, 'row')}{of_file}, {judged.accuracy:.1%} are right.{known}{worse}"
    if kept is None:
        return (
            "These are the training rows, and the model's file has no cross-validated score: expect less on new rows."
        )
    right = f"{kept.text} were right" if kept.metric == "accuracy" else f"it reached {typeset(kept.text)}"
    return (
        f"On rows held out, fold by fold, {right} ({kept.metric}, mean of {count(len(kept.scores), 'fold')} and its "
        "standard error). The scores below are those on the training rows themselves, which flatter."
    )


def _confusion(judged: Evaluation) -> dict[str, Any]:
    names = [show(label, quote=False) for label in judged.classes]
    lines = []
    for at, (name, row) in enumerate(zip(names, judged.confusion, strict=True)):
        right = f"{row[at] / row.sum():.1%}" if row.sum() else "–"
        lines.append({"name": name, "counts": [int(n) for n in row], "at": at, "right": right})
    return {"classes": names, "lines": lines}


def _curves(model: SMaLLModel, X: Any, y: Any, judged: Evaluation) -> list[Picture]:
    from smallearn import plot

    found = []
    if judged.roc is not None and judged.auc is not None:
        false, true = judged.roc
        area = judged.auc

        def roc(ax: Any) -> None:
            ax.plot(false, true, color="#0072B2", linewidth=2)
            ax.plot([0, 1], [0, 1], color="#777777", linewidth=1, linestyle="--")
            ax.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
            ax.set_title(f"ROC curve, area {area.value:.3f}")

        words = f"ROC curve. The area under it is {area.value:.3f}."
        found.append(
            draw(
                "roc",
                4.4,
                roc,
                words,
                "How many of the one class are found at the price of how many of the other.",
                NARROW,
            )
        )
    if judged.auc is not None:
        words = (
            "Reliability curve: the share of rows that are of the class, by the probability that the model gives it."
        )
        of = show(model.classes[1], quote=False)
        caption = f"Where the probabilities of {of} are right, the points lie on the diagonal; bars are 95% intervals."
        found.append(draw("reliability", 4.4, lambda ax: plot.reliability(model, X, y, ax=ax), words, caption, NARROW))
    return found


def _errors(judged: Evaluation, rows: Sequence[int] | None) -> dict[str, Any]:
    wrong = judged.n_rows - int(np.trace(judged.confusion))
    if not wrong:
        return {
            "words": f"None of the {count(judged.n_rows, 'row')} is given to a wrong class.",
            "groups": None,
            "mistakes": None,
        }
    groups = [(group.text, str(group.n_rows), f"{group.wrong:.1%}") for group in judged.groups]
    mistakes = [
        (
            f"row {one.row + 1 if rows is None else rows[one.row]}",
            show(one.truth, quote=False),
            show(one.predicted, quote=False),
            percent(one.probability),
        )
        for one in judged.mistakes
    ]
    return {
        "words": f"{wrong} of the {judged.n_rows} rows ({wrong / judged.n_rows:.1%}) are given to a wrong class.",
        "groups": Table("Groups with most mistakes", ("rows where", "rows", "wrong"), groups, (1, 2))
        if groups
        else None,
        "mistakes": Table(
            "Surest mistakes", ("row of the data", "is", "model says", "with probability"), mistakes, (3,)
        ),
    }


def familiar_of(model: SMaLLModel, judged: Evaluation, compared: Comparison) -> dict[str, Any]:
    head = ("model", "accuracy", "what one would have to read")
    table = Table("Familiar models", head, compared.lines(model, judged), (1,), own=0)
    return {"words": compared.words(model, judged), "table": table}
