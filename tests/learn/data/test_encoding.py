"""Reading training data with categories and missing values."""

import math
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from smallearn._learn.data.encoding import MOST_CATEGORIES, encode_table
from tests.helpers.frames import pandas_table, polars_table

NAN = math.nan
FIELDS = {
    "size": [1.5, None, 3.0, 2.0],
    "colour": ["red", "blue", None, "red"],
    "member": [True, None, False, True],
    "floor": [2, 1, 2, 10],
}
VALUES = [[1.5, 1.0, 1.0, 2.0], [NAN, 0.0, NAN, 1.0], [3.0, NAN, 0.0, 2.0], [2.0, 1.0, 1.0, 10.0]]


TABLES = {
    "pandas": pandas_table(FIELDS),
    "pandas category": pandas_table(FIELDS, colour="category"),
    "pandas nullable": pandas_table(FIELDS, size="Float64", colour="string", member="boolean", floor="Int8"),
    "pandas objects": pandas_table(FIELDS, size=object, colour=object, member=object, floor=object),
    "polars": polars_table(FIELDS),
    "polars Categorical": polars_table(FIELDS, size=pl.Float32, colour=pl.Categorical, floor=pl.UInt8),
    "polars Enum": polars_table(FIELDS, colour=pl.Enum(["red", "blue", "green"])),
    "objects": np.array(list(zip(*FIELDS.values(), strict=True)), dtype=object),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("chosen", ["from_dtype", ["colour"], [1], np.array([False, True, False, False])], ids=str)
def test_text_becomes_codes_and_numbers_and_booleans_stay_numbers(table, chosen):
    found = encode_table(table, chosen, list(FIELDS))
    np.testing.assert_array_equal(found.values, VALUES)
    assert found.categories == {1: ("blue", "red")}
    assert found.values.dtype == np.float64
    assert found.values.flags.c_contiguous


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_text_that_is_not_said_to_be_categories_is_an_error_that_names_it(table):
    for chosen in (None, [], ["floor"], [0, 3]):
        with pytest.raises(
            ValueError, match=r"Column 'colour' contains text \('red'\), not numbers; pass categorical_f"
        ):
            encode_table(table, chosen, list(FIELDS))


def test_the_tables_own_names_are_used_where_none_are_given():
    assert list(encode_table(TABLES["pandas"], ["floor", "colour"]).categories) == [1, 3]
    with pytest.raises(ValueError, match="Column 'x1' contains text"):
        encode_table(TABLES["objects"])
    assert list(encode_table(TABLES["objects"], ["x1"]).categories) == [1]


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_numbers_and_booleans_may_be_categories_and_stay_what_they_are(table):
    found = encode_table(table, ["colour", "member", "floor"], list(FIELDS))
    assert found.categories == {1: ("blue", "red"), 2: (False, True), 3: (1, 2, 10)}
    np.testing.assert_array_equal(found.values[:, 3], [1.0, 0.0, 1.0, 2.0])
    np.testing.assert_array_equal(found.values[:, 2], [1.0, NAN, 0.0, 1.0])
    assert {type(value) for values in found.categories.values() for value in values} <= {str, bool, int, float}


def test_a_category_type_of_numbers_is_categories_and_an_absent_category_is_none():
    found = encode_table(pd.DataFrame({"a": pd.Categorical([3, 1, None], categories=[1, 2, 3])}), "from_dtype")
    assert found.categories == {0: (1, 3)}
    np.testing.assert_array_equal(found.values[:, 0], [1.0, 0.0, NAN])
    empty = encode_table(pl.DataFrame({"a": pl.Series([None, None], dtype=pl.Categorical)}), "from_dtype")
    assert empty.categories == {0: ()}
    assert np.isnan(empty.values).all()


def test_an_array_of_numbers_is_taken_as_it_is():
    X = np.array([[1.0, NAN], [3.0, 4.0]], order="F")
    for convert in (np.asarray, np.float32, lambda X: X.tolist(), pd.DataFrame, lambda X: X.astype(object)):
        found = encode_table(convert(X))
        np.testing.assert_array_equal(found.values, X)
        assert found.values.flags.c_contiguous
        assert found.categories == {}
    np.testing.assert_array_equal(encode_table(np.array([[True], [False]])).values, [[1.0], [0.0]])


def test_mixed_categories_are_sorted_numbers_first_and_equal_ones_are_one_in_any_order():
    column = ["b", 2, 1.0, "a", None, 1, True, Decimal("2.5"), np.float32(0.5), np.str_("a")]
    for order in (range(10), range(9, -1, -1), (5, 2, 6, 0, 1, 3, 4, 7, 8, 9)):
        X = np.array([[column[i]] for i in order], dtype=object)
        found = encode_table(X, [0])
        assert found.categories[0] == (0.5, True, 2, 2.5, "a", "b")
        assert [type(value) for value in found.categories[0]] == [float, bool, int, float, str, str]
        codes = dict(zip(order, found.values[:, 0], strict=True))
        assert [codes[i] for i in (0, 1, 2, 3, 5, 6, 9)] == [5.0, 2.0, 1.0, 4.0, 1.0, 1.0, 4.0]
        assert math.isnan(codes[4])


@given(st.lists(st.none() | st.text(max_size=3) | st.integers(-3, 3) | st.booleans(), min_size=1, max_size=20))
def test_codes_lead_back_to_the_values(values):
    X = np.empty((len(values), 1), dtype=object)
    X[:, 0] = values
    found = encode_table(X, [0])
    categories = found.categories[0]
    back = [None if math.isnan(code) else categories[int(code)] for code in found.values[:, 0]]
    assert back == values
    assert len(set(categories)) == len(categories) == len({value for value in values if value is not None})


@pytest.mark.parametrize(
    ("X", "chosen", "message"),
    [
        (pl.LazyFrame({"a": [1.0]}), None, "X is a LazyFrame, which is not evaluated yet"),
        (np.zeros(3), None, "Expected 2D array, got 1D array instead"),
        (sparse.csr_array(np.zeros((2, 2))), None, "sparse matrix"),
        (np.array([[math.inf]]), None, "Column 'x0' contains infinity"),
        (np.array([[math.inf]]), [0], "Column 'x0' contains infinity"),
        (np.array([[-math.inf]], dtype=object), None, "Column 'x0' contains infinity"),
        (np.array([[-math.inf]], dtype=object), [0], "Column 'x0' contains infinity"),
        (pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])}), None, "Column 'day' contains dates or times"),
        (pl.DataFrame({"day": [date(2020, 1, 1)]}), "from_dtype", "Column 'day' contains dates or times"),
        (np.array([[date(2020, 1, 1)]], dtype=object), [0], "contains datetime.* of type date; a category is"),
        (np.array([[date(2020, 1, 1)]], dtype=object), None, "'x0' contains a value that is not a number"),
        (np.array([[10**400]], dtype=object), None, "'x0' contains a value that is not a number"),
        (np.array([[b"a"]], dtype=object), [0], "of type bytes; a category is"),
        (np.array([[1j]]), None, "Complex data not supported: column 'x0'"),
        (np.array([[1j]], dtype=object), [0], "of type complex; a category is"),
        (np.zeros((1, 1), dtype="V3"), None, "values of type"),
        (np.zeros((2, 2)), "all", "categorical_features='all' is not None, 'from_dtype' or"),
        (np.zeros((2, 2)), [True], "categorical_features has 1 booleans for 2 columns"),
        (np.zeros((2, 2)), [2], "categorical_features has the position 2; X has columns 0 to 1"),
        (np.zeros((2, 2)), [-1], "categorical_features has the position -1; X has columns 0 to 1"),
        (np.zeros((2, 2)), ["a\n"], r"categorical_features names 'a\\n'; X has no such column. It has 'x0', 'x1'"),
        (np.zeros((2, 2)), [0.5], "is not an array of booleans, positions or names"),
        (np.zeros((2, 2)), [["x0"]], "categorical_features has shape"),
        (np.zeros((2, 2)), np.array(["x0", 1], dtype=object), "is not an array of booleans"),
        (np.arange(MOST_CATEGORIES + 1.0)[:, None], [0], "Column 'x0' has 10001 categories, more than 10000"),
        (np.arange(MOST_CATEGORIES + 1.0)[:, None].astype(str), [0], "Column 'x0' has 10001 categories"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_says_why(X, chosen, message):
    with pytest.raises(ValueError, match=message):
        encode_table(X, chosen)


def test_a_wrong_number_of_names_is_an_error():
    with pytest.raises(ValueError, match="1 feature names for 2 columns"):
        encode_table(np.zeros((2, 2)), None, ["a"])


def test_no_rows_are_no_trouble():
    assert encode_table(np.zeros((0, 2)), [0]).categories == {0: ()}
