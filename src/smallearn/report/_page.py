"""The page: a view of every model, the script, and the template that puts them together."""

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

from smallearn._text import listed, show
from smallearn._version import __version__
from smallearn.devices import CHIPS
from smallearn.evaluation import Comparison, Evaluation, Monitoring
from smallearn.model import Rows, SMaLLModel, as_model
from smallearn.model._arguments import checked_units
from smallearn.model._parts import Description
from smallearn.model._words import in_words, renamed, units_of, words_of
from smallearn.report._alternatives import alternatives_of
from smallearn.report._charts import frontier_picture
from smallearn.report._facts import cost_of, training_of
from smallearn.report._monitoring import monitor_section
from smallearn.report._panel import MOST_ROWS, RealRow, fields_of, rows_of
from smallearn.report._quality import comparison_of, judged_of, warning_of
from smallearn.report._rounding import in_few_digits
from smallearn.report._rule import shown_model, title_of
from smallearn.report._script import codes_of, file_of, script_of
from smallearn.report._subject import Subject, features_of_all
from smallearn.report._verdict import percent_of, smaller_will_do
from smallearn.report._views import PARTS, View, name_of, positive_counts, view_of

STEPS = 5  # calls of `step`
SECTIONS = ("errors", "what-if", "size", "alternatives", "features", "scores", "comparison", "chips", "facts")
DEFAULT_SECTIONS = tuple(name for name in SECTIONS if name != "chips")
LARGEST = 900_000  # bytes of a page, beyond which other models than the chosen one lose pictures
SPARED = ("curves", "features", "errors", "scores")  # what they lose, one after the other
FIGURES = (
    ("flagged", "flagged", "share of all rows"),
    ("precision", "precision", "share of the flagged rows that are right"),
    ("recall", "recall", "share of these rows that are found"),
    ("specificity", "specificity", "share of the other rows that are left alone"),
    ("accuracy", "accuracy", "share of all rows that are right"),
    ("lift", "lift", "times as many among the flagged as among all rows"),
    ("gain", "gain", "flagging so many finds so many"),
    ("cost", "cost per decision", "with the costs below"),
)


def report_html(
    model: SMaLLModel,
    X: Any = None,
    y: Any = None,
    *,
    evaluation: Evaluation | None = None,
    sampled_from: int | None = None,
    compared: Comparison | None = None,
    monitoring: Monitoring | None = None,
    title: str | None = None,
    units: Mapping[str, str] | None = None,
    reason_codes: int = 0,
    wording: Mapping[str, str] | None = None,
    favourable: Any = None,
    source: str | None = None,
    rows: Sequence[int] | None = None,
    embed_rows: int = 0,
    sections: Sequence[str] | None = None,
    chips: Sequence[str] = tuple(CHIPS),
    step: Callable[[], None] = lambda: None,
) -> str:
    """Write a self-contained HTML page about a model.

    The page makes no network requests. It says how often the model is right, shows what it decides by, and has a panel
    in which inputs can be tried. Sliders change its size, where the model has others (``frontier_models``), and with
    two classes its threshold.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model, with its ``frontier_models``, ``alternatives`` and ``descriptions``.
    X : array, sparse matrix, table or Rows of shape (n_rows, n_features), default=None
        Rows to evaluate the model on. They are read once; of `Rows` only the models are shown whose features they have.
        The numbers of the model are rounded where that changes no
        decision on them and no probability by more than 0.0005; the page shows, computes with and saves that model.
    y : array-like of shape (n_rows,), default=None
        Their classes. Without them, the page has no scores.
    evaluation : Evaluation, default=None
        The scores to show, of the model without rounding; None: those on ``X`` and ``y``.
    sampled_from : int, default=None
        The number of rows that ``X`` is a random sample of; None if these are all.
    compared : Comparison, default=None
        Standard models for comparison, as `smallearn.evaluation.familiar` returns them.
    monitoring : Monitoring, default=None
        How far new rows have moved from the training rows, as `smallearn.evaluation.monitor` returns it.
    title : str, default=None
        The heading of the page.
    units : mapping from str to str, default=None
        Units of features: ``{"age": "years"}``. They take precedence over those of the model's descriptions.
    reason_codes : int, default=0
        How many reason codes the panel shows, as `smallearn.explain.reason_codes` defines them.
    wording : mapping from str to str, default=None
        Words for the terms in reason codes, by the term as it is printed or by its feature.
    favourable : class label, default=None
        The class that reason codes speak of. None for the second of two.
    source : str, default=None
        The name of the file with the rows.
    rows : sequence of int, default=None
        The number of each row in that file. None for 1, 2, ….
    embed_rows : int, default=0
        How many rows to put into the page, for the panel to start from; at most 50. Of the others the page has only
        counts and shares, but for the row nearest to the typical one, with which the panel starts.
    sections : sequence of str, default=None
        The sections to show below the model: "errors", "what-if", "size", "alternatives", "features", "scores",
        "comparison", "chips" and "facts". None for all but "chips".
    chips : sequence of str, default=tuple(CHIPS)
        The chips to show the cost on, by their names in `smallearn.devices.CHIPS`.
    step : callable, optional
        Called after each of the five parts, for a progress bar.

    Returns
    -------
    str
        The page.

    Raises
    ------
    ImportError
        If jinja2 is not installed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.report import report_html
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = SMaLLClassifier(n_nonzero=2, random_state=0).fit(X, y)
    >>> page = report_html(clf, X, y, title="Three kinds of iris")
    >>> page.startswith("<!doctype html>")
    True
    """
    environment = _environment()
    model = as_model(model)
    wanted = _checked_sections(sections)
    if isinstance(embed_rows, bool) or not isinstance(embed_rows, int) or not 0 <= embed_rows <= MOST_ROWS:
        raise ValueError(f"embed_rows={embed_rows!r} is not a whole number from 0 to {MOST_ROWS}.")
    originals, names = _models_of(model, X)
    subject, shown = _subject_of(
        model,
        originals,
        X,
        y,
        evaluation,
        units=units,
        source=source,
        row_numbers=rows,
        sampled_from=sampled_from,
    )
    step()
    views = [
        view_of(subject, one, number, name, is_size=is_size, wanted=wanted)
        for number, (one, (name, is_size)) in enumerate(zip(shown, names, strict=True))
    ]
    step()
    fields, start = fields_of(subject)
    codes = [
        codes_of(original, reason_codes, wording, favourable, partly=number > 0)
        for number, original in enumerate(_unnamed(originals, shown))
    ]
    real = rows_of(subject, fields, embed_rows)
    script = script_of(subject, views, fields, real, codes)
    content = _content(model, subject, views, wanted, title, compared)
    content |= {
        "fields": fields,
        "rows": real,
        "start_note": _start_note(subject, start, len(real)),
        "codes": codes[0],
        "script": script,
        "script_hash": _hash(script),
    }
    step()
    content["monitoring"] = None if monitoring is None else monitor_section(monitoring)
    content["cost"] = cost_of(views[0].model, chips) if "chips" in wanted else None
    step()
    content["sections"] = list(_sections(content))
    page = _within(environment.get_template("page.html"), content, views)
    step()
    return page


def _checked_sections(sections: Sequence[str] | None) -> set[str]:
    if sections is None:
        return set(DEFAULT_SECTIONS)
    if isinstance(sections, str):
        raise ValueError(f"sections={sections!r} is text; it must be a list of names, such as [{sections!r}].")
    unknown = [name for name in sections if name not in SECTIONS]
    if unknown:
        raise ValueError(f"sections: {listed(unknown)} is unknown; there are {listed(SECTIONS)}.")
    return set(sections)


# --- models ----------------------------------------------------------------------------------------------------------


def _models_of(model: SMaLLModel, X: Any = None) -> tuple[list[SMaLLModel], list[tuple[str, bool]]]:
    """The model, one of each other size, its alternatives; each with its name and whether it is one of the sizes.

    Models that read features which are not among `Rows` that were read before are left out.
    """
    read = set(X.columns) if isinstance(X, Rows) else None

    def fits(other: SMaLLModel) -> bool:
        return read is None or {term.feature for term in other.features} <= read

    models = [replace(model, frontier_models=(), alternatives=())]
    names = [(name_of(model), True)]
    seen = {model.n_terms}
    for other in model.frontier_models:
        if other.n_terms not in seen and fits(other):
            seen.add(other.n_terms)
            models.append(other)
            names.append((name_of(other), True))
    for number, other in enumerate(filter(fits, model.alternatives), start=1):
        models.append(other)
        names.append((f"alternative {number}", False))
    return models, names


def _subject_of(
    model: SMaLLModel,
    originals: Sequence[SMaLLModel],
    X: Any,
    y: Any,
    judged: Evaluation | None,
    *,
    units: Mapping[str, str] | None,
    **of_file: Any,
) -> tuple[Subject, list[Any]]:
    """Everything that the page is about; the rows are read here, once, for all models."""
    if X is None and y is not None:
        raise ValueError("y is given without X; pass both, X alone or neither.")
    features = features_of_all(originals)
    rows = None
    if X is not None:
        rows = X if isinstance(X, Rows) else Rows(X, features, model.n_features)
        if rows.n_rows == 0 and y is None:
            rows = None
        elif rows.n_rows == 0:
            raise ValueError("X has no rows; a model is evaluated on at least one.")
    descriptions = {one.name: one for one in model.descriptions}
    words = _all_words(originals, descriptions)
    by_name = {**units_of(descriptions), **checked_units(model, units)}
    named = [in_words(one, words) for one in originals]
    if rows is not None:
        rows = renamed(rows, features_of_all(named))
    checked = rows is not None and judged is None
    shown = [shown_model(one, in_few_digits(one, rows) if checked else one, checked=checked) for one in named]
    subject = Subject(
        models=tuple(one.model for one in shown),
        rows=rows,
        y=y,
        units={words.get(name, name): unit for name, unit in by_name.items()},
        **of_file,
    )
    if y is not None and judged is None:
        judged = judged_of(subject, subject.model, resampled=True)
    return replace(subject, judged=judged), shown


def _all_words(models: Sequence[SMaLLModel], descriptions: Mapping[str, Description]) -> dict[str, str]:
    """What the features of all models are called."""
    words: dict[str, str] = {}
    for model in models:
        words |= words_of(model, descriptions)
    return words


def _unnamed(originals: Sequence[SMaLLModel], shown: Sequence[Any]) -> Iterator[SMaLLModel]:
    """The models of the page with the names that their features have in the data, by which words are given."""
    for original, one in zip(originals, shown, strict=True):
        labels = {term.feature: term.name for term in original.features}
        prototypes = tuple(
            replace(each, terms=tuple(replace(term, name=labels[term.feature]) for term in each.terms))
            for each in one.model.prototypes
        )
        yield replace(one.model, prototypes=prototypes)


def reading_model(model: SMaLLModel) -> SMaLLModel:
    """A model that reads every feature that a model of the page reads, to read a table with."""
    others = (*model.frontier_models, *model.alternatives)
    prototypes = (*model.prototypes, *(one for other in others for one in other.prototypes))
    return replace(model, prototypes=prototypes, frontier_models=(), alternatives=(), edits=())


# --- content ---------------------------------------------------------------------------------------------------------


def _content(
    model: SMaLLModel,
    subject: Subject,
    views: Sequence[View],
    wanted: set[str],
    title: str | None,
    compared: Comparison | None,
) -> dict[str, Any]:
    first = views[0]
    style = _resource("style.css")
    names = subject.class_names
    sizes = sorted(view.size for view in views if view.is_size)
    alternatives = [view for view in views if not view.is_size]
    lines = None
    if alternatives:
        numbers = [0, *(view.number for view in alternatives)]
        lines = alternatives_of(subject, [first.model, *(view.model for view in alternatives)], numbers)
    content: dict[str, Any] = {
        "version": __version__,
        "title": title or title_of(subject.model),
        "style": style,
        "style_hash": _hash(style),
        "verdict": first.verdict,
        "about": _about(subject),
        "warning": warning_of(subject),
        "smaller": smaller_will_do(model),
        "sizes": sizes,
        "size_now": sizes.index(first.size),
        "name": first.name,
        "first": first.parts,
        "file": file_of(first),
        "slots": PARTS,
        "others": views[1:],
        "wanted": wanted,
        "judged": subject.judged,
        "two": len(names) == 2,
        "classes": names,
        "positive": subject.positive if len(names) == 2 else 0,
        "threshold": _plain(subject.model.decision_threshold),
        "figure_names": FIGURES,
        "frontier": _frontier(subject, sizes),
        "alternatives": lines,
        "features_note": _features_note(subject),
        "comparison": comparison_of(subject, compared) if "comparison" in wanted else None,
        "training": training_of(subject),
        "backdrops": subject.backdrops() if "features" in wanted else [],
        "curve_classes": [(k, name) for k, name in enumerate(names)] if first.parts["curves"] else [],
    }
    if first.counts is not None:
        content |= _figures(subject, first)
    return content


def _about(subject: Subject) -> str | None:
    """Which rows the verdict is about."""
    if subject.judged is None:
        return None
    sample = subject.rows is not None and subject.sampled_from is not None
    drawn = f"{subject.rows.n_rows:,} rows drawn at random of the " if sample and subject.rows is not None else "the "
    kind = ""
    if subject.judged.is_training_data:
        kind = " on which the model was trained"
    elif subject.judged.is_held_out:
        kind = " that were held out from training"
    return f"On {drawn}{subject.rows_text}{kind}."


def _figures(subject: Subject, view: View) -> dict[str, Any]:
    """The confusion matrix and its figures, at the model's own threshold."""
    assert view.counts is not None
    positive, names, sizes = subject.positive, subject.class_names, view.counts.sizes
    hits, wrong = positive_counts(view.counts, positive)
    members, others = sizes[positive], sizes[1 - positive]
    flagged, rows = hits + wrong, members + others
    counts = {"hits": hits, "wrong": wrong, "missed": members - hits, "rejected": others - wrong}
    figures = {
        "flagged": percent_of(flagged, rows),
        "precision": percent_of(hits, flagged),
        "recall": percent_of(hits, members),
        "specificity": percent_of(others - wrong, others),
        "accuracy": percent_of(hits + others - wrong, rows),
        "lift": _hundredths(hits * rows, flagged * members) if flagged and members else "–",
        "gain": f"{percent_of(flagged, rows)} of the rows hold {percent_of(hits, members)} of {names[positive]}"
        if members
        else "–",
        "cost": f"{(members - hits + wrong) / rows:.4g}",
    }
    return {
        "counts": {name: f"{n:,}" for name, n in counts.items()},
        "figures": figures,
        "positive_name": names[positive],
        "other_name": names[1 - positive],
    }


def _hundredths(part: int, whole: int) -> str:
    rounded = (200 * part + whole) // (2 * whole)
    return f"{rounded // 100}.{rounded % 100:02}"


def _frontier(subject: Subject, sizes: Sequence[int]) -> dict[str, Any] | None:
    picture = frontier_picture(subject.model, sizes)
    if picture is None:
        return None
    slide = " The slider at the top shows each of them." if len(sizes) > 1 else ""
    chosen = subject.model.selection
    heading = "Accuracy against size" if chosen is not None and chosen.metric == "accuracy" else "Score against size"
    return {
        "heading": heading,
        "text": f"The best model of each size, chosen by cross-validation.{slide}",
        "picture": picture,
    }


def _features_note(subject: Subject) -> str:
    if subject.rows is None:
        return (
            "What the model adds to its score along each feature; the feature that can move the score most comes first."
        )
    if len(subject.model.classes) == 2:
        name = subject.class_names[subject.positive]
        rate = f" The dotted line is the observed share of {name}, from 0% at the foot of a picture to 100% at its top."
    else:
        rate = ""
    return (
        "What the model adds to its score along each feature, compared with the average row, over a histogram of the "
        f"rows. The feature that moves the score most comes first; all have the same scale.{rate}"
    )


def _start_note(subject: Subject, start: RealRow | None, embedded: int) -> str:
    if start is None:
        return ""
    where = "" if subject.source is None else f" of {show(subject.source, quote=False)}"
    told = f"The form starts from row {start.number}{where}, the one nearest to a typical row."
    if embedded:
        return f"{told} This page contains {embedded} rows, with the features in use."
    return f"{told} No other row is in this page."


def _plain(number: float) -> str:
    return f"{number:.15g}"


def _sections(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Anchor and name of each section below the first screen."""
    first, wanted = content["first"], content["wanted"]
    for there, anchor, name in (
        (content["judged"], "decisions", "How often it is wrong"),
        (content["judged"] and "errors" in wanted, "errors", "On whom"),
        (content["fields"] and "what-if" in wanted, "what-if", "What if?"),
        (content["frontier"] and "size" in wanted, "frontier", "Size"),
        (content["alternatives"] and "alternatives" in wanted, "alternatives", "Equally good models"),
        (first["features"], "features", "Features"),
        (first["scores"] or content["comparison"], "scores", "Scores"),
        (content["monitoring"], "monitoring", "Monitoring"),
        (content["cost"], "cost", "Cost on chips"),
        (True, "facts", "Data, training and use"),
    ):
        if there:
            yield anchor, name


# --- the page --------------------------------------------------------------------------------------------------------


def _within(template: Any, content: dict[str, Any], views: Sequence[View]) -> str:
    """The page; as long as it is too large, other models than the chosen one lose what takes most space."""
    page = template.render(content)
    spared: list[str] = []
    others = list(views[1:])
    while len(page.encode()) > LARGEST and len(spared) < len(SPARED) and others:
        spared.append(SPARED[len(spared)])
        others = [view.without(spared[-1]) for view in others]
        note = f"To save space, models of other sizes are shown without: {', '.join(spared)}."
        page = template.render(content | {"others": others, "space_note": note})
    return str(page)


def _environment() -> Any:
    try:
        import jinja2
        from markupsafe import Markup, escape
    except ModuleNotFoundError:
        raise ImportError(
            "smallearn.report needs jinja2, which is not installed: pip install 'smallearn[report]'"
        ) from None
    environment = jinja2.Environment(loader=jinja2.FunctionLoader(_template), autoescape=True)
    environment.filters["wrap"] = lambda text: Markup(escape(text).replace("_", Markup("_<wbr>")))
    return environment


def _template(name: str) -> str:
    return files("smallearn.report").joinpath("templates", name).read_text(encoding="utf-8")


def _resource(name: str) -> str:
    """The text of a file of this package."""
    return files("smallearn.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What the content security policy allows to run or to style: this text alone."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"
