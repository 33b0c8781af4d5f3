"""Blocks of rows: every row once, in order, wherever they are cut."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from smallearn._learn.data import source
from smallearn._learn.data.source import ArraySource, Block, cut, join, pool_rows
from tests.helpers.large import rows_of


def everything(block, factor=1):
    return Block(block.X * factor, block.code, block.weight, block.position)


@pytest.mark.parametrize("kind", ["numbers", "sparse"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_blocks_are_all_rows_of_positive_weight_in_order(monkeypatch, kind, n_jobs):
    monkeypatch.setattr(source, "BLOCK_ENTRIES", 500)
    X, y = rows_of(kind, m=400)
    weight = np.where(np.arange(400) % 7 == 0, 0.0, 1.5)
    rows = ArraySource(X, y, weight, np.unique(y), n_jobs=n_jobs)
    blocks = list(rows.map(everything, 2))
    joined = join(blocks)
    kept = np.flatnonzero(weight)
    assert len(blocks) > 2
    np.testing.assert_array_equal(joined.position, kept)
    np.testing.assert_array_equal(joined.code, y[kept])
    assert set(joined.weight) == {1.5}
    dense = joined.X.toarray() if sparse.issparse(joined.X) else joined.X
    np.testing.assert_array_equal(dense, 2 * (X.toarray() if kind == "sparse" else X)[kept])


def test_blocks_are_cut_by_the_number_of_rows_and_their_width_alone():
    for n_rows in (1, 5, 10_000_000):
        blocks = cut(n_rows, 30)
        assert blocks[0].start == 0
        assert blocks[-1].stop == n_rows
        assert all(a.stop == b.start for a, b in pairwise(blocks))
        assert max(b.stop - b.start for b in blocks) * 30 <= max(30, source.BLOCK_ENTRIES + 30)


def test_long_rows_make_the_pool_smaller_but_never_tiny():
    assert pool_rows(10) == source.POOL_ROWS
    assert source.LEAST_POOL_ROWS < pool_rows(1_000) < source.POOL_ROWS
    assert pool_rows(10**6) == source.LEAST_POOL_ROWS
