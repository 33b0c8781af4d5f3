"""Rows in the order of a number: all of them, or the first few of many chunks."""

import numpy as np
import pyarrow as pa
import pytest

from smallearn.cli.io import ranking
from smallearn.cli.io.ranking import Ranking


@pytest.mark.parametrize("most", [None, 1, 7, 500])
def test_rows_come_back_in_order_and_ties_as_they_were(most, monkeypatch):
    monkeypatch.setattr(ranking, "ROWS_AT_ONCE", 11)
    numbers = np.random.default_rng(0).integers(0, 20, 120) / 20
    place, rows = Ranking(most), np.arange(120)
    for part in np.array_split(rows, 9):
        place.add(pa.table({"row": part}), [pa.array(numbers[part])], numbers[part])
        assert most is None or sum(map(len, place._numbers)) <= 2 * most + 2 * len(part)
    parts = list(place.parts())
    found = [value for chunk, _ in parts for value in chunk.column("row").to_pylist()]
    assert found == sorted(rows, key=lambda row: (-numbers[row], row))[:most]
    assert [value for _, added in parts for value in added[0].to_pylist()] == numbers[found].tolist()


def test_nothing_is_nothing_and_a_table_may_have_no_column():
    assert list(Ranking().parts()) == []
    place = Ranking(2)
    place.add(pa.table({}), [pa.array(["a", "b", "c"])], np.array([0.1, 0.9, 0.5]))
    assert [added[0].to_pylist() for _, added in place.parts()] == [["b", "c"]]
