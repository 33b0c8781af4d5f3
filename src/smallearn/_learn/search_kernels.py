"""The compiled loops of the search over supports: refits, rows that move, the gains of candidate terms, k-means.

They go through the rows in blocks of `BLOCK`, so that what they need of a block stays in the nearest cache, and each
inner loop runs along one contiguous column, so that it compiles to vector instructions. Numba's cache does not notice a
change in another file: after a change of `exp_of` or `log_of`, the only kernels of `kernels` that are called here,
change this file too.

Letters are those of `kernels`. A column of the support is a row of ``K`` (columns × m). The entries of prototype ``j``
are ``begin[j] … begin[j + 1] - 1``; entry ``e`` is the weight ``theta[e]`` of column ``at[e]``. Passes take what they
need to know of the rows as ``roles = (own, code, weight, owner, frozen, sharpness)``, where ``frozen[i]`` is the sum of
``exp z`` over what is in the loss of row ``i`` but does not change: 1 for a prototype frozen at zero, 0 without one.
At ``sharpness`` 1 the loss is the log loss. Above, it is bounded: with ``π`` the softmax of ``sharpness z`` and
``q = 1 - 1/sharpness`` it is ``(1 - π_own^q) (1 - q)/q``, which is the spherical score at 2. Its gradient is that of
the log loss at the sharper scores, with ``π_own^q`` times the weight of the row: its *pull*.
"""

from math import exp, log

import numpy as np

from smallearn._learn.compiling import compiled
from smallearn._learn.kernels import NO_PROTOTYPE, exp_of, log_of

BLOCK = 256  # rows
ROUNDING = 1e-9  # values that differ relatively by less are equal: the first counts, in any order of the rows
LEAST_STEP = 2.0**-14  # of Newton's step, when it is halved
WITHIN = 64  # entries, from which on the whole Hessian is the last resort
FARTHEST = 4.0  # change of a score, up to which the Hessian tells what a shared term gains
LEAST_PIVOT = 1e-14  # of a Cholesky factor, relative to the diagonal …
LEAST_COMPLEMENT = 1e-6  # … and of a Schur complement of approximate Hessians
LEAST_CURVATURE = 1e-8  # along a step: with less, the change of the gradient is rounding
STEEP = 500.0  # a score beyond this could overflow exp: such blocks are summed relative to the largest score


# --- the loss of a block of rows -------------------------------------------------------------------------------------


@compiled
def block_shares(z, n, own, code, weight, owner, frozen, sharpness, total, score, pull):
    """The loss of the ``n`` rows of a block from their scores ``z`` (p × `BLOCK`), which become the probabilities ``π``
    of the prototypes in the loss of each row (0 for those that are not in it). Fills the ``pull`` of each row, and
    returns the weighted loss."""
    p = owner.shape[0]
    q = 1.0 - 1.0 / sharpness
    steep = False
    for i in range(n):
        total[i] = frozen[i]
        score[i] = 0.0
    for j in range(p):
        largest = 0.0
        label = owner[j]
        for i in range(n):
            v = sharpness * z[j, i]
            largest = max(largest, abs(v))
            mine = own[i] == j
            score[i] = v if mine else score[i]
            z[j, i] = v if mine or label != code[i] else -1e300
        steep = steep or not largest < STEEP
    loss = 0.0
    if steep:
        for i in range(n):
            top = log(frozen[i]) if frozen[i] > 0.0 else -np.inf
            for j in range(p):
                top = max(top, z[j, i])
            sum_i = frozen[i] * exp(-top) if frozen[i] > 0.0 else 0.0
            for j in range(p):
                z[j, i] = exp(z[j, i] - top)
                sum_i += z[j, i]
            for j in range(p):
                z[j, i] /= sum_i
            total[i] = log(sum_i) + top - score[i]
    else:
        for j in range(p):
            for i in range(n):
                z[j, i] = exp_of(z[j, i])
                total[i] += z[j, i]
        for j in range(p):
            for i in range(n):
                z[j, i] /= total[i]
        for i in range(n):
            total[i] = log_of(total[i]) - score[i]
    if q == 0.0:
        for i in range(n):
            pull[i] = weight[i]
            loss += weight[i] * total[i]
    else:
        for i in range(n):
            share = exp_of(-q * total[i])
            pull[i] = weight[i] * share
            loss += weight[i] * (1.0 - share) * (1.0 - q) / q
    return loss


@compiled
def copy_block(K, at, b, n, x):
    """Copy rows ``b … b + n - 1`` of some columns into ``x`` (their number × `BLOCK`)."""
    for e in range(at.shape[0]):
        column = K[at[e], b : b + n]
        for i in range(n):
            x[e, i] = column[i]


@compiled
def places(at, n_columns):
    """The distinct columns of the entries, and which of them each entry has."""
    first = np.full(n_columns, -1)
    place = np.empty(at.shape[0], dtype=np.int64)
    distinct = np.empty(at.shape[0], dtype=np.int64)
    count = 0
    for e in range(at.shape[0]):
        if first[at[e]] < 0:
            first[at[e]] = count
            distinct[count] = at[e]
            count += 1
        place[e] = first[at[e]]
    return place, distinct[:count]


@compiled
def one_class(code, n):
    """The class of the ``n`` rows of a block, or -1 if there are several."""
    same = True
    for i in range(n):
        same = same and code[i] == code[0]
    return code[0] if same else -1


@compiled
def dot(x, y, n):
    """``Σ_i x_i y_i`` over the ``n`` rows of a block."""
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


# --- refits on a support ---------------------------------------------------------------------------------------------


@compiled
def entries_pass(K, at, begin, theta, roles, first, last, Z, g, H, across):
    """One pass over the rows ``first … last - 1``: fills their scores ``Z`` (p × m), adds the gradient of the loss to
    ``g`` and the Hessian to the lower triangle of ``H`` (unless it has no rows), and returns the loss. Unless
    ``across``, the Hessian is that within each prototype alone."""
    p = begin.shape[0] - 1
    bent = H.shape[0] > 0
    place, distinct = places(at, K.shape[0])
    x = np.empty((distinct.shape[0], BLOCK))
    z = np.empty((p, BLOCK))
    r = np.empty(BLOCK)
    h = np.empty(BLOCK)
    y = np.empty(BLOCK)
    pull = np.empty(BLOCK)
    owner, sharpness = roles[3], roles[5]
    loss = 0.0
    for b in range(first, last, BLOCK):
        n = min(BLOCK, last - b)
        own, code, weight = roles[0][b : b + n], roles[1][b : b + n], roles[2][b : b + n]
        copy_block(K, distinct, b, n, x)
        for j in range(p):
            for i in range(n):
                r[i] = 0.0
            for e in range(begin[j], begin[j + 1]):
                t = theta[e]
                column = x[place[e]]
                for i in range(n):
                    r[i] += t * column[i]
            out = Z[j, b : b + n]
            for i in range(n):
                out[i] = r[i]
                z[j, i] = r[i]
        loss += block_shares(z, n, own, code, weight, owner, roles[4][b : b + n], sharpness, r, h, pull)
        label = one_class(code, n)
        for j in range(p):
            for i in range(n):
                r[i] = pull[i] * (z[j, i] - 1.0 if own[i] == j else z[j, i])
                h[i] = sharpness * pull[i] * z[j, i] * (1.0 - z[j, i])
            for e in range(begin[j], begin[j + 1]):
                g[e] += dot(r, x[place[e]], n)
                if bent:
                    for i in range(n):
                        y[i] = h[i] * x[place[e], i]
                    for f in range(begin[j], e + 1):
                        H[e, f] += dot(y, x[place[f]], n)
            for k in range(j if bent and across else 0):
                if owner[j] == label and owner[k] == label:
                    continue  # no row has both in its loss
                for i in range(n):
                    h[i] = -sharpness * pull[i] * z[j, i] * z[k, i]
                for e in range(begin[j], begin[j + 1]):
                    for i in range(n):
                        y[i] = h[i] * x[place[e], i]
                    for f in range(begin[k], begin[k + 1]):
                        H[e, f] += dot(y, x[place[f]], n)
    return loss


@compiled
def cholesky(A, least):
    """Replace the lower triangle of ``A`` by its Cholesky factor. A pivot below ``least`` times the diagonal, which
    rounding made too small, is raised to that. Returns whether there was none."""
    n = A.shape[0]
    definite = True
    for e in range(n):
        for f in range(e + 1):
            dot = A[e, f]
            for a in range(f):
                dot -= A[e, a] * A[f, a]
            if e == f:
                lowest = least * max(A[e, e], 1e-300)
                definite = definite and dot > lowest
                A[e, e] = max(dot, lowest) ** 0.5
            else:
                A[e, f] = dot / A[f, f]
    return definite


@compiled
def cholesky_solve(L, v):
    """Replace ``v`` by ``(L Lᵀ)⁻¹ v``."""
    n = L.shape[0]
    for e in range(n):
        dot = v[e]
        for a in range(e):
            dot -= L[e, a] * v[a]
        v[e] = dot / L[e, e]
    for e in range(n - 1, -1, -1):
        dot = v[e]
        for a in range(e + 1, n):
            dot -= L[a, e] * v[a]
        v[e] = dot / L[e, e]


@compiled
def invert(L, inverse):
    """Fill ``inverse`` with ``(L Lᵀ)⁻¹``."""
    inverse[:] = 0.0
    for e in range(L.shape[0]):
        inverse[e, e] = 1.0
        cholesky_solve(L, inverse[e])


@compiled
def move_rows(Z, own, code, owner):
    """Move each row to the prototype of its class with the highest score, if that is higher; return how many moved."""
    moved = 0
    for i in range(own.shape[0]):
        best = own[i]
        if best != NO_PROTOTYPE:
            for j in range(owner.shape[0]):
                if owner[j] == code[i] and Z[j, i] > Z[best, i]:
                    best = j
            if best != own[i]:
                own[i] = best
                moved += 1
    return moved


@compiled
def bfgs_update(inverse, s, y):
    """Update an approximate inverse Hessian (BFGS), where a step ``s`` changed the gradient by ``y``."""
    size = s.shape[0]
    along = dot(s, y, size)
    if not along > LEAST_CURVATURE * (dot(s, s, size) * dot(y, y, size)) ** 0.5:
        return
    bent = np.empty(size)
    for e in range(size):
        bent[e] = dot(inverse[e], y, size)
    scale = (1.0 + dot(bent, y, size) / along) / along
    for e in range(size):
        of_step = scale * s[e] - bent[e] / along
        of_bent = -s[e] / along
        for f in range(size):
            inverse[e, f] += of_step * s[f] + of_bent * bent[f]


@compiled
def fit_entries(K, at, begin, theta, roles, alpha, tol, max_iter, rounds, inverse, known):
    """Minimise ``loss + λ/2 ‖θ‖²`` over the entries by Newton's method with backtracking, until the decrement is at
    most ``tol`` times the value; then let rows move to their best prototype and begin again, at most ``rounds`` times.

    If ``inverse`` is about the inverse Hessian (``known``), steps are taken with it, and passes are spared the Hessian:
    each step corrects ``inverse`` instead (BFGS). Otherwise, or if steps have to be shortened much, the Hessian is
    computed, and ``inverse`` filled; with many entries first from the Hessian within each prototype, which is corrected
    in turn.

    Changes ``theta`` and ``own`` in place; returns the value and the scores (p × m).
    """
    own, code, _, owner, _, _ = roles
    size = theta.shape[0]
    Z = np.empty((owner.shape[0], K.shape[1]))
    g = np.empty(size)
    last_g = np.empty(size)
    H = np.empty((size, size))
    step = np.zeros(size)
    trial = theta.copy()
    value = np.inf
    decrement = 0.0
    length = 1.0
    steps = 0
    across = not (known and size >= WITHIN)
    while True:  # one place that calls the pass: each is long when it is inlined
        g[:] = 0.0
        H[:] = 0.0
        new_value = entries_pass(K, at, begin, trial, roles, 0, K.shape[1], Z, g, H[: 0 if known else size], across)
        for e in range(size):
            new_value += 0.5 * alpha * trial[e] * trial[e]
        # The value at the present weights is taken as it is, even if it is NaN: then the search ends below.
        if value < np.inf and length > 0.0 and not new_value <= value - 0.1 * length * decrement:
            length *= 0.5
            if known and length < 0.2:  # begin again at the best weights, with the Hessian
                known = False
                value = np.inf
            if not known and (length < LEAST_STEP or value == np.inf):
                length = 0.0 if value < np.inf else 1.0
                step[:] = 0.0
            for e in range(size):
                trial[e] = theta[e] - length * step[e]
            continue
        first = value == np.inf
        value = new_value
        steps += 1
        decrement = 0.0
        for e in range(size):
            g[e] += alpha * trial[e]
        if known:
            if not first:
                for e in range(size):
                    step[e] = trial[e] - theta[e]
                    last_g[e] = g[e] - last_g[e]
                bfgs_update(inverse, step, last_g)
            for e in range(size):
                theta[e] = trial[e]
                last_g[e] = g[e]
                step[e] = dot(inverse[e], g, size)
        else:
            for e in range(size):
                theta[e] = trial[e]
                last_g[e] = g[e]
                step[e] = g[e]
                H[e, e] += alpha
            cholesky(H, LEAST_PIVOT)
            cholesky_solve(H, step)
            if not across:
                invert(H, inverse)
                known = True
                across = True  # the next time
        for e in range(size):
            decrement += g[e] * step[e]
        if steps > max_iter or length == 0.0 or not decrement > tol * value:
            if rounds == 0 or move_rows(Z, own, code, owner) == 0:
                break
            rounds -= 1
            steps = 0
            value = np.inf  # of the new assignment: the next pass is at the same weights
            step[:] = 0.0
        length = 1.0
        for e in range(size):
            trial[e] = theta[e] - step[e]
    if not known:
        invert(H, inverse)
    return value, Z


@compiled
def at_other_alpha(inverse, rise):
    """The inverse Hessian ``H⁻¹`` when λ rises by ``rise``: ``(1 + rise H⁻¹)⁻¹ H⁻¹``."""
    size = inverse.shape[0]
    L = rise * inverse
    for e in range(size):
        L[e, e] += 1.0
    cholesky(L, LEAST_PIVOT)
    tilted = inverse.copy()
    for e in range(size):
        cholesky_solve(L, tilted[e])
    return tilted


@compiled
def border(inverse, complement, follow):
    """The inverse Hessian on the entries of a support and some new ones, which come last. ``complement`` is that on the
    new ones when the others adapt, ``follow`` (new × old) by how much these do."""
    p, size = follow.shape
    full = np.zeros((size + p, size + p))
    for e in range(size):
        for f in range(size):
            full[e, f] = inverse[e, f]
    for j in range(p):
        row = full[size + j]
        for k in range(p):
            row[size + k] = complement[j, k]
            for e in range(size):
                row[e] += complement[j, k] * follow[k, e]
        for e in range(size):
            full[e, size + j] = row[e]
    for j in range(p):
        for e in range(size):
            for f in range(size):
                full[e, f] += follow[j, e] * full[size + j, f]
    return full


@compiled
def losses_without(theta, inverse, column, columns):
    """By how much the objective is expected to rise without each of some columns, in all prototypes, when the other
    weights adapt: ``θᵀ [H⁻¹]⁻¹ θ / 2`` over its entries."""
    losses = np.zeros(columns.shape[0])
    for a in range(columns.shape[0]):
        entries = np.flatnonzero(column == columns[a])
        size = entries.shape[0]
        L = np.empty((size, size))
        v = np.empty(size)
        for e in range(size):
            v[e] = theta[entries[e]]
            for f in range(size):
                L[e, f] = inverse[entries[e], entries[f]]
        cholesky(L, LEAST_PIVOT)
        cholesky_solve(L, v)
        for e in range(size):
            losses[a] += 0.5 * v[e] * theta[entries[e]]
    return losses


@compiled
def read_columns(X, mean, inverse, bins, first, low, high, columns, out):
    """Fill row ``a`` of ``out`` with column ``columns[a]``, standardised: of ``X``, then of the literals (see
    ``screen_pass``), then a column of ones. ``X`` is read once, block by block."""
    m, n = X.shape
    last = n + low.shape[0]
    for b in range(0, m, BLOCK):
        rows = min(BLOCK, m - b)
        x = X[b : b + rows]
        for a in range(columns.shape[0]):
            l = columns[a]
            column = out[a, b : b + rows]
            if l < n:
                for i in range(rows):
                    column[i] = (x[i, l] - mean[l]) * inverse[l]
            elif l < last:
                f = 0
                while f + 1 < first.shape[0] and first[f + 1] <= low[l - n]:
                    f += 1
                true = (1.0 - mean[l]) * inverse[l]
                false = -mean[l] * inverse[l]
                begin = low[l - n] - first[f]
                end = high[l - n] - first[f]
                cells = bins[b : b + rows]
                for i in range(rows):
                    column[i] = true if begin <= cells[i, f] < end else false
            else:
                for i in range(rows):
                    column[i] = 1.0


# --- what to try -----------------------------------------------------------------------------------------------------


@compiled
def shares(Z, roles, PI, V, bend):
    """From the scores ``Z`` (p × m): the probabilities ``PI`` (p × m) and, row by row, what candidate terms are summed
    with (``V``, m × 2p): the residuals ``pull (π - [own])``, then the curvatures ``bend π (1 - π)``, where ``bend``
    (m) is ``sharpness pull``."""
    p, m = Z.shape
    z = np.empty((p, BLOCK))
    total = np.empty(BLOCK)
    score = np.empty(BLOCK)
    pull = np.empty(BLOCK)
    sharpness = roles[5]
    for b in range(0, m, BLOCK):
        n = min(BLOCK, m - b)
        own, weight = roles[0][b : b + n], roles[2][b : b + n]
        for j in range(p):
            row = Z[j, b : b + n]
            for i in range(n):
                z[j, i] = row[i]
        code, frozen = roles[1][b : b + n], roles[4][b : b + n]
        block_shares(z, n, own, code, weight, roles[3], frozen, sharpness, total, score, pull)
        block = V[b : b + n]
        for i in range(n):
            bend[b + i] = sharpness * pull[i]
        for j in range(p):
            row = PI[j, b : b + n]
            for i in range(n):
                pi = z[j, i]
                row[i] = pi
                block[i, j] = pull[i] * (pi - 1.0 if own[i] == j else pi)
                block[i, p + j] = sharpness * pull[i] * pi * (1.0 - pi)


@compiled
def screen_pass(X, mean, inverse, bins, first, low, high, n_bins, V, raw, literals, G, H):
    """Gradient and curvature of every candidate term, from what `shares` has for each row: fills ``G`` with
    ``Σ_i V_ij x_i`` and ``H`` with ``Σ_i V_i,p+j x_i²`` (both p × d, of zeros), where ``x = (X - mean) * inverse``.

    The first columns are those of ``X``, left out unless ``raw``. Then come literals, left out unless ``literals``:
    number ``i`` is true on the bins ``low[i] … high[i] - 1``, where the bins of feature ``f`` begin at ``first[f]``.
    Their sums are differences of running sums over a histogram by bin, so that a pass costs as much as one column for
    each feature. If ``G`` has one column more, it is the intercept's.
    """
    m, p = V.shape[0], V.shape[1] // 2
    n = X.shape[1]
    used = n if raw else 0
    features = bins.shape[1] if literals else 0
    x = np.zeros((4, n))
    square = np.zeros((4, n))
    v = np.zeros((4, 2 * p))
    total = np.zeros(2 * p)
    hist = np.zeros((n_bins + 1, 2 * p))
    for begin in range(0, m, 4):  # four rows for each time that the sums are read and written
        count = min(4, m - begin)
        if count < 4:
            v[:] = 0.0
        rows = V[begin : begin + count]
        cells = X[begin : begin + count]
        for a in range(count):
            for c in range(2 * p):
                v[a, c] = rows[a, c]
                total[c] += rows[a, c]
            for l in range(used):
                x[a, l] = (cells[a, l] - mean[l]) * inverse[l]
            for l in range(used):
                square[a, l] = x[a, l] * x[a, l]
        for j in range(p if used > 0 else 0):
            s0, s1, s2, s3 = v[0, j], v[1, j], v[2, j], v[3, j]
            h0, h1, h2, h3 = v[0, p + j], v[1, p + j], v[2, p + j], v[3, p + j]
            for l in range(used):
                G[j, l] += s0 * x[0, l] + s1 * x[1, l] + s2 * x[2, l] + s3 * x[3, l]
            for l in range(used):
                H[j, l] += h0 * square[0, l] + h1 * square[1, l] + h2 * square[2, l] + h3 * square[3, l]
        for a in range(count if features > 0 else 0):
            for f in range(features):
                row = hist[1 + first[f] + bins[begin + a, f]]
                for c in range(2 * p):
                    row[c] += v[a, c]
    for b in range(n_bins):
        for c in range(2 * p):
            hist[b + 1, c] += hist[b, c]
    for i in range(low.shape[0] if literals else 0):
        l = n + i
        for j in range(p):
            s = hist[high[i], j] - hist[low[i], j]
            h = hist[high[i], p + j] - hist[low[i], p + j]
            G[j, l] = (s - total[j] * mean[l]) * inverse[l]
            H[j, l] = (h * (1.0 - 2.0 * mean[l]) + total[p + j] * mean[l] * mean[l]) * inverse[l] * inverse[l]
    last = n + low.shape[0]
    if G.shape[1] > last:
        for j in range(p):
            G[j, last] = total[j]
            H[j, last] = total[p + j]


@compiled
def rank(value, top, best):
    """Fill ``best`` with the positions of the ``top`` largest positive values, largest first; return their number.

    Values that differ by rounding alone are equal, and the first comes first: literals that agree on all rows tie, and
    the choice between them should not depend on the order or the weights of the rows.
    """
    most = 0.0
    for q in range(value.shape[0]):
        most = max(most, value[q])
    if not most > 0.0:
        return 0
    unit = ROUNDING * most
    rounded = np.empty(top)
    count = 0
    for q in range(value.shape[0]):
        if not value[q] > 0.0 or (count == top and value[q] < rounded[count - 1] * unit):
            continue
        share = np.rint(value[q] / unit)
        if count == top and share <= rounded[count - 1]:
            continue
        if count < top:
            count += 1
        a = count - 1
        while a > 0 and rounded[a - 1] < share:
            rounded[a] = rounded[a - 1]
            best[a] = best[a - 1]
            a -= 1
        rounded[a] = share
        best[a] = q
    return count


@compiled
def promising(G, H, alpha, usable, sign, price, left, prototype, column, shared, top):
    """The entries that alone would lower the objective most, by ``g²/2(h + λ)``, best first: positions in ``G`` (p × d)
    and gains. If the prototypes share their terms, positions are columns, and gains are summed over the prototypes.

    Entries of the support, those that cannot be used or afforded, and those whose weight would get a sign that is not
    allowed are left out.
    """
    p, d = G.shape
    gain = np.zeros(d if shared else p * d)
    for j in range(p):
        at = 0 if shared else j * d
        for l in range(d):
            if usable[l] and (price[l] <= left[j] or price[l] == 0.0) and not G[j, l] * sign[l] > 0.0:
                gain[at + l] += 0.5 * G[j, l] * G[j, l] / (H[j, l] + alpha)
    having = np.zeros(d)
    for e in range(column.shape[0]):
        q = column[e] if shared else prototype[e] * d + column[e]
        if shared:  # what the prototypes that have the column would gain does not count
            j = prototype[e]
            having[q] += 1
            if usable[q] and not G[j, q] * sign[q] > 0.0:
                gain[q] -= 0.5 * G[j, q] * G[j, q] / (H[j, q] + alpha)
            if having[q] == p:
                gain[q] = 0.0
        else:
            gain[q] = 0.0
    best = np.empty(top, dtype=np.int64)
    best = best[: rank(gain, top, best)]
    return best, gain[best]


@compiled
def joint_gains(K, at, begin, PI, bend, roles, inverse, G, H, alpha, best, slot):
    """What entries ``best`` (positions in ``G``, columns ``slot`` of ``K``) would lower the objective by if the present
    weights change with them: ``g²/2(h + λ - h_S H_S⁻¹ h_S)``, where ``h_S`` are the second derivatives in the new entry
    and in those of the support.

    Returns the gains, the Newton step for each (in the entries of the support, then the new one), and their order from
    the largest gain to the smallest.
    """
    owner = roles[3]
    p, m = PI.shape
    d = G.shape[1]
    size = at.shape[0]
    n_best = best.shape[0]
    x = np.empty((size, BLOCK))
    trial = np.empty((n_best, BLOCK))
    h = np.empty(BLOCK)
    y = np.empty(BLOCK)
    cross = np.zeros((n_best, size))
    for b in range(0, m, BLOCK):
        n = min(BLOCK, m - b)
        share = bend[b : b + n]
        label = one_class(roles[1][b : b + n], n)
        copy_block(K, at, b, n, x)
        copy_block(K, slot, b, n, trial)
        for j in range(p):
            wanted = False
            for a in range(n_best):
                wanted = wanted or best[a] // d == j
            mine = PI[j, b : b + n]
            for k in range(p):
                if not wanted or (k != j and owner[j] == label and owner[k] == label):
                    continue
                other = PI[k, b : b + n]
                for i in range(n):
                    h[i] = share[i] * mine[i] * (1.0 - mine[i] if k == j else -other[i])
                for e in range(begin[k], begin[k + 1]):
                    for i in range(n):
                        y[i] = h[i] * x[e, i]
                    for a in range(n_best):
                        if best[a] // d == j:
                            cross[a, e] += dot(y, trial[a], n)
    gain = np.empty(n_best)
    step = np.empty((n_best, size + 1))
    for a in range(n_best):
        j, l = best[a] // d, best[a] % d
        full = H[j, l] + alpha
        rest = full
        for e in range(size):
            moved = 0.0
            for f in range(size):
                moved += inverse[e, f] * cross[a, f]
            step[a, e] = moved
            rest -= cross[a, e] * moved
        rest = max(rest, 1e-3 * full)
        gain[a] = 0.5 * G[j, l] * G[j, l] / rest
        step[a, size] = -G[j, l] / rest
        for e in range(size):
            step[a, e] *= -step[a, size]
    order = np.empty(n_best, dtype=np.int64)
    return gain, step, order[: rank(gain, n_best, order)]


@compiled
def shared_gains(K, at, begin, PI, bend, inverse, G, alpha, best, slot):
    """As `joint_gains` for columns ``best`` that all prototypes get at once: ``gᵀ S⁻¹ g / 2``, where ``S`` (p × p) is
    the Schur complement of the present entries in the Hessian.

    Returns the gains, the Newton step for each (in the entries of the support, then in the new ones), ``S⁻¹``, by how
    much the weights of the support follow those of the new entries, and the order from the largest gain.
    """
    p, m = PI.shape
    size = at.shape[0]
    n_best = best.shape[0]
    x = np.empty((size, BLOCK))
    trial = np.empty((n_best, BLOCK))
    h = np.empty(BLOCK)
    y = np.empty(BLOCK)
    cross = np.zeros((n_best, p, size))
    S = np.zeros((n_best, p, p))
    extent = np.zeros(n_best)
    for b in range(0, m, BLOCK):
        n = min(BLOCK, m - b)
        share = bend[b : b + n]
        copy_block(K, at, b, n, x)
        copy_block(K, slot, b, n, trial)
        for a in range(n_best):
            for i in range(n):
                extent[a] = max(extent[a], abs(trial[a, i]))
        for j in range(p):
            mine = PI[j, b : b + n]
            for k in range(j + 1):
                other = PI[k, b : b + n]
                for i in range(n):
                    h[i] = share[i] * mine[i] * (1.0 - mine[i] if k == j else -other[i])
                for a in range(n_best):
                    for i in range(n):
                        y[i] = h[i] * trial[a, i]
                    S[a, j, k] += dot(y, trial[a], n)
                    for e in range(begin[k], begin[k + 1]):
                        cross[a, j, e] += dot(y, x[e], n)
                    for e in range(begin[j], begin[j + 1] if k < j else begin[j]):
                        cross[a, k, e] += dot(y, x[e], n)
    gain = np.zeros(n_best)
    step = np.zeros((n_best, size + p))
    follow = np.zeros((n_best, p, size))
    for a in range(n_best):
        alone = S[a].copy()
        for j in range(p):
            for e in range(size):
                follow[a, j, e] = -dot(inverse[e], cross[a, j], size)
            alone[j, j] += alpha
            S[a, j, j] += alpha
            for k in range(j + 1):
                S[a, j, k] += dot(follow[a, k], cross[a, j], size)
        if not cholesky(S[a], LEAST_COMPLEMENT):  # the inverse Hessian is too far from exact to be of use
            follow[a] = 0.0
            S[a] = alone
            cholesky(S[a], LEAST_PIVOT)
        new = step[a, size:]
        for j in range(p):
            new[j] = -G[j, best[a]]
        cholesky_solve(S[a], new)
        longest = 0.0
        for j in range(p):
            longest = max(longest, abs(new[j]))
            gain[a] -= 0.5 * new[j] * G[j, best[a]]
        length = min(1.0, FARTHEST / (longest * extent[a])) if longest * extent[a] > 0.0 else 1.0
        gain[a] *= length * (2.0 - length)
        for j in range(p):
            new[j] *= length
            for e in range(size):
                step[a, e] += new[j] * follow[a, j, e]
        complement = np.zeros((p, p))
        for j in range(p):
            complement[j, j] = 1.0
            cholesky_solve(S[a], complement[j])
        S[a] = complement
    order = np.empty(n_best, dtype=np.int64)
    return gain, step, S, follow, order[: rank(gain, n_best, order)]


# --- k-means ---------------------------------------------------------------------------------------------------------


@compiled
def lloyd(A, code, weight, centres, owner, max_rounds, own):
    """Lloyd's algorithm for the rows of ``A``, each within its class, from ``centres`` (whose classes are ``owner``).
    Of centres that are equally near, but for rounding, a row joins the first.

    Changes ``centres`` and ``own`` in place. Returns ``Σ_j N_j ‖c_j‖²``, which grows as the inertia falls.
    """
    m, n = A.shape
    p = owner.shape[0]
    between = 0.0
    half = np.empty(p)
    mass = np.empty(p)
    total = np.empty((p, n))
    for _ in range(max_rounds):
        moved = 0
        for j in range(p):
            half[j] = 0.0
            mass[j] = 0.0
            for l in range(n):
                half[j] += 0.5 * centres[j, l] * centres[j, l]
                total[j, l] = 0.0
        for i in range(m):
            best = NO_PROTOTYPE
            highest = -np.inf
            x = A[i]
            for j in range(p):
                if owner[j] == code[i]:
                    c = centres[j]
                    affinity = -half[j]
                    for l in range(n):
                        affinity += x[l] * c[l]
                    if best == NO_PROTOTYPE or affinity > highest + ROUNDING * (1.0 + abs(highest)):
                        highest = affinity
                        best = j
            if best != own[i]:
                moved += 1
                own[i] = best
            if best != NO_PROTOTYPE:
                w = weight[i]
                c = total[best]
                mass[best] += w
                for l in range(n):
                    c[l] += w * x[l]
        if moved == 0:
            break
        between = 0.0
        for j in range(p):
            if mass[j] > 0.0:
                for l in range(n):
                    centres[j, l] = total[j, l] / mass[j]
                    between += mass[j] * centres[j, l] * centres[j, l]
    return between
