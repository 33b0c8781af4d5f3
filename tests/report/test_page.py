"""The page about a model, read as text: what it says, and that nothing in a name breaks it."""

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from smallearn import SMaLLClassifierCV
from smallearn.devices import CHIPS
from smallearn.evaluation import Comparison, Familiar, evaluate
from smallearn.model import Prototype, Range, Rows, Selection, SMaLLModel, Step, Term, read_rows
from smallearn.model._rows import gather
from smallearn.report import _page as report
from smallearn.report import report_html
from tests.helpers.browser import HOSTILE, NASTY, example, messy
from tests.helpers.html_pages import check_form
from tests.helpers.models import CARD, RANGED, THREE, YES


@pytest.fixture(autouse=True, scope="module")
def quick():
    """Intervals from few draws, the same here and on the page."""
    with patch("smallearn.evaluation._intervals.RESAMPLES", 50):
        yield


@pytest.fixture(scope="module")
def chosen():
    """A model that was chosen by cross-validation, the rows that it was trained on, and others."""
    data = load_breast_cancer(as_frame=True)
    X, y = data.data.iloc[::2, 20:26], data.target.iloc[::2].map({0: "malignant", 1: "benign"})
    others, truth = data.data.iloc[1::4, 20:26], data.target.iloc[1::4].map({0: "malignant", 1: "benign"})
    clf = SMaLLClassifierCV(max_terms=3, min_terms=1, literals=("raw",), alphas=(0.01,), cv=3, random_state=0)
    model = clf.fit(X, y).model_.trained_on(X, y, target="diagnosis", source="train.csv")
    return SimpleNamespace(model=model, X=X, y=y, others=others, truth=truth)


@pytest.fixture(scope="module")
def pages(chosen):
    """The pages of that model that several tests read: on other rows, and on the training rows."""
    return SimpleNamespace(
        others=report_html(chosen.model, chosen.others, chosen.truth, source="new.csv", chips=()),
        training=report_html(chosen.model, chosen.X, chosen.y, chips=()),
    )


# --- what it says ----------------------------------------------------------------------------------------------------


def test_on_other_rows_it_has_their_scores_with_intervals_and_no_warning(chosen, pages):
    found = check_form(pages.others)
    judged = evaluate(chosen.model, chosen.others, chosen.truth)
    scores = found.table("score", "value (95% interval)")
    assert [line[:2] for line in scores] == [[name, value] for name, value, _ in judged.figures()]
    lines = found.table("true class")
    counts = [[int(n) for n in line[1:-1]] for line in lines]
    assert counts == judged.confusion.tolist()
    assert [line[0] for line in lines] == ["benign", "malignant"]
    assert f"{judged.accuracy:.1%} of the {len(chosen.truth)} rows of new.csv are predicted correctly." in found.words
    assert "This is not the training table. Some rows may appear in both tables." in found.words
    assert "optimistic" not in found.words
    wrong = int(np.sum(judged.confusion) - np.trace(judged.confusion))
    assert f"{wrong} of the {len(chosen.truth)} rows" in found.words
    assert len(found.table("row", "true class")) == len(judged.mistakes)


def test_on_the_training_rows_the_cross_validated_score_leads_and_a_warning_is_there(chosen, pages):
    found = check_form(pages.training)
    kept = chosen.model.selection
    assert "The rows on this page are the training rows, so the scores on them are optimistic." in found.words
    assert f"cross-validated accuracy{kept.score:.1%} ± {kept.spread:.1%}" in found.words
    assert "accuracy on these rows" not in found.words
    assert "accuracy on the training rows" not in found.words
    assert found.words.index(f"{kept.score:.1%}") < found.words.index("Scores on the training rows")
    assert ["training table", "train.csv"] in found.table("fact")
    assert "Accuracy against size" in found.words


def test_without_a_cross_validated_score_the_warning_stays(chosen):
    older = replace(chosen.model, selection=None)
    found = check_form(report_html(older, chosen.X, chosen.y, chips=()))
    assert "the scores on them are optimistic." in found.words
    assert "accuracy on the training rows" in found.words
    assert "Rely on the cross-validated score" not in found.words
    assert "Accuracy against size" not in found.words


def test_an_older_model_knows_nothing_of_its_training(chosen):
    older = replace(chosen.model, selection=None, data=None, training=None)
    found = check_form(report_html(older, chosen.X, chosen.y, chips=()))
    assert "optimistic" not in found.words
    assert "This is not the training table" not in found.words
    assert any(line[0] == "rows on this page" and line[1].endswith("not known") for line in found.table("fact"))


def test_a_certificate_that_was_not_computed_is_left_out(chosen):
    model = replace(chosen.model, training=replace(chosen.model.training, lower_bound=None))
    found = check_form(report_html(model, chips=()))
    assert "certificate" not in {name for name, *_ in found.table("fact")}


def test_without_classes_there_are_no_scores(chosen):
    found = check_form(report_html(chosen.model, chosen.X, chips=()))
    for absent in ("Scores", "Errors", "Which features matter"):
        assert absent not in found.words
    assert "What if?" in found.words
    assert "One decision explained" in found.words


@pytest.mark.parametrize("model", [YES, THREE, CARD, HOSTILE], ids=["yes", "three", "card", "hostile"])
def test_a_model_alone_has_a_page(model):
    found = check_form(report_html(model, chips=()))
    assert "The model" in found.words


def test_no_rows_at_all_are_as_good_as_none(chosen):
    assert "What if?" in check_form(report_html(chosen.model, chosen.X.iloc[:0], chips=())).words


def test_a_model_without_terms_says_its_one_answer():
    constant = replace(YES, prototypes=(Prototype(1, 1.0, ()),))
    found = check_form(report_html(constant, chips=()))
    assert "It has no terms: the prediction is always yes." in found.words
    assert "What if?" not in found.words


def test_standard_models_are_compared_with_it(chosen, pages):
    compared = Comparison((Familiar("decision tree", 0.9, 0.01, "7 splits"),), False)
    found = check_form(report_html(chosen.model, chosen.X, chosen.y, compared=compared, chips=()))
    own, tree = found.table("model", "accuracy")
    assert own[0] == "this model"
    assert own[1].startswith(f"{chosen.model.selection.score:.1%}")
    assert tree == ["decision tree", "90.0% ± 1.0%", "7 splits"]
    assert "The score of this model is cross-validated too." in found.words
    assert "Standard models, for comparison" not in pages.training


def test_points_and_their_probabilities_are_listed():
    found = check_form(report_html(CARD, chips=()))
    assert [line[0] for line in found.table("points", "probability of yes")] == [
        f"{total:+d}".replace("-", "−") for total, _ in CARD.totals()
    ]


def test_chips_units_title_and_steps(chosen):
    called = []
    units = {chosen.model.features[0].label: "<mm>"}
    text = report_html(chosen.model, title="A <title>", units=units, step=lambda: called.append(1))
    found = check_form(text)
    assert len(called) == report.STEPS
    assert found.words.count("A <title>") == 2
    assert f"{chosen.model.features[0].label} (<mm>)" in found.words
    assert {line[0] for line in found.table("chip", "numbers")} == {
        chip.short_title or chip.title for chip in CHIPS.values()
    }


def test_conditions_that_are_not_quite_the_model_say_so():
    found = example("breast cancer").page
    assert ("Approximate rule" in found) != ("<h3>As a rule</h3>" in found)
    assert ("Agrees with the model on" in found) == ("Approximate rule" in found)


def test_two_numbers_have_a_surface_and_a_larger_model_with_a_higher_score_is_named():
    steps = (Step(2, 1, 0.85, 0.02), Step(5, 2, 0.9, 0.02))
    chosen = replace(RANGED, selection=Selection("accuracy", (0.9, 0.8), 6, steps))
    found = check_form(report_html(chosen, chips=()))
    assert "Where each class is predicted; the line is where the decision changes." in found.words
    assert "The highest score is 90.0%, with 5 terms;" in found.words


def test_rows_of_one_class_have_no_curves():
    X, y = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), ["yes", "yes"]
    found = check_form(report_html(YES, X, y, chips=()))
    assert "ROC" not in found.words
    assert "None of the 2 rows is predicted wrongly." in found.words


# --- one reading of the rows -----------------------------------------------------------------------------------------


class Counted(pd.DataFrame):
    """A table that counts how often each of its columns is taken."""

    _metadata: ClassVar = ["taken"]

    def __getitem__(self, key):
        self.taken[key] += 1
        return super().__getitem__(key)


@pytest.fixture
def readings(monkeypatch):
    """The tables that are read while the test runs, one entry for each time."""
    tables = []

    def read(X, *features, **options):
        if not isinstance(X, Rows):
            tables.append(X)
        return gather(X, *features, **options)

    for module in [one for name, one in sys.modules.items() if name.startswith("smallearn.")]:
        if getattr(module, "gather", None) is gather:
            monkeypatch.setattr(module, "gather", read)
    return tables


def test_a_page_reads_the_rows_once(chosen, readings):
    X = Counted(chosen.others)
    X.taken = Counter()
    compared = Comparison((Familiar("decision tree", 0.9, 0.01, "7 splits"),), False)
    report_html(chosen.model, X, chosen.truth, compared=compared, chips=())
    assert [id(table) for table in readings] == [id(X)]
    assert X.taken == {term.label: 1 for term in chosen.model.features}


@pytest.mark.parametrize("name", ["breast cancer", "messy", "iris"])
def test_any_page_reads_the_rows_once_though_it_makes_others_up(name, readings):
    given = example(name)
    readings.clear()
    report_html(given.model, given.X, given.y, chips=())
    assert [id(table) for table in readings if len(table) == len(given.X)] == [id(given.X)]


def test_a_page_is_the_same_each_time_for_an_estimator_and_its_model_for_a_table_and_its_rows(chosen, pages):
    clf, rows = SimpleNamespace(model_=chosen.model), read_rows(chosen.model, chosen.others)
    assert report_html(clf, rows, chosen.truth, source="new.csv", chips=()) == pages.others


def test_classes_without_rows_are_refused(chosen):
    with pytest.raises(ValueError, match="y is given without X"):
        report_html(chosen.model, y=chosen.truth)


# --- names -----------------------------------------------------------------------------------------------------------


def test_nothing_in_a_name_becomes_part_of_the_page():
    found = check_form(example("hostile").page)
    assert found.comments == []
    assert sum(tag == "script" for tag, _ in found.elements) == 1
    plain = check_form(report_html(replace(HOSTILE.with_feature_names([f"n{i}" for i in range(11)])), chips=()))
    shape = [(tag, set(attributes)) for tag, attributes in found.elements if tag not in ("use", "path", "g", "defs")]
    assert shape == [(tag, set(a)) for tag, a in plain.elements if tag not in ("use", "path", "g", "defs")]
    for name in NASTY[:4]:
        assert name[:40] in "".join(found.texts)
    assert f"{HOSTILE.classes[0]}" in found.words


def test_hostile_rows_have_a_page_too():
    X, y = messy()
    model = example("messy").model
    X = X.rename(columns={"age": "age"})
    X.loc[:20, "colour"] = "</option></select><script>"
    found = check_form(report_html(model, X, y, chips=(), source="</td><script>", title="</title>"))
    assert sum(tag == "script" for tag, _ in found.elements) == 1


# --- size, and what must be installed --------------------------------------------------------------------------------


def test_a_large_model_of_many_rows_stays_below_a_megabyte():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 16))
    prototypes = tuple(
        Prototype(1, -6.0, tuple(Term(i, float(w), f"feature number {i}") for i, w in enumerate(rng.normal(size=16))))
        for _ in range(6)
    )
    model = SMaLLModel(("no", "yes"), "<U3", 16, prototypes, ranges=tuple(Range(i, -4.0, 4.0) for i in range(16)))
    y = np.where(rng.random(2000) < 0.1, "no", model.predict(X))
    matters, conditions = "smallearn.report._views._importance", "smallearn.report._rule._rules"
    with (
        patch(matters, lambda *_: None),
        patch(conditions, lambda *_, **__: []),
    ):  # short, but long to compute
        found = check_form(report_html(model, X, y, chips=()))
    assert any(tag == "image" for tag, _ in found.elements)


@pytest.mark.parametrize(("module", "extra"), [("jinja2", "report"), ("matplotlib", "plot")])
def test_what_is_missing_is_named_with_its_extra(module, extra):
    code = f"""
import sys
sys.modules[{module!r}] = None
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.report import report_html
try:
    report_html(SMaLLModel(("a", "b"), "<U1", 1, (Prototype(1, 0.0, (Term(0, 1.0, "x"),)),)), chips=())
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"pip install 'smallearn[{extra}]'" in done.stdout
    assert module in done.stdout


def test_a_score_that_is_no_share_is_not_told_in_percent():
    X, y = np.array([[1.0], [0.0]]), ["yes", "no"]
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -1.0, (Term(0, 2.0, "x"),)),)).trained_on(X, y)
    chosen = replace(model, selection=Selection("neg_log_loss", (-0.3, -0.4), 5, ()))
    page = report_html(chosen, X, y, chips=())
    assert "−0.350 ± 0.050" in page
    assert "35.0%" not in page
