"""Literals: what holds for which value, in arrays, sparse matrices, tables and single rows, with values missing."""

import math
from dataclasses import replace
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.model._rows import CHUNK_ROWS
from tests.helpers.frames import pandas_table, polars_table
from tests.helpers.models import CARD, by_definition, factor_by_definition

NAN = math.nan
# age, colour, not in use, member; the last column is the total by hand.
ROWS = [
    (50.0, "red", 0, True, -2 + 2 + 3 + 1),
    (40.0, "blue", 0, False, -2 - 1),
    (None, "green", 0, None, -2 + 1),
    (41.0, None, 0, True, -2 + 2 + 1),
]
TOTALS = [row[-1] for row in ROWS]
FIELDS = {name: [row[place] for row in ROWS] for place, name in enumerate(["age", "colour", "more", "member"])}


def one_term(kind, value=None, mean=None, weight=1.0, n_features=1):
    return SMaLLModel((0, 1), "<i8", n_features, (Prototype(1, 0.0, (Term(0, weight, "a", kind, value, mean),)),))


TABLES = {
    "pandas": pandas_table(FIELDS),
    "pandas category": pandas_table(FIELDS, colour="category", member="category"),
    "pandas nullable": pandas_table(FIELDS, age="Float64", colour="string", member="boolean"),
    "pandas whole numbers": pandas_table(FIELDS, age="Int64", colour="object", member="object"),
    "pandas numbers for booleans": pandas_table(FIELDS, member="float64"),
    "polars": polars_table(FIELDS),
    "polars Categorical": polars_table(FIELDS, age=pl.Float64, colour=pl.Categorical),
    "polars Enum": polars_table(FIELDS, age=pl.Float32, colour=pl.Enum(["blue", "green", "red"])),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_table_of_numbers_text_booleans_and_missing_values_gets_the_points_by_hand(table):
    assert CARD.scores(table)[:, 0].tolist() == TOTALS
    assert CARD.predict(table).tolist() == ["yes" if total > 0 else "no" for total in TOTALS]
    nameless = replace(
        CARD, prototypes=tuple(replace(p, terms=tuple(replace(t, name=None) for t in p.terms)) for p in CARD.prototypes)
    )
    assert nameless.scores(table)[:, 0].tolist() == TOTALS  # by position


@pytest.mark.parametrize("absent", [None, NAN, pd.NA, np.float32(NAN), pd.NaT], ids=str)
def test_an_object_array_and_single_rows_get_the_points_by_hand(absent):
    rows = [[absent if value is None else value for value in row[:4]] for row in ROWS]
    X = np.empty((4, 4), dtype=object)
    X[:] = rows
    assert CARD.scores(X)[:, 0].tolist() == TOTALS
    for row, total in zip(rows, TOTALS, strict=True):
        winner = "yes" if total > 0 else "no"
        assert CARD.predict_one(row) == winner
        assert CARD.predict_one(dict(zip(FIELDS, row, strict=True))) == winner
        assert CARD.predict_one(pd.Series(row, index=list(FIELDS), dtype=object)) == winner


@pytest.mark.parametrize("kind", ["at_most", "above"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, bool, object])
def test_a_threshold_belongs_to_the_lower_side(kind, dtype):
    X = np.array([[0], [1], [2]]).astype(dtype)
    below = X[:, 0].astype(float) <= 1.0
    np.testing.assert_array_equal(one_term(kind, 1.0).scores(X)[:, 0], below if kind == "at_most" else ~below)


def test_an_entry_that_a_sparse_matrix_does_not_store_is_zero():
    X = sparse.csr_array(np.array([[0.0], [2.0], [np.nan]]))
    assert one_term("at_most", 0.0).scores(X)[:, 0].tolist() == [1.0, 0.0, 0.0]
    assert one_term("above", 0.0).scores(X)[:, 0].tolist() == [0.0, 1.0, 0.0]
    assert one_term("equals", 0).scores(X)[:, 0].tolist() == [1.0, 0.0, 0.0]
    assert one_term("missing").scores(X)[:, 0].tolist() == [0.0, 0.0, 1.0]


def test_a_missing_value_makes_no_literal_hold_but_that_it_is_missing():
    for absent in (None, NAN, pd.NA):
        for kind, value in (("at_most", 1e300), ("above", -1e300), ("equals", 0), ("equals", ""), ("equals", "nan")):
            assert one_term(kind, value).scores(np.array([[absent]], dtype=object)).tolist() == [[0.0]]
        assert one_term("missing").scores(np.array([[absent]], dtype=object)).tolist() == [[1.0]]


def test_the_mean_stands_in_for_a_missing_number_and_without_one_it_is_an_error():
    for X in (np.array([[NAN], [2.0]]), pd.DataFrame({"a": [None, 2.0]}), pl.DataFrame({"a": [None, 2.0]})):
        assert one_term("raw", mean=7.0, weight=3.0).scores(X)[:, 0].tolist() == [21.0, 6.0]
        with pytest.raises(ValueError, match="contain NaN or infinity; it needs finite numbers for 'a'"):
            one_term("raw").scores(X)
    assert one_term("raw", mean=7.0).predict_one([None]) == 1
    assert one_term("raw", mean=-7.0).predict_one({"a": NAN}) == 0
    for absent in (None, NAN, pd.NA):
        with pytest.raises(ValueError, match="number"):
            one_term("raw").predict_one([absent])


@pytest.mark.parametrize("bad", [math.inf, -math.inf])
@pytest.mark.parametrize(
    ("kind", "value"),
    [("raw", None), ("at_most", 1.0), ("above", 1.0), ("equals", 1), ("equals", "a"), ("missing", None)],
)
def test_infinity_is_an_error_for_every_kind_of_term(kind, value, bad):
    model = one_term(kind, value, mean=0.0 if kind == "raw" else None)
    for X in (
        np.array([[bad]]),
        np.array([[bad]], dtype=object),
        pl.DataFrame({"a": [bad]}),
        sparse.csr_array([[bad]]),
    ):
        with pytest.raises(ValueError, match="NaN or infinity"):
            model.predict(X)
    with pytest.raises(ValueError, match="not a finite number"):
        model.predict_one([bad])


@pytest.mark.parametrize("kind", ["raw", "at_most", "above"])
@pytest.mark.parametrize(
    "X",
    [
        np.array([["tall"]]),
        np.array([[1.0], ["tall"]], dtype=object),
        pd.DataFrame({"a": ["tall"]}),
        pd.DataFrame({"a": ["tall"]}, dtype="category"),
        pl.DataFrame({"a": ["tall"]}),
    ],
)
def test_text_where_a_number_is_needed_is_an_error_that_shows_both(kind, X):
    model = one_term(kind, None if kind == "raw" else 1.0)
    with pytest.raises(ValueError, match=r"contain text \('tall'\); it needs numbers for 'a'"):
        model.predict(X)
    with pytest.raises(ValueError, match="'tall' is text"):
        model.predict_one(["tall"])


@pytest.mark.parametrize(
    ("category", "value", "same"),
    [
        ("red", "red", True),
        ("red", "Red", False),
        ("red", np.str_("red"), True),
        ("", "", True),
        ("a", "a\x00", False),
        ("a\x00", "a", False),
        ("1", 1, False),
        (1, "1", False),
        (1, 1.0, True),
        (1.0, 1, True),
        (True, True, True),
        (True, 1, True),
        (True, 1.0, True),
        (False, True, False),
        (0, False, True),
        (1, np.True_, True),
        (0.1, 0.1, True),
        (0.1, np.float32(0.1), False),
        (float(np.float32(0.1)), np.float32(0.1), True),
        (2**53 + 1, 2**53, False),
        (2**53 + 1, 2**53 + 1, True),
        (2**53 + 1, float(2**53), False),
        (float(2**53), 2**53 + 1, False),
        (2**70, 2**70, True),
        (2**70, 1, False),
        (300, np.uint8(44), False),
        (-1, np.uint8(255), False),
        (0.5, Decimal("0.5"), True),
    ],
)
def test_equality_is_by_value_and_exact(category, value, same):
    model = one_term("equals", category)
    assert model.predict_one([value]) == int(same)
    for X in (np.array([[value]]), np.array([[value]], dtype=object)):
        if not (isinstance(value, str) and value.endswith("\x00") and X.dtype.kind == "U"):  # numpy drops the end
            assert model.predict(X).tolist() == [int(same)]


def test_an_unknown_category_and_one_of_another_type_equal_nothing():
    model = one_term("equals", "red")
    for X in (pd.DataFrame({"a": ["violet", "blue"]}), pl.DataFrame({"a": [1.5, None]}), np.array([[1], [2]])):
        assert model.predict(X).tolist() == [0, 0]


@pytest.mark.parametrize(
    "value", [date(2020, 1, 1), b"red", (1, 2), object()], ids=["date", "bytes", "tuple", "object"]
)
@pytest.mark.parametrize(("kind", "category"), [("equals", "red"), ("missing", None)])
def test_what_is_neither_a_number_nor_text_is_refused(kind, category, value):
    model = one_term(kind, category)
    X = np.empty((1, 1), dtype=object)
    X[0, 0] = value
    with pytest.raises(ValueError, match=f"contain a value of type {type(value).__name__}; it needs numbers or text"):
        model.predict(X)
    with pytest.raises(ValueError, match=r"a value for each of 'a'.*is neither a number nor text"):
        model.predict_one([value])


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize(("kind", "category"), [("equals", "red"), ("equals", 3), ("missing", None)])
def test_a_column_of_dates_is_refused(table, kind, category):
    with pytest.raises(ValueError, match="values of type datetime64"):
        one_term(kind, category).predict(table({"a": np.array(["2020-01-01"], dtype="M8[us]")}))


def test_two_literals_of_one_feature_are_two_terms():
    assert [term.text for term in CARD.terms][:2] == ["[age > 40]", "[age is missing]"]
    assert len(CARD.terms) == 5
    assert [term.label for term in CARD.features] == ["age", "colour", "member"]


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (Term(3, 1.0), "x3"),
        (Term(3, 1.0, "radius", "at_most", 13.2), "[radius ≤ 13.2]"),
        (Term(3, 1.0, "word", "above", 0.0), "[word > 0]"),
        (Term(3, 1.0, None, "above", 1234567.891), "[x3 > 1234567.891]"),
        (Term(3, 1.0, "colour", "equals", "red"), "[colour = 'red']"),
        (Term(3, 1.0, "colour", "equals", "a\nb"), "[colour = 'a\\nb']"),
        (Term(3, 1.0, "colour", "equals", "n" * 10**6), f"[colour = '{'n' * 39}…{'n' * 20}']"),
        (Term(3, 1.0, "code", "equals", 123456789), "[code = 123456789]"),
        (Term(3, 1.0, "code", "equals", 0.5), "[code = 0.5]"),
        (Term(3, 1.0, "code", "equals", 123456789.5), "[code = 123456789.5]"),
        (Term(3, 1.0, "code", "equals", True), "[code = True]"),
        (Term(3, 1.0, "age\t", "missing"), "[age\\t is missing]"),
    ],
)
def test_a_term_in_words(term, text):
    assert term.text == text


def test_a_kind_that_is_none_cannot_be_made():
    with pytest.raises(ValueError, match="kind is one of raw, at_most, above, equals, missing, not 'below'"):
        Term(0, 1.0, kind="below")


def test_the_scale_multiplies_the_decision_and_changes_no_prediction():
    X = TABLES["pandas"]
    np.testing.assert_array_equal(CARD.decision_function(X), 0.5 * np.array(TOTALS, dtype=float))
    np.testing.assert_allclose(CARD.predict_proba(X)[:, 1], 1.0 / (1.0 + np.exp(-0.5 * np.array(TOTALS))), rtol=1e-14)
    for scale in (1e-320, 1e-3, 7.0):
        np.testing.assert_array_equal(replace(CARD, scale=scale).predict(X), CARD.predict(X))
    for scale in (0.0, -1.0, math.inf, NAN):
        with pytest.raises(ValueError, match="scale is a positive finite number"):
            replace(CARD, scale=scale)
    large = one_term("raw", weight=1e10)
    with pytest.raises(ValueError, match="overflow"):
        replace(large, scale=1e300).predict_proba([[1.0]])


def test_rows_beyond_one_chunk_are_read_like_the_first():
    colours = ["red", "blue", None] * CHUNK_ROWS
    for table in (pd.DataFrame({"a": colours}), pl.DataFrame({"a": colours})):
        scores = one_term("equals", "red").scores(table)[:, 0]
        np.testing.assert_array_equal(scores, [colour == "red" for colour in colours])


# Any literals of any values, against the definition.

numbers = st.integers(-3, 3).map(float) | st.floats(-10.0, 10.0)
values_of = {"number": numbers, "text": st.sampled_from(["", "a", "b"]), "boolean": st.booleans()}


@st.composite
def literal_models_with_rows(draw):
    types = draw(st.lists(st.sampled_from(sorted(values_of)), min_size=1, max_size=3))
    terms = []
    for index in draw(st.lists(st.integers(0, len(types) - 1), max_size=6)):
        kinds = ["equals", "missing"] if types[index] == "text" else ["raw", "at_most", "above", "equals", "missing"]
        kind = draw(st.sampled_from(kinds))
        value = draw(numbers) if kind in ("at_most", "above") else None
        value = draw(values_of[types[index]]) if kind == "equals" else value
        mean = draw(numbers) if kind == "raw" else None
        terms.append(Term(index, draw(numbers), f"f{index}", kind, value, mean))
    prototypes = (Prototype(1, draw(numbers), tuple(terms[::2])), Prototype(1, draw(numbers), tuple(terms[1::2])))
    row = st.tuples(*(st.none() | values_of[type_] for type_ in types))
    return SMaLLModel((0, 1), "<i8", len(types), prototypes), draw(st.lists(row, min_size=1, max_size=5))


@given(literal_models_with_rows())
def test_every_way_to_predict_agrees_with_the_definition(given_):
    model, rows = given_
    expected = [by_definition(model, row) for row in rows]
    X = np.empty((len(rows), model.n_features), dtype=object)
    X[:] = rows
    names = [f"f{index}" for index in range(model.n_features)]
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    pandas = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    tables = [X, pandas, pandas.convert_dtypes(), pl.DataFrame(columns, strict=False)]
    for table in tables:
        assert model.predict(table).tolist() == expected
    assert [model.predict_one(row) for row in rows] == expected
    assert [model.predict_one(dict(zip(names, row, strict=True))) for row in rows] == expected
    z = [
        sum(
            (term.weight * factor_by_definition(term, row[term.feature]) for term in prototype.terms),
            prototype.intercept,
        )
        for row in rows
        for prototype in model.prototypes
    ]
    np.testing.assert_array_equal(model.scores(X).ravel(), z)
