"""The compiled loops of prediction.

Numba's cache does not notice a change in another file, so that these kernels call only each other.
"""

from functools import partial

import numpy as np

from smallearn._learn.compiling import compiled, compiled_as_written

RAW, INSIDE, OUTSIDE = range(3)  # kinds of terms
BLOCK = 32  # rows: enough for vector instructions, few enough for the next rows to be fetched meanwhile


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


@partial(compiled_as_written, inline="always")  # a call with so many arrays takes as long as a few rows
def answer_columns(columns, first, n, rule, labels, scores, score, top):
    """Write the ``labels`` of ``n`` rows, or their ``scores`` (prototypes × rows) if these have room for any.

    The answers start at row ``first``, what is in ``columns`` at 0.

    ``columns`` (columns × rows) are those in use. ``rule = (start, begin, intercept, offset, label, kind, at,
    weight, low, high)``: prototype ``j`` has the terms ``begin[j] … begin[j + 1] - 1``, and term ``t`` is about column
    ``at[t]``. The factor of its weight is the column, with ``low`` for NaN (`RAW`), or whether ``low < x ≤ high``
    (`INSIDE`) or not (`OUTSIDE`). The label is that of the highest score plus ``offset``, at a tie the first;
    ``label[-1]`` if none is above ``start``. Returns 0 if all scores are finite, otherwise NaN.

    The scores are those of the model bit for bit: the same products are added in the same order, and none is fused with
    its sum. ``score`` and ``top`` are space for ``n`` numbers.
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
                written[i] = mine if lead > top[i] else written[i]
                top[i] = max(top[i], lead)
    return unfit


@compiled_as_written
def answer_rows(X, gaps, used, rule, labels, scores):
    """`answer_columns` for rows × features, of which ``used`` are in the rule; False if X or a score is not finite.

    With ``gaps``, X may have NaN. Each block is checked, scored and decided while it is in the cache.
    """
    m, d = X.shape
    columns = np.empty((used.shape[0], BLOCK))
    score, top = np.empty(BLOCK), np.empty(BLOCK)
    flat = X.reshape(X.size)
    unfit = 0.0
    for first in range(0, m, BLOCK):
        n = min(BLOCK, m - first)
        block = flat[first * d : (first + n) * d]
        if not gaps:
            unfit += zero_if_finite(block, n * d)
        elif count_infinite(block) > 0:
            unfit = np.nan
        rows = X[first : first + n]
        for c in range(used.shape[0]):
            column, values = columns[c], rows[:, used[c]]
            for i in range(n):
                column[i] = values[i]
        unfit += answer_columns(columns, first, n, rule, labels, scores, score, top)
    return unfit == 0.0
