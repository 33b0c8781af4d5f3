"""The panel of the page: its fields and its script."""

from importlib.resources import files

import numpy as np
from hypothesis import assume, given, settings

from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.report import report_html
from smallearn.report._panel import fields_of as fields_and_start
from smallearn.report._script import PARTS
from tests.helpers.browser import HOSTILE, subject_of
from tests.helpers.models import CARD, models


def fields_of(model, X):
    return fields_and_start(subject_of(model, X))[0]


def test_the_script_is_ascii_and_has_no_end_within_it():
    script = report_html(HOSTILE).split('<script type="module">')[1].split("</script>")[0]
    for name in PARTS:
        own = (files("smallearn.report") / "script" / name).read_text(encoding="utf-8")
        assert own in script
        script = script.replace(own, "")
    assert script.isascii()
    assert "</" not in script
    assert "<!--" not in script


def _is_beyond(value):
    return isinstance(value, int | float) and abs(value) > 2.0**1023


@given(models())
@settings(max_examples=60)
def test_any_valid_model_has_fields(model):
    assume(not any(term.kind == "equals" and _is_beyond(term.value) for term in model.terms))  # no export takes these
    for field in fields_of(model, None):
        assert field.label.strip()
        if field.is_text:
            assert field.start in [value for _, value in field.options]
        else:
            assert field.low < field.high
            assert field.low <= field.start <= field.high
            assert 0.0 < field.step < field.high - field.low


def test_without_a_known_range_a_slider_spans_what_the_model_asks():
    age, colour, member = fields_of(CARD, None)
    assert age.low < 40.0 < age.high
    assert member.low <= 0.0 < 1.0 <= member.high
    assert [value for _, value in colour.options[:-1]] == ["red", "blue"]


def test_categories_that_are_numbers_stay_numbers():
    terms = (Term(0, 1.0, "code", "equals", "A"), Term(0, 2.0, "code", "equals", 3))
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -0.5, terms),))
    rows = np.array([["A"], [3], [3], [True], [None]], dtype=object)
    (field,) = fields_of(model, rows)
    assert [(words, value) for words, value in field.options[:-1]] == [("3", 3.0), ("1", 1.0), ("A", "A")]
    assert field.start == 3.0


def test_an_option_for_any_other_text_is_none_of_the_others():
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -0.5, (Term(0, 1.0, "x", "equals", "(any other)"),)),))
    (field,) = fields_of(model, None)
    assert len({value for _, value in field.options}) == 2
