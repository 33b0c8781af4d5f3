"""What the page says: everything is gathered here as plain data, and put into ``page.html``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from smallearn import explain
from smallearn.devices import ToolchainError, cost
from smallearn.evaluation import Comparison, Evaluation, evaluate
from smallearn.model import SMaLLModel, Term
from smallearn.report.panel import Field, fields_of, script_of
from smallearn.report.pictures import Picture, draw
from smallearn.version import __version__
from smallearn.words import count, percent, rounded_down, show

CHIPS = {
    "atmega328p": "ATmega328P (Arduino Uno), 16 MHz",
    "cortex-m0": "Cortex-M0, 48 MHz",
    "cortex-m4": "Cortex-M4 with FPU, 84 MHz",
}
MOST_CLAUSES, MOST_CLASSES = 12, 6
COMMANDS = """\
smallearn predict model.json new.csv -o scored.csv
smallearn explain model.json new.csv --row 1
smallearn export model.json --to c -o model.h
"""
NARROW = 4.8  # inches, of pictures that stand side by side
STEPS = 5  # that `step` is called


@dataclass(frozen=True)
class Table:
    """A table of the page; ``numbers`` are the columns set flush right, ``own`` the line to stand out; one that is
    ``narrow`` is no wider than it must be."""

    name: str
    head: Sequence[str]
    lines: Sequence[Sequence[str]]
    numbers: Sequence[int] = ()
    own: int | None = None
    narrow: bool = False


def report_html(
    model: SMaLLModel,
    X: Any = None,
    y: Any = None,
    *,
    compared: Comparison | None = None,
    title: str | None = None,
    units: Mapping[str, str] | None = None,
    source: str | None = None,
    chips: Sequence[str] = tuple(CHIPS),
    step: Callable[[], None] = lambda: None,
) -> str:
    """A page about a model, as HTML text that is complete in itself.

    Parameters
    ----------
    model : SMaLLModel
    X, y : rows and classes, optional
        To judge the model by. Without classes, or without rows, the page has less to say.
    compared : Comparison, optional
        Familiar models to set it beside, as `smallearn.evaluation.familiar` has judged them.
    title, units, source : str, mapping, str, optional
        The page's heading; units of features, as in `explain.describe`; the name of the file of rows.
    chips : names, default all three
        Chips to tell the cost on.
    step : function, optional
        Called after each part, for a bar of progress.
    """
    jinja2 = _jinja()
    units = dict(units or {})
    if y is None and X is not None and np.shape(X)[0] == 0:
        X = None
    judged = None if y is None else evaluate(model, X, y)
    content = {
        "version": __version__,
        "title": title or _title(model),
        "style": files("smallearn.report").joinpath("style.css").read_text(encoding="utf-8"),
        **_about(model, X, units),
        **_quality(model, X, y, judged, source),
        "training": _training(model, judged, source),
        "commands": COMMANDS,
    }
    step()
    fields = fields_of(model, X, units)
    content |= {"fields": fields, "script": script_of(model, fields, units), "case": _case(model, X, fields)}
    step()
    content["frontier"] = _frontier(model)
    content |= _pictures(model, X, y)
    step()
    content["cost"] = _cost(model, chips)
    step()
    content["familiar"] = None if compared is None or judged is None else _familiar(model, judged, compared)
    content["sections"] = list(_sections(content))
    environment = jinja2.Environment(loader=jinja2.FunctionLoader(_template), autoescape=True)
    page = environment.get_template("page.html").render(content)
    step()
    return page


def _jinja() -> Any:
    try:
        import jinja2
    except ImportError:
        raise ImportError(
            "smallearn.report needs jinja2, which is not installed: pip install 'smallearn[report]'"
        ) from None
    return jinja2


def _template(name: str) -> str:
    return files("smallearn.report").joinpath(name).read_text(encoding="utf-8")


def _sections(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "rule", "The rule"
    for part, name, words in (
        ("fields", "what-if", "What if?"),
        ("scores", "good", "How good"),
        ("frontier", "frontier", "Size and accuracy"),
        ("pictures", "pictures", "Pictures"),
        ("case", "case", "A case"),
        ("errors", "errors", "Where it errs"),
        ("cost", "cost", "On a chip"),
    ):
        if content.get(part):
            yield name, words
    yield "facts", "Data and training"


# --- what it is ------------------------------------------------------------------------------------------------------


def _title(model: SMaLLModel) -> str:
    about = "" if model.data is None or model.data.target is None else f" for {show(model.data.target, quote=False)}"
    return f"A small model{about}"


def _about(model: SMaLLModel, X: Any, units: dict[str, str]) -> dict[str, Any]:
    description = explain.describe(model, X, units=units)
    shown = description.model
    points = shown.is_score_card
    cards = []
    for number, (prototype, sentence, card) in enumerate(
        zip(shown.prototypes, description.sentences, description.cards, strict=True), start=1
    ):
        owner = show(model.classes[prototype.owner], quote=False)
        name = "The score" if len(shown.prototypes) == 1 else f"Prototype {number}"
        cards.append(
            {
                "title": f"{name}, for {owner}",
                "sentence": sentence,
                "caption": f"Score card {number}" if len(shown.prototypes) > 1 else "Score card",
                "unit": "points" if points else "weight",
                "lines": [{"number": _typeset(line.number), "text": line.text} for line in card],
            }
        )
    owner_name = show(model.classes[model.prototypes[0].owner], quote=False)
    totals = [(_typeset(f"{total:+d}"), percent(chance)) for total, chance in shown.totals()]
    return {
        "description": description,
        "cards": cards,
        "lead": _lead(model),
        "exact": _exact(model) if model.terms and shown != model else None,
        "rules": _conditions(model, X),
        "totals": Table(
            "Points and probability", ("points", f"probability of {owner_name}"), totals, (0, 1), narrow=True
        )
        if totals
        else None,
    }


def _exact(model: SMaLLModel) -> Table:
    """The weights as they are in the model's file: what predicts."""
    lines = []
    for number, prototype in enumerate(model.prototypes, start=1):
        name = "score" if len(model.prototypes) == 1 else f"prototype {number}"
        each = [(_whole_text(term), term.weight) for term in prototype.terms]
        lines += [
            (name, text, _typeset(f"{value!r}")) for text, value in (*each, ("to begin with", prototype.intercept))
        ]
    return Table("Exact weights", ("of", "for", "weight"), lines, (2,))


def _whole_text(term: Term) -> str:
    """The term with its cut point in all its digits."""
    if term.kind in ("at_most", "above"):
        return f"[{show(term.label, quote=False)} {'≤' if term.kind == 'at_most' else '>'} {term.value!r}]"
    return term.text


def _lead(model: SMaLLModel) -> str:
    if not model.terms:
        return f"It has no terms and reads nothing: the answer is always {show(model.predict_one({}), quote=False)}."
    used = ", ".join(show(term.label, quote=False) for term in model.features)
    n_terms, n_scores = count(len(model.terms), "term"), count(len(model.prototypes), "short score")
    return (
        f"It tells {_either(model.classes)} apart by {n_terms} in {n_scores}, from {len(model.features)} of "
        f"{count(model.n_features, 'feature')}: {used}."
    )


def _typeset(number: str) -> str:
    """A number in words, with a minus that is as wide as a plus."""
    return number.replace("-", "−")


def _either(classes: Sequence[Any]) -> str:
    names = [show(label, quote=False) for label in classes]
    return ", ".join(names[:-1]) + f" and {names[-1]}"


def _conditions(model: SMaLLModel, X: Any) -> list[dict[str, Any]]:
    """The model as an OR of ANDs, for each class if there are several, where that can be had and is not too long."""
    labels = (None,) if len(model.classes) == 2 else model.classes[:MOST_CLASSES]
    try:
        found = [explain.dnf(model, X, label=label) for label in labels]
    except ValueError:  # continuous features without rows, or too many combinations
        return []
    if not all(0 < len(one.clauses) <= MOST_CLAUSES and () not in one.clauses for one in found):
        return []
    return [_clauses(one) for one in found]


def _clauses(found: explain.DNF) -> dict[str, Any]:
    head, *lines = str(found).splitlines()
    clauses = [line.strip().split(". ", 1)[1] for line in lines[: len(found.clauses)]]
    note = " ".join(lines[len(found.clauses) :])
    same = found.domain is not None or found.fidelity == 1.0
    return {"head": head, "clauses": clauses, "note": note, "same": same}


# --- how good it is --------------------------------------------------------------------------------------------------


def _quality(model: SMaLLModel, X: Any, y: Any, judged: Evaluation | None, source: str | None) -> dict[str, Any]:
    kept = model.selection
    facts: list[tuple[str, str, str]] = []
    warning = None
    of_file = "" if source is None else f" of {show(source, quote=False)}"
    if kept is not None:
        name = "accuracy" if kept.metric == "accuracy" else kept.metric
        words = f"± {kept.told(kept.spread)} (standard error), on training rows held out in turn"
        facts.append((f"{name}, cross-validated", _typeset(kept.told(kept.score)), words))
    if judged is not None and not judged.is_training_data:
        low, high = judged.accuracy.low, judged.accuracy.high
        words = f"{low:.1%} to {high:.1%} (95% interval), {judged.n_rows} rows{of_file}"
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
        "errors": _errors(judged),
    }
    return content


def _score_words(model: SMaLLModel, judged: Evaluation, of_file: str) -> str:
    kept = model.selection
    if not judged.is_training_data:
        known = "" if model.data is None else " They are not the rows that it was trained on."
        return f"On the {count(judged.n_rows, 'row')}{of_file}, {judged.accuracy:.1%} are right.{known}"
    if kept is None:
        return (
            "These are the training rows, and the model's file has no cross-validated score: expect less on new rows."
        )
    right = f"{kept.text} were right" if kept.metric == "accuracy" else f"it reached {_typeset(kept.text)}"
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


def _errors(judged: Evaluation) -> dict[str, Any]:
    wrong = judged.n_rows - int(np.trace(judged.confusion))
    if not wrong:
        return {
            "words": f"None of the {count(judged.n_rows, 'row')} is given to a wrong class.",
            "groups": None,
            "mistakes": None,
        }
    groups = [(group.text, str(group.n_rows), f"{group.wrong:.1%}") for group in judged.groups]
    mistakes = [
        (f"row {one.row + 1}", show(one.truth, quote=False), show(one.predicted, quote=False), percent(one.probability))
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


def _familiar(model: SMaLLModel, judged: Evaluation, compared: Comparison) -> dict[str, Any]:
    head = ("model", "accuracy", "what one would have to read")
    table = Table("Familiar models", head, compared.lines(model, judged), (1,), own=0)
    return {"words": compared.words(model, judged), "table": table}


# --- pictures --------------------------------------------------------------------------------------------------------


def _frontier(model: SMaLLModel) -> dict[str, Any] | None:
    kept = model.selection
    if kept is None or len(kept.frontier) < 2:
        return None
    from smallearn import plot

    best = max(kept.frontier, key=lambda one: one.score)
    words = (
        "The best model of each size, by cross-validation; bars are standard errors. The one on this page has "
        f"{count(len(model.terms), 'term')}. The highest score is {_typeset(kept.told(best.score))}, with "
        f"{count(best.n_terms, 'term')}; the choice weighs in how sure and how steady that is."
    )
    caption = "Cross-validated score against the number of terms."
    points = ", ".join(f"{count(one.n_terms, 'term')}: {kept.told(one.score)}" for one in kept.frontier)
    picture = draw(
        "frontier", 4.2, lambda ax: plot.frontier(model, ax=ax), f"Score by number of terms. {points}.", caption
    )
    return {"words": words, "picture": picture}


def _pictures(model: SMaLLModel, X: Any, y: Any) -> dict[str, Any]:
    from smallearn import plot

    pictures = []
    if model.terms:
        n_lines = len(model.terms) + len(model.prototypes) + 1
        height = min(1.6 + 0.62 * n_lines, max(14.0, 0.22 * n_lines))  # many lines stand closer
        names = ", ".join(show(term.text, quote=False) for term in model.terms)
        pictures.append(
            draw(
                "violins",
                height,
                lambda ax: plot.violins(model, X, y, ax=ax),
                f"What each term adds to its score, class by class: {names}.",
                "What each term adds to its score, class by class, and the score that decides.",
            )
        )
    numeric = {extent.feature for extent in model.ranges}
    if len(model.features) == 2 and {term.feature for term in model.features} <= numeric:
        pictures.append(
            draw(
                "surface",
                5.4,
                lambda ax: plot.decision_surface(model, X, y, ax=ax),
                "Where each class is predicted, in the plane of the two features in use.",
                "Where each class is predicted; the line is where the decision changes.",
            )
        )
    return {"pictures": pictures, "importance": _importance(model, X, y)}


def _importance(model: SMaLLModel, X: Any, y: Any) -> dict[str, Any] | None:
    if y is None or not model.terms:
        return None
    found = explain.importance(model, X, y)
    lines = [
        (show(one.label, quote=False), _points(one.loss), f"{_points(one.permuted)} ± {_points(one.spread)}")
        for one in sorted(found.features, key=lambda one: -one.loss)
    ]
    shares = "; ".join(f"prototype {one.number} on {one.share:.1%}" for one in found.prototypes)
    words = (
        "Percentage points of accuracy that are lost without the feature (its average in its place), and when its "
        "values are shuffled. Below 0: on these rows the model would do better without it, which on few rows is "
        "mostly chance."
    )
    if len(found.prototypes) > 1:
        words = f"Which prototype has the greatest score: {shares} of the rows. {words}"
    head = ("feature", "lost without it", "lost by shuffling")
    return {"words": words, "table": Table("Which features matter", head, lines, (1, 2))}


def _points(share: float) -> str:
    """Percentage points, without a sign before what is rounded to 0."""
    return _typeset(f"{100 * share:z.1f}")


def _case(model: SMaLLModel, X: Any, fields: list[Field]) -> dict[str, Any] | None:
    """A typical case: the values that the panel begins with."""
    if not model.terms or not fields:
        return None
    from smallearn import plot

    start = {field.feature: field.start for field in fields}
    values = {term.label: start.get(term.feature, 0.0) for term in model.features}
    found = explain.case(model, values, X=X)
    intro, *changes = found.changes()
    parts = "; ".join(f"{part.text}: {part.points:+.4g}" for part in found.contributions)
    words = f"A typical case, with the middle or most frequent value of each input: {found.headline}"
    picture = draw(
        "case",
        1.4 + 0.5 * (len(found.contributions) + 2),
        lambda ax: plot.contributions(model, values, ax=ax),
        f"What each term adds to the score: {parts}.",
        "From the constant, term by term, to the score.",
    )
    return {
        "words": words,
        "picture": picture,
        "reason": _typeset(found.reason),
        "intro": intro,
        "changes": [line.strip() for line in changes if line.startswith(" ")],
        "closing": " ".join(line for line in changes if not line.startswith(" ")),
    }


# --- cost and facts --------------------------------------------------------------------------------------------------


def _cost(model: SMaLLModel, chips: Sequence[str]) -> dict[str, Any] | None:
    lines, measured = [], []
    for chip in chips:
        for number in ("int8", "float32"):
            try:
                found = cost(model, chip, number, layout="best")
            except (ValueError, ToolchainError, OverflowError):
                continue
            about = "" if found.measured else "about "
            unit = "cycles" if found.cycles is not None else "instructions"
            lines.append(
                (
                    CHIPS.get(chip, chip),
                    number,
                    f"{about}{found.flash:,}",
                    f"{found.ram}",
                    f"{found.count:,} {unit}",
                    f"{found.time_us:.3g}",
                )
            )
            measured.append(found.measured)
    if not lines:
        return None
    how = (
        "compiled and run in a simulator" if all(measured) else "estimated, where the chip's compiler is not installed"
    )
    head = ("chip", "numbers", "bytes of flash", "bytes of RAM", "one prediction, at most", "µs")
    return {
        "words": f"What one prediction takes on small chips, {how}.",
        "table": Table("Cost on chips", head, lines, (2, 3, 4, 5)),
    }


def _training(model: SMaLLModel, judged: Evaluation | None, source: str | None) -> Table:
    lines: list[tuple[str, str]] = []
    data, facts, kept = model.data, model.training, model.selection
    if data is not None:
        if data.source is not None:
            lines.append(("trained on", show(data.source, quote=False)))
        if data.target is not None:
            lines.append(("classes from column", show(data.target, quote=False)))
        pairs = zip(model.classes, data.class_counts, strict=True)
        lines.append(
            (
                "training rows",
                f"{sum(data.class_counts)}: " + ", ".join(f"{n} {show(c, quote=False)}" for c, n in pairs),
            )
        )
        lines.append(("fingerprint of the rows", data.fingerprint))
    if judged is not None:
        same = "the training rows" if judged.is_training_data else "other rows than in training" if data else "unknown"
        name = "" if source is None else f"{show(source, quote=False)}, "
        lines.append(("rows on this page", f"{name}{judged.n_rows}: {same}"))
    if kept is not None:
        lines.append(
            ("chosen by", f"cross-validation ({kept.metric}), {len(kept.scores)} folds, at most {kept.max_terms} terms")
        )
    if facts is not None:
        gap = "proven optimal" if facts.certified else f"gap {facts.optimality_gap:.1%}"
        lines.append(
            (
                "certificate",
                f"training objective {facts.objective:.4g}; {facts.rivals} is below {rounded_down(facts.lower_bound)} "
                f"({gap}), for the final assignment of rows to prototypes. It says nothing of accuracy.",
            )
        )
        lines.append(("ridge penalty λ", f"{facts.alpha:g}"))
        lines.append(("trained by", f"smallearn {facts.smallearn}"))
    for extent in model.ranges:
        label = next(show(term.label, quote=False) for term in model.features if term.feature == extent.feature)
        lines.append((f"range of {label}", f"{extent.low:.6g} to {extent.high:.6g}"))
    return Table("Facts of the training", ("fact", "value"), lines or [("nothing", "is known of the training")])
