"""The compiled loops of the relaxation and nothing else: arrays in, arrays out. `search_kernels` has the others.

Numba's disk cache does not notice a change in another file, so a kernel calls only kernels of its own file. In this
order: bins, the loss of a row, passes over the rows, projections and proximal steps, and the dual variable of
Mirror-Prox.

Letters: rows ``i`` of ``m``, columns ``l`` of ``d``, prototypes ``j`` of ``p``. ``owner[j]`` is the class of prototype
``j``, ``code[i]`` the class of row ``i`` and ``own[i]`` its own prototype. ``has_zero`` says whether one class owns a
prototype that is frozen at zero; the rows of that class have ``own[i] = NO_PROTOTYPE``. Passes over the rows take all
of this as one tuple, ``roles = (own, code, weight, owner, has_zero)``, which `labels.Roles.flat` makes.
"""

from math import exp, factorial, log

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from smallearn._learn.compiling import compiled, compiled_as_written, compiled_in_order, instructions, prefetch

NO_PROTOTYPE = -1  # own[i] of a row whose class owns the prototype frozen at zero
PADDING = -1  # column[j, a] if prototype j has a or fewer entries
SEARCHED_TOGETHER = 1024  # values whose bins are found at once
NO_CHOICE = 0  # instead of k, if a budget is not a choice of k items at cost 1
TILE = 128  # rows that go through a pass together, at most: enough for SIMD over rows …
TILE_ENTRIES = 1 << 12  # … and few enough, if they are long, to stay in the first cache until they are read again
CACHE_LINE = 64
LANES = 8  # numbers in a vector: those of AVX-512; where registers are shorter, a vector takes several
ROWS = 8  # rows that are read side by side, for two prototypes: as many sums as fit into the registers
MOST_DEVIATIONS = 1e2  # of a mean from 0, for columns that are centred after they are summed up
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # whole multiples of the first are exact
LEAST_EXPONENT = -708.0  # exp of less is 0
STEEP = 32.0  # scores from which on exponentials are taken relative to the largest, so that rounding stays small
LOG_SERIES = (0.6666666666666735130, 0.3999999999940941908, 0.2857142874366239149, 0.2222219843214978396)
LOG_SERIES += (0.1818357216161805012, 0.1531383769920937332, 0.1479819860511658591)
SHIFTER = 6755399441055744.0  # 1.5 · 2^52: added to a whole number, it leaves that number in the lowest bits


# --- bins ----------------------------------------------------------------------------------------------------------


@compiled
def find_bins(x, edges, bins):
    """Fill ``bins`` with the number of ``edges`` (ascending) below each value: 0 … len(edges); one more for NaN.

    A binary search for some hundred values at once, step by step. No branch depends on a value, so that it uses SIMD.
    """
    n = edges.shape[0]
    first_step = 1
    while first_step <= n:
        first_step *= 2
    padded = np.empty(first_step - 1)
    for e in range(padded.shape[0]):
        padded[e] = edges[e] if e < n else np.inf
    below = np.empty(SEARCHED_TOGETHER, dtype=np.int64)
    for begin in range(0, x.shape[0], SEARCHED_TOGETHER):
        value = x[begin : begin + SEARCHED_TOGETHER]
        size = value.shape[0]
        for i in range(size):
            below[i] = 0
        step = first_step // 2
        while step > 0:
            for i in range(size):
                below[i] += step if padded[below[i] + step - 1] < value[i] else 0
            step //= 2
        for i in range(size):
            bins[begin + i] = below[i] if value[i] == value[i] else n + 1


# --- the content of a row ------------------------------------------------------------------------------------------


@compiled
def finish(bits):
    """The finishing step of SplitMix64: every bit of the input changes every bit of the output."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@compiled
def mix_bits(bits):
    """A step of SplitMix64, which maps 0 to another number, too."""
    return finish(bits + np.uint64(0x9E3779B97F4A7C15))


@compiled
def hash_rows(X, keys, total):
    """Fill ``total`` with the sum of the hashes of each row's entries that are not 0; ``keys`` tells columns apart."""
    for i in range(X.shape[0]):
        hashed = np.uint64(0)
        for l in range(X.shape[1]):
            mixed = mix_bits(np.float64(X[i, l]).view(np.uint64) ^ keys[l])
            hashed += mixed if X[i, l] != 0.0 else np.uint64(0)
        total[i] = hashed


@compiled_as_written
def sum_fingerprints(X, used, code, step, missing, sums):
    """Add up over the rows what `smallearn.model._fingerprint` calls the hash of a row, and a hash of that.

    ``used`` are the columns that count, in order. False if any value is infinite.
    """
    infinite, ahead = 0, used[0] if used.shape[0] else 0
    hashed = np.empty(TILE, dtype=np.uint64)
    for begin in range(0, X.shape[0], TILE):  # rows side by side: a hash is a long chain of instructions
        rows = min(TILE, X.shape[0] - begin)
        for r in range(rows):
            hashed[r] = finish(np.uint64(code[begin + r]))
            prefetch(X, (begin + TILE + r) * X.strides[0] + ahead * X.itemsize)
        for c in range(used.shape[0]):
            column = X[begin : begin + rows, used[c]]
            for r in range(rows):
                x = np.float64(column[r]) + 0.0  # -0.0 is 0.0
                infinite += abs(x) == np.inf
                hashed[r] = finish(hashed[r] * step + (np.float64(x).view(np.uint64) if x == x else missing))
        for r in range(rows):
            sums[0] += hashed[r]
            sums[1] += finish(hashed[r] * step)
    return infinite == 0


@compiled_in_order
def column_extents(X, weight, low, high, total):
    """Lower ``low`` and raise ``high`` to the values of each column, and add ``Σ_i weight_i x_i`` to ``total``."""
    for i in range(X.shape[0]):
        for l in range(X.shape[1]):
            x = np.float64(X[i, l])
            low[l] = min(low[l], x)
            high[l] = max(high[l], x)
            total[l] += weight[i] * x


@compiled_in_order
def column_squares(X, weight, mean, inverse, total):
    """Add ``Σ_i weight_i ((x_i - mean) inverse)²`` of each column to ``total``."""
    for i in range(X.shape[0]):
        for l in range(X.shape[1]):
            x = (X[i, l] - mean[l]) * inverse[l]
            total[l] += weight[i] * x * x


@compiled_in_order
def gather_columns(X, mean, inverse, columns, out):
    """Fill ``out`` with some columns of ``X``, standardised; a column past the last one is the intercept's."""
    n = X.shape[1]
    for i in range(X.shape[0]):
        for a in range(columns.shape[0]):
            c = columns[a]
            out[i, a] = (X[i, c] - mean[c]) * inverse[c] if c < n else 1.0


# --- the loss of one row -------------------------------------------------------------------------------------------


@compiled
def softmax_residual(z, own, code, owner, has_zero, s):
    """Return the loss of a row and its conjugate at the gradient; fill ``s`` with the gradient.

    ``loss = log(Σ_j exp z_j) - z_own`` over the row's own prototype and those of other classes, with the one frozen at
    zero; ``s_j = π_j - [j = own]`` and ``loss*(s) = Σ_j π_j log π_j``. Other entries of ``s`` are 0.
    """
    top = 0.0 if has_zero else -np.inf
    for j in range(z.shape[0]):
        if (j == own or owner[j] != code) and z[j] > top:
            top = z[j]
    total = exp(-top) if has_zero else 0.0
    mean = -top * total  # of z - top under exp(z - top), starting with the frozen zero
    for j in range(z.shape[0]):
        s[j] = 0.0
        if j == own or owner[j] != code:
            s[j] = exp(z[j] - top)
            total += s[j]
            mean += s[j] * (z[j] - top)
    for j in range(z.shape[0]):
        s[j] /= total
    log_total = log(total)
    loss = log_total + top
    conjugate = mean / total - log_total
    if own != NO_PROTOTYPE:
        loss -= z[own]
        s[own] -= 1.0
    return loss, conjugate


@compiled
def conjugate_of(s, own, code, owner, has_zero):
    """``Σ π log π`` with the ``π`` of ``s``, any point of the dual set; ``0 log 0 = 0``."""
    value = 0.0
    rest = 1.0  # the probability of the frozen zero
    for j in range(s.shape[0]):
        if j == own or owner[j] != code:
            share = s[j] + 1.0 if j == own else s[j]
            rest -= share
            if share > 0.0:
                value += share * log(share)
    if has_zero and rest > 0.0:
        value += rest * log(rest)
    return value


# --- vectors of numbers --------------------------------------------------------------------------------------------
#
# What dense rows spend their time in is written in the compiler's own language, vector by vector: scores, softmax and
# gradient. A compiler that finds the vectors itself checks at each start of a loop that arrays do not overlap, and
# takes the last columns one by one; rows are too short for that. It is also quicker to compile.
#
# The last vector of a row ends with the row, so that nothing past a row is read; it repeats columns of the vector
# before it unless the width is a multiple of `LANES`. `place_of` says where a column is in weights and sums of whole
# vectors. The weights of repeated columns are 0, and their sums are not read.

_INDEX, _COUNT = ir.IntType(32), ir.IntType(64)
_NUMBER = ir.DoubleType()
_VECTOR, _BITS = ir.VectorType(_NUMBER, LANES), ir.VectorType(_COUNT, LANES)
_ZEROS = ir.Constant(_VECTOR, [0.0] * LANES)
_NONE = ir.Constant(ir.VectorType(ir.IntType(1), LANES), [0] * LANES)
_BYTES = ir.IntType(8).as_pointer()


def _load(builder, start, offset):
    """The vector at ``offset`` numbers from ``start``; float32 becomes float64."""
    number = start.type.pointee
    address = builder.bitcast(builder.gep(start, [offset]), ir.VectorType(number, LANES).as_pointer())
    vector = builder.load(address, align=4 if number == ir.FloatType() else 8)
    return builder.fpext(vector, _VECTOR) if number == ir.FloatType() else vector


def _store(builder, vector, start, offset):
    """Write a vector ``offset`` numbers from ``start``."""
    builder.store(vector, builder.bitcast(builder.gep(start, [offset]), _VECTOR.as_pointer()), align=8)


def _repeat(builder, number):
    """The same number in all lanes."""
    zeros = ir.Constant(ir.VectorType(number.type, LANES), None)
    first = builder.insert_element(zeros, number, _INDEX(0))
    return builder.shuffle_vector(first, zeros, ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES))


class _Variable:
    """A vector that changes; the compiler keeps it in a register."""

    def __init__(self, builder, value):
        self._builder = builder
        self._address = cgutils.alloca_once(builder, value.type)
        self.set(value)

    def get(self):
        return self._builder.load(self._address)

    def set(self, value):
        self._builder.store(value, self._address)


def _add_product(builder, total, x, y):
    """``total + x y``."""
    return builder.fadd(total, builder.fmul(x, y, flags=["contract"]), flags=["contract"])


def _constant(kind, value):
    """A number of type ``kind``, or in all lanes of one."""
    return ir.Constant(kind, [value] * LANES if isinstance(kind, ir.VectorType) else value)


def _bits(builder, x):
    """The bits of a number, or of each lane."""
    return builder.bitcast(x, _BITS if x.type == _VECTOR else _COUNT)


def _polynomial(builder, x, coefficients):
    """``Σ_k coefficients[k] x^k``, by pairs, so that few steps wait for one another."""
    terms = [_constant(x.type, value) for value in coefficients]
    while len(terms) > 1:
        pairs = [_add_product(builder, a, b, x) for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[2 * len(pairs) :]
        x = builder.fmul(x, x)
    return terms[0]


def _exp(builder, x):
    """``exp(x)`` for ``|x| ≤ 708``: ``x = n log 2 + r``, with a Taylor polynomial in ``r`` and ``2ⁿ`` in the bits."""
    shifter = _constant(x.type, SHIFTER)
    shifted = _add_product(builder, shifter, x, _constant(x.type, 1.4426950408889634))
    n = builder.fsub(shifted, shifter)
    r = _add_product(builder, x, n, _constant(x.type, -LN2_HIGH))
    r = _add_product(builder, r, n, _constant(x.type, -LN2_LOW))
    series = _polynomial(builder, r, [1.0 / factorial(k) for k in range(2, 13)])
    series = _add_product(builder, r, builder.fmul(r, r), series)
    bits = _bits(builder, shifted)
    power = builder.shl(builder.add(bits, _constant(bits.type, 1023)), _constant(bits.type, 52))
    power = builder.bitcast(power, x.type)
    return _add_product(builder, power, power, series)


def _log(builder, x):
    """``log(x)`` for ``x ≥ 1``, as in fdlibm: ``x = 2ᵉ (1 + f)``, and a series in ``f/(2 + f)``."""
    bits = _bits(builder, x)
    e = builder.sub(bits, _constant(bits.type, 0x3FE6A09E667F3BCD))  # the bits of √½, so that 1 + f is in √½ … √2
    e = builder.ashr(e, _constant(bits.type, 52))
    f = builder.bitcast(builder.sub(bits, builder.shl(e, _constant(bits.type, 52))), x.type)
    f = builder.fsub(f, _constant(x.type, 1.0))
    s = builder.fdiv(f, builder.fadd(f, _constant(x.type, 2.0)))
    z = builder.fmul(s, s)
    half = builder.fmul(builder.fmul(f, f), _constant(x.type, 0.5))
    shifter = _constant(x.type, SHIFTER)
    k = builder.fsub(builder.bitcast(builder.add(_bits(builder, shifter), e), x.type), shifter)
    low = _add_product(builder, half, z, _polynomial(builder, z, LOG_SERIES))
    low = _add_product(builder, builder.fmul(k, _constant(x.type, LN2_LOW)), s, low)
    rest = builder.fsub(builder.fsub(half, low), f)
    value = builder.fsub(builder.fmul(k, _constant(x.type, LN2_HIGH), flags=["contract"]), rest, flags=["contract"])
    return builder.select(builder.fcmp_ordered("<", x, _constant(x.type, float("inf"))), value, x)


def _lane_sums(builder, vectors):
    """The sum of the lanes of each of eight vectors, as one vector: lanes are joined by pairs, in three rounds."""

    def joined(low, high):
        parts = [ir.Constant(ir.VectorType(_INDEX, LANES), order) for order in (low, high)]
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        return [builder.fadd(*(builder.shuffle_vector(a, b, part) for part in parts)) for a, b in pairs]

    vectors = joined([0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15])
    for _ in range(2):
        vectors = joined([0, 1, 4, 5, 8, 9, 12, 13], [2, 3, 6, 7, 10, 11, 14, 15])
    return vectors[0]


def _smaller(builder, a, b):
    return builder.select(builder.icmp_signed("<", a, b), a, b)


def _array(context, builder, kind, value):
    """The address of the first number of an array, and its shape."""
    array = context.make_array(kind)(context, builder, value)
    return array.data, cgutils.unpack_tuple(builder, array.shape)


class _Loop:
    """The vectors of `ROWS` rows of X from row ``i`` on, with those of two rows of ``A`` from row ``j`` on.

    Past the last row of X, the last row is read again. Memory is asked for as much as half of these rows take, from
    ``ahead`` numbers into X on, a cache line at a time: requests that come too fast are dropped.
    """

    def __init__(self, context, builder, signature, arguments):
        X, i, A, j, Z, r, ahead = arguments
        self._builder, self._ahead = builder, ahead
        self._x, (m, self._n) = _array(context, builder, signature.args[0], X)
        first, (_, width) = _array(context, builder, signature.args[2], A)
        self.first = builder.gep(first, [builder.mul(j, width)])
        self.second = builder.gep(self.first, [width])
        z, (_, size) = _array(context, builder, signature.args[4], Z)
        self.z_first = builder.gep(z, [builder.add(builder.mul(j, size), r)])
        self.z_second = builder.gep(self.z_first, [size])
        last = builder.sub(m, _COUNT(1))
        numbers = [_smaller(builder, builder.add(i, _COUNT(k)), last) for k in range(ROWS)]
        self._rows = [builder.gep(self._x, [builder.mul(number, self._n)]) for number in numbers]
        self._lines = ROWS // 2 * LANES * signature.args[0].dtype.bitwidth // 8 // CACHE_LINE  # in each round

    def run(self, body):
        """Call ``body`` for each offset ``l``, with an iterator over the vectors of the rows there."""
        last = self._builder.sub(self._n, _COUNT(LANES))
        with cgutils.for_range_slice(self._builder, _COUNT(0), self._n, _COUNT(LANES)) as (l, _):
            body(l, self._vectors(l, _smaller(self._builder, l, last)))

    def _vectors(self, l, at):
        builder = self._builder
        numbers = builder.add(self._ahead, builder.mul(l, _COUNT(ROWS // 2)))
        ahead = builder.bitcast(builder.gep(self._x, [numbers]), _BYTES)
        hint = ir.FunctionType(ir.VoidType(), [_BYTES, _INDEX, _INDEX, _INDEX])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", (_BYTES,), hint)
        for k, row in enumerate(self._rows):
            yield _load(builder, row, at)
            if k % (ROWS // self._lines) == 0:
                line = builder.gep(ahead, [_COUNT(k // (ROWS // self._lines) * CACHE_LINE)])
                builder.call(prefetch, [line, _INDEX(0), _INDEX(2), _INDEX(1)])  # to be read, not too soon, as data


def _on_rows(X, A, Z):
    """The signature of the two loops, for arrays in C order."""
    if {X.layout, A.layout, Z.layout} == {"C"}:
        return types.void(X, types.int64, A, types.int64, Z, types.int64, types.int64)
    return None


@instructions
def score_rows(_context, X, _i, V, _j, z, _r, _ahead):
    """Fill ``z[j : j + 2, r : r + ROWS]`` with ``V x``, for the rows of X from ``i`` on; see `_Loop`."""

    def generate(context, builder, signature, arguments):
        loop = _Loop(context, builder, signature, arguments)
        sums = [_Variable(builder, _ZEROS) for _ in range(2 * ROWS)]

        def add_products(l, vectors):
            weights = _load(builder, loop.first, l), _load(builder, loop.second, l)
            for k, x in enumerate(vectors):
                for total, weight in zip((sums[k], sums[ROWS + k]), weights, strict=True):
                    total.set(_add_product(builder, total.get(), weight, x))

        loop.run(add_products)
        sums = [total.get() for total in sums]
        _store(builder, _lane_sums(builder, sums[:ROWS]), loop.z_first, _COUNT(0))
        _store(builder, _lane_sums(builder, sums[ROWS:]), loop.z_second, _COUNT(0))
        return context.get_dummy_value()

    return _on_rows(X, V, z), generate


@instructions
def add_rows(_context, X, _i, G, _j, s, _r, _ahead):
    """Add ``Σ_i s_ij x_i`` to rows ``j`` and ``j + 1`` of G, for the rows of X from ``i`` on; see `_Loop`."""

    def generate(context, builder, signature, arguments):
        loop = _Loop(context, builder, signature, arguments)
        factors = [
            [_repeat(builder, builder.load(builder.gep(start, [_COUNT(k)]))) for k in range(ROWS)]
            for start in (loop.z_first, loop.z_second)
        ]

        def add_products(l, vectors):
            sums = [_load(builder, loop.first, l), _load(builder, loop.second, l)]
            for k, x in enumerate(vectors):
                sums = [_add_product(builder, total, x, factor[k]) for total, factor in zip(sums, factors, strict=True)]
            for total, start in zip(sums, (loop.first, loop.second), strict=True):
                _store(builder, total, start, l)

        loop.run(add_products)
        return context.get_dummy_value()

    return _on_rows(X, G, s), generate


@instructions
def exp_number(_context, _x):
    """`_exp` of one number, 0 below `LEAST_EXPONENT`."""

    def generate(_context, builder, _signature, arguments):
        (x,) = arguments
        least = _NUMBER(LEAST_EXPONENT)
        vanishes = builder.fcmp_ordered("<", x, least)
        return builder.select(vanishes, _NUMBER(0.0), _exp(builder, builder.select(vanishes, least, x)))

    return types.float64(types.float64), generate


@instructions
def log_number(_context, _x):
    """`_log` of one number."""

    def generate(_context, builder, _signature, arguments):
        return _log(builder, arguments[0])

    return types.float64(types.float64), generate


class _Softmax:
    """The steps of `softmax_rows`: each is for one prototype ``j``, whose scores, then shares, stay in ``z``."""

    def __init__(self, context, builder, signature, arguments):
        self._builder = builder
        kinds = zip(signature.args, arguments, strict=True)
        arrays = [_array(context, builder, *pair) for pair in kinds if isinstance(pair[0], types.Array)]
        self._z, self._s, self._sums, self._offset, own, code, weight, self._owner = (start for start, _ in arrays)
        (_, self._size), (self.p,) = arrays[0][1], arrays[-1][1]
        begin, _, has_zero, self._r = arguments[7:]
        self._own, self._code, self.weight = self._rows(builder.add(begin, self._r), arrays[4][1][0], own, code, weight)
        self._lowest = builder.select(_repeat(builder, has_zero), _ZEROS, _constant(_VECTOR, float("-inf")))
        self._frozen = _repeat(builder, builder.uitofp(has_zero, _NUMBER))
        self.mine, self.total, self._top = (_Variable(builder, x) for x in (_ZEROS, self._frozen, self._lowest))
        self.mean, self.steep = _Variable(builder, _ZEROS), _Variable(builder, _NONE)

    def _rows(self, first, m, own, code, weight):
        """What is known of the rows from ``first`` on. Past the last of ``m`` rows, it is read again, with weight 0."""
        builder, starts = self._builder, (own, code, weight)
        vectors = [_Variable(builder, ir.Constant(kind, None)) for kind in (_BITS, _BITS, _VECTOR)]
        whole = builder.icmp_signed("<=", builder.add(first, _COUNT(LANES)), m)
        with builder.if_else(whole, likely=True) as (then, otherwise):
            with then:
                for vector, start in zip(vectors, starts, strict=True):
                    vector.set(_load(builder, start, first))
            with otherwise:
                for k in range(LANES):
                    row = _smaller(builder, builder.add(first, _COUNT(k)), builder.sub(m, _COUNT(1)))
                    numbers = [builder.load(builder.gep(start, [row])) for start in starts]
                    exists = builder.icmp_signed("<", builder.add(first, _COUNT(k)), m)
                    numbers[2] = builder.select(exists, numbers[2], _NUMBER(0.0))
                    for vector, number in zip(vectors, numbers, strict=True):
                        vector.set(builder.insert_element(vector.get(), number, _INDEX(k)))
        return [vector.get() for vector in vectors]

    def each(self, step):
        with cgutils.for_range(self._builder, self.p) as loop:
            step(loop.index)

    def add(self, j, vector):
        """Add to row ``j`` of the sums."""
        k = self._builder.mul(j, _COUNT(LANES))
        _store(self._builder, self._builder.fadd(_load(self._builder, self._sums, k), vector), self._sums, k)

    def add_offset(self, j):
        builder = self._builder
        score = builder.fadd(_load(builder, self._z, self._at(j)), self._number(self._offset, j))
        _store(builder, score, self._z, self._at(j))
        self.mine.set(builder.select(self._is_own(j), score, self.mine.get()))
        size = builder.and_(_bits(builder, score), _constant(_BITS, (1 << 63) - 1))  # without the sign
        large = builder.fcmp_unordered(">", builder.bitcast(size, _VECTOR), _constant(_VECTOR, STEEP))
        self.steep.set(builder.or_(self.steep.get(), large))

    def subtract_top(self):
        """Make all scores, with the frozen zero, relative to the largest."""
        builder = self._builder
        self.each(self._raise_top)
        self.each(self._lower)
        self.mine.set(builder.fsub(self.mine.get(), self._top.get()))
        score = self._below_top(_ZEROS)
        self.total.set(builder.fmul(self._frozen, _exp(builder, score)))
        self.mean.set(builder.fmul(self.total.get(), score))

    def exponentiate(self, j):
        builder = self._builder
        score = _load(builder, self._z, self._at(j))
        share = builder.select(self._takes_part(j), _exp(builder, score), _ZEROS)
        _store(builder, share, self._z, self._at(j))
        self.total.set(builder.fadd(self.total.get(), share))
        self.mean.set(_add_product(builder, self.mean.get(), share, score))

    def normalise(self, j, inverse):
        builder = self._builder
        share = builder.fmul(_load(builder, self._z, self._at(j)), inverse)
        _store(builder, share, self._z, self._at(j))
        taken = builder.select(self._is_own(j), _constant(_VECTOR, 1.0), _ZEROS)
        residual = builder.fmul(self.weight, builder.fsub(share, taken))
        _store(builder, residual, self._s, self._at(j))
        self.add(j, residual)

    def _at(self, j):
        return self._builder.add(self._builder.mul(j, self._size), self._r)

    def _number(self, start, j):
        return _repeat(self._builder, self._builder.load(self._builder.gep(start, [j])))

    def _is_own(self, j):
        return self._builder.icmp_signed("==", self._own, _repeat(self._builder, j))

    def _takes_part(self, j):
        other = self._builder.icmp_signed("!=", self._code, self._number(self._owner, j))
        return self._builder.or_(self._is_own(j), other)

    def _raise_top(self, j):
        builder, top = self._builder, self._top.get()
        score = _load(builder, self._z, self._at(j))
        higher = builder.and_(self._takes_part(j), builder.fcmp_ordered(">", score, top))
        self._top.set(builder.select(higher, score, top))

    def _below_top(self, score):
        builder, least = self._builder, _constant(_VECTOR, LEAST_EXPONENT)
        score = builder.fsub(score, self._top.get())
        return builder.select(builder.fcmp_ordered("<", score, least), least, score)

    def _lower(self, j):
        score = self._below_top(_load(self._builder, self._z, self._at(j)))
        _store(self._builder, self._builder.select(self._takes_part(j), score, _ZEROS), self._z, self._at(j))


@instructions
def softmax_rows(_context, z, s, sums, offset, own, code, weight, _begin, owner, _has_zero, _r):
    """`softmax_tile` for one vector of rows, from ``r`` on in the tile. Call it only from kernels in order.

    Exponentials are those of the scores as they are, which spares that of the frozen zero, unless one is `STEEP`.
    """

    def generate(context, builder, signature, arguments):
        softmax = _Softmax(context, builder, signature, arguments)
        softmax.each(softmax.add_offset)
        lanes = ir.IntType(LANES)
        steep = builder.icmp_unsigned("!=", builder.bitcast(softmax.steep.get(), lanes), lanes(0))
        with builder.if_then(steep, likely=False):
            softmax.subtract_top()
        softmax.each(softmax.exponentiate)
        log_total = _log(builder, softmax.total.get())
        inverse = builder.fdiv(_constant(_VECTOR, 1.0), softmax.total.get())
        conjugate = builder.fsub(builder.fmul(softmax.mean.get(), inverse), log_total)
        loss = builder.fsub(log_total, softmax.mine.get())
        softmax.each(lambda j: softmax.normalise(j, inverse))
        softmax.add(softmax.p, builder.fmul(softmax.weight, loss))
        softmax.add(builder.add(softmax.p, _COUNT(1)), builder.fmul(softmax.weight, conjugate))
        return context.get_dummy_value()

    arrays = z, s, sums, offset, own, code, weight, owner
    if {array.layout for array in arrays} == {"C"}:
        return types.void(*arrays[:7], types.int64, owner, types.boolean, types.int64), generate
    return None


# --- the loss of a tile of rows ------------------------------------------------------------------------------------


@compiled_in_order
def exp_of(x):
    """``exp(x)`` for ``x ≤ 700``, to 1e-15, without a call, so that loops over rows use SIMD; 0 below -708."""
    return exp_number(x)


@compiled_in_order
def log_of(x):
    """``log(x)`` for ``x ≥ 1``, to 1e-15."""
    return log_number(x)


@compiled
def tile_size(width):
    """The number of rows in a tile, for rows of ``width`` float64 numbers: a multiple of 32, for SIMD over rows."""
    return min(TILE, max(32, TILE_ENTRIES // max(1, width) // 32 * 32))


@compiled_in_order
def softmax_tile(z, s, sums, offset, roles, begin):
    """As `softmax_residual` for the rows from ``begin`` on, all at once: replaces ``z`` (p × rows), the scores without
    ``offset``, by the probabilities ``π``, and fills ``s``, which may be ``z``, with ``weight (π_j - [j = own])``.

    Past the last row, the tile is filled up with rows of weight 0. `row_sums` of ``sums`` are those of ``s``, and the
    weighted loss and conjugate.
    """
    own, code, weight, owner, has_zero = roles
    for r in range(0, z.shape[1], LANES):
        softmax_rows(z, s, sums, offset, own, code, weight, begin, owner, has_zero, r)


@compiled
def lined_up(rows, columns):
    """Zeros that start with a cache line: a vector that is split between two takes twice as long to read."""
    line = CACHE_LINE // 8
    room = np.zeros(rows * columns + line)
    begin = -(room.ctypes.data // 8) % line
    return room[begin : begin + rows * columns].reshape((rows, columns))


@compiled
def empty_sums(p):
    """Where `softmax_tile` sums up, lane by lane, over all tiles."""
    return lined_up(p + 2, LANES)


@compiled
def row_sums(sums):
    """The sums of the residuals of each prototype, the loss and the conjugate."""
    total = np.zeros(sums.shape[0] - 2)
    loss = 0.0
    conjugate = 0.0
    for k in range(LANES):
        for j in range(total.shape[0]):
            total[j] += sums[j, k]
        loss += sums[total.shape[0], k]
        conjugate += sums[total.shape[0] + 1, k]
    return total, loss, conjugate


# --- passes over the rows ------------------------------------------------------------------------------------------
#
# Dense rows are read eight at a time for two prototypes at a time, so that most of the arithmetic stays in registers;
# the number of prototypes is rounded up to an even one. A tile is read from memory for the scores of its rows, and from
# the cache for their part of the gradient; meanwhile the next tile is asked for, so that memory is never idle.
#
# Columns are not centred as they are read: ``V (x - mean) = V x - V mean``, and the mean is taken off the sums. Where a
# mean is so many deviations from 0 that this would lose digits, tiles are centred in a copy; so are rows shorter than a
# vector.


@compiled
def place_of(l, n):
    """Where column ``l`` of ``n`` is in whole vectors of which the last one ends with the last column."""
    padding = -max(n, LANES) % LANES
    return l if l < n + padding - LANES else l + padding


@compiled
def fold_scale(W, inverse):
    """The first columns of ``W`` times ``inverse``, in whole vectors and in an even number of rows."""
    n = inverse.shape[0]
    V = lined_up(W.shape[0] + W.shape[0] % 2, (max(1, n) + LANES - 1) // LANES * LANES)
    for j in range(W.shape[0]):
        for l in range(n):
            V[j, place_of(l, n)] = W[j, l] * inverse[l]
    return V


@compiled
def split_mean(mean, inverse):
    """Whether rows are read where they are, what to take off each row, and what to take off the sums."""
    in_place = mean.shape[0] >= LANES
    for l in range(mean.shape[0]):
        in_place &= abs(mean[l] * inverse[l]) <= MOST_DEVIATIONS
    none = np.zeros(mean.shape[0])
    return (True, none, mean) if in_place else (False, mean, none)


@compiled
def fold_mean(V, rest, offset):
    """``offset - V rest``."""
    folded = offset.copy()
    for j in range(offset.shape[0]):
        for l in range(rest.shape[0]):
            folded[j] -= V[j, place_of(l, rest.shape[0])] * rest[l]
    return folded


@compiled
def unfold(raw, total, rest, inverse, G):
    """Add ``(raw - total rest) inverse`` to the first columns of ``G``: what `fold_scale` and `fold_mean` left out."""
    n = rest.shape[0]
    for j in range(G.shape[0]):
        for l in range(n):
            G[j, l] += (raw[j, place_of(l, n)] - total[j] * rest[l]) * inverse[l]


@compiled
def centred_copy(in_place, size, n):
    """Room for the rows of a tile, each at least a vector long; none if rows are read where they are."""
    return lined_up(0 if in_place else size, max(n, LANES))


@compiled
def centre_tile(X, shift, copy, begin):
    """Fill ``copy``, if it has rows, with ``x - shift`` for the rows from ``begin`` on."""
    for r in range(min(copy.shape[0], X.shape[0] - begin)):
        for l in range(X.shape[1]):
            copy[r, l] = X[begin + r, l] - shift[l]


@compiled
def score_tile(X, shift, copy, V, begin, z):
    """Fill ``z`` with ``V (x - shift)`` for the rows from ``begin`` on. ``copy``, if it has rows, gets ``x - shift``,
    which `add_tile` reads again; otherwise the shift is 0."""
    n = X.shape[1]
    rows = min(z.shape[1], X.shape[0] - begin)
    centre_tile(X, shift, copy, begin)
    for r in range(0, rows, ROWS):
        for j in range(0, V.shape[0], 2):
            if copy.shape[0]:
                score_rows(copy, r, V, j, z, r, 0)
            else:
                score_rows(X, begin + r, V, j, z, r, (begin + z.shape[1] + r // 2) * n)


@compiled
def add_tile(X, copy, s, begin, G):
    """Add ``Σ_i s_ij (x_i - shift)`` to ``G``, over the rows from ``begin`` on, for which `score_tile` was called."""
    size = s.shape[1]
    for r in range(0, min(size, X.shape[0] - begin), ROWS):
        for j in range(0, G.shape[0], 2):
            if copy.shape[0]:
                add_rows(copy, r, G, j, s, r, 0)
            else:
                add_rows(X, begin + r, G, j, s, r, (begin + size + (size + r) // 2) * X.shape[1])


@compiled_in_order
def dense_pass(X, mean, inverse, W, roles, G):
    """Add ``Σ_i weight_i s_ij x_i`` to ``G`` (unless it has no rows); return the weighted loss and conjugate.

    ``x = (X - mean) * inverse``, followed by a 1 if ``W`` has one column more than ``X``.
    """
    m, n = X.shape
    own, code, weight, owner, has_zero = roles
    V = fold_scale(W, inverse)
    in_place, shift, rest = split_mean(mean, inverse)
    offset = fold_mean(V, rest, W[:, n].copy() if W.shape[1] > n else np.zeros(W.shape[0]))
    z = lined_up(V.shape[0], tile_size(n * X.itemsize // 8))
    copy = centred_copy(in_place, z.shape[1], n)
    sums = empty_sums(W.shape[0])
    raw = lined_up(V.shape[0], V.shape[1])
    for begin in range(0, m, z.shape[1]):
        centre_tile(X, shift, copy, begin)
        for r in range(0, min(z.shape[1], m - begin), ROWS):
            for j in range(0, V.shape[0], 2):
                if copy.shape[0]:
                    score_rows(copy, r, V, j, z, r, 0)
                else:
                    score_rows(X, begin + r, V, j, z, r, (begin + z.shape[1] + r // 2) * n)
            softmax_rows(z, z, sums, offset, own, code, weight, begin, owner, has_zero, r)
        if G.shape[0]:
            add_tile(X, copy, z, begin, raw)
    total, loss, conjugate = row_sums(sums)
    unfold(raw, total, rest, inverse, G)
    if G.shape[1] > n:
        for j in range(G.shape[0]):
            G[j, n] += total[j]
    return loss, conjugate


@compiled
def place_pass(X, mean, inverse, W, code, owner, own):
    """Fill ``own`` with the prototype of its class that scores each row highest, `NO_PROTOTYPE` if there is none.

    ``x`` is as in ``dense_pass``.
    """
    m, n = X.shape
    V = fold_scale(W, inverse)
    in_place, shift, rest = split_mean(mean, inverse)
    offset = fold_mean(V, rest, W[:, n].copy() if W.shape[1] > n else np.zeros(W.shape[0]))
    z = lined_up(V.shape[0], tile_size(n))
    copy = centred_copy(in_place, z.shape[1], n)
    for begin in range(0, m, z.shape[1]):
        score_tile(X, shift, copy, V, begin, z)
        for r in range(min(z.shape[1], m - begin)):
            best = NO_PROTOTYPE
            for j in range(owner.shape[0]):
                score = z[j, r] + offset[j]
                if owner[j] == code[begin + r] and (best == NO_PROTOTYPE or score > z[best, r] + offset[best]):
                    best = j
            own[begin + r] = best


@compiled
def sparse_pass(data, indices, indptr, W, offset, roles, G, total):
    """As ``dense_pass`` for CSR rows: ``z = X Wᵀ + offset``. Adds ``Σ_i weight_i s_i`` to ``total``, with which the
    caller centres ``G`` by a rank-one correction."""
    m = indptr.shape[0] - 1
    p = W.shape[0]
    z = lined_up(p, tile_size(1))
    sums = empty_sums(p)
    for begin in range(0, m, z.shape[1]):
        rows = min(z.shape[1], m - begin)
        for r in range(rows):
            for j in range(p):
                dot = 0.0
                for e in range(indptr[begin + r], indptr[begin + r + 1]):
                    dot += data[e] * W[j, indices[e]]
                z[j, r] = dot
        softmax_tile(z, z, sums, offset, roles, begin)
        if G.shape[0]:
            for r in range(rows):
                for j in range(p):
                    share = z[j, r]
                    if share != 0.0:
                        for e in range(indptr[begin + r], indptr[begin + r + 1]):
                            G[j, indices[e]] += share * data[e]
    added, loss, conjugate = row_sums(sums)
    total += added
    return loss, conjugate


@compiled
def literal_pass(X, mean, inverse, W, bins, first, table, offset, roles, G, hist, total):
    """As ``dense_pass`` where most columns are literals, each true on an interval of the bins of one feature.

    ``bins[i, f]`` is the bin of row ``i`` in feature ``f``. The bins of a feature begin at ``first[f]`` of ``table``
    (p × bins: what its literals add to the score) and of ``hist`` (p × bins: the sums of the residuals by bin, from
    which the caller computes the gradient of every literal). The cost is that of one column for each feature, however
    many cut points it has. ``offset`` has the constants of the scores; ``total`` gets the sums of the residuals.
    """
    m, n = X.shape
    p = table.shape[0]
    V = fold_scale(W, inverse)
    z = lined_up(V.shape[0], tile_size(n + bins.shape[1]))
    sums = empty_sums(p)
    raw = lined_up(V.shape[0], V.shape[1])
    in_place, shift, rest = split_mean(mean, inverse)
    copy = centred_copy(in_place, z.shape[1], n)
    offset = fold_mean(V, rest, offset)
    for begin in range(0, m, z.shape[1]):
        rows = min(z.shape[1], m - begin)
        score_tile(X, shift, copy, V, begin, z)
        for r in range(rows):
            for j in range(p):
                dot = 0.0
                for f in range(bins.shape[1]):
                    dot += table[j, first[f] + bins[begin + r, f]]
                z[j, r] += dot
        softmax_tile(z, z, sums, offset, roles, begin)
        if G.shape[0]:
            add_tile(X, copy, z, begin, raw)
            for r in range(rows):
                for j in range(p):
                    share = z[j, r]
                    if share != 0.0:
                        for f in range(bins.shape[1]):
                            hist[j, first[f] + bins[begin + r, f]] += share
    added, loss, conjugate = row_sums(sums)
    total += added
    unfold(raw, total, rest, inverse, G)
    return loss, conjugate


@compiled
def curvature_pass(X, mean, inverse, theta, column, roles, g, H):
    """As ``dense_pass`` for some entries of W, with the Hessian: fills ``g`` (p × w) and ``H`` (p × w × p × w).

    Entry ``a`` of prototype ``j`` is the weight ``theta[j, a]`` of column ``column[j, a]``: the one after the last of
    ``X`` is the intercept's, `PADDING` is no entry. The Hessian of a row is ``(diag(π) - π πᵀ)_jj' x_j x_j'ᵀ`` over the
    prototypes in its loss. ``g`` and ``H`` must be zeros.
    """
    m, n = X.shape
    p, width = theta.shape
    size = tile_size(p * width)
    z = lined_up(p, size)
    s = lined_up(p, size)
    sums = empty_sums(p)
    weight = np.zeros(size)
    x = np.zeros((p, width, size))
    none = np.zeros(p)
    bend = np.empty(size)
    lift = np.empty(size)
    for begin in range(0, m, size):
        rows = min(size, m - begin)
        for j in range(p):
            for r in range(size):
                z[j, r] = 0.0
            for a in range(width):
                c = column[j, a]
                if c == PADDING:
                    continue
                entry = x[j, a]
                for r in range(rows):
                    entry[r] = (X[begin + r, c] - mean[c]) * inverse[c] if c < n else 1.0
                for r in range(size):
                    z[j, r] += theta[j, a] * entry[r]
        softmax_tile(z, s, sums, none, roles, begin)
        for r in range(size):
            weight[r] = roles[2][begin + r] if r < rows else 0.0
        for j in range(p):
            for other in range(j + 1):
                for r in range(size):
                    bend[r] = weight[r] * z[j, r] * ((1.0 if other == j else 0.0) - z[other, r])
                for a in range(width):
                    entry = x[j, a]
                    for r in range(size):
                        lift[r] = bend[r] * entry[r]
                    for b in range(a + 1 if other == j else width):
                        y = x[other, b]
                        dot = 0.0
                        for r in range(size):
                            dot += lift[r] * y[r]
                        H[j, a, other, b] += dot
        for j in range(p):
            for a in range(width):
                entry = x[j, a]
                dot = 0.0
                for r in range(size):
                    dot += s[j, r] * entry[r]
                g[j, a] += dot
    for j in range(p):  # the rows filled the lower triangle; the rest is symmetric
        for a in range(width):
            for other in range(j + 1):
                for b in range(a + 1 if other == j else width):
                    H[other, b, j, a] = H[j, a, other, b]
    _, loss, conjugate = row_sums(sums)
    return loss, conjugate


# --- projections and proximal steps: exact, through sorted breakpoints ---------------------------------------------


@compiled
def tail_sums(u):
    """``tails[r]``: the sum of the positive entries of ``u`` (ascending) except the ``r`` largest.

    Summed from the smallest, so that the difference of two tails keeps its digits. The length minus one is the number
    of positive entries.
    """
    positive = u.shape[0]
    while positive > 0 and u[u.shape[0] - positive] <= 0.0:
        positive -= 1
    tails = np.zeros(positive + 1)
    for r in range(positive - 1, -1, -1):
        tails[r] = tails[r + 1] + u[u.shape[0] - 1 - r]
    return tails


@compiled
def capping_threshold(u, budget):
    """The ``t ≥ 0`` with ``Σ clip(u - t, 0, 1) = budget``, or 0 if the sum at 0 is no larger; ``u`` is ascending.

    As ``t`` falls, an entry becomes positive at ``t = u_l`` and reaches 1 at ``u_l - 1``. Both happen in the order of
    ``u``, so one walk with two positions visits the breakpoints in order; between two of them the sum is linear.
    """
    last = u.shape[0] - 1
    spent = 0.0
    for l in range(u.shape[0]):
        spent += min(max(u[l], 0.0), 1.0)
    if spent <= budget:
        return 0.0
    tails = tail_sums(u)
    positive = 0  # entries above t
    full = 0  # entries at 1
    t = u[last]
    for _ in range(2 * tails.shape[0]):
        begin = u[last - positive] if positive < tails.shape[0] - 1 else 0.0
        fill = u[last - full] - 1.0 if full < positive else 0.0
        inside = tails[full] - tails[positive]
        if positive > full and full + inside - (positive - full) * max(begin, fill, 0.0) >= budget:
            return min(max((full + inside - budget) / (positive - full), 0.0), t)  # not outside, by rounding
        t = max(begin, fill, 0.0)
        if begin >= fill:
            positive += 1
        else:
            full += 1
    return 0.0


@compiled
def lay_out(table, budget, ample, entry, cost, start, base):
    """Sort the entries of ``table``, the costs in each pool, into items and others: see `geometry.make_pools`.

    ``ample`` is the budget with room for rounding. Fills ``entry`` and ``cost`` of the items, ``start`` and the mask
    ``base`` of all others. Returns k if every pool is a choice of the same k among equally many items at cost 1, else
    `NO_CHOICE`.
    """
    choice = int(budget[0]) if budget[0] == np.floor(budget[0]) else NO_CHOICE
    n = 0
    for pool in range(table.shape[0]):
        start[pool] = n
        total = 0.0
        for l in range(table.shape[1]):
            price = table[pool, l]
            base[pool, l] = 1.0 if price <= ample[pool] else 0.0
            if 0.0 < price <= ample[pool]:
                total += price
                entry[n] = pool * table.shape[1] + l
                cost[n] = price
                n += 1
                if price != 1.0:
                    choice = NO_CHOICE
        if total <= ample[pool]:
            n = start[pool]
        for i in range(start[pool], n):
            base[pool, entry[i] - pool * table.shape[1]] = 0.0
        if budget[pool] != budget[0] or (pool > 0 and n - start[pool] != start[1]):
            choice = NO_CHOICE
    start[table.shape[0]] = n
    return choice if n > 0 else NO_CHOICE


@compiled
def pool_sizes(V, pools, W, u):
    """Fill ``W`` with ``V`` where the sign is allowed and 0 elsewhere, and ``u`` with ``size / √cost`` of each item.

    ``pools`` is a `geometry.Pools` as a tuple. An item is an entry of ``V`` or, if ``copies`` rows share it, a column,
    whose size is its norm.
    """
    p, d = V.shape
    sign, entry, _, _, _, root, copies, _, _, _, signed = pools
    for j in range(p):
        for l in range(d):
            W[j, l] = V[j, l]
            if signed and sign[l] * V[j, l] < 0.0:
                W[j, l] = 0.0
    for i in range(entry.shape[0]):
        j, l = divmod(entry[i], d)
        size = abs(W[j, l])
        if copies > 1:
            for j in range(copies):
                size = max(size, abs(W[j, l]))
            if size > 0.0:
                square = 0.0
                for j in range(copies):
                    square += (W[j, l] / size) ** 2
                size *= square**0.5
        u[i] = size / root[i]


@compiled
def mask_slope(u, order, first, end, cost, budget, rho):
    """The ``a`` with ``Σ cost clip(a u - rho, 0, 1) = budget``, or infinity if all positive ``u`` fit, over the items
    ``order[first] … order[end - 1]``, in which ``u`` is ascending.

    An entry becomes positive at ``a = rho / u_l`` and reaches 1 at ``(1 + rho) / u_l``: the same walk as in
    ``capping_threshold``.
    """
    last = end - 1
    positive = end - first
    while positive > 0 and u[order[end - positive]] <= 0.0:
        positive -= 1
    tails = np.zeros(positive + 1)  # as in tail_sums, of cost · u
    whole = 0.0
    for r in range(positive - 1, -1, -1):
        i = order[last - r]
        tails[r] = tails[r + 1] + cost[i] * u[i]
        whole += cost[i]
    if whole <= budget:
        return np.inf
    entered = 0
    full = 0
    entered_cost = 0.0
    full_cost = 0.0
    a = 0.0
    for _ in range(2 * tails.shape[0]):
        begin = rho / u[order[last - entered]] if entered < positive else np.inf
        fill = (1.0 + rho) / u[order[last - full]] if full < entered else np.inf
        inside = tails[full] - tails[entered]
        partial = entered_cost - full_cost
        if entered > full and full_cost + min(begin, fill) * inside - partial * rho >= budget:
            return max((budget - full_cost + partial * rho) / inside, a)  # not outside, by rounding
        a = min(begin, fill)
        if begin <= fill:
            entered_cost += cost[order[last - entered]]
            entered += 1
        else:
            full_cost += cost[order[last - full]]
            full += 1
    return np.inf


@compiled
def insertion_sort(v):
    """Sort few numbers in ascending order, in place."""
    for a in range(1, v.shape[0]):
        item = v[a]
        b = a - 1
        while b >= 0 and v[b] > item:
            v[b + 1] = v[b]
            b -= 1
        v[b + 1] = item


@compiled
def restore_order(u, order, first, end):
    """Sort ``order[first:end]`` so that ``u[order]`` is ascending, in place: fast if it nearly was before."""
    for a in range(first + 1, end):
        item = order[a]
        size = u[item]
        b = a - 1
        while b >= first and u[order[b]] > size:
            order[b + 1] = order[b]
            b -= 1
        order[b + 1] = item


@compiled
def prox_rows(V, pools, rho, order, u, W, mask):
    """Fill ``W`` with ``argmin ½‖w - v‖² + (rho/2) min_ε Σ w²/ε`` and ``mask`` with the minimising ``ε``: for an item
    ``clip(a u - rho, 0, 1)``, with ``a`` such that its pool spends its budget. Returns ``½ Σ w²/ε``.

    ``order`` is any order of the items within each pool, and is sorted so that ``u`` is ascending; the nearer it is to
    that, the faster.
    """
    p, d = V.shape
    _, entry, start, budget, cost, _, copies, base, _, _, _ = pools
    pool_sizes(V, pools, W, u)
    for j in range(p):
        for l in range(d):
            mask[j, l] = base[j, l]
    for pool in range(budget.shape[0]):
        first, end = start[pool], start[pool + 1]
        if first == end:
            continue
        restore_order(u, order, first, end)
        a = mask_slope(u, order, first, end, cost, budget[pool], rho)
        for i in range(first, end):
            size = u[i]
            share = min(max(a * size - rho, 0.0), 1.0) if size > 0.0 else 0.0
            row, l = divmod(entry[i], d)
            for j in range(row, row + copies):
                mask[j, l] = share
    value = 0.0
    for j in range(p):
        for l in range(d):
            if mask[j, l] > 0.0:
                W[j, l] = W[j, l] * (mask[j, l] / (mask[j, l] + rho))
                value += 0.5 * W[j, l] * W[j, l] / mask[j, l]
            else:
                W[j, l] = 0.0
    return value


@compiled
def model_rows(W, g, H, pools, alpha, forcing, max_iter):
    """Minimise ``<g, D> + ½ <D, H D> + λ/2 min_ε Σ w²/ε`` over ``D = w - W``, with the masks and signs of ``pools``:
    the loss is replaced by its quadratic model, so that no iteration needs the rows. Returns ``w`` and the number of
    iterations.

    Accelerated proximal gradient. ``H`` acts on the flattened matrix; as that is linear, one product in each iteration
    serves both the backtracking and the next gradient. Restarts if the momentum points uphill; stops when the proximal
    step has shrunk to ``forcing`` times the first.
    """
    p, d = W.shape
    size = p * d
    old = np.zeros(size)  # D, the latest iterate
    old_slope = np.zeros(size)  # H D
    point = np.zeros(size)  # the extrapolated iterate
    point_slope = np.zeros(size)
    new = np.zeros(size)
    new_slope = np.zeros(size)
    V = np.empty((p, d))
    w = W.copy()
    mask = np.empty((p, d))
    u = np.empty(pools[1].shape[0])
    order = np.arange(pools[1].shape[0])
    L = 0.0
    for a in range(size):
        L = max(L, H[a, a])
    momentum = 1.0
    first = 0.0
    for iteration in range(max_iter):
        for _ in range(200):  # L grows by at least a fifth; beyond that, numbers overflow
            for j in range(p):
                for l in range(d):
                    a = j * d + l
                    V[j, l] = W[j, l] + point[a] - (g[a] + point_slope[a]) / L
            prox_rows(V, pools, alpha / L, order, u, w, mask)
            for j in range(p):
                for l in range(d):
                    new[j * d + l] = w[j, l] - W[j, l]
            square = 0.0
            bend = 0.0
            for a in range(size):
                slope = 0.0
                for b in range(size):
                    slope += H[a, b] * new[b]
                new_slope[a] = slope
                step = new[a] - point[a]
                square += step * step
                bend += step * (slope - point_slope[a])
            if bend <= L * square * (1.0 + 1e-12) or square == 0.0:
                break
            L = max(1.2 * L, bend / square)
        residual = L * square**0.5
        if iteration == 0:
            first = residual
        if residual <= forcing * first:
            break
        uphill = 0.0
        for a in range(size):
            uphill += (point[a] - new[a]) * (new[a] - old[a])
        following = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum) ** 0.5)
        pull = (momentum - 1.0) / following
        momentum = following
        if uphill > 0.0:
            pull = 0.0
            momentum = 1.0
        for a in range(size):
            point[a] = new[a] + pull * (new[a] - old[a])
            point_slope[a] = new_slope[a] + pull * (new_slope[a] - old_slope[a])
            old[a] = new[a]
            old_slope[a] = new_slope[a]
    return w, iteration + 1


# --- the dual variable of Mirror-Prox, one row of S at a time ---------------------------------------------------------


@compiled
def residual_rows(Z, roles, S):
    """``S_i = ∇loss_i(Z_i)``: the mirror map of the entropy geometry."""
    own, code, _, owner, has_zero = roles
    for i in range(Z.shape[0]):
        softmax_residual(Z[i], own[i], code[i], owner, has_zero, S[i])


@compiled
def conjugate_rows(S, roles):
    """``Σ_i weight_i loss_i*(S_i)``."""
    own, code, weight, owner, has_zero = roles
    value = 0.0
    for i in range(S.shape[0]):
        value += weight[i] * conjugate_of(S[i], own[i], code[i], owner, has_zero)
    return value


@compiled
def conjugate_slope(s, own, code, owner, has_zero, floor, out):
    """``out = ∇loss*(s)`` in the free coordinates of the dual set, with the logarithm clipped at ``floor``.

    The free coordinates are the probabilities ``π`` of the other classes' prototypes, with ``∇ = log(π_j / π_own)``;
    the own entry of ``out`` is then 0. For a row whose class competes with the frozen zero, the free coordinate is
    ``s_own``, with ``∇ = log((1 + s) / -s)``.
    """
    rest = 1.0
    for j in range(s.shape[0]):
        out[j] = 0.0
        if owner[j] != code:
            rest -= s[j]
    if has_zero and own != NO_PROTOTYPE:
        out[own] = log(max(1.0 + s[own], floor) / max(-s[own], floor))
        return
    for j in range(s.shape[0]):
        if owner[j] != code:
            out[j] = log(max(s[j], floor) / max(rest, floor))


@compiled
def dual_step(s, slope, step, own, code, owner, has_zero, pi, u, out):
    """``out``: the projection of ``s + step · slope`` onto the dual set, in its free coordinates (see above).

    The set is ``π ≥ 0, Σ π ≤ 1``; the entry of the own prototype is ``-Σ π``. ``pi`` and ``u`` are work space.
    """
    for j in range(s.shape[0]):
        out[j] = 0.0
    if has_zero and own != NO_PROTOTYPE:
        out[own] = min(max(s[own] + step * slope[own], -1.0), 0.0)
        return
    against = slope[own] if own != NO_PROTOTYPE else 0.0
    total = 0.0
    for j in range(s.shape[0]):
        pi[j] = 0.0
        if owner[j] != code:
            pi[j] = s[j] + step * (slope[j] - against)
        u[j] = pi[j]
        total += max(pi[j], 0.0)
    threshold = 0.0
    if total > 1.0:
        insertion_sort(u)
        threshold = capping_threshold(u, 1.0)
    for j in range(s.shape[0]):
        if owner[j] != code:
            out[j] = min(max(pi[j] - threshold, 0.0), 1.0)
            if own != NO_PROTOTYPE:
                out[own] -= out[j]


@compiled
def conjugate_slope_rows(S, roles, floor, out):
    """``out_i = ∇loss_i*(S_i)``."""
    own, code, _, owner, has_zero = roles
    for i in range(S.shape[0]):
        conjugate_slope(S[i], own[i], code[i], owner, has_zero, floor, out[i])


@compiled
def dual_step_rows(S, slope, step, roles, out):
    """``out_i``: the projection of ``S_i + step · slope_i`` onto the dual set."""
    own, code, _, owner, has_zero = roles
    pi = np.empty(S.shape[1])
    u = np.empty(S.shape[1])
    for i in range(S.shape[0]):
        dual_step(S[i], slope[i], step, own[i], code[i], owner, has_zero, pi, u, out[i])


@compiled
def dual_pass(X, W, S, at, step, roles, floor, out, G):
    """``out_i``: from ``S_i`` a step along ``W x_i - ∇loss_i*(at_i)``; ``G = Σ_i weight_i out_i x_i``.

    `conjugate_slope` and `dual_step` written out: passing rows of arrays to them would take longer than their work.
    """
    own, code, weight, owner, has_zero = roles
    p, d = W.shape
    pi = np.empty(p)
    u = np.empty(p)
    G[:] = 0.0
    for i in range(X.shape[0]):
        mine = own[i]
        own_score = 0.0
        if mine != NO_PROTOTYPE:
            for l in range(d):
                own_score += W[mine, l] * X[i, l]
        if has_zero and mine != NO_PROTOTYPE:
            s = at[i, mine]
            slope = own_score - log(max(1.0 + s, floor) / max(-s, floor))
            for j in range(p):
                out[i, j] = 0.0
            out[i, mine] = min(max(S[i, mine] + step * slope, -1.0), 0.0)
        else:
            rest = 1.0
            for j in range(p):
                if owner[j] != code[i]:
                    rest -= at[i, j]
            rest = max(rest, floor)
            total = 0.0
            for j in range(p):
                pi[j] = 0.0
                if owner[j] != code[i]:
                    dot = 0.0
                    for l in range(d):
                        dot += W[j, l] * X[i, l]
                    pi[j] = S[i, j] + step * (dot - log(max(at[i, j], floor) / rest) - own_score)
                    total += max(pi[j], 0.0)
            threshold = 0.0
            if total > 1.0:
                u[:] = pi
                insertion_sort(u)
                threshold = capping_threshold(u, 1.0)
            total = 0.0
            for j in range(p):
                out[i, j] = 0.0
                if owner[j] != code[i]:
                    out[i, j] = min(max(pi[j] - threshold, 0.0), 1.0)
                    total += out[i, j]
            if mine != NO_PROTOTYPE:
                out[i, mine] = -total
        for j in range(p):
            share = weight[i] * out[i, j]
            if share != 0.0:
                for l in range(d):
                    G[j, l] += share * X[i, l]


@compiled
def mask_step(mask, G, rise, budget, free, out):
    """``out``: the projection of ``mask + rise · G²`` onto the masks that spend at most ``budget`` on the ``free``
    columns; the other columns keep their mask."""
    for j in range(mask.shape[0]):
        v = mask[j, free] + rise * G[j, free] ** 2
        threshold = capping_threshold(np.sort(v), budget) if budget < v.shape[0] else 0.0
        out[j] = mask[j]
        out[j, free] = np.minimum(np.maximum(v - threshold, 0.0), 1.0)


@compiled
def euclidean_steps(
    X,
    roles,
    ridge,
    budget,
    free,
    rise,
    step,
    floor,
    count,
    mask,
    S,
    mean_mask,
    mean_S,
    done,
):
    """``count`` steps of Mirror-Prox of fixed length in the Euclidean geometry, with two passes over X each.

    ``mask`` and ``S`` change in place, and so do the means of the extragradient points, of which there were ``done``.
    """
    _, _, weight, _, _ = roles
    p = mask.shape[0]
    G = np.zeros(mask.shape)
    for i in range(X.shape[0]):
        for j in range(p):
            for l in range(X.shape[1]):
                G[j, l] += weight[i] * S[i, j] * X[i, l]
    ahead = np.empty_like(S)
    ahead_mask = np.empty_like(mask)
    ahead_G = np.empty_like(G)
    following = np.empty_like(S)
    following_mask = np.empty_like(mask)
    for number in range(done + 1, done + count + 1):
        mask_step(mask, G, rise, budget, free, ahead_mask)
        W = -G * mask / ridge
        dual_pass(X, W, S, S, step, roles, floor, ahead, ahead_G)
        mask_step(mask, ahead_G, rise, budget, free, following_mask)
        W = -ahead_G * ahead_mask / ridge
        dual_pass(X, W, S, ahead, step, roles, floor, following, G)
        mask[:] = following_mask
        S[:] = following
        mean_mask += (ahead_mask - mean_mask) / number
        mean_S += (ahead - mean_S) / number
