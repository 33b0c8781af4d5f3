"""``smallearn cache``: the converted tables are listed and removed."""

import json

import pyarrow as pa
import pytest

from smallearn.tables import open_table
from tests.helpers.commands import run


@pytest.fixture
def converted(tmp_path):
    """A table in the cache."""
    (tmp_path / "rows.csv").write_text("x,y\n1,a\n2,b\n3,a\n")
    return open_table(tmp_path / "rows.csv", "y")


def test_an_empty_cache_is_said_to_be_empty(cache, capsys):
    assert run(capsys, "cache").out == f"There are no converted tables in {cache}.\n"
    assert json.loads(run(capsys, "cache", "--json").out) == {"folder": str(cache), "tables": [], "cleared": False}


@pytest.mark.usefixtures("converted")
def test_tables_are_listed_with_their_source_shape_size_and_folder(cache, tmp_path, capsys):
    lines = run(capsys, "cache").out.splitlines()
    assert lines[0].startswith(f"1 table in {cache}, ")
    assert lines[1].startswith(f"  {tmp_path / 'rows.csv'}: 3 × 1, ")
    assert lines[2].strip().startswith(str(cache))
    (found,) = json.loads(run(capsys, "cache", "--json").out)["tables"]
    assert (found["n_rows"], found["n_features"], found["source"]) == (3, 1, str(tmp_path / "rows.csv"))
    assert found["n_bytes"] > 3 * (8 + 4)


@pytest.mark.usefixtures("converted")
def test_clear_removes_all_tables_and_what_interrupted_conversions_left(cache, capsys):
    open_table([pa.RecordBatch.from_pydict({"x": [1.0, 2.0], "y": [0, 1]})], "y")
    left = cache / ".smallearn-left" / "new"
    left.mkdir(parents=True)
    (left / "X").write_bytes(b"0" * 1000)
    (cache / "mine.txt").write_text("not a table")
    assert run(capsys, "cache", "--clear").out.startswith(f"Removed 2 tables from {cache}: ")
    assert [path.name for path in cache.iterdir()] == ["mine.txt"]
    assert json.loads(run(capsys, "cache", "--clear", "--json").out)["cleared"] is True
