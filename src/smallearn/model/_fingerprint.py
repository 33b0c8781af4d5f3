"""A fingerprint of the training rows: a hash of the features that a model uses and of the classes.

It does not depend on the order of the rows or the kind of file. It identifies a whole table, not single rows. Needs
numpy alone.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from smallearn._run.hashing import digest, hex_digest
from smallearn.model._columns import Column
from smallearn.model._parts import Term
from smallearn.model._rows import CHUNK_ROWS, gather

TOGETHER = 64  # columns read at a time, so that a sparse matrix never becomes dense as a whole
DIGITS, SORTED_DIGITS = 32, 64  # of a fingerprint, now and formerly
EXACT = 2.0**53  # larger whole numbers may lie between two floats
MISSING = np.uint64(0x9E3779B97F4A7C15)
STEP = np.uint64(0xD6E8FEB86659FD93)
_MIXING = [
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
]
_LAST_SHIFT = np.uint64(31)


def fingerprint(features: Sequence[Term], n_features: int, X: Any, code: np.ndarray, like: str = "") -> str:
    """The fingerprint of the rows; ``features`` has one term for each in use, ``code`` the position of each class.
    It is of the same kind as the fingerprint ``like``."""
    parts = Parts(like)
    parts.add(hash_rows(features, n_features, X, code))
    return parts.fingerprint()


class Parts:
    """A fingerprint, of the same kind as the fingerprint ``like``, of a table that is read in parts."""

    def __init__(self, like: str):
        self._sums = np.zeros(3, dtype=np.uint64)
        self._hashes: list[np.ndarray] | None = [] if len(like) == SORTED_DIGITS else None

    def add(self, hashes: np.ndarray) -> None:
        """Add some rows, by their hashes."""
        if self._hashes is None:
            self._sums = self._sums + sum_hashes(hashes)
        else:
            self._hashes.append(hashes)

    def fingerprint(self) -> str:
        """The fingerprint of all rows so far."""
        return combined(self._sums) if self._hashes is None else _of_sorted(np.concatenate(self._hashes))


def hash_rows(features: Sequence[Term], n_features: int, X: Any, code: np.ndarray) -> np.ndarray:
    """A hash of each row."""
    rows = _mix(np.array(code, dtype=np.int64).view(np.uint64))
    for first in range(0, len(features), TOGETHER):
        some, begin = features[first : first + TOGETHER], 0
        for n_rows, columns in gather(X, some, n_features):
            chunk = rows[begin : begin + n_rows]
            for term in some:
                chunk *= STEP
                chunk += _bits(columns[term.feature])
                _mix(chunk)
            begin += n_rows
    return rows


def sum_hashes(rows: np.ndarray) -> np.ndarray:
    """The number of rows and two sums of their hashes, which wrap around: those of parts of a table add up."""
    chunks = (rows[begin : begin + CHUNK_ROWS] for begin in range(0, len(rows), CHUNK_ROWS))
    again = np.array([_mix(chunk * STEP).sum(dtype=np.uint64) for chunk in chunks], dtype=np.uint64)
    return np.array([len(rows), rows.sum(dtype=np.uint64), again.sum(dtype=np.uint64)], dtype=np.uint64)


def combined(sums: np.ndarray) -> str:
    """The fingerprint, from the sums over all rows."""
    return hex_digest(sums.astype("<u8", copy=False).tobytes(), DIGITS)


def _of_sorted(rows: np.ndarray) -> str:
    """The fingerprint in older files. It needs the hashes of all rows at once."""
    return hex_digest(np.sort(rows).astype("<u8", copy=False).tobytes(), SORTED_DIGITS)


def _bits(column: Column) -> np.ndarray:
    """64 bits for each value: those of a number as float64, whatever its type, or of the hash of text."""
    if column.values.dtype.kind == "f" and column.all_finite:
        return _of_numbers(column.numbers)
    missing = column.missing
    large = column.values.dtype.kind in "iu" and bool((np.abs(column.numbers) >= EXACT).any())
    if column.values.dtype.kind != "O" and not large:
        bits = _of_numbers(column.numbers)
    else:
        known: dict[Any, np.uint64] = {}
        values = column.values.tolist()
        for value, is_absent in zip(values, missing, strict=True):
            if not is_absent and value not in known:
                known[value] = _of_one(value)
        pairs = zip(values, missing, strict=True)
        each = (MISSING if is_absent else known[value] for value, is_absent in pairs)
        bits = np.fromiter(each, dtype=np.uint64, count=len(missing))
    return np.where(missing, MISSING, bits) if missing.any() else bits


def _of_numbers(values: np.ndarray) -> np.ndarray:
    return (values.astype(np.float64, copy=False) + 0.0).view(np.uint64)  # -0.0 is 0.0


def _of_one(value: Any) -> np.uint64:
    if not isinstance(value, str) and (abs(value) < EXACT or _is_float(value)):
        return _of_numbers(np.array([float(value)]))[0]
    return np.frombuffer(digest(str(value))[:8], dtype="<u8")[0].astype(np.uint64)


def _is_float(value: Any) -> bool:
    """Whether float64 holds a large number exactly."""
    try:
        return bool(float(value) == value)
    except OverflowError:
        return False


def _mix(bits: np.ndarray) -> np.ndarray:
    """The finishing step of splitmix64, in place: every bit of the result depends on every bit of the input."""
    for begin in range(0, len(bits), CHUNK_ROWS):
        part = bits[begin : begin + CHUNK_ROWS]
        for shift, factor in _MIXING:
            part ^= part >> shift
            part *= factor
        part ^= part >> _LAST_SHIFT
    return bits
