"""The compiled loops of prediction.

Numba's cache does not notice a change in another file, so that these kernels call only each other.
"""

from functools import partial

import numpy as np

from smallearn._learn.compiling import compiled, compiled_as_written, prefetch

RAW, INSIDE, OUTSIDE = range(3)  # kinds of terms
BLOCK = 32  # rows: enough for vector instructions, few enough for the next rows to be fetched meanwhile
COLUMN_BLOCK = 64  # rows of an array by columns, of each of which memory is asked for the next piece
SPARSE_BLOCK = 128  # rows of a sparse matrix, of which only the columns in use are written out
FETCHED = 7 * 64  # bytes: the cache lines that memory sends while the scores of a block grow by one term


@compiled
def zero_if_finite(values, n):
    """0 if the first ``n`` values are finite, otherwise NaN."""
    nothing = values.dtype.type(0.0)
    total = nothing
    for i in range(n):
        total += nothing * values[i]
    return total


@compiled
def count_infinite(values):
    """The number of infinities."""
    total = 0
    for i in range(values.shape[0]):
        total += abs(values[i]) == np.inf
    return total


@compiled
def not_fit(values, gaps):
    """0 if all values are finite, or NaN where there may be ``gaps``; otherwise NaN."""
    if not gaps:
        return np.float64(zero_if_finite(values, values.shape[0]))
    return np.nan if count_infinite(values) > 0 else 0.0


@partial(compiled_as_written, inline="always")  # a call with so many arrays takes as long as a few rows
def answer_block(columns, first, n, rule, labels, scores, score, top, X, next_byte, end):
    """Write the ``labels`` of ``n`` rows, or their ``scores`` (prototypes × rows) if these have room for any.

    The answers start at row ``first``, what is in ``columns`` at 0.

    ``columns`` (columns × rows) are those in use. ``rule = (start, begin, intercept, offset, label, kind, at,
    weight, low, high)``: prototype ``j`` has the terms ``begin[j] … begin[j + 1] - 1``, and term ``t`` is about column
    ``at[t]``. The factor of its weight is the column, with ``low`` for NaN (`RAW`), or whether ``low < x ≤ high``
    (`INSIDE`) or not (`OUTSIDE`). The label is that of the highest score plus ``offset``, at a tie the first;
    ``label[-1]`` if none is above ``start``. Returns 0 if all scores are finite, otherwise NaN.

    The scores are those of the model bit for bit: the same products are added in the same order, and none is fused with
    its sum. ``score`` and ``top`` are space for ``n`` numbers. Memory is asked meanwhile for the bytes of ``X`` from
    ``next_byte`` to ``end``, or as many of them as there is time for.
    """
    start, begin, intercept, offset, label, kind, at, weight, low, high = rule
    unfit, written = 0.0, labels[first : first + n]
    for i in range(written.shape[0]):
        written[i] = label[-1]
        top[i] = start
    for j in range(intercept.shape[0]):
        constant = intercept[j]
        for i in range(n):
            score[i] = constant
        for t in range(begin[j], begin[j + 1]):
            for byte in range(next_byte, min(next_byte + FETCHED, end), 64):
                prefetch(X, byte)
            next_byte += FETCHED
            column, w, above, most = columns[at[t]], weight[t], low[t], high[t]
            if kind[t] == RAW:
                for i in range(n):
                    x = column[i]
                    score[i] += w * (x if x == x else above)
            else:
                inside, outside = (1.0, 0.0) if kind[t] == INSIDE else (0.0, 1.0)
                for i in range(n):
                    x = column[i]
                    score[i] += w * (inside if (above < x) & (x <= most) else outside)
        unfit += zero_if_finite(score, n)
        if scores.shape[1] > 0:
            kept = scores[j, first : first + n]
            for i in range(n):
                kept[i] = score[i]
        else:
            mine, more = label[j], offset[j]
            for i in range(n):
                lead = score[i] + more
                higher = lead > top[i]
                written[i] = mine if higher else written[i]
                top[i] = lead if higher else top[i]
    return unfit


@compiled_as_written
def answer_rows(X, gaps, used, rule, labels, scores):
    """`answer_block` for rows × features, of which ``used`` are in the rule; False if X or a score is not finite.

    With ``gaps``, X may have NaN. Each block is checked, scored and decided while it is in the cache.
    """
    m, d = X.shape
    columns = np.empty((used.shape[0], BLOCK))
    score, top = np.empty(BLOCK), np.empty(BLOCK)
    flat = X.reshape(X.size)
    unfit = 0.0
    for first in range(0, m, BLOCK):
        n = min(BLOCK, m - first)
        unfit += not_fit(flat[first * d : (first + n) * d], gaps)
        rows = X[first : first + n]
        for c in range(used.shape[0]):
            column, values = columns[c], rows[:, used[c]]
            for i in range(n):
                column[i] = values[i]
        next_byte = (first + n) * d * X.itemsize
        end = next_byte + BLOCK * d * X.itemsize
        unfit += answer_block(columns, first, n, rule, labels, scores, score, top, X, next_byte, end)
    return unfit == 0.0


@compiled_as_written
def answer_columns(X, begin, end, gaps, used, rule, labels, scores):
    """`answer_rows` for the rows ``begin … end - 1`` of features × rows."""
    columns = np.empty((used.shape[0], COLUMN_BLOCK))
    score, top = np.empty(COLUMN_BLOCK), np.empty(COLUMN_BLOCK)
    unfit = 0.0
    for l in range(X.shape[0]):
        if not (used == l).any():
            unfit += not_fit(X[l, begin:end], gaps)
    for first in range(begin, end, COLUMN_BLOCK):
        n = min(COLUMN_BLOCK, end - first)
        for c in range(used.shape[0]):
            column, values = columns[c], X[used[c], first : first + n]
            unfit += not_fit(values, gaps)
            next_byte = used[c] * X.strides[0] + (first + n) * X.itemsize
            for byte in range(next_byte, next_byte + n * X.itemsize, 64):
                prefetch(X, byte)
            for i in range(n):
                column[i] = values[i]
        unfit += answer_block(columns, first - begin, n, rule, labels, scores, score, top, X, 0, 0)
    return unfit == 0.0


@compiled
def most_entries(indptr, n):
    """The most entries in ``n`` rows of a sparse matrix, counted from row 0, ``n``, ``2n`` …"""
    most, m = 0, indptr.shape[0] - 1
    for first in range(0, m, n):
        most = max(most, indptr[min(first + n, m)] - indptr[first])
    return most


@compiled_as_written
def spread_entries(data, indices, begin, n, slots, steps, columns):
    """Add the entries of ``n`` rows to ``columns``, which are zeros: entry ``e`` at ``slots[indices[e]]`` plus its row.

    ``begin`` has where each row begins and the last one ends. ``steps``, space for zeros, says by how many rows an
    entry is after the one before it: a loop over entries alone takes half the time of one over the few of each row.
    """
    start, size = begin[0], begin[n] - begin[0]
    steps[: size + 1] = 0
    for i in range(1, n):
        steps[begin[i] - start] += np.uint64(1)
    values, features = data[start : start + size], indices[start : start + size]
    row = np.uint64(0)
    for e in range(size):
        row += steps[e]
        columns[slots[np.uint64(features[e])] + row] += values[e]  # unsigned: no position is counted from the end


@compiled_as_written
def answer_sparse(data, indices, indptr, gaps, used, d, rule, labels, scores):
    """`answer_rows` for a sparse matrix of ``d`` columns: row ``i`` has the entries from ``indptr[i]`` on."""
    m, k = indptr.shape[0] - 1, used.shape[0]
    flat = np.empty((k + 1) * SPARSE_BLOCK, dtype=data.dtype)  # the columns in use, and one for all others
    in_use = flat[: k * SPARSE_BLOCK]
    columns = in_use.reshape((k, SPARSE_BLOCK))
    slots = np.full(d, k * SPARSE_BLOCK, dtype=np.uint64)
    for c in range(k):
        slots[used[c]] = c * SPARSE_BLOCK
    score, top = np.empty(SPARSE_BLOCK), np.empty(SPARSE_BLOCK)
    steps = np.empty(most_entries(indptr, SPARSE_BLOCK) + 1, dtype=np.uint64)
    unfit = not_fit(data[indptr[0] : indptr[m]], gaps)
    for first in range(0, m, SPARSE_BLOCK):
        n = min(SPARSE_BLOCK, m - first)
        flat[:] = 0.0
        spread_entries(data, indices, indptr[first:], n, slots, steps, flat)
        unfit += not_fit(in_use, gaps)  # repeated entries are added, and their sum may overflow
        unfit += answer_block(columns, first, n, rule, labels, scores, score, top, data, 0, 0)
    return unfit == 0.0
