"""The content of the page, part by part, as plain data for ``page.html``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from smallearn._version import __version__
from smallearn.devices import CHIPS
from smallearn.evaluation import Comparison, Evaluation, evaluate
from smallearn.model import SMaLLModel, as_model, read_rows
from smallearn.model._arguments import checked_units
from smallearn.report._facts import cost_of, training_of
from smallearn.report._panel import codes_of, fields_of, script_of
from smallearn.report._quality import comparison_of, quality_of
from smallearn.report._rule import about, title_of
from smallearn.report._subject import Subject
from smallearn.report._views import case_of, frontier_of, pictures_of

COMMANDS = """\
smallearn predict model.json new.csv -o scored.csv
smallearn explain model.json new.csv --row 1
smallearn export model.json --to c -o model.h
"""
STEPS = 5  # calls of `step`


def report_html(
    model: SMaLLModel,
    X: Any = None,
    y: Any = None,
    *,
    evaluation: Evaluation | None = None,
    sampled_from: int | None = None,
    compared: Comparison | None = None,
    title: str | None = None,
    units: Mapping[str, str] | None = None,
    reason_codes: int = 0,
    wording: Mapping[str, str] | None = None,
    favourable: Any = None,
    source: str | None = None,
    rows: Sequence[int] | None = None,
    chips: Sequence[str] = tuple(CHIPS),
    step: Callable[[], None] = lambda: None,
) -> str:
    """Write a self-contained HTML page about a model.

    The page makes no network requests. It shows the model, a panel in which inputs can be tried, and, given rows with
    their classes, scores and errors.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    X : array, sparse matrix, table or Rows of shape (n_rows, n_features), default=None
        Rows to evaluate the model on. They are read once.
    y : array-like of shape (n_rows,), default=None
        Their classes. Without them, the page has no scores.
    evaluation : Evaluation, default=None
        The scores to show; None: those on ``X`` and ``y``.
    sampled_from : int, default=None
        The number of rows that ``X`` is a random sample of; None if these are all.
    compared : Comparison, default=None
        Standard models for comparison, as `smallearn.evaluation.familiar` returns them.
    title : str, default=None
        The heading of the page.
    units : mapping from str to str, default=None
        Units of features: ``{"age": "years"}``.
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
        If jinja2 or matplotlib is not installed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.report import report_html
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = SMaLLClassifier(n_nonzero=2, random_state=0).fit(X, y)
    >>> page = report_html(clf, X, y, title="Three kinds of iris", chips=())
    >>> page.startswith("<!doctype html>")
    True
    """
    jinja2 = _jinja()
    model = as_model(model)
    subject = _subject_of(
        model, X, y, evaluation, units=units, source=source, row_numbers=rows, sampled_from=sampled_from
    )
    content: dict[str, Any] = {
        "version": __version__,
        "title": title or title_of(model),
        "style": _resource("style.css"),
        **about(subject),
        **quality_of(subject),
        "training": training_of(subject),
        "commands": COMMANDS,
    }
    step()
    fields = fields_of(model, subject.rows, subject.units or {})
    codes = codes_of(model, reason_codes, wording, favourable)
    script = script_of(model, fields, subject.units or {}, codes)
    content |= {"fields": fields, "codes": codes, "script": script, "case": case_of(subject, fields)}
    step()
    content["frontier"] = frontier_of(model)
    content |= pictures_of(subject)
    step()
    content["cost"] = cost_of(model, chips)
    step()
    content["comparison"] = comparison_of(subject, compared)
    content["sections"] = list(_sections(content))
    environment = jinja2.Environment(loader=jinja2.FunctionLoader(_resource), autoescape=True)
    page = environment.get_template("page.html").render(content)
    step()
    return page


def _subject_of(
    model: SMaLLModel,
    X: Any,
    y: Any,
    judged: Evaluation | None,
    *,
    units: Mapping[str, str] | None,
    **of_file: Any,
) -> Subject:
    """Everything that the page is about; the rows are read here, once."""
    if X is None and y is not None:
        raise ValueError("y is given without X; pass both, X alone or neither.")
    rows = None if X is None else read_rows(model, X)
    if rows is not None and rows.n_rows == 0 and y is None:
        rows = None
    if judged is None and y is not None:
        judged = evaluate(model, rows, y)
    return Subject(model=model, rows=rows, y=y, judged=judged, units=checked_units(model, units), **of_file)


def _jinja() -> Any:
    try:
        import jinja2
    except ImportError:
        raise ImportError(
            "smallearn.report needs jinja2, which is not installed: pip install 'smallearn[report]'"
        ) from None
    return jinja2


def _resource(name: str) -> str:
    """The text of a file of this package."""
    return files("smallearn.report").joinpath(name).read_text(encoding="utf-8")


def _sections(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Anchor and name of each section that the page has."""
    yield "rule", "Model"
    for part, anchor, name in (
        ("fields", "what-if", "What if?"),
        ("scores", "good", "Scores"),
        ("frontier", "frontier", "Accuracy against size"),
        ("pictures", "pictures", "Pictures"),
        ("case", "case", "One decision"),
        ("errors", "errors", "Errors"),
        ("cost", "cost", "Cost on chips"),
    ):
        if content.get(part):
            yield anchor, name
    yield "facts", "Data and training"
