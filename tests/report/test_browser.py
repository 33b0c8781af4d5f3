"""The page about a model in a browser: it computes what the model computes, and anyone can use it."""

import json

import pytest

from smallearn._text import show
from smallearn.explain import reason_codes
from smallearn.export import flatten
from smallearn.report import report_html
from smallearn.report._rule import is_card
from tests.helpers.browser import EXAMPLES, Example, answers, as_entered, example, panel_rows, typical
from tests.helpers.exports import full_table
from tests.helpers.tools import need_module

pytestmark = pytest.mark.browser

N_ROWS = 60
every = pytest.mark.parametrize("name", EXAMPLES)
few = pytest.mark.parametrize("name", ["breast cancer", "messy", "hostile"])


def number(text):
    return float(text.replace("−", "-"))


def check_answer(given: Example, found: dict, expected):
    """What is shown is what the model says: scores bit for bit, words rounded."""
    assert (int(found["label"]), int(found["prototype"])) == (expected.label, expected.prototype)
    assert json.loads(found["scores"], parse_int=float) == expected.scores
    assert float(found["score"]) == expected.scores[expected.prototype]
    assert float(found["probability"]) == pytest.approx(expected.probability, abs=1e-12)
    assert found["chances"][expected.label] == float(found["probability"])
    assert sum(found["chances"]) == pytest.approx(1.0)
    assert found["words"].startswith(
        (show(given.model.classes[expected.label], quote=False).strip() or "(empty)") + " ("
    )
    assert found["why"]
    owners, lead = given.model.owners, expected.scores[expected.prototype]
    others = [z for z, owner in zip(expected.scores, owners, strict=True) if owner != owners[expected.prototype]]
    if given.model.sole_owner is None and given.model.decision.offsets is None:
        lead -= max(others)
    elif given.model.sole_owner is None:
        return
    elif is_card(given.model):
        lead += given.model.score_card().zero  # points are counted from 0
    assert sum(found["points"]) == pytest.approx(lead, rel=1e-6, abs=1e-6)
    assert [number(text) for _, text in found["lines"]] == pytest.approx(found["points"], rel=6e-4)
    assert number(found["total"]) == pytest.approx(lead, rel=6e-4, abs=1e-9)


# --- the panel says what the model says ------------------------------------------------------------------------------


@every
def test_the_panel_computes_what_the_model_computes(visit, name):
    given = example(name)
    assert len(given.page.encode()) < 1_000_000
    opened = visit(given.page)
    rows = panel_rows(given, N_ROWS)
    found = opened.enter([as_entered(given, row) for row in rows])
    for one, expected in zip(found, answers(given, rows), strict=True):
        check_answer(given, one, expected)
    assert opened.page.evaluate("window.broken") is None


@every
def test_the_panel_begins_with_a_typical_case_and_returns_to_it(visit, name):
    given = example(name)
    opened = visit(given.page)
    (expected,) = answers(given, [typical(given)])
    before = opened.shown()
    check_answer(given, before, expected)
    opened.enter([as_entered(given, row) for row in panel_rows(given, 5, seed=1)])
    opened.page.click("#reset")
    assert opened.shown() == before


@pytest.mark.parametrize("name", ["messy", "mixed", "hostile"])
def test_a_user_who_types_chooses_and_ticks_gets_the_same(visit, name):
    given = example(name)
    page = (opened := visit(given.page)).page
    for row in panel_rows(given, 3, seed=2):
        for field, entry in zip(given.fields, as_entered(given, row), strict=True):
            if field.may_be_missing:
                page.set_checked(f"#{field.id}-missing", entry is None)
            if entry is None:
                assert page.is_disabled(f"#{field.id}")
            elif field.is_text:
                page.select_option(f"#{field.id}", index=entry)
            else:
                page.fill(f"#{field.id}", entry)
        check_answer(given, opened.shown(), answers(given, [row])[0])


def test_an_emptied_or_enormous_number_gives_no_answer_and_says_why(visit):
    given = example("breast cancer")
    page = (opened := visit(given.page)).page
    first = given.fields[0]
    before = opened.shown()
    for entry, message in (("", f"{first.label}: enter a number."), ("1e308", "too large")):
        page.fill(f"#{first.id}", entry)
        found = opened.shown()
        assert (found["words"], found["lines"], found["total"]) == ("No prediction", [], "")
        assert message in found["why"]
        assert not {"label", "scores", "score", "prototype", "probability"} & set(found)
        assert page.get_attribute(f"#{first.id}", "aria-invalid") == ("true" if entry == "" else "false")
    page.click("#reset")
    assert opened.shown() == before


def test_more_classes_are_told_how_far_ahead_the_winner_is(visit):
    given = example("iris")
    opened = visit(given.page)
    rows = panel_rows(given, 5)
    owners = [prototype.owner for prototype in given.model.prototypes]
    for row, expected in zip(rows, answers(given, rows), strict=True):
        (found,) = opened.enter([as_entered(given, row)])
        others = [z for z, owner in zip(expected.scores, owners, strict=True) if owner != owners[expected.prototype]]
        lead = number(found["why"].rsplit(", ", 1)[1].removesuffix(" lower."))
        assert lead == pytest.approx(expected.scores[expected.prototype] - max(others), rel=6e-4)


# --- nothing else runs -----------------------------------------------------------------------------------------------

INJECTED = """
<script>window.ran = ["script"];</script><script type="module">window.ran = ["module"];</script>
<img alt="" src="data:," onerror="window.ran = ['handler'];"><a id="trap" href="javascript:window.ran = ['link'];">x</a>
<b id="styled" style="position: fixed">x</b><style>#styled { position: absolute; }</style></body>"""
ATTEMPTS = """() => {
  const made = document.createElement("script");
  made.textContent = "window.ran = ['made'];";
  document.body.append(made);
  document.getElementById("trap").click();
}"""


@pytest.mark.parametrize("allowed", [False, True])
def test_a_script_that_is_put_into_the_page_does_not_run_and_the_page_works(visit, allowed):
    given = example("messy")
    before, end, after = given.page.rpartition("</body>")
    assert end
    opened = visit(before + INJECTED + after, quiet=False, bypass_csp=allowed)
    opened.page.evaluate(ATTEMPTS)
    opened.page.wait_for_timeout(100)
    assert (opened.page.evaluate("window.ran ?? null") is not None) == allowed
    assert opened.page.evaluate("getComputedStyle(document.getElementById('styled')).position") == (
        "fixed" if allowed else "static"
    )
    if not allowed:
        assert len([one for one in opened.complaints if "Content Security Policy" in one]) >= 6
    row = panel_rows(given, 1)[0]
    check_answer(given, opened.enter([as_entered(given, row)])[0], answers(given, [row])[0])


# --- anyone can use it -----------------------------------------------------------------------------------------------


@few
def test_the_keyboard_reaches_every_field_and_shows_where_it_is(visit, name):
    given = example(name)
    page = visit(given.page).page
    page.evaluate("document.querySelectorAll('#panel details').forEach((one) => { one.open = true; })")
    reached = []
    for _ in range(400):
        page.keyboard.press("Tab")
        here = page.evaluate(
            """() => {
              const it = document.activeElement, look = getComputedStyle(it);
              return [it.tagName, it.id, look.outlineStyle, parseFloat(look.outlineWidth)];
            }"""
        )
        if here[0] == "BODY":
            break
        assert here[2] != "none", here
        assert here[3] >= 2, here
        reached.append(here[1])
    controls = page.locator("#panel").locator("input, select, button").all()
    wanted = [one.get_attribute("id") for one in controls if one.is_enabled()]
    assert len(wanted) >= len(given.fields)
    assert [one for one in reached if one in wanted] == wanted


def test_arrow_keys_move_a_slider_and_the_decision_follows(visit):
    given = example("breast cancer")
    page = (opened := visit(given.page)).page
    field = given.fields[0]
    before = float(page.input_value(f"#{field.id}"))
    page.focus(f"#{field.id}-slider")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    after = page.input_value(f"#{field.id}")
    assert after == page.input_value(f"#{field.id}-slider")
    assert float(after) == pytest.approx(before + 3 * field.step, abs=1.01 * field.step)
    row = [float(after), *typical(given)[1:]]
    check_answer(given, opened.shown(), answers(given, [row])[0])
    page.keyboard.press("Home")
    assert float(page.input_value(f"#{field.id}")) == pytest.approx(field.low)


@few
@pytest.mark.parametrize("width", [320, 390, 1200])
def test_nothing_sticks_out_of_the_window(visit, name, width):
    page = visit(example(name).page, viewport={"width": width, "height": 800}).page
    for size in ("100%", "200%"):
        page.evaluate("(size) => { document.documentElement.style.fontSize = size; }", size)
        assert page.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [width, width], size


@pytest.mark.parametrize(
    ("name", "scheme", "width"),
    [
        *(("messy", scheme, width) for scheme in ("light", "dark") for width in (390, 1200)),
        ("breast cancer", "light", 1200),
        ("hostile", "dark", 390),
    ],
)
def test_axe_finds_nothing_to_complain_of(visit, name, scheme, width):
    axe = need_module("axe_playwright_python.sync_playwright").Axe()
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme, "bypass_csp": True}
    found = axe.run(visit(example(name).page, **options).page)
    assert found.response["violations"] == [], found.generate_report()


def test_colours_follow_the_system(visit):
    paper = "getComputedStyle(document.body).backgroundColor"
    page = example("messy").page
    light, dark = (visit(page, color_scheme=scheme).page.evaluate(paper) for scheme in ("light", "dark"))
    assert light == "rgb(255, 255, 255)"
    assert sum(int(part) for part in dark.strip("rgb()").split(",")) < 150


def sections(page):
    return {one.get_attribute("aria-labelledby"): one.is_visible() for one in page.locator("section").all()}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_paper_there_is_everything_but_the_panel(visit, scheme):
    page = visit(example("messy").page, color_scheme=scheme).page
    page.emulate_media(media="print")
    visible = sections(page)
    assert [name for name, seen in visible.items() if not seen] == ["try"]
    assert len(visible) >= 6
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF-")


def test_without_javascript_all_but_the_panel_can_be_read(visit):
    page = visit(example("messy").page, java_script_enabled=False).page
    assert all(sections(page).values())
    assert page.locator("noscript").inner_text().startswith("This panel needs JavaScript;")
    assert page.locator("noscript").is_visible()
    assert not page.locator("#panel").is_visible()


def test_links_lead_to_their_sections(visit):
    page = visit(example("breast cancer").page).page
    for link in page.locator("nav a").all():
        link.click()
        target = page.locator(link.get_attribute("href"))
        assert 0 <= target.evaluate("it => it.getBoundingClientRect().top") < page.viewport_size["height"]


@pytest.mark.parametrize("name", ["breast cancer", "messy", "card", "shared terms", "mixed"])
def test_reason_codes_are_those_of_python(visit, name):
    given = example(name)
    flat, labels = flatten(given.model), given.model.classes
    rows = panel_rows(given, N_ROWS)
    X = full_table(flat, rows)
    for label in labels if len(labels) > 2 else (None, labels[0]):
        words = {input_.label: f"<b>Bad luck with {input_.label}</b>" for input_ in flat.inputs[::2]}
        options = {"wording": words, "favourable": label}
        opened = visit(report_html(given.model, given.X, reason_codes=2, **options))
        expected = [[code for code in row if code is not None] for row in reason_codes(given.model, X, 2, **options)]
        found = []
        for row in rows:
            opened.enter([as_entered(given, row)])
            found.append(opened.page.eval_on_selector_all("#codes li", "lines => lines.map(line => line.textContent)"))
            assert opened.page.is_visible("#no-codes") == (not found[-1])
        assert found == expected
        assert len({tuple(row) for row in found}) > 1
