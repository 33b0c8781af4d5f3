"""The folder of converted tables: where it is, what is in it, and emptying it."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from smallearn.tables import CachedTable, _cache, cached_tables, clear_cache, open_table


def convert(folder=None, n=3):
    batch = pa.RecordBatch.from_pydict({"x": np.arange(float(n)), "z": np.ones(n), "y": np.arange(n) % 2})
    return open_table([batch], "y", cache=folder)


def test_tables_are_listed_and_removed(tmp_path):
    assert cached_tables(tmp_path / "none") == []
    assert clear_cache(tmp_path / "none") == 0
    convert(tmp_path)
    convert(tmp_path, n=5)
    found = cached_tables(tmp_path)
    assert all(isinstance(table, CachedTable) for table in found)
    assert sorted((table.n_rows, table.n_features, table.source) for table in found) == [
        (3, 2, "batches"),
        (5, 2, "batches"),
    ]
    assert all(table.n_bytes > table.n_rows * (2 * 8 + 4) for table in found)
    assert clear_cache(tmp_path) == sum(table.n_bytes for table in found)
    assert list(tmp_path.iterdir()) == []


def test_clearing_removes_what_was_left_unfinished_and_nothing_else(tmp_path):
    left = tmp_path / ".smallearn-abc" / "new"
    left.mkdir(parents=True)
    (left / "X").write_bytes(b"1234")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("mine")
    assert clear_cache(tmp_path) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_environment_names_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SMALLEARN_CACHE", str(tmp_path / "here"))
    convert()
    assert [table.path.parent for table in cached_tables()] == [tmp_path / "here"]
    assert clear_cache() > 0


@pytest.mark.parametrize(
    ("system", "folder"),
    [
        ("linux", "caches/smallearn/tables"),
        ("darwin", "home/Library/Caches/smallearn/tables"),
        ("win32", "local/smallearn/tables"),
    ],
)
def test_every_system_has_a_folder_for_caches(system, folder, tmp_path, monkeypatch):
    monkeypatch.delenv("SMALLEARN_CACHE", raising=False)
    monkeypatch.setattr(_cache.sys, "platform", system)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert _cache.cache_folder() == tmp_path / folder
