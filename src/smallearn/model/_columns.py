"""The value of a term: on a column of many rows (`Column.factor`) and on one value (`factor_of_one`), by one rule."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from numbers import Number
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from smallearn._text import listed, show
from smallearn.model._parts import Accepted
from smallearn.model._term import Category, Term

if TYPE_CHECKING:
    from smallearn.model._model import SMaLLModel

TEXT = (str, bytes, bytearray)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or pandas' NA or NaT; polars converts its nulls to None or NaN."""
    if value is None:
        return True
    if isinstance(value, TEXT):
        return False
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas' NA has no truth value; neither has an array in a cell
        return type(value).__name__ == "NAType"


def all_finite(numbers: np.ndarray) -> bool:
    """Whether no number is NaN or infinite. If their sum is finite, all of them are; it takes one pass to find out."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.add.reduce(numbers, axis=None)
    return math.isfinite(total) or bool(np.isfinite(numbers).all())


# --- the value of a term ---------------------------------------------------------------------------------------------


class Column:
    """The values of one feature in some rows, of any type."""

    def __init__(self, values: np.ndarray, label: str):
        self.label = label
        self.values = values.astype(object) if values.dtype.kind in "UST" else values

    def factor(self, term: Term) -> np.ndarray:
        """What the term's weight is multiplied by, for each row."""
        if term.kind == "raw":
            return self._raw(term.mean)
        if term.kind == "missing":
            return self.missing
        if term.kind == "equals":
            return self._equals(term.value)
        with np.errstate(invalid="ignore"):  # a comparison with NaN is false, as it should be
            return self.numbers <= term.value if term.kind == "at_most" else self.numbers > term.value

    @cached_property
    def numbers(self) -> np.ndarray:
        """The values as float64, NaN for missing; infinities, dates, complex numbers and text are refused."""
        if not self.all_finite and np.isinf(self._converted).any():
            self._refuse("NaN or infinity", "finite numbers")
        return self._converted

    @cached_property
    def all_finite(self) -> bool:
        """Whether no value is missing or infinite."""
        return all_finite(self._converted)

    @cached_property
    def _converted(self) -> np.ndarray:
        text = []
        if self.values.dtype.kind == "O":
            text = [value for value in self.values if isinstance(value, TEXT)]
        if text or self.values.dtype.kind not in "biufO":
            self._refuse(f"text ({show(text[0])})" if text else f"values of type {self.values.dtype}", "numbers")
        values = self.values
        if values.dtype.kind == "O":
            values = values.copy()
            values[self._is_missing] = np.nan
        try:
            with np.errstate(over="ignore"):
                return values.astype(np.float64, copy=False)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"The features that the model uses are not all numbers ({show(self.label)}): {error}."
            ) from None

    @cached_property
    def missing(self) -> np.ndarray:
        """Which values are missing. Objects that are neither numbers nor text, such as dates, are refused."""
        if self.values.dtype.kind != "O":
            return self._is_nan
        for value, is_absent in zip(self.values, self._is_missing, strict=True):
            if is_absent or isinstance(value, str):
                continue
            if not isinstance(value, Number | np.bool_):
                self._refuse(f"a value of type {type(value).__name__}", "numbers or text")
            if value in (math.inf, -math.inf):
                self._refuse("NaN or infinity", "finite numbers")
        return self._is_missing

    @cached_property
    def _is_nan(self) -> np.ndarray:
        return np.isnan(self.numbers)

    @cached_property
    def _is_missing(self) -> np.ndarray:
        """Which values of a column of objects are missing."""
        return np.fromiter((is_missing(value) for value in self.values), dtype=bool, count=len(self.values))

    def _raw(self, mean: float | None) -> np.ndarray:
        """The numbers, with the mean for missing values; these are refused if there is no mean."""
        if self.all_finite:
            return self.numbers
        if mean is None:
            self._refuse("NaN or infinity", "finite numbers")
        return np.where(self._is_nan, mean, self.numbers)

    def _equals(self, category: Category | None) -> np.ndarray:
        """Where a value equals the category exactly: no whole number beyond 2⁵³ is rounded, nor the category."""
        none = np.zeros_like(self.missing)
        if self.values.dtype.kind == "O":
            if self._places is None:
                return np.array([_same(value, category) for value in self.values], dtype=bool)
            none[self._places.get(category, [])] = True
            return none
        if isinstance(category, str) or category is None:
            return none
        if self.values.dtype.kind in "biu":
            if category != int(category):
                return none
            limits = np.iinfo(self.values.dtype) if self.values.dtype.kind != "b" else None
            low, high = (0, 1) if limits is None else (limits.min, limits.max)
            return self.values == self.values.dtype.type(int(category)) if low <= category <= high else none
        nearest = float(category)
        return self.numbers == nearest if nearest == category else none

    @cached_property
    def _places(self) -> dict[Any, list[int]] | None:
        """The rows of each value of a column of objects, as `_same` compares them; None if a value has no hash."""
        places: dict[Any, list[int]] = {}
        for row, (value, is_absent) in enumerate(zip(self.values, self._is_missing, strict=True)):
            if is_absent:
                continue
            try:
                places.setdefault(value.item() if isinstance(value, np.generic) else value, []).append(row)
            except TypeError:
                return None
        return places

    def check(self, accepted: Accepted) -> None:
        """Raise ValueError unless every value is accepted."""
        if not accepted.missing and self.missing.any():
            raise ValueError(refusal(self.label, None, accepted))
        if accepted.categories is None:
            return
        known = self.missing.copy()
        for category in accepted.categories:
            known |= self._equals(category)
        if not known.all():
            raise ValueError(refusal(self.label, self.values[int(known.argmin())], accepted))

    def _refuse(self, what: str, needed: str) -> NoReturn:
        raise ValueError(f"The features that the model uses contain {what}; it needs {needed} for {show(self.label)}.")


def check_accepted(accepted: Sequence[Accepted], columns: Mapping[int, Column]) -> None:
    """Raise ValueError unless a model accepts every value of the columns."""
    for one in accepted:
        columns[one.feature].check(one)


def check_accepted_in_row(model: "SMaLLModel", value: Callable[[Term], Any]) -> None:
    """`check_accepted` for one row, from the value of a term's feature."""
    terms = {term.feature: term for term in model.features} if model.accepted else {}
    for one in model.accepted:
        term = terms[one.feature]
        found = value(term)
        if not one.takes(None if is_missing(found) else found):
            raise ValueError(refusal(term.label, found, one))


def refusal(label: str, value: Any, accepted: Accepted) -> str:
    """The message about a value that is not accepted."""
    if is_missing(value):
        return f"Feature {show(label)} is missing, which the model does not accept."
    value = value.item() if isinstance(value, np.generic) else value
    return f"Feature {show(label)} is {show(value)}; the model accepts {listed(accepted.categories or ())}."


def factor_of_one(term: Term, value: Any) -> float:
    """`Column.factor` for one value. An infinity gives NaN, and so a score that is refused."""
    missing = is_missing(value)
    if missing and term.kind != "raw":
        return float(term.kind == "missing")
    if missing and term.mean is not None:
        return term.mean
    if term.kind in ("equals", "missing"):
        if not isinstance(value, str | Number | np.bool_):
            raise TypeError(f"{value!r} is neither a number nor text")
        if not isinstance(value, str) and value in (math.inf, -math.inf):
            return math.nan
        return float(term.kind == "equals" and _same(value, term.value))
    if isinstance(value, TEXT):
        raise TypeError(f"{value!r} is text")
    number = float(value)
    if term.kind == "raw":
        return number
    if math.isinf(number):
        return math.nan
    return float(number <= term.value if term.kind == "at_most" else number > term.value)  # type: ignore[operator]


def column_of(values: Sequence[Any]) -> Column:
    """A column of values of any type."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return Column(array, "")


def signatures(terms: Sequence[Term], values: Sequence[Any]) -> list[bytes]:
    """For each value of a feature, what tells it from those on which these terms are all alike."""
    column = column_of(values)
    raw = [column.factor(term) for term in terms if term.kind == "raw"]
    literals = [term for term in terms if term.kind != "raw"]
    truth = np.empty((len(values), len(literals)), dtype=bool)
    for i, term in enumerate(literals):
        truth[:, i] = column.factor(term)
    numbers = np.column_stack([np.zeros(len(values)), *raw])
    return [row.tobytes() + x.tobytes() for row, x in zip(np.packbits(truth, axis=1), numbers, strict=True)]


def factor_in(columns: Mapping[int, Column], term: Term) -> np.ndarray:
    """What the term's weight is multiplied by, for each row, from the column of each feature."""
    return columns[term.feature].factor(term)


def factor_in_row(values: Mapping[int, Any], term: Term) -> float:
    """What the term's weight is multiplied by in one row, from the value of each feature."""
    return factor_of_one(term, values[term.feature])


def _same(value: Any, category: Category | None) -> bool:
    """Text equals text and a number equals a number: ``"1"`` is not 1, but 1, 1.0 and True are the same category."""
    if isinstance(value, str) or isinstance(category, str):
        return isinstance(value, str) and isinstance(category, str) and value == category
    value = value.item() if isinstance(value, np.generic) else value  # else numpy would round the category
    return not is_missing(value) and bool(value == category)
