"""Cases that once went wrong in exports."""

import json
import sqlite3
import subprocess

import numpy as np
import pytest

from smallearn import SMaLLModel
from smallearn.export import float32_error_bound, quantise, to_c, to_javascript, to_python, to_sql
from smallearn.export._sql.dialects import DIALECTS
from smallearn.model import Prototype, Term
from tests.helpers.models import TRAINING
from tests.helpers.tools import need


def model_of(*terms, intercept=0.0, **fields):
    n_features = 1 + max(term.feature for term in terms)
    return SMaLLModel(("no", "yes"), "<U3", n_features, (Prototype(1, intercept, terms),), **fields)


def test_text_that_is_asked_for_absence_alone_is_text():
    model = model_of(Term(0, 1.0, "ward", "missing"), intercept=-0.5, training=TRAINING)
    rows = np.array([["A"], [None], [""]], dtype=object)
    assert model.predict(rows).tolist() == ["no", "yes", "no"]
    names: dict = {}
    exec(to_python(model), names)
    assert [names["predict"](row) for row in rows.tolist()] == ["no", "yes", "no"]
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE data (ward TEXT)")
    database.executemany("INSERT INTO data VALUES (?)", rows.tolist())
    expression = to_sql(model, "sqlite", form="expression")
    assert database.execute(f"SELECT {expression} FROM data").fetchall() == [("no",), ("yes",), ("no",)]
    whole = quantise(model, "int8")
    assert whole.predict(whole.codes(rows)).tolist() == [0, 1, 0]


def test_a_missing_count_is_its_mean():
    model = model_of(Term(0, 0.51, "a", mean=0.0), Term(1, 127.0, "b", mean=0.0))
    whole = quantise(model, "int8", counts={"a": (1.0, 0.0, 0, 1023), "b": (1.0, 0.0, 0, 10)})
    rows = np.array([[np.nan, 1.0], [0.0, 1.0], [np.nan, 0.0], [1000.0, np.nan], [np.nan, 10.0]])
    wrong = np.abs(whole.scores(whole.codes(rows))[:, 0] / float(whole.factor) - model.scores(rows)[:, 0])
    step = 1.0 / float(whole.factor)
    assert np.all(wrong <= 0.5 * 1023 * step + 2 * step)
    assert whole.predict(whole.codes(rows[:1])).tolist() == [1]


@pytest.mark.parametrize("number", ["int8", "int16"])
def test_more_categories_than_a_byte_has_numbers_are_told_apart(number):
    categories = [f"c{i}" for i in range(200)]
    model = model_of(*(Term(0, 1.0, "x", "equals", c) for c in categories[::2]), intercept=-0.5)
    whole = quantise(model, number)
    rows = np.array([[c] for c in categories], dtype=object)
    assert whole.predict(whole.codes(rows)).tolist() == [1, 0] * 100
    assert whole.codes(rows).max() < 2 ** (whole.input_bits - 1)


def test_a_text_input_that_is_compared_with_a_number_too_has_a_bound():
    model = model_of(Term(0, 1.0, "c", "equals", "A"), Term(0, 2.0, "c", "equals", 7.0), intercept=-0.5)
    rows = np.array([["A"], [7.0], ["B"]], dtype=object)
    assert np.all(float32_error_bound(model, rows) < 1e-5)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_conformance_query_with_two_columns_of_a_name_is_refused(dialect):
    model = model_of(Term(0, 1.0, "score"), Term(1, 1.0, "b"))
    with pytest.raises(ValueError, match="two columns called 'score'"):
        to_sql(model, dialect, conformance=np.zeros((1, 2)))


@pytest.mark.tools
def test_arguments_are_not_called_like_functions(tmp_path):
    model = model_of(Term(0, 1.0, "prototype 0"), Term(1, 1.0, "score"))
    (tmp_path / "model.c").write_text(to_c(model, name="x", arguments=True))
    subprocess.run([need("gcc"), "-std=c99", "-Wall", "-Werror", "-c", "model.c"], cwd=tmp_path, check=True)


def test_names_in_any_script_are_told_as_they_are():
    model = SMaLLModel(
        (0, 1), "<i8", 2, (Prototype(1, 0.5, (Term(0, 1.0, "Größe"), Term(1, 2.0, "ward", "equals", "Süd"))),)
    )
    names: dict = {}
    exec(to_python(model), names)
    assert "Größe" in str(names["reason"]([1.0, "Süd"]))
    assert "ward = 'Süd'" in str(names["reason"]([1.0, "Süd"]))
    assert json.dumps("ward = 'Süd'") in to_javascript(model)
