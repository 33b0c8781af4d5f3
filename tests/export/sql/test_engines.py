"""Every database that is said to be run, Spark too, on what databases treat differently."""

import math
from dataclasses import replace

import pytest

from smallearn import SMaLLModel
from smallearn.explain import reason_codes
from smallearn.export._flat import flatten
from smallearn.export._sql.writer import to_sql
from smallearn.model import Prototype, Term
from tests.helpers.databases import EVERY_DIALECT, ID, check
from tests.helpers.exports import EXPECTED_COSTS, MIXED, MODELS, edge_rows, full_table
from tests.helpers.models import CARD

EXTREME = [1e300, -1e300, 1e-300, -5e-324, 2.2250738585072014e-308, 4503599627370497.5, 1e15 + 0.125]
SIX = {
    "every kind of term": MIXED,
    "card": CARD,
    "three classes": MODELS["shared, few columns"],
    "both of two classes": MODELS["both of two"],
    "threshold": MODELS["threshold of one of two"],
    "costs": EXPECTED_COSTS["costs out of order"],
}


@pytest.fixture(params=EVERY_DIALECT)
def db(request, databases):
    return databases[request.param]


def hard_rows(flat):
    """Edges with NULL and text, NaN in place of NULL, and huge and tiny numbers."""
    rows = edge_rows(flat, 60, seed=3)
    texts = [given.is_text for given in flat.inputs]
    nan = [
        [math.nan if cell is None and not text else cell for cell, text in zip(row, texts, strict=True)] for row in rows
    ]
    huge = []
    for place, text in enumerate(texts):
        huge += (
            []
            if text
            else [[*row[:place], value, *row[place + 1 :]] for row, value in zip(rows, EXTREME * 2, strict=False)]
        )
    return rows + nan + huge


@pytest.mark.parametrize("name", SIX)
def test_null_nan_text_huge_and_tiny_values_get_the_answer_of_the_model(db, name):
    flat = flatten(SIX[name])
    rows = [
        [value if flat.inputs[l].is_text or value is None else float(value) for l, value in enumerate(row)]
        for row in hard_rows(flat)
    ]
    assert any(None in row for row in rows)
    # The expression repeats everything: with costs, Spark takes minutes to plan it.
    check(db, SIX[name], rows, expression=(db.dialect, name) != ("spark", "costs"))


def test_the_expression_of_a_small_model_with_costs_gives_its_answer(db):
    prototypes = (
        Prototype(0, 0.5, (Term(0, -1.0, "age"),)),
        Prototype(1, -0.25, (Term(0, 0.5, "age"), Term(1, 1.5, "ward", "equals", "A"))),
        Prototype(2, 0.0, (Term(1, 2.0, "ward", "missing"),)),
    )
    costs = ((0.0, 1.0, 4.0), (2.0, 0.0, 1.0), (9.0, 3.0, 0.0))
    model = SMaLLModel(("a", "b", "c"), "<U1", 2, prototypes, scale=0.5, cost_matrix=costs)
    rows = [[age, ward] for age in (-4.0, -1.0, 0.0, 0.5, 3.0) for ward in ("A", "B", None)]
    assert set(model.predict(full_table(flatten(model), rows)).tolist()) == {"a", "b", "c"}
    check(db, model, rows)


@pytest.mark.parametrize("name", ["every kind of term", "card", "three classes", "threshold"])
def test_reason_codes_are_those_of_python(db, name):
    model = SIX[name]
    flat = flatten(model)
    rows = [row for row in hard_rows(flat) if all(cell is None or cell == cell for cell in row)][:100]
    words = {given.label: f"Bad luck with {given.label}" for given in flat.inputs[::2]}
    db.fill(
        [(ID, "integer"), *((given.label, db.text if given.is_text else db.double) for given in flat.inputs)],
        [[i, *row] for i, row in enumerate(rows)],
    )
    for label in model.classes if len(model.classes) > 2 else (None, model.classes[0]):
        query = to_sql(model, db.dialect, reason_codes=3, wording=words, favourable=label)
        found = {row[0]: row[-3:] for row in db.rows(query)}
        expected = reason_codes(model, full_table(flat, rows), wording=words, favourable=label)
        assert [found[i] for i in range(len(rows))] == expected.tolist()
        assert words[flat.inputs[0].label] in expected


def test_text_is_compared_sign_by_sign(db):
    texts = ["Á", "á", "A", "a", "a ", " a", "A\u0301", "", "it's", "b\\c", 'd"', "`", "x\ny", "${e}", "🚀", "%", "_"]
    terms = tuple(Term(0, 2.0**place, "ward", "equals", text) for place, text in enumerate(texts))
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -0.5, terms),))
    db.fill([("ward", db.text)], [[text] for text in [*texts, "other", None]])
    found = {row[0]: row[2] for row in db.rows(to_sql(model, db.dialect))}
    assert found == {**{text: 2.0**place - 0.5 for place, text in enumerate(texts)}, "other": -0.5, None: -0.5}


def test_whole_numbers_are_divided_and_compared_as_doubles(db):
    model = replace(CARD, scale=1.0, prototypes=(Prototype(1, -0.5, (Term(0, 0.3, "age"),)),), n_features=1)
    kind = next(kind for kind in db.types if "int" in kind.lower())
    db.fill([("age", kind)], [[1], [2], [None]])
    found = {row[0]: row[1:] for row in db.rows(to_sql(model, db.dialect))}
    chance = model.predict_proba([[1.0], [2.0]])
    assert found[1][1:] == pytest.approx([-0.2, chance[0].max()], abs=1e-12)
    assert found[2][1:] == pytest.approx([0.3 * 2 - 0.5, chance[1].max()], abs=1e-12)
    assert found[None] == [None, None, None]


def test_true_and_false_are_found_in_columns_of_booleans(db):
    rows = [[age, colour, member] for age in (30.0, None) for colour in ("red", None) for member in (1.0, 0.0, None)]
    stored = [[*row[:2], None if row[2] is None else bool(row[2])] for row in rows]
    db.fill([("age", db.double), ("colour", db.text), ("member", "boolean")], stored)
    found = [row[3] for row in db.rows(to_sql(CARD, db.dialect))]
    assert found == CARD.predict(full_table(flatten(CARD), rows)).tolist()


def test_the_conformance_query_returns_the_rows_that_differ(db):
    flat = flatten(MIXED)
    X = full_table(flat, [row for row in edge_rows(flat, 20) if row[2] is None or isinstance(row[2], str)])
    query = to_sql(MIXED, db.dialect, conformance=X)
    assert db.rows(query) == []
    first = MIXED.predict(X)[0]
    wrong = query.replace(f"'{first}'", f"'{first.upper()}'", 1)  # an expected class
    assert [row[0] for row in db.rows(wrong)] == [0]
