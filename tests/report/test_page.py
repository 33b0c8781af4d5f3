"""The page about a model, read as text: what it says, and that nothing in a name breaks it."""

import base64
import hashlib
import re
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
from smallearn.model import Description, Prototype, Range, Rows, Selection, SMaLLModel, Step, Term, read_rows
from smallearn.model._rows import gather
from smallearn.report import _page as report
from smallearn.report import report_html
from smallearn.report._verdict import of_hundred, verdict_of_two
from tests.helpers.browser import HOSTILE, NASTY, example, messy, subject_of
from tests.helpers.html_pages import check_form
from tests.helpers.models import CARD, RANGED, THREE, YES
from tests.helpers.report_models import given


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
        others=report_html(chosen.model, chosen.others, chosen.truth, source="new.csv"),
        training=report_html(chosen.model, chosen.X, chosen.y),
    )


# --- what it says ----------------------------------------------------------------------------------------------------


def test_on_other_rows_it_has_their_scores_with_intervals_and_no_warning(chosen, pages):
    found = check_form(pages.others)
    judged = evaluate(chosen.model, chosen.others, chosen.truth)
    scores = found.table("score", "value (95% interval)")
    assert [line[:2] for line in scores] == [[name, value] for name, value, _ in judged.figures()]
    (matrix,) = [table for table in found.tables if table[0][1:2] == ["predicted malignant"]]
    counts = [[int(n.replace(",", "")) for n in line[1:]] for line in matrix[1:]]
    assert counts == judged.confusion[::-1, ::-1].tolist()
    assert [line[0] for line in matrix[1:]] == ["malignant", "benign"]
    assert f"{judged.accuracy:.1%} of the {len(chosen.truth)} rows of new.csv are predicted correctly." in found.words
    assert "This is not the training table. Some rows may appear in both tables." in found.words
    assert "optimistic" not in found.words
    wrong = int(np.sum(judged.confusion) - np.trace(judged.confusion))
    assert f"{wrong} of the {len(chosen.truth)} rows" in found.words
    assert len(found.table("row", "true class")) == len(judged.mistakes)
    hits, members = judged.confusion[1, 1], judged.confusion[1].sum()
    flagged = judged.confusion[:, 1].sum()
    assert f"inds {of_hundred(int(hits), int(members))} rows with diagnosis = malignant;" in found.words
    assert f"{of_hundred(int(hits), int(flagged))} flagged are right" in found.words


def test_on_the_training_rows_the_cross_validated_score_leads_and_a_warning_is_there(chosen, pages):
    found = check_form(pages.training)
    kept = chosen.model.selection
    assert "The rows on this page are the training rows, so the scores on them are optimistic." in found.words
    assert f"Expect a cross-validated accuracy of {kept.score:.1%} ± {kept.spread:.1%}." in found.words
    assert "accuracy on these rows" not in found.words
    assert "accuracy on the training rows" not in found.words
    assert found.words.index(f"{kept.score:.1%}") < found.words.index("Scores on the training rows")
    assert ["training table", "train.csv"] in found.table("fact")
    assert "Accuracy against size" in found.words


def test_without_a_cross_validated_score_the_warning_stays(chosen):
    older = replace(chosen.model, selection=None)
    found = check_form(report_html(older, chosen.X, chosen.y))
    assert "the scores on them are optimistic." in found.words
    assert "on which the model was trained" in found.words
    assert "Expect a cross-validated" not in found.words
    assert "Accuracy against size" not in found.words


def test_an_older_model_knows_nothing_of_its_training(chosen):
    older = replace(chosen.model, selection=None, data=None, training=None)
    found = check_form(report_html(older, chosen.X, chosen.y))
    assert "optimistic" not in found.words
    assert "This is not the training table" not in found.words
    assert any(line[0] == "rows on this page" and line[1].endswith("not known") for line in found.table("fact"))


def test_a_certificate_that_was_not_computed_is_left_out(chosen):
    model = replace(chosen.model, training=replace(chosen.model.training, lower_bound=None))
    found = check_form(report_html(model))
    assert "certificate" not in {name for name, *_ in found.table("fact")}


def test_without_classes_there_are_no_scores(chosen):
    found = check_form(report_html(chosen.model, chosen.X))
    for absent in ("How often it is wrong", "On whom it is wrong", "Which features matter"):
        assert absent not in found.words
    assert "What if?" in found.words
    assert "What each feature adds" in found.words


@pytest.mark.parametrize("model", [YES, THREE, CARD, HOSTILE], ids=["yes", "three", "card", "hostile"])
def test_a_model_alone_has_a_page(model):
    found = check_form(report_html(model))
    assert "What it decides by" in found.words
    assert "made without labelled rows" in found.words


def test_no_rows_at_all_are_as_good_as_none(chosen):
    assert "What if?" in check_form(report_html(chosen.model, chosen.X.iloc[:0])).words


def test_a_model_without_terms_says_its_one_answer():
    constant = replace(YES, prototypes=(Prototype(1, 1.0, ()),))
    found = check_form(report_html(constant))
    assert "It has no terms: the prediction is always yes." in found.words
    assert "What if?" not in found.words


def test_standard_models_are_compared_with_it(chosen, pages):
    compared = Comparison((Familiar("decision tree", 0.9, 0.01, "7 splits"),), False)
    found = check_form(report_html(chosen.model, chosen.X, chosen.y, compared=compared))
    own, tree = found.table("model", "accuracy")
    assert own[0] == "this model"
    assert own[1].startswith(f"{chosen.model.selection.score:.1%}")
    assert tree[:3] == ["decision tree", "90.0% ± 1.0%", "7 splits"]
    assert "The score of this model is cross-validated too." in found.words
    assert "Standard models, for comparison" not in pages.training


def test_points_and_their_probabilities_are_listed():
    found = check_form(report_html(CARD))
    card = CARD.score_card()
    assert [line[0] for line in found.table("points", "probability of yes")] == [
        card.point_text(total) for total, _ in card.strip()
    ]
    assert [line[2] for line in found.table("feature", "values", "points")][-1] == card.point_text(
        card.cards[0].features[-1].bins[-1].points
    )


def test_chips_units_title_and_steps(chosen):
    called = []
    units = {chosen.model.features[0].label: "<mm>"}
    options = {"sections": ["what-if", "chips"], "step": lambda: called.append(1)}
    text = report_html(chosen.model, title="A <title>", units=units, **options)
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


def test_a_smaller_size_that_is_as_good_is_named():
    steps = (Step(1, 1, 0.89, 0.02), Step(RANGED.n_terms, 1, 0.9, 0.02))
    chosen = replace(RANGED, selection=Selection("accuracy", (0.9, 0.9), 6, steps))
    found = check_form(report_html(chosen))
    assert "1 term would do as well: 89.0% against 90.0%" in found.words
    worse = replace(chosen, selection=replace(chosen.selection, frontier=(Step(1, 1, 0.85, 0.02), steps[1])))
    assert "would do as well" not in check_form(report_html(worse)).words


def test_sections_are_those_that_were_asked_for(chosen, pages):
    assert "Cost on chips" not in pages.others
    found = check_form(report_html(chosen.model, chosen.X, chosen.y, sections=["errors"])).words
    assert "On whom it is wrong" in found
    for absent in ("What if?", "What each feature adds", "Table of scores", "Accuracy against size"):
        assert absent not in found
    with pytest.raises(ValueError, match="sections: 'erors' is unknown; there are 'errors'"):
        report_html(chosen.model, sections=["erors"])
    with pytest.raises(ValueError, match=r"sections='errors' is text; it must be a list of names"):
        report_html(chosen.model, sections="errors")


@pytest.mark.parametrize("number", [-1, 51, True, 2.0])
def test_no_more_than_fifty_rows_are_embedded(chosen, number):
    with pytest.raises(ValueError, match=r"embed_rows=.* is not a whole number from 0 to 50"):
        report_html(chosen.model, chosen.X, chosen.y, embed_rows=number)


def test_words_and_units_of_descriptions_are_wherever_a_feature_is(chosen):
    label = chosen.model.features[0].label
    described = replace(chosen.model, descriptions=(Description(label, "size of the largest cell", "µm"),))
    found = check_form(report_html(described, chosen.X, chosen.y))
    assert "size of the largest cell (µm)" in found.words
    assert label not in "".join(found.texts)
    assert "range of size of the largest cell" in found.words


def test_a_number_is_written_the_same_way_everywhere():
    X = pd.DataFrame({"price": [5137.7, 5137.8, 100.0, 9000.0] * 20, "count": [1.0, 2.0, 0.0, 3.0] * 20})
    terms = (Term(0, 1.0 / 3.0, "price", "above", 5137.700000000001), Term(1, -0.1234567, "count", "at_most", 1.5))
    model = SMaLLModel(("no", "yes"), "<U3", 2, (Prototype(1, -0.1, terms),))
    found = check_form(report_html(model, X, model.predict(X)))
    assert "5137.7" in found.words
    assert "000001" not in found.words
    assert "count is at most 1" in found.words
    assert "1.5" not in " ".join(line for table in found.tables for row in table for line in row)


def test_the_policy_of_the_page_allows_its_own_script_and_style_alone(pages):
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', pages.others)
    assert "unsafe-inline" not in policy
    for tag in ('script type="module"', "style"):
        text = pages.others.split(f"<{tag}>", 1)[1].split(f"</{tag.split()[0]}>", 1)[0]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy.replace("&#43;", "+")


def test_rare_rows_come_first_and_balanced_ones_after_the_accuracy():
    rare = verdict_of_two(41, 25, (890, 110), 1, ["no", "yes"], "buyers")
    assert rare == (
        "Finds 37 of 100 buyers; 41 of 66 flagged are right; always guessing no gets 89.0%. Right on 90.6% of all rows."
    )
    even = verdict_of_two(90, 10, (100, 100), 1, ["no", "yes"], "buyers")
    assert even.startswith("Right on 90.0% of the rows; always guessing no gets 50.0%. Finds 90 of 100 buyers;")


def test_rows_of_one_class_have_no_curves():
    X, y = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), ["yes", "yes"]
    found = check_form(report_html(YES, X, y))
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
    report_html(chosen.model, X, chosen.truth, compared=compared)
    assert [id(table) for table in readings] == [id(X)]
    assert X.taken == {term.label: 1 for term in chosen.model.features}


@pytest.mark.parametrize("name", ["breast cancer", "messy", "iris"])
def test_any_page_reads_the_rows_once_though_it_makes_others_up(name, readings):
    given = example(name)
    readings.clear()
    report_html(given.model, given.X, given.y)
    assert [id(table) for table in readings if len(table) == len(given.X)] == [id(given.X)]


def test_a_page_is_the_same_each_time_for_an_estimator_and_its_model_for_a_table_and_its_rows(chosen, pages):
    clf, rows = SimpleNamespace(model_=chosen.model), read_rows(chosen.model, chosen.others)
    assert report_html(clf, rows, chosen.truth, source="new.csv") == pages.others


def test_classes_without_rows_are_refused(chosen):
    with pytest.raises(ValueError, match="y is given without X"):
        report_html(chosen.model, y=chosen.truth)


# --- names -----------------------------------------------------------------------------------------------------------


def test_nothing_in_a_name_becomes_part_of_the_page():
    found = check_form(example("hostile").page)
    assert found.comments == []
    assert sum(tag == "script" for tag, _ in found.elements) == 1
    plain = check_form(report_html(replace(HOSTILE.with_feature_names([f"n{i}" for i in range(11)]))))
    drawn = ("use", "path", "g", "defs", "wbr", "text", "circle", "rect", "title")
    shape = [(tag, set(attributes)) for tag, attributes in found.elements if tag not in drawn]
    assert shape == [(tag, set(a)) for tag, a in plain.elements if tag not in drawn]
    for name in NASTY[:4]:
        assert name[:40] in "".join(found.texts)
    assert f"{HOSTILE.classes[0]}" in found.words


def test_hostile_rows_have_a_page_too():
    X, y = messy()
    model = example("messy").model
    X = X.rename(columns={"age": "age"})
    X.loc[:20, "colour"] = "</option></select><script>"
    found = check_form(report_html(model, X, y, source="</td><script>", title="</title>"))
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
    with patch("smallearn.report._rule.conditions_of", lambda *_, **__: []):  # short, but long to compute
        check_form(report_html(model, X, y, sections=["errors", "what-if", "scores"]))


def test_a_page_with_two_dozen_sizes_stays_below_a_megabyte():
    one = given("many terms")
    assert len(report_html(one.model, one.X, one.y).encode()) < 1_000_000


@pytest.mark.parametrize(("module", "extra"), [("jinja2", "report")])
def test_what_is_missing_is_named_with_its_extra(module, extra):
    code = f"""
import sys
sys.modules[{module!r}] = None
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.report import report_html
from smallearn.report._verdict import of_hundred, verdict_of_two
try:
    report_html(SMaLLModel(("a", "b"), "<U1", 1, (Prototype(1, 0.0, (Term(0, 1.0, "x"),)),)))
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
    page = report_html(chosen, X, y)
    assert "−0.350 ± 0.050" in page
    assert "35.0%" not in page


def test_held_out_rows_are_called_so_and_a_size_counts_terms_as_the_rule_does(chosen):
    judged = replace(evaluate(chosen.model, chosen.others, chosen.truth), is_held_out=True)
    found = check_form(report_html(chosen.model, chosen.others, chosen.truth, evaluation=judged, source="all.csv"))
    assert f"On the {len(chosen.truth)} rows of all.csv that were held out from training." in found.words
    assert any(line[0] == "rows on this page" and "not the training rows" in line[1] for line in found.table("fact"))
    shared = given("ten classes")
    found = check_form(report_html(shared.model, shared.X, shared.y))
    assert found.words.count("6 terms (60 weights)") >= 2  # the slider and the rule
    assert "60 terms" not in found.words


def test_rows_held_out_are_told_with_the_numbers_that_are_shown(chosen):
    given_scores = replace(evaluate(chosen.model, chosen.others, chosen.truth), is_held_out=True)
    found = check_form(report_html(chosen.model, chosen.others, chosen.truth, evaluation=given_scores))
    assert "Rounded so that no decision on the 142 rows given changes" in found.words
    assert "computed with the exact weights" not in found.words
    shown = subject_of(chosen.model, chosen.others, chosen.truth).model
    assert shown != chosen.model
    rounded = evaluate(shown, chosen.others, chosen.truth)
    assert [line[:2] for line in found.table("score", "value (95% interval)")] == [
        [name, value] for name, value, _ in rounded.figures()
    ]


def test_of_a_sample_nothing_is_rounded_and_its_scores_stay(chosen):
    judged = replace(evaluate(chosen.model, chosen.others, chosen.truth), log_loss=0.123)
    found = check_form(report_html(chosen.model, chosen.others, chosen.truth, evaluation=judged, sampled_from=5000))
    assert "computed with the exact weights" in found.words
    assert ["log loss", "0.123"] in [line[:2] for line in found.table("score", "value (95% interval)")]


def test_pictures_without_a_curve_are_not_said_to_have_one():
    one = given("tic tac toe")
    found = check_form(report_html(one.model, one.X, one.y)).words
    assert "compared with the average row. The feature" in found
    assert "dotted line" not in found
    assert "The dotted line is the observed share" in check_form(report_html(*_parts("imbalanced"))).words


def _parts(name):
    one = given(name)
    return one.model, one.X, one.y


def test_the_matrix_of_more_classes_names_them_alone():
    found = check_form(report_html(*_parts("ten classes")))
    assert len(found.table("true class", *map(str, range(10)), "correct")) == 10
