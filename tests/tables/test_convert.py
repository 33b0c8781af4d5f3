"""Tables become mapped files: the numbers, the categories, and what is refused."""

import os
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from smallearn import SMaLLClassifierCV
from smallearn.tables import _convert, cached_tables, open_table

N = 300


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(_convert, "ROWS_TOGETHER", 64)
    monkeypatch.setattr(_convert, "REWRITTEN", 100)


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    size = rng.normal(size=N)
    return pd.DataFrame(
        {
            "size": np.where(rng.random(N) < 0.1, np.nan, size),
            "whole": rng.integers(0, 9, N),
            "colour": pd.Series(["z"] * 200 + ["a"] * 50 + [None] * 50).sample(frac=1, random_state=0).to_numpy(),
            "member": rng.choice(np.array([True, False, None], dtype=object), N),
            "w": rng.integers(0, 3, N).astype(float),
            "y": np.where(size > 0, "yes", "no"),
        }
    )


def write(frame, path, **options):
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, **options)
    return path


def batch(**columns):
    return pa.RecordBatch.from_pydict(columns)


def values_of(table, name):
    (column,) = table.read_features(slice(None), [table.feature_names.tolist().index(name)])
    return [None if value is None or value != value else value for value in column.tolist()]


def expected(column):
    return [None if value is None or value != value else value for value in column.tolist()]


def check(table, frame):
    assert table.feature_names.tolist() == ["size", "whole", "colour", "member"]
    assert table.categories == {2: ("a", "z"), 3: (False, True)}
    assert table.classes.tolist() == ["no", "yes"]
    assert table.target == "y"
    assert table.y.tolist() == frame["y"].tolist()
    for name in table.feature_names:
        assert values_of(table, name) == expected(frame[name])


def test_parquet_csv_folders_and_batches_give_the_same_table(frame, tmp_path, cache):
    check(open_table(write(frame, tmp_path / "a.parquet", row_group_size=70), "y", ignore=["w"], cache=cache), frame)
    frame.to_csv(tmp_path / "a.csv", index=False)
    check(open_table(str(tmp_path / "a.csv"), "y", ignore=["w"], cache=cache), frame)
    (tmp_path / "parts").mkdir()
    for position, begin in enumerate(range(0, N, 100)):
        write(frame[begin : begin + 100], tmp_path / "parts" / f"{position}.parquet")
    check(open_table(tmp_path / "parts", "y", ignore=["w"], cache=cache), frame)
    whole = pa.Table.from_pandas(frame, preserve_index=False)
    check(open_table([whole], "y", ignore=["w"], cache=cache), frame)
    check(open_table(iter(whole.to_batches(90)), "y", ignore=["w"], cache=cache), frame)
    assert len(cached_tables(cache)) == 5


def test_dictionaries_are_categories_whatever_their_order_in_each_batch(cache):
    kind = pa.dictionary(pa.int32(), pa.string())
    batches = [
        batch(c=pa.array(["b", "a", None], pa.string()).cast(kind), y=[1, 0, 1]),
        batch(c=pa.array(["c", "b", "a"], pa.string()).cast(kind), y=[0, 0, 1]),
    ]
    table = open_table(batches, "y", cache=cache)
    assert table.categories == {0: ("a", "b", "c")}
    assert values_of(table, "c") == ["b", "a", None, "c", "b", "a"]
    assert table.classes.tolist() == [0, 1]


def test_every_kind_of_number_is_read(cache):
    columns = {
        "int8": pa.array([1, None, 3], pa.int8()),
        "float32": pa.array([0.5, 1.5, None], pa.float32()),
        "decimal": pa.array([Decimal("1.25"), None, Decimal("2")]),
        "y": [True, False, True],
    }
    table = open_table([batch(**columns)], "y", cache=cache)
    assert np.array_equal(table.X, [[1, 0.5, 1.25], [np.nan, 1.5, np.nan], [3, np.nan, 2]], equal_nan=True)
    assert table.classes.dtype == bool
    assert table.weight is None


def test_weights_are_a_column_of_their_own(frame, tmp_path, cache):
    table = open_table(write(frame, tmp_path / "a.parquet"), "y", weight="w", cache=cache)
    assert "w" not in table.feature_names
    assert table.weight.tolist() == frame["w"].tolist()


def test_float32_takes_half_the_space(frame, tmp_path, cache):
    path = write(frame[["size", "whole", "y"]], tmp_path / "a.parquet")
    wide = open_table(path, "y", cache=cache)
    narrow = open_table(path, "y", dtype="float32", cache=cache)
    assert (wide.X.nbytes, narrow.X.nbytes) == (N * 2 * 8, N * 2 * 4)
    assert np.array_equal(narrow.X, wide.X.astype(np.float32), equal_nan=True)


def test_the_model_is_that_of_the_rows_in_memory(frame, tmp_path, cache):
    features = frame.drop(columns=["w", "y"])
    options = {"categorical_features": ["colour", "member"], "random_state": 0, "verbose": -1}
    here = SMaLLClassifierCV(2, **options).fit(features, frame["y"]).model_
    table = open_table(write(frame, tmp_path / "a.parquet"), "y", ignore=["w"], cache=cache)
    there = SMaLLClassifierCV(2, **options).fit(table).model_
    assert [(t.feature, t.kind, t.value) for t in there.terms] == [(t.feature, t.kind, t.value) for t in here.terms]
    assert [t.weight for t in there.terms] == pytest.approx([t.weight for t in here.terms], rel=1e-8)
    assert there.was_trained_on(features, frame["y"])


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"x": [1.0], "y": [0]}, {"target": "z"}, "has no column 'z'; it has 'x', 'y'"),
        ({"x": [1.0], "y": [0]}, {"weight": "w"}, "has no column 'w'"),
        ({"x": [1.0], "y": [0]}, {"ignore": ["q"]}, "has no column 'q'"),
        ({"y": [0, 1]}, {}, "has no column besides 'y'"),
        ({"x": [1.0], "y": [0]}, {"dtype": "float16"}, "dtype='float16' is not one of 'float64', 'float32'"),
        ({"x": [1.0, 2.0], "y": ["a", None]}, {}, "Column 'y', the classes, has missing values"),
        ({"x": [1.0, 2.0], "y": [1.0, np.nan]}, {}, "Column 'y', the classes, has missing values"),
        ({"x": [1.0, np.inf], "y": [0, 1]}, {}, "Column 'x' has infinite values"),
        ({"x": [1.0, 1e300], "y": [0, 1]}, {"dtype": "float32"}, "Column 'x' has .* too large for float32"),
        ({"x": [[1], [2]], "y": [0, 1]}, {}, "Column 'x' has the type list"),
        ({"x": pd.to_datetime(["2020-01-01"]), "y": [0]}, {}, "Column 'x' has the type timestamp.*list it in ignore"),
        (
            {"x": [1.0], "y": pd.to_datetime(["2020-01-01"])},
            {},
            "Column 'y' has values of type .*, not numbers or text",
        ),
        ({"x": [1.0, 2.0], "w": [1.0, -1.0], "y": [0, 1]}, {"weight": "w"}, "the weights, has values that are"),
        ({"x": [1.0, 2.0], "w": [1.0, None], "y": [0, 1]}, {"weight": "w"}, "the weights, has values that are"),
        ({"x": [], "y": []}, {}, "The table has no rows"),
    ],
)
def test_bad_tables_are_refused_and_leave_nothing_behind(columns, options, message, cache):
    options = {"target": "y", **options}
    with pytest.raises(ValueError, match=message):
        open_table([pa.Table.from_pydict(columns)], cache=cache, **options)
    assert not cache.exists() or list(cache.iterdir()) == []


def test_parts_that_do_not_fit_together_are_refused(cache):
    first = batch(x=[1.0, 2.0], c=["a", "b"], y=[0, 1])
    with pytest.raises(ValueError, match="lacks the column 'c'"):
        open_table([first, batch(x=[1.0], y=[0])], "y", cache=cache)
    with pytest.raises(
        ValueError, match="Column 'c' has the type string in one part of the table and double in another"
    ):
        open_table([first, batch(x=[1.0], c=[2.0], y=[0])], "y", cache=cache)
    assert list(cache.iterdir()) == []


def test_what_is_no_table_is_refused(tmp_path, cache):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        open_table(tmp_path / "none.parquet", "y", cache=cache)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"has no file that ends in \.parquet"):
        open_table(tmp_path / "empty", "y", cache=cache)
    with pytest.raises(ValueError, match="A batch is a dict"):
        open_table([{"x": [1.0]}], "y", cache=cache)


def test_a_column_of_very_many_texts_is_refused(cache, monkeypatch):
    monkeypatch.setattr(_convert, "MOST_CATEGORIES", 3)
    with pytest.raises(ValueError, match="Column 'c' has more than 3 categories: if it is an ID, ignore it"):
        open_table([batch(c=list("abcd"), y=[0, 1, 0, 1])], "y", cache=cache)


def test_pyarrow_is_asked_for_if_it_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'smallearn\[cli\]'"):
        open_table("rows.parquet", "y")


# --- the cache -------------------------------------------------------------------------------------------------------


def test_the_same_content_is_converted_once(frame, tmp_path, cache, monkeypatch):
    path = write(frame, tmp_path / "a.parquet")
    first = open_table(path, "y", cache=cache)
    os.rename(path, tmp_path / "renamed.parquet")
    with monkeypatch.context() as patched:
        patched.setattr(_convert, "convert", lambda *_, **__: pytest.fail("converted again"))
        second = open_table(tmp_path / "renamed.parquet", "y", cache=cache)
    assert np.array_equal(first.X, second.X, equal_nan=True)
    write(frame[::-1], tmp_path / "renamed.parquet")
    open_table(tmp_path / "renamed.parquet", "y", cache=cache)
    open_table(tmp_path / "renamed.parquet", "y", ignore=["w"], cache=cache)
    assert len(cached_tables(cache)) == 3


def test_an_interrupted_conversion_leaves_nothing_behind(cache):
    def batches():
        yield batch(x=[1.0, 2.0], y=[0, 1])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_table(batches(), "y", cache=cache)
    assert list(cache.iterdir()) == []
    assert cached_tables(cache) == []
