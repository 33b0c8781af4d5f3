"""Tables converted to files: the rows, the notes and the errors are those of a table in memory."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from smallearn._text import listed
from smallearn.cli.console import SILENT, Console
from smallearn.cli.errors import CommandError
from smallearn.cli.io import stored, tables
from smallearn.cli.io.rules import TrainingRules
from smallearn.cli.io.tables import ReadOptions, open_table
from tests.helpers.table_files import for_training, write

N = 350  # rows, in chunks of 100


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(tables, "CHUNK_CELLS", 1)


def store(path, target="y", *, missing=(), console=None, dtype="float64", **options):
    read, rules = ReadOptions(missing=tuple(missing)), TrainingRules(**options)
    return stored.store_for_training(path, target, rules=rules, dtype=dtype, options=read, console=console or Console())


def both(path, capsys, **options):
    """The rows in memory and in files, and the notes of each."""
    here = for_training(path, **options)
    notes = capsys.readouterr().err.splitlines()
    there = store(path, **options)
    more = capsys.readouterr().err.splitlines()
    assert more[0].endswith("(smallearn cache lists and removes them).")
    return here, there, notes, more[1:]


def check_same(here, there):
    table = there.table
    assert there.ignored == here.ignored
    assert there.missing == here.missing
    assert table.feature_names.tolist() == list(here.X.columns)
    assert there.categorical == here.categorical
    assert there.classes == here.classes
    assert table.classes.dtype == here.y.dtype
    assert np.array_equal(table.y, here.y)
    for l, name in enumerate(here.X.columns):
        (values,) = table.read_features(slice(None), [l])
        assert [None if v != v else v for v in values.tolist()] == [
            None if v is None or v != v else v for v in here.X[name].tolist()
        ], name


def messy(rng):
    """Columns of every kind, with what makes them hard at the end of the file."""
    late = np.arange(N) > 320
    return pd.DataFrame(
        {
            "number": rng.normal(size=N).round(3),
            "gaps": np.where(rng.random(N) < 0.2, "", rng.integers(0, 9, N).astype(str)),
            "late text": np.where(late, "none of these", rng.integers(0, 9, N).astype(str)),
            "late dash": np.where(late, "-", rng.integers(0, 9, N).astype(str)),
            "colour": rng.choice([" red", "red", "Red", "blue", "?"], N),
            "flag": rng.choice(["true", "FALSE", "NA"], N),
            "late flag": np.where(late, "maybe", "true"),
            "one": 7,
            "one but late": np.where(late, 8, 7),
            "empty": "",
            "when": [f"2020-01-{1 + i % 28:02d}" for i in range(N)],
            "name": [f"n{i}" for i in range(N)],
            "case": rng.permutation(N),
            "patient_id": rng.permutation(N) * 3,
            "twice_id": rng.permutation(N) // 2,
            "code": np.where(rng.random(N) < 0.1, -9, rng.integers(1, 4, N)),
            "y": np.where(
                np.arange(N) % 50 == 7, "", np.where(late & (rng.random(N) < 0.1), "rare", rng.choice(["a", "b"], N))
            ),
        }
    )


@pytest.mark.parametrize("name", ["t.csv", "t.txt", "t.tsv", "t.csv.gz"])
def test_rows_and_notes_of_text_files_are_those_in_memory(name, tmp_path, capsys):
    path = write(messy(np.random.default_rng(0)), tmp_path / name)
    here, there, notes, same_notes = both(path, capsys, missing=["-9"], drop=["gaps"], keep=["when"])
    assert len(notes) > 8
    assert here.missing == {"late dash": ("-",), "colour": ("?",), "flag": ("NA",)}
    again = store(path, console=SILENT, missing=["-9"], drop=["gaps"], keep=["when"])  # the files that were made
    assert again.missing == here.missing
    assert same_notes == notes
    check_same(here, there)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_rows_of_typed_files_are_those_in_memory(name, tmp_path, capsys):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "number": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N)),
            "whole": rng.integers(0, 5, N),
            "member": rng.choice(np.array([True, False, None], dtype=object), N),
            "colour": pd.Categorical(rng.choice(["red", "blue", "green"], N)),
            "text": rng.choice(["1", "2", "x "], N),
            "when": pd.date_range("2020-01-01", periods=N),
            "waited": pd.to_timedelta(np.arange(N), unit="s"),
            "id": rng.permutation(N),
            "y": pd.array(rng.choice(np.array([0, 1, None], dtype=object), N), dtype="Int64"),
        }
    )
    here, there, notes, same_notes = both(write(table, tmp_path / name), capsys)
    assert same_notes == notes
    check_same(here, there)
    assert there.classes == [0, 1]


@pytest.mark.parametrize(
    ("early", "late", "kind"),
    [
        ("1.234", "1.234.567", "numbers"),
        ("1.234", "0,5", "numbers"),
        ("1.234", "0.25", "numbers"),
        ("1,5", "0.25", "numbers"),
        ("1.234", "12.34,5", "text"),
    ],
)
def test_thousands_are_grouped_as_the_whole_column_says(early, late, kind, tmp_path, capsys):
    rng = np.random.default_rng(2)
    x = np.where(np.arange(N) > 320, late, early)
    table = pd.DataFrame({"x": x, "z": rng.normal(size=N), "y": rng.integers(0, 2, N)})
    here, there, notes, same_notes = both(write(table, tmp_path / "t.txt"), capsys)
    assert same_notes == notes
    assert (here.X["x"].dtype.kind == "f") == (kind == "numbers")
    check_same(here, there)


@pytest.mark.parametrize(
    "labels", [["TRUE", "FALSE"], ["true", "TRUE", "false"], ["01", "02"], ["1.0", "2"], ["a", "1"]]
)
def test_classes_are_read_as_in_memory(labels, tmp_path, capsys):
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"x": rng.normal(size=N), "y": rng.choice(labels, N)})
    here, there, _, _ = both(write(table, tmp_path / "t.csv"), capsys)
    check_same(here, there)


def refuse(path, **options):
    with pytest.raises(CommandError) as memory:
        for_training(path, **options)
    with pytest.raises(CommandError) as disk:
        store(path, **options)
    assert str(disk.value) == str(memory.value)
    return str(disk.value)


def test_errors_are_those_in_memory_and_leave_nothing_behind(tmp_path, cache):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=N), rng.integers(0, 2, N)
    assert "has no column 'z'" in refuse(write(pd.DataFrame({"x": x, "y": y}), tmp_path / "a.csv"), target="z")
    assert "a measurement or a name" in refuse(write(pd.DataFrame({"x": y, "y": x}), tmp_path / "b.csv"))
    assert "only one class" in refuse(write(pd.DataFrame({"x": x, "y": 0 * y}), tmp_path / "c.csv"))
    assert "at least two classes need 5 rows" in refuse(
        write(pd.DataFrame({"x": x, "y": np.arange(N) < 3}), tmp_path / "d.csv")
    )
    assert "no row has a class" in refuse(write(pd.DataFrame({"x": x, "y": np.nan * x}), tmp_path / "e.csv"))
    assert "no column is left" in refuse(write(pd.DataFrame({"x": 1, "y": y}), tmp_path / "f.csv"))
    x[333] = np.inf
    infinite = pa.table({"x": x, "y": y})
    pq.write_table(infinite, tmp_path / "g.parquet")
    assert "row 334, column 'x': infinity" in refuse(tmp_path / "g.parquet")
    assert list(cache.iterdir()) == []


def test_many_different_values_are_a_quantity_before_all_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("smallearn.cli.io.labels.MANY_VALUES", 50)
    rng = np.random.default_rng(5)
    write(pd.DataFrame({"x": rng.normal(size=N), "y": rng.normal(size=N)}), tmp_path / "t.csv")
    with pytest.raises(CommandError, match="has more than 50 different values in its first 99 rows"):
        store(tmp_path / "t.csv")


def test_text_of_too_many_kinds_is_ignored(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("smallearn.cli.io.feature_columns.MOST_CATEGORIES", 120)
    rng = np.random.default_rng(6)
    table = pd.DataFrame(
        {
            "x": rng.normal(size=N),
            "often": [f"t{i // 2}" for i in range(N)],
            "each": [f"t{i}" for i in range(N)],
            "y": rng.integers(0, 2, N),
        }
    )
    here, there, _, _ = both(write(table, tmp_path / "t.csv"), capsys)
    assert there.ignored == here.ignored == {"often": "has more than 120 different texts", "each": "looks like an ID"}


def test_a_converted_table_is_used_again_with_its_notes(tmp_path, cache, monkeypatch, capsys):
    path = write(messy(np.random.default_rng(7)), tmp_path / "t.csv")
    first = store(path)
    notes = capsys.readouterr().err.splitlines()[1:]
    monkeypatch.setattr(stored, "_convert", lambda *_, **__: pytest.fail("converted"))  # nothing is converted again
    second = store(path)
    again = capsys.readouterr().err.splitlines()
    assert "is read from files that were made of it earlier" in again[0]
    assert again[1:] == notes
    assert second.ignored == first.ignored
    assert np.array_equal(second.table.X, first.table.X, equal_nan=True)
    assert len(list(cache.iterdir())) == 1


@pytest.mark.parametrize("change", [{"drop": ["number"]}, {"keep": ["when"]}, {"dtype": "float32"}, {"missing": ["7"]}])
def test_other_options_and_other_content_are_converted_anew(change, tmp_path, cache):
    table = messy(np.random.default_rng(8))
    path = write(table, tmp_path / "t.csv")
    store(path, console=SILENT)
    store(path, console=SILENT, **change)
    assert len(list(cache.iterdir())) == 2
    write(table[::-1], path)
    store(path, console=SILENT)
    assert len(list(cache.iterdir())) == 3


def test_numbers_too_large_for_float32_are_refused(tmp_path, cache):
    path = write(pd.DataFrame({"x": [1.0, 1e300] * 10, "y": [0, 1] * 10}), tmp_path / "t.csv")
    with pytest.raises(CommandError, match="Column 'x' has infinite values, or values too large for float32"):
        store(path, dtype="float32")
    assert list(cache.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SMALLEARN_CACHE", str(tmp_path / "file" / "below"))
    path = write(pd.DataFrame({"x": np.arange(20.0) ** 2, "y": [0, 1] * 10}), tmp_path / "t.csv")
    with pytest.raises(CommandError, match=r"cannot be converted in .*below.* SMALLEARN_CACHE names another folder"):
        store(path)


# --- what is large ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.feather"])
def test_rows_are_estimated_without_reading_them(name, tmp_path):
    rng = np.random.default_rng(9)
    table = pd.DataFrame(rng.normal(size=(5000, 4)).round(4), columns=list("abcd"))
    estimated = open_table(write(table, tmp_path / name)).about_rows()
    assert 2000 < estimated < 15000
    assert estimated == 5000 or name != "t.parquet"


def test_a_table_is_large_by_its_size_or_by_the_free_memory(tmp_path, monkeypatch):
    file = open_table(write(pd.DataFrame(np.zeros((1000, 4)), columns=list("abcd")), tmp_path / "t.parquet"))
    assert stored.bytes_in_memory(file) == 8 * 4000
    assert not stored.is_large(file)
    monkeypatch.setattr(stored, "_free_memory", lambda: 4 * 8 * 4000 - 1)
    assert stored.is_large(file)
    monkeypatch.setattr(stored, "_free_memory", lambda: 4 * 8 * 4000 + 1)
    assert not stored.is_large(file)
    monkeypatch.setattr(stored, "LARGE", 8 * 3999)
    assert stored.is_large(file)


def test_the_notes_are_kept_as_json(tmp_path, cache):
    store(write(messy(np.random.default_rng(10)), tmp_path / "t.csv"), console=SILENT)
    (folder,) = cache.iterdir()
    record = json.loads((folder / stored.READING).read_text(encoding="utf-8"))
    assert any("differ only in case" in note for note in record["notes"]), listed(record["notes"])
