"""What the page says: everything is gathered here as plain data, and put into ``page.html``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from smallearn._version import __version__
from smallearn.evaluation import Comparison, evaluate
from smallearn.model import SMaLLModel
from smallearn.report._facts import CHIPS, cost_of, training_of
from smallearn.report._panel import fields_of, script_of
from smallearn.report._quality import familiar_of, quality_of
from smallearn.report._rule import about, title_of
from smallearn.report._views import case_of, frontier_of, pictures_of

COMMANDS = """\
smallearn predict model.json new.csv -o scored.csv
smallearn explain model.json new.csv --row 1
smallearn export model.json --to c -o model.h
"""
STEPS = 5  # that `step` is called


def report_html(
    model: SMaLLModel,
    X: Any = None,
    y: Any = None,
    *,
    compared: Comparison | None = None,
    title: str | None = None,
    units: Mapping[str, str] | None = None,
    source: str | None = None,
    rows: Sequence[int] | None = None,
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
    rows : sequence of int, default 1, 2, …
        The numbers of the rows in that file.
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
        "title": title or title_of(model),
        "style": files("smallearn.report").joinpath("style.css").read_text(encoding="utf-8"),
        **about(model, X, judged, units),
        **quality_of(model, X, y, judged, source, rows),
        "training": training_of(model, judged, source),
        "commands": COMMANDS,
    }
    step()
    fields = fields_of(model, X, units)
    content |= {"fields": fields, "script": script_of(model, fields, units), "case": case_of(model, X, fields)}
    step()
    content["frontier"] = frontier_of(model)
    content |= pictures_of(model, X, y)
    step()
    content["cost"] = cost_of(model, chips)
    step()
    content["familiar"] = None if compared is None or judged is None else familiar_of(model, judged, compared)
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
