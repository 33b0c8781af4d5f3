"""What the page shows for any state of its sliders and fields is what the Python model says."""

import json
import re
from dataclasses import replace
from functools import cache
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from smallearn import explain
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.report import report_html
from smallearn.report._counts import STEPS, counts_of
from smallearn.report._panel import fields_of
from smallearn.report._quality import judged_of, ranked_by
from smallearn.report._rule import is_card
from smallearn.report._verdict import percent_of, rows_of, verdict_of_more, verdict_of_two
from tests.helpers.browser import subject_of
from tests.helpers.report_models import GIVEN, given
from tests.helpers.tools import need_module

pytestmark = pytest.mark.browser
every = pytest.mark.parametrize("name", GIVEN)

STATE = """() => {
  const text = (one) => document.querySelector(one)?.textContent ?? null;
  const named = (key) => Object.fromEntries(
    [...document.querySelectorAll(`[data-${key}]`)].map((one) => [one.dataset[key], one.textContent]));
  return {
    verdict: text("#verdict"), size: text("#size-value"), threshold: text("#threshold-value"),
    counts: named("count"), figures: named("figure"), command: text("#commands"),
    decision: {...document.getElementById("decision").dataset},
    chances: [...document.querySelectorAll("#probabilities tbody tr")].map((row) => Number(row.dataset.chance)),
    matrix: [...document.querySelectorAll("[data-slot=confusion] tbody tr")].map(
      (row) => [...row.cells].slice(1, -1).map((cell) => Number(cell.textContent))),
    scores: [...document.querySelectorAll("[data-slot=scores] tbody tr")].map(
      (row) => [...row.cells].slice(0, 2).map((cell) => cell.textContent)),
    errors: text("[data-slot=errors] p"),
    weights: [...document.querySelectorAll("[data-slot=rule] .card")].map(
      (card) => [...card.querySelectorAll("td.number")].map((cell) => Number(cell.textContent.replace("−", "-")))),
    curves: [...document.querySelectorAll("[data-slot=curves] [data-class]:not([hidden]) figcaption")].map(
      (one) => one.textContent),
    why: [...document.querySelectorAll("#base, #contributions tbody tr")].map((row) => Number(row.dataset.points)),
    reason: text("#why"), total: text("#total"),
  };
}"""
# Words that are cut: letters of one word that are not on one line. A long name may wrap after "_".
CUT_WORDS = """() => {
  const found = [];
  const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    for (const word of node.data.matchAll(/[A-Za-z0-9]{2,18}/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (lines.size > 1) found.push([word[0], node.data]);
    }
  }
  return found;
}"""
WIDE_TABLES = """() => [...document.querySelectorAll(".scroll")]
  .filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => [one.getAttribute("aria-label"), one.querySelector("tr").cells.length])
"""
OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
SLIDE = """([id, value]) => {
  const slider = document.getElementById(id);
  slider.value = String(value);
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}"""
FLIPS = """async () => {
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return JSON.parse(document.getElementById("changes").dataset.flips);
}"""


@cache
def subject(name):
    with patch("smallearn.evaluation._intervals.RESAMPLES", 20):
        return subject_of(given(name).model, given(name).X, given(name).y)


@cache
def page(name):
    with patch("smallearn.evaluation._intervals.RESAMPLES", 20):
        return report_html(given(name).model, given(name).X, given(name).y, source="data.csv")


def sizes_of(name):
    """The models that the slider of sizes leads to, in its order."""
    models = subject(name).models
    return sorted(models[: len(models) - len(given(name).model.alternatives)], key=lambda model: model.n_terms)


def check_state(name: str, model: SMaLLModel, shown: dict) -> None:
    """The verdict, the counts and the figures."""
    code, rows = subject(name).code, subject(name).rows
    predicted = model.decide(model.scores(rows))
    names = subject(name).class_names
    n = len(names)
    confusion = np.bincount(code * n + predicted, minlength=n * n).reshape(n, n)
    if n > 2:
        assert shown["verdict"] == verdict_of_more(confusion, names)
        assert shown["matrix"] == confusion.tolist()
        return
    k = subject(name).positive
    hits, missed = int(confusion[k, k]), int(confusion[k, 1 - k])
    wrong, rejected = int(confusion[1 - k, k]), int(confusion[1 - k, 1 - k])
    sizes = confusion.sum(axis=1).tolist()
    assert shown["verdict"] == verdict_of_two(hits, wrong, sizes, k, names, rows_of(subject(name).model, k))
    told = {key: int(text.replace(",", "")) for key, text in shown["counts"].items()}
    assert told == {"hits": hits, "missed": missed, "wrong": wrong, "rejected": rejected}
    figures, flagged, total = shown["figures"], hits + wrong, sum(sizes)
    assert figures["flagged"] == percent_of(flagged, total)
    assert figures["precision"] == percent_of(hits, flagged)
    assert figures["recall"] == percent_of(hits, sizes[k])
    assert figures["specificity"] == percent_of(rejected, sizes[1 - k])
    assert figures["accuracy"] == percent_of(hits + rejected, total)
    if flagged:
        assert float(figures["lift"]) == pytest.approx(hits / flagged / (sizes[k] / total), abs=0.00501)
    assert float(figures["cost"]) == pytest.approx((missed + wrong) / total, rel=1e-3)


def check_view(name: str, model: SMaLLModel, shown: dict) -> None:
    """What is told of a model at its own threshold: its weights, its scores, its errors and its curves."""
    rows, code = subject(name).rows, subject(name).code
    is_chosen = model == subject(name).models[0]
    judged = subject(name).judged if is_chosen else judged_of(subject(name), model, resampled=False)
    if shown["scores"]:
        assert shown["scores"] == [[label, value] for label, value, _ in judged.figures()]
    wrong = int(np.sum(model.decide(model.scores(rows)) != code))
    assert shown["errors"].startswith(f"{wrong:,} of the " if wrong else "None of the ")
    for numbers, prototype in zip(shown["weights"], model.prototypes, strict=bool(shown["weights"])):
        assert sorted(numbers) == sorted([*(term.weight for term in prototype.terms), prototype.intercept])
    if shown["curves"]:
        k = subject(name).positive if len(model.classes) == 2 else 0
        ranked = ranked_by(model, model.scores(rows))
        order = ranked[:, k] if ranked.ndim == 2 else ranked if k else -ranked
        assert shown["curves"][0] == f"ROC curve; area {roc_auc_score(code == k, order):.3f}."
        assert f"average precision {average_precision_score(code == k, order):.3f}." in shown["curves"][1]


def random_row(name, rng):
    """A row of the table, with one value of another."""
    X = given(name).X
    row, other = X.iloc[int(rng.integers(len(X)))], X.iloc[int(rng.integers(len(X)))]
    values = row.to_dict()
    changed = str(rng.choice(X.columns))
    values[changed] = other[changed]
    return values


ENTER_ROW = """(entries) => {
  for (const [id, value] of Object.entries(entries)) {
    const control = document.getElementById(id), box = document.getElementById(`${id}-missing`);
    if (box && box.checked !== (value === null)) box.click();
    if (value === null) continue;
    if (control.tagName === "SELECT") control.selectedIndex = value;
    else control.value = value;
    control.dispatchEvent(new Event("input", { bubbles: true }));
  }
}"""


def entries_of(fields, columns, values):
    """What is put into the fields for a row by name."""
    entries = {}
    for field in fields:
        value = values[columns[field.feature]]
        if value is None or value != value:
            entries[field.id] = None
        elif field.is_text:
            entries[field.id] = [option for _, option in field.options].index(value)
        else:
            entries[field.id] = repr(float(value))
    return entries


def plain(values):
    return {name: None if value is None or value != value else value for name, value in values.items()}


# --- numbers ---------------------------------------------------------------------------------------------------------


@every
def test_every_number_is_that_of_the_model_for_random_states(visit, name):
    opened = visit(page(name))
    models = list(subject(name).models)
    sizes, fields = sizes_of(name), fields_of(subject(name))[0]
    before = opened.page.evaluate(STATE)
    check_state(name, models[0], before)
    check_view(name, models[0], before)
    assert before["scores"]
    assert before["curves"]
    rng = np.random.default_rng(0)
    for _ in range(8):
        model = models[0]
        if len(sizes) > 1:
            step = int(rng.integers(len(sizes)))
            opened.page.evaluate(SLIDE, ["size", step])
            model = sizes[step]
        if len(model.classes) == 2 and rng.random() < 0.8:
            threshold = int(rng.integers(1, 1000)) / 1000
            opened.page.evaluate(SLIDE, ["threshold", threshold])
            model = replace(model, decision_threshold=threshold)
        elif len(model.classes) == 2 and opened.page.is_enabled("#own-threshold"):
            opened.page.click("#own-threshold")
        own = next(one for one in models if one.prototypes == model.prototypes).decision_threshold
        values = random_row(name, rng)
        opened.page.evaluate(ENTER_ROW, entries_of(fields, list(given(name).X.columns), values))
        shown = opened.page.evaluate(STATE)
        if len(model.classes) == 2:
            model = replace(model, decision_threshold=float(shown["threshold"]))
            assert f"--threshold {shown['threshold']} " in shown["command"]
        check_state(name, model, shown)
        check_view(name, replace(model, decision_threshold=own), shown)
        z = model.scores(np.array([[values[column] for column in given(name).X.columns]], dtype=object))
        assert json.loads(shown["decision"]["scores"], parse_int=float) == z[0].tolist()
        assert int(shown["decision"]["label"]) == model.decide(z)[0]
        assert shown["chances"] == pytest.approx(model.chances(z)[0].tolist(), abs=1e-12)
        check_why(model, z, shown)
        check_flips(opened, model, fields, plain(values), name)


def check_why(model, z, shown):
    """What the values add makes up the total: the points of the card, or the score less that of the next class."""
    best = int(model.winners(z)[0])
    others = [float(z[0, j]) for j, owner in enumerate(model.owners) if owner != model.owners[best]]
    total = float(z[0, best])
    if model.sole_owner is None:
        total -= max(others)
    elif is_card(model):
        total += model.score_card().zero
        assert f"{total:.4g} points" in shown["reason"]
        cut = model.score_card().threshold
        assert re.search(r"threshold of (\S+):", shown["reason"])[1] == f"{cut:.4g}".replace("-", "−")
    assert sum(shown["why"]) == pytest.approx(total, rel=1e-6, abs=1e-6)
    assert float(shown["total"].replace("−", "-")) == pytest.approx(total, rel=6e-4, abs=1e-9)


def check_flips(opened, model, fields, values, name):
    """Each feature that changes the decision alone, and the smallest change of one or two, as in Python."""
    found = opened.page.evaluate(FLIPS)
    row = {term.label: values[term.label] for term in model.features}
    case = explain.case(model, row, X=subject(name).rows)
    expected = {label: flip for label, flip in case.alone.items() if flip is not None}
    labels = dict(enumerate(fields))
    alone = {
        next(t.label for t in model.features if t.feature == labels[flip["changes"][0]["place"]].feature): flip
        for flip in found
        if len(flip["changes"]) == 1
    }
    assert set(alone) >= set(expected)
    for label, flip in expected.items():
        assert alone[label]["size"] == pytest.approx(flip.size, rel=0.03, abs=1e-4), label
        assert model.classes[alone[label]["label"]] == flip.label
    if case.smallest is not None and len(case.smallest.changes) <= 2:
        assert found
        assert found[0]["size"] <= 1.03 * case.smallest.size + 1e-4
    elif case.smallest is not None and model.sole_owner is not None:
        assert found
    for flip in found:
        changed = values | {
            next(t.label for t in model.features if t.feature == fields[one["place"]].feature): one["to"]
            for one in flip["changes"]
        }
        label = model.predict_one({term.label: changed[term.label] for term in model.features})
        assert label == model.classes[flip["label"]] != model.predict_one(row)
        assert case.smallest is None or flip["size"] >= case.smallest.size / 1.03 - 1e-4


@every
def test_at_every_threshold_the_counts_are_those_of_the_model(name):
    rows, code = subject(name).rows, subject(name).code
    for model in subject(name).models:
        if len(model.classes) > 2:
            continue
        counts = counts_of(model, rows, code)
        z = model.scores(rows)
        for place in range(0, len(STEPS), 37):
            predicted = replace(model, decision_threshold=STEPS[place]).decide(z)
            assert counts.hits[place] == int(np.sum((predicted == 1) & (code == 1)))
            assert counts.false[place] == int(np.sum((predicted == 1) & (code == 0)))
        predicted = model.decide(z)
        assert counts.own == (int(np.sum((predicted == 1) & (code == 1))), int(np.sum((predicted == 1) & (code == 0))))


@every
def test_the_page_is_under_a_megabyte_and_the_model_it_saves_is_the_one_it_shows(visit, name):
    assert len(page(name).encode()) < 1_000_000
    opened = visit(page(name))
    threshold = None
    if opened.page.locator("#threshold").count():
        threshold = 0.137
        opened.page.evaluate(SLIDE, ["threshold", threshold])
    with opened.page.expect_download() as download:
        opened.page.click("#save-model")
    saved = SMaLLModel.from_json(download.value.path().read_text())
    model = subject(name).models[0]
    assert saved.prototypes == model.prototypes
    assert saved.decision_threshold == (model.decision_threshold if threshold is None else threshold)


def test_an_alternative_takes_the_place_of_the_model_and_gives_it_back(visit):
    opened = visit(page("two classes"))
    before = opened.page.evaluate(STATE)
    for number in (3, 4):
        opened.page.click(f'[data-view="{number}"]')
        check_state("two classes", subject("two classes").models[number], opened.page.evaluate(STATE))
    opened.page.click('[data-view="0"]')
    assert opened.page.evaluate(STATE) == before


def test_rows_on_which_alternatives_disagree_are_counted_and_named():
    models, rows = subject("two classes").models, subject("two classes").rows
    decided = [model.decide(model.scores(rows)) for model in models]
    for other in (3, 4):
        where = np.flatnonzero(decided[other] != decided[0])
        assert f"{len(where) / rows.n_rows:.1%} ({len(where)})" in page("two classes")
        assert ", ".join(str(row + 1) for row in where[:10]) in page("two classes")


# --- for people ------------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("width", [320, 390, 1200])
def test_nothing_is_wider_than_the_window(visit, name, width):
    found = visit(page(name), viewport={"width": width, "height": 800}).page
    assert found.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [width, width]


@every
@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 390)])
def test_axe_has_no_complaint(visit, name, scheme, width):
    axe = need_module("axe_playwright_python.sync_playwright").Axe()
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme, "bypass_csp": True}
    found = visit(page(name), **options).page
    found.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    result = axe.run(found)
    assert result.response["violations"] == [], result.generate_report()


@every
def test_on_paper_it_has_at_most_six_pages(visit, name):
    found = visit(page(name)).page
    found.emulate_media(media="print")
    assert len(re.findall(rb"/Type\s*/Page[^s]", found.pdf())) <= 6


@every
def test_on_a_phone_no_word_is_cut_and_no_table_of_few_columns_is_wider(visit, name):
    found = visit(page(name), viewport={"width": 390, "height": 800}).page
    for view in range(len(subject(name).models)):
        if view and found.locator("#size").count() and view < len(sizes_of(name)):
            found.evaluate(SLIDE, ["size", view])
        found.evaluate(OPEN)
        assert found.evaluate(CUT_WORDS) == []
        assert [one for one in found.evaluate(WIDE_TABLES) if one[1] <= 7] == []


def test_where_one_or_two_features_are_not_enough_a_change_of_several_is_shown(visit):
    opened = visit(page("score card"))
    model, fields = subject("score card").models[0], fields_of(subject("score card"))[0]
    values = {"age": 20.0, "income": 500.0, "visits": 0.0}
    opened.page.evaluate(ENTER_ROW, entries_of(fields, list(given("score card").X.columns), values))
    opened.page.evaluate(SLIDE, ["threshold", 0.85])
    (flip,) = opened.page.evaluate(FLIPS)
    assert len(flip["changes"]) == 3
    assert opened.page.inner_text("#no-changes").endswith("but these together:")
    changed = values | {list(values)[fields[one["place"]].feature]: one["to"] for one in flip["changes"]}
    moved = replace(model, decision_threshold=0.85)
    assert (moved.predict_one(values), moved.predict_one(changed)) == ("leaves", "stays")
    opened.page.evaluate(SLIDE, ["threshold", 0.99])
    assert opened.page.evaluate(FLIPS) == []
    assert opened.page.inner_text("#no-changes").endswith("within the ranges below.")


def test_a_whole_number_alone_moves_beyond_its_threshold(visit):
    X = pd.DataFrame({"age": np.arange(18.0, 90.0)})
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -1.0, (Term(0, 2.0, "age", "above", 45.0),)),))
    opened = visit(report_html(model, X, model.predict(X), sections=["what-if"]))
    for before, after in ((44, 46), (80, 45)):
        opened.page.fill("#input-0", str(before))
        (flip,) = opened.page.evaluate(FLIPS)
        assert flip["changes"] == [{"place": 0, "from": before, "to": after}]


@every
def test_on_paper_a_heading_stays_with_what_follows(visit, name):
    found = visit(page(name)).page
    found.emulate_media(media="print")
    kept = "(all) => [...new Set(all.map((one) => getComputedStyle(one).breakAfter))]"
    for what in ("h2, h3", "h2 + p, h3 + p"):
        assert found.eval_on_selector_all(f"main :is({what})", kept) == ["avoid"]


def test_the_points_of_the_panel_are_those_of_the_card(visit):
    opened = visit(page("score card"))
    model, X = subject("score card").models[0], given("score card").X
    card, fields = model.score_card(), fields_of(subject("score card"))[0]
    for row in (0, 7, 42):
        opened.page.evaluate(ENTER_ROW, entries_of(fields, list(X.columns), X.iloc[row].to_dict()))
        shown = opened.page.evaluate(STATE)
        (total,) = card.totals(X.iloc[[row]])[0]
        assert shown["total"] == f"{total:.4g}"
        assert shown["reason"].endswith(f"the threshold of {card.threshold:.4g}: {total:.4g} points.")


def test_the_exact_rule_is_in_the_first_screen(visit):
    found = visit(page("tic tac toe"), viewport={"width": 1200, "height": 900}).page
    assert found.locator("ol.rule").first.bounding_box()["y"] < 600
    assert found.locator("ol.rule li").count() == 8


def test_the_decision_stays_in_view_on_a_phone(visit):
    found = visit(page("many terms"), viewport={"width": 390, "height": 800}).page
    found.locator("#input-3").scroll_into_view_if_needed()
    box = found.locator("#decision").bounding_box()
    assert 0 <= box["y"] < 800


def test_a_case_is_kept_by_name_and_comes_back(visit):
    found = visit(page("two classes")).page
    found.fill("#input-0", "77")
    found.fill("#state-name", "grandmother")
    found.click("#keep")
    kept = found.inner_text("#decision")
    found.click("#reset")
    assert found.input_value("#input-0") != "77"
    found.click("text=grandmother")
    assert (found.input_value("#input-0"), found.inner_text("#decision")) == ("77", kept)


def test_a_locked_feature_does_not_change_and_one_that_is_held_stays_in_its_range(visit):
    opened = visit(page("two classes"))
    opened.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    row = {"age": 30.0, "income": 900.0, "visits": 3.0}
    opened.page.fill("#input-0", "30")
    opened.page.fill("#input-1", "900")
    opened.page.fill("#input-0-most", "48")
    model, rows = subject("two classes").models[0], subject("two classes").rows
    expected = explain.case(model, row, X=rows, changeable={"age": (None, 48), "income": None})
    found = opened.page.evaluate(FLIPS)
    assert found[0]["size"] == pytest.approx(expected.smallest.size, rel=0.03)
    assert all(change["to"] <= 48 for flip in found for change in flip["changes"] if change["place"] == 0)
    opened.page.uncheck("#input-0-free")
    assert not any(change["place"] == 0 for flip in opened.page.evaluate(FLIPS) for change in flip["changes"])


def test_a_value_outside_the_training_range_is_marked(visit):
    found = visit(page("two classes")).page
    assert not found.is_visible("#input-0-outside")
    found.fill("#input-0", "120")
    assert "outside the training range, 18 to 89" in found.inner_text("#input-0-outside")


def test_rows_can_be_loaded_only_if_they_were_asked_for(visit):
    one = given("two classes")
    assert 'id="row"' not in page("two classes")
    assert "No other row is in this page." in page("two classes")
    opened = visit(report_html(one.model, one.X, one.y, embed_rows=5, sections=["what-if"]))
    opened.page.select_option("#row", index=3)
    number = int(opened.page.eval_on_selector("#row", "it => it.selectedOptions[0].textContent").split(":")[0])
    assert float(opened.page.input_value("#input-0")) == one.X["age"].iloc[number - 1]


def test_the_threshold_of_least_cost_is_set(visit):
    opened = visit(page("imbalanced"))
    opened.page.fill("#cost-missed", "20")
    opened.page.click("#least-cost")
    shown = opened.page.evaluate(STATE)
    model, rows, code = subject("imbalanced").models[0], subject("imbalanced").rows, subject("imbalanced").code
    z = model.scores(rows)

    def cost(threshold):
        predicted = replace(model, decision_threshold=threshold).decide(z)
        return 20 * np.sum((code == 1) & (predicted == 0)) + np.sum((code == 0) & (predicted == 1))

    assert cost(float(shown["threshold"])) == min(cost(step / 1000) for step in range(1, 1000))
