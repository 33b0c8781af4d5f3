"""A model as a DNF: "predict 1 if a and b, or c and not d, …".

A feature of which a model asks only literals, or that is 0 or 1, matters through the few regions that they cut its
values into. So the model is a function of finitely many cases, and its DNF is exact: prime implicants, as few as can be
found, checked against `SMaLLModel.predict`. Rows that are given say which cases occur, and may make it shorter. Numbers
that are weighed and added have no such form; there a few clauses imitate the model on given rows.
"""

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np

from smallearn.columns import Column, factor_of_one, gather
from smallearn.explain.boolean import (
    MOST_CUBES,
    Imitation,
    Space,
    TooManyError,
    absorb,
    as_table,
    conjunction,
    covers,
    fewest_primes,
    joined,
    minimum_cover,
    plainer,
    prime_cover,
    primes,
)
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.terms import Category
from smallearn.words import listed, percent, show, show_category

__all__ = ["DNF", "Condition", "dnf"]

SMALL = 2**15  # cases of which all primes are listed, to choose the fewest
MOST_TABLE = 2**16  # cases that are tried one by one, to check the answer
MOST_LOCAL = 2**18  # cases of a single prototype
MOST_CATEGORIES = 50  # of a column of X that a shorter clause may name
MOST_CUTS = 48  # of a number, at first, when clauses imitate a model
MOST_NEAR = 24  # cuts that are looked at next to one that was chosen
MOST_ROWS = 5000  # that clauses are sought on; all rows are counted in the end
EVERYWHERE = (-math.inf, math.inf)


# --- what is said of one feature -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Condition:
    """Something said of the feature at position ``feature``, called ``name`` if the data had names.

    It holds for a number in one of ``intervals`` (low < x ≤ high), for a value among ``categories`` (if ``negated``,
    for one that is not among them), and, if ``missing``, where there is no value. ``flag``: the feature is 0 or 1.
    """

    feature: int
    name: str | None
    intervals: tuple[tuple[float, float], ...] = ()
    categories: tuple[Category, ...] = ()
    negated: bool = False
    missing: bool = False
    flag: bool = False

    @property
    def label(self) -> str:
        return f"x{self.feature}" if self.name is None else self.name

    def holds(self, values: Any) -> np.ndarray:
        """Whether it holds for each of ``values``, those of the feature."""
        column = values if isinstance(values, Column) else Column(np.asarray(values), self.label)
        if self.intervals:
            with np.errstate(invalid="ignore"):  # a comparison with NaN is false, as wanted
                inside = [(column.numbers > low) & (column.numbers <= high) for low, high in self.intervals]
        else:
            inside = [column.factor(self._equals(category)) for category in self.categories]
        found = np.logical_or.reduce(inside) if inside else np.zeros(len(column.values), dtype=bool)
        return np.where(column.missing, self.missing, found != self.negated)

    def _equals(self, category: Category) -> Term:
        return Term(self.feature, 1.0, self.name, "equals", category)

    @property
    def text(self) -> str:
        """On one line: ``age ≤ 40``, ``colour is 'red' or 'blue'``."""
        label = show(self.label, quote=False)
        if self.flag and self.categories:
            return f"{'' if self.categories == (1,) else 'not '}{label}{' or missing' * self.missing}"
        return self._of_number(label) if self.intervals else self._of_category(label)

    def _of_number(self, label: str) -> str:
        gap = self._gap()
        if gap is not None:
            left_out = show_category(gap)
            return f"{label} is not {left_out}" if self.missing else f"{label} is neither missing nor {left_out}"
        if not self.missing and self.intervals == (EVERYWHERE,):
            return f"{label} is not missing"
        pieces = [_interval(label, low, high) for low, high in self.intervals]
        return " or ".join([*pieces, *["missing"] * self.missing])

    def _gap(self) -> float | None:
        """The one number that is left out, if that is so."""
        if len(self.intervals) != 2:
            return None
        (low, end), (begin, high) = self.intervals
        return begin if (low, high) == EVERYWHERE and end == math.nextafter(begin, -math.inf) else None

    def _of_category(self, label: str) -> str:
        shown = [show_category(category) for category in self.categories]
        if self.missing != self.negated:
            shown = ["missing", *shown] if self.negated else [*shown, "missing"]
        if not self.negated:
            equals = len(shown) == 1 and not self.missing
            return f"{label} = {shown[0]}" if equals else f"{label} is {' or '.join(shown)}"
        return f"{label} is not {shown[0]}" if len(shown) == 1 else f"{label} is neither {' nor '.join(shown)}"

    @property
    def has_alternatives(self) -> bool:
        """Whether its text has an "or"."""
        pieces = len(self.intervals) + len(self.categories) + self.missing
        return not self.negated and self._gap() is None and pieces > 1

    @property
    def awkwardness(self) -> int:
        """0 if it says plainly what holds, 1 if it says what does not, 2 if it lists alternatives."""
        several = self.has_alternatives or (self.negated and len(self.categories) + (not self.missing) > 1)
        says_not = self.negated or (self.flag and self.categories == (0,)) or self._gap() is not None
        return 2 if several else int(says_not)


def _interval(label: str, low: float, high: float) -> str:
    if low == math.nextafter(high, -math.inf):
        return f"{label} = {show_category(high)}"
    # The last float before 3 is nobody's idea of a bound: below 3 is meant.
    above, least = show_category(low), show_category(math.nextafter(low, math.inf))
    most, beyond = show_category(high), show_category(math.nextafter(high, math.inf))
    upper = f"< {beyond}" if len(beyond) + 6 < len(most) else f"≤ {most}"
    if low == -math.inf:
        return f"{label} {upper}"
    inclusive = len(least) + 6 < len(above)
    if high == math.inf:
        return f"{label} ≥ {least}" if inclusive else f"{label} > {above}"
    return f"{least} ≤ {label} {upper}" if inclusive else f"{above} < {label} {upper}"


# --- the answer ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DNF:
    """``label`` is predicted where all conditions of any clause hold; elsewhere ``other`` (None: one of several).

    ``exact``: it says what the model says on all of ``domain``, and ``verified`` tells how that was checked. If it is
    not, but is in rows with nothing missing, ``domain`` says so, and ``exact`` is False. ``fidelity`` is the share of
    the ``n_rows`` given rows on which both say the same. ``n_features`` is the width of the data.
    """

    clauses: tuple[tuple[Condition, ...], ...]
    label: Any
    other: Any
    n_features: int
    exact: bool = False
    domain: str | None = None
    verified: str | None = None
    fidelity: float | None = None
    n_rows: int | None = None

    def predict(self, X: Any) -> np.ndarray:
        """Which rows satisfy it."""
        return np.logical_or.reduce(self.holds_for(X), axis=1)

    def holds_for(self, X: Any) -> np.ndarray:
        """Which rows satisfy which clause: rows × clauses."""
        features = {condition.feature: condition for clause in self.clauses for condition in clause}
        terms = [Term(feature, 1.0, features[feature].name) for feature in sorted(features)]
        blocks = [_held(self.clauses, n_rows, columns) for n_rows, columns in gather(X, terms, self.n_features)]
        return np.concatenate(blocks) if blocks else np.zeros((0, len(self.clauses)), dtype=bool)

    def __str__(self) -> str:
        return "\n".join([*self._rule(), *self._worth()])

    def _rule(self) -> Iterator[str]:
        label = show(self.label)
        otherwise = "another class" if self.other is None else show(self.other)
        if not self.clauses:
            yield f"Never predict {label}, always {otherwise}."
        elif () in self.clauses:
            yield f"Always predict {label}."
        else:
            which = "this holds" if len(self.clauses) == 1 else "any of these holds"
            yield f"Predict {label} if {which}, otherwise {otherwise}:"
            for number, clause in enumerate(self.clauses, start=1):
                yield f"  {number}. {_clause_text(clause)}"

    def _worth(self) -> Iterator[str]:
        if self.domain is not None:
            yield f"Exactly the model, on {self.domain} ({self.verified})."
        elif self.fidelity == 1.0:
            rows = "the one row" if self.n_rows == 1 else f"all {self.n_rows:,} rows"
            yield f"The same as the model on {rows} given."
        elif self.fidelity is not None:
            yield f"Agrees with the model on {percent(self.fidelity)} of the {self.n_rows:,} rows given."


def _clause_text(clause: Sequence[Condition]) -> str:
    texts = [condition.text for condition in clause]
    if len(texts) > 1:
        texts = [f"({c.text})" if c.has_alternatives else c.text for c in clause]
    return " and ".join(texts)


def _held(clauses: Sequence[Sequence[Condition]], n_rows: int, columns: dict[int, Column]) -> np.ndarray:
    held = np.ones((n_rows, len(clauses)), dtype=bool)
    for i, clause in enumerate(clauses):
        for condition in clause:
            held[:, i] &= condition.holds(columns[condition.feature])
    return held


# --- the values of a feature -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Variable:
    """A feature cut into cells, the finest that can be spoken of: intervals of numbers in their order, or categories;
    then, if ``other``, all else that is not missing, and, if ``absent``, what is missing. ``values``: one of each."""

    term: Term
    cells: tuple[Any, ...]
    values: tuple[Any, ...]
    kind: str  # "number", "category" or "flag"
    other: bool = False
    absent: bool = True

    @property
    def n_cells(self) -> int:
        return len(self.values)

    @property
    def everything(self) -> int:
        return (1 << self.n_cells) - 1

    @property
    def complete(self) -> int:
        """All cells but the missing one."""
        return (1 << self.n_cells - self.absent) - 1

    def condition(self, mask: int) -> Condition:
        """The value is in one of these cells."""
        chosen = [cell for i, cell in enumerate(self.cells) if mask >> i & 1]
        missing = bool(mask & ~self.complete)
        about = Condition(self.term.feature, self.term.name, missing=missing, flag=self.kind == "flag")
        if self.kind == "number":
            return replace(about, intervals=_joined(chosen))
        if mask & self.complete == self.complete or (self.other and mask >> len(self.cells) & 1):
            return replace(about, negated=True, categories=tuple(c for c in self.cells if c not in chosen))
        return replace(about, categories=tuple(chosen))

    def choices(self) -> Iterator[int]:
        """Cells that a short condition can have: one category or all but one, numbers up to a cut or beyond it."""
        if self.absent:
            yield from (self.complete, self.everything & ~self.complete)
        for i, cell in enumerate(self.cells):
            if self.kind != "number":
                yield from (1 << i, self.everything & ~(1 << i))
                continue
            if cell[0] == math.nextafter(cell[1], -math.inf):
                yield 1 << i
            below = (1 << i + 1) - 1
            if cell[1] < math.inf and below != self.complete:
                yield from (below, self.complete & ~below)


def _joined(cells: Iterable[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Neighbouring intervals made one."""
    joined: list[tuple[float, float]] = []
    for low, high in cells:
        if joined and joined[-1][1] == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return tuple(joined)


def _number(term: Term, cuts: Iterable[float], points: Iterable[float] = (), absent: bool = True) -> _Variable:
    """Cut after each of ``cuts``; ``points`` are cells of their own."""
    ends = {float(cut) for cut in cuts}
    for point in points:
        ends |= {math.nextafter(point, -math.inf), float(point)}
    edges = [-math.inf, *sorted(end for end in ends if math.isfinite(end)), math.inf]
    cells = tuple((low, high) for low, high in pairwise(edges) if low < sys.float_info.max)
    values = [high if high < math.inf else math.nextafter(low, math.inf) for low, high in cells]
    if len(edges) == 2:
        values = [0.0]
    return _Variable(term, cells, (*values, *[None] * absent), "number", absent=absent)


def _variable(terms: Sequence[Term], is_flag: bool, column: Column | None) -> _Variable:
    """The feature of these terms, and of this column if there is one: it tells of more categories, and whether a
    feature that is 0 or 1 can be missing."""
    term = terms[0]
    if is_flag:
        absent = column is not None and bool(column.missing.any())
        return _Variable(term, (0, 1), (0.0, 1.0, *[None] * absent), "flag", absent=absent)
    categories = [other.value for other in terms if other.kind == "equals"]
    if any(other.kind in ("at_most", "above") for other in terms):
        points = [value for value in categories if value is not None and not isinstance(value, str)]
        if any(float(point) != point or abs(point) >= 2**53 for point in points):
            raise ValueError(f"{show(term.label)} is compared with a number of too many digits to be put into words.")
        cuts = [float(other.value) for other in terms if other.kind in ("at_most", "above")]  # type: ignore[arg-type]
        return _number(term, cuts, points)
    known = [*categories, *_seen(column)] if categories else []
    cells = tuple(dict.fromkeys(value for value in known if value is not None and value == value))
    return _Variable(term, cells, (*cells, _another(cells), None), "category", other=True)


def _seen(column: Column | None) -> list[Category]:
    """The categories of a column, unless there are very many."""
    found = {} if column is None else dict.fromkeys(column.values[~column.missing].tolist())
    return sorted(found, key=lambda value: (isinstance(value, str), value)) if len(found) <= MOST_CATEGORIES else []


def _another(cells: Sequence[Category]) -> Category:
    """A category that is none of these: a number if they are numbers."""
    if any(isinstance(cell, str) for cell in cells):
        return max((cell for cell in cells if isinstance(cell, str)), key=len) + "…"
    return next(number for number in range(len(cells) + 1) if number not in cells)


def _grid(values: Sequence[Sequence[Any]]) -> np.ndarray:
    """All combinations, the last changing fastest: of numbers as floats if they are that, otherwise as objects."""
    everything = [value for some in values for value in some]
    plain = all(value is None or (not isinstance(value, str) and float(value) == value) for value in everything)
    shape = tuple(len(some) for some in values)
    places = np.indices(shape).reshape(len(shape), -1) if shape else np.zeros((0, 1), dtype=int)
    rows = np.empty((places.shape[1], len(values)), dtype=float if plain else object)
    for i, some in enumerate(values):
        column = np.empty(len(some), dtype=rows.dtype)
        column[:] = [math.nan if plain and value is None else value for value in some]
        rows[:, i] = column[places[i]]
    return rows


# --- the model as a function of cells --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """Some prototypes as a model of their own, over the features that they weigh: it is to predict ``wanted``."""

    model: SMaLLModel
    features: tuple[int, ...]
    wanted: int

    def truth(self, rows: np.ndarray) -> np.ndarray:
        return self.model.predict(rows) == self.wanted


def _part(prototypes: Sequence[Prototype], n_classes: int, wanted: int) -> _Part:
    """Features and classes are numbered from 0 on."""
    weighed = [[term for term in prototype.terms if term.weight != 0.0] for prototype in prototypes]
    features = sorted({term.feature for terms in weighed for term in terms})
    place = {feature: i for i, feature in enumerate(features)}
    renumbered = tuple(
        replace(prototype, terms=tuple(replace(term, feature=place[term.feature], name=None) for term in terms))
        for prototype, terms in zip(prototypes, weighed, strict=True)
    )
    model = SMaLLModel(tuple(range(n_classes)), "<i8", len(features), renumbered)
    return _Part(model, tuple(features), wanted)


def _duel(own: Prototype, other: Prototype) -> _Part:
    """Two prototypes of different classes, in the order of these, and a third class that cannot win."""
    first = own.owner < other.owner
    nobody = Prototype(2, -sys.float_info.max, ())
    return _part([replace(own, owner=int(not first)), replace(other, owner=int(first)), nobody], 3, int(not first))


def _weighed(model: SMaLLModel) -> dict[int, list[Term]]:
    """The terms of each feature that have a weight, in the order of the features."""
    terms: dict[int, list[Term]] = {}
    for term in model.terms:
        if term.weight != 0.0:
            terms.setdefault(term.feature, []).append(term)
    return {feature: terms[feature] for feature in sorted(terms)}


def _regions(variable: _Variable, terms: Sequence[Term]) -> list[int]:
    """The cells that the terms tell apart; those between which they do not are one region, given as a mask."""
    masks: dict[tuple[float, ...], int] = {}
    for i, value in enumerate(variable.values):
        signature = tuple(factor_of_one(term, value) for term in terms)
        masks[signature] = masks.get(signature, 0) | 1 << i
    return list(masks.values())


def _firsts(variable: _Variable, masks: Iterable[int]) -> list[Any]:
    """A value of each region."""
    return [variable.values[(mask & -mask).bit_length() - 1] for mask in masks]


def _clause(variables: Sequence[_Variable], masks: Sequence[int]) -> tuple[Condition, ...]:
    pairs = zip(variables, masks, strict=True)
    return tuple(variable.condition(mask) for variable, mask in pairs if mask != variable.everything)


class _Function:
    """Where a model of literals and flags predicts class number ``label``, as a function of regions."""

    def __init__(self, model: SMaLLModel, variables: Sequence[_Variable], label: int):
        self.model, self.variables, self.label = model, variables, label
        self.whole = _part(model.prototypes, len(model.classes), label)
        terms = _weighed(model)
        self.regions = [_regions(variable, terms[variable.term.feature]) for variable in variables]
        self.space = Space(tuple(map(len, self.regions)))
        self.cells = Space(tuple(len(variable.values) for variable in variables))

    def cubes(self) -> list[int]:
        """Cubes of cells whose union it is, as few and as plain as can be found; no condition is superfluous."""
        try:
            return [self.in_cells(cube) for cube in plainer(self.space, self._cover(), self._cost)]
        except TooManyError:
            raise ValueError(
                f"An exact DNF of this model is out of reach: it takes more than {MOST_CUBES:,} clauses on the way, or "
                f"one of its prototypes has more than {MOST_LOCAL:,} cases. A model with fewer terms has one."
            ) from None

    def _cover(self) -> list[int]:
        """Primes whose union it is, in regions: the fewest where they can all be listed."""
        if self.space.volume <= SMALL:
            with suppress(TooManyError):
                return fewest_primes(self.space, self.whole.truth(self._rows(self.variables)), self._cost)
        one_branch = len(list(self._branches())) == 1
        return prime_cover(self.space, self.union, self._cost, are_prime=one_branch)

    @cached_property
    def union(self) -> list[int]:
        """Cubes of regions whose union it is, put together from functions of one or two prototypes."""
        found: list[int] = []
        for branch in self._branches():
            found += conjunction(self.space, map(self._primes, branch))
        return absorb(found)

    def _branches(self) -> Iterator[list[_Part]]:
        """The class is predicted if in any branch every part predicts what it is to.

        Two classes: any prototype says so alone, or none of them does. More: a prototype beats each of the others'.
        """
        prototypes = self.model.prototypes
        if len(self.model.classes) == 2:
            alone = [_part([prototype], 2, self.label) for prototype in prototypes]
            yield from ([part] for part in alone) if self.label == prototypes[0].owner else [alone]
            return
        for own in prototypes:
            if own.owner == self.label:
                yield [_duel(own, other) for other in prototypes if other.owner != self.label]

    def _primes(self, part: _Part) -> list[int]:
        """All primes of a part, as cubes of all regions."""
        places = [i for i, variable in enumerate(self.variables) if variable.term.feature in part.features]
        local = Space(tuple(self.space.sizes[i] for i in places))
        if local.volume > MOST_LOCAL:
            raise TooManyError
        truth = part.truth(self._rows([self.variables[i] for i in places]))
        everywhere = self.space.unpack(self.space.full)
        found = []
        for cube in primes(local, as_table(truth)):
            masks = dict(zip(places, local.unpack(cube), strict=True))
            found.append(self.space.pack(masks.get(i, mask) for i, mask in enumerate(everywhere)))
        return found

    def _rows(self, variables: Sequence[_Variable]) -> np.ndarray:
        """All combinations of regions of some of the variables."""
        return _grid([_firsts(variable, self.regions[self.variables.index(variable)]) for variable in variables])

    # --- in cells, in words, checked

    def in_cells(self, cube: int) -> int:
        masks = [
            sum(region for i, region in enumerate(regions) if mask >> i & 1)
            for mask, regions in zip(self.space.unpack(cube), self.regions, strict=True)
        ]
        return self.cells.pack(masks)

    def clause(self, cube: int) -> tuple[Condition, ...]:
        """A cube of cells in words."""
        return _clause(self.variables, self.cells.unpack(cube))

    def _cost(self, cube: int) -> int:
        return _cost(self.clause(self.in_cells(cube)))

    def in_order(self, cubes: Iterable[int]) -> list[int]:
        """By the features that they speak of."""

        def key(cube: int) -> tuple:
            masks = self.cells.unpack(cube)
            free = [mask == variable.everything for variable, mask in zip(self.variables, masks, strict=True)]
            return ([i for i, anything in enumerate(free) if not anything], masks)

        return sorted(cubes, key=key)

    def checked(self, cubes: Sequence[int], sure: Sequence[int] | None, complete: bool = False) -> str | None:
        """How it was checked that the cubes are the model, on all rows or those with nothing missing; None: they are
        not. By a table of all cases; if that is too long, against cubes that are ``sure`` or the union of the parts."""
        masks = [variable.complete if complete else variable.everything for variable in self.variables]
        pieces = self.regions if sure is None else [[1 << i for i in range(size)] for size in self.cells.sizes]
        inside = [[piece & mask for piece in some if piece & mask] for some, mask in zip(pieces, masks, strict=True)]
        if math.prod(map(len, inside)) > MOST_TABLE:
            exact = [self.in_cells(cube) for cube in self.union] if sure is None else sure
            return "cube by cube" if self._same(cubes, exact, self.cells.pack(masks)) else None
        rows = _grid([_firsts(variable, some) for variable, some in zip(self.variables, inside, strict=True)])
        columns = {
            variable.term.feature: Column(rows[:, i], variable.term.label) for i, variable in enumerate(self.variables)
        }
        held = _held([self.clause(cube) for cube in cubes], len(rows), columns).any(axis=1)
        return f"truth table of {len(rows):,} cases" if np.array_equal(held, self.whole.truth(rows)) else None

    def _same(self, some: Sequence[int], others: Sequence[int], within: int) -> bool:
        """Whether they have the same union, as far as it lies in a cube."""
        for union, cubes in ((some, others), (others, some)):
            parts = [cube & within for cube in cubes if self.cells.inhabited(cube & within)]
            if not all(covers(self.cells, union, part) for part in parts):
                return False
        return True

    def domain(self, complete: bool = False) -> str:
        """The rows of which it speaks."""
        flags = [variable.term.label for variable in self.variables if variable.kind == "flag"]
        words = "every input"
        if flags:
            what = listed(flags) if len(flags) <= 3 else f"{len(flags)} of the features"
            words += " of 0s and 1s" if len(flags) == len(self.variables) else f" with 0 or 1 for {what}"
            words += " or missing" if any(v.kind == "flag" and v.absent for v in self.variables) else ""
        return f"{words} in which nothing is missing" if complete else words


# --- shorter on given rows -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Data:
    """The rows that are given: the columns that the model weighs, and where it predicts the class."""

    n_rows: int
    columns: dict[int, Column]
    truth: np.ndarray

    def every(self, step: int) -> "_Data":
        """Only every so manieth row."""
        columns = {i: Column(column.values[::step], column.label) for i, column in self.columns.items()}
        return _Data(len(self.truth[::step]), columns, self.truth[::step])


def _read(model: SMaLLModel, X: Any, label: int) -> _Data:
    features = [terms[0] for terms in _weighed(model).values()]
    chunks = list(gather(X, features, model.n_features))
    if not chunks:
        raise ValueError("X has no rows; a DNF can be compared with the model on some rows only.")
    columns = {
        term.feature: Column(np.concatenate([columns[term.feature].values for _, columns in chunks]), term.label)
        for term in features
    }
    number = replace(model, classes=tuple(range(len(model.classes))), class_dtype="<i8")
    return _Data(sum(n_rows for n_rows, _ in chunks), columns, number.predict(X) == label)


@dataclass(frozen=True)
class _Choices:
    """Conditions that clauses can be made of: the cells of a variable each, and the rows that they hold for."""

    variables: Sequence[_Variable]
    cells: tuple[tuple[int, int], ...]  # number of the variable and a mask
    conditions: tuple[Condition, ...]
    held: np.ndarray

    @property
    def subjects(self) -> list[int]:
        return [i for i, _ in self.cells]

    def masks(self, chosen: Iterable[int]) -> list[int]:
        """The cells of each variable that all of these allow."""
        masks = [variable.everything for variable in self.variables]
        for number in chosen:
            i, mask = self.cells[number]
            masks[i] &= mask
        return masks

    def clause(self, chosen: Iterable[int]) -> tuple[Condition, ...]:
        """All of these, one condition for each feature."""
        return _clause(self.variables, self.masks(chosen))


def _choices(variables: Sequence[_Variable], masks: Sequence[Iterable[int]], data: _Data) -> _Choices:
    cells = tuple((i, mask) for i, some in enumerate(masks) for mask in dict.fromkeys(some))
    conditions = tuple(variables[i].condition(mask) for i, mask in cells)
    held = [condition.holds(data.columns[condition.feature]) for condition in conditions]
    return _Choices(variables, cells, conditions, np.array(held, dtype=bool).reshape(len(cells), data.n_rows))


def _shortened(function: _Function, cubes: Sequence[int], data: _Data) -> list[int]:
    """Clauses that together hold for the same of the given rows, none of them superfluous there: each gives way to one
    of fewer conditions or plainer words that holds for no other rows, and for all that no other clause holds for."""
    used = [function.cells.unpack(cube) for cube in cubes]
    masks = [
        [mask for mask in (*(masks[i] for masks in used), *variable.choices()) if mask not in (0, variable.everything)]
        for i, variable in enumerate(function.variables)
    ]
    choices = _choices(function.variables, masks, data)
    _, different = np.unique(np.vstack([choices.held, data.truth]), axis=1, return_index=True)
    held, truth = choices.held[:, different], data.truth[different]
    if not truth.any():
        return []
    number = {cells: i for i, cells in enumerate(choices.cells)}
    clauses = [[number[cells] for cells in enumerate(masks) if cells in number] for masks in used]
    costs = [_cost(function.clause(cube)) for cube in cubes]
    rows = np.array([held[clause].all(axis=0) for clause in clauses])
    kept = minimum_cover(rows[:, truth], costs)
    for i in sorted(kept, key=lambda i: -costs[i]):
        others = rows[[j for j in kept if j != i]].any(axis=0)
        clauses[i] = _replaced(choices, held, clauses[i], rows[i] & ~others)
        rows[i] = held[clauses[i]].all(axis=0)
    return joined(function.cells, [function.cells.pack(choices.masks(clauses[i])) for i in kept])


def _replaced(choices: _Choices, held: np.ndarray, own: list[int], needed: np.ndarray) -> list[int]:
    """Conditions that hold together for the needed rows, and for none that these do not hold for: the fewest, and the
    plainest, if that is better."""
    inside = held[own].all(axis=0)
    if inside.all():
        return []
    fit = np.flatnonzero(held[:, needed].all(axis=1))
    costs = [10 * choices.conditions[i].awkwardness + (i not in own) for i in fit]
    chosen = fit[minimum_cover(~held[np.ix_(fit, ~inside)], costs)].tolist()
    return chosen if _cost(choices.clause(chosen)) < _cost(choices.clause(own)) else own


def _cost(clause: Sequence[Condition]) -> int:
    """Conditions above all, then how they read."""
    return 10 * len(clause) + sum(condition.awkwardness for condition in clause)


# --- imitation of numbers --------------------------------------------------------------------------------------------


def _imitated(
    terms: dict[int, list[Term]], flags: set[int], data: _Data, max_clauses: int, max_conditions: int
) -> list[tuple[Condition, ...]]:
    """A few clauses that agree with the model on as many rows as can be found: with some cuts of each number first, and
    then with more of them near those that were chosen."""
    data = data.every(math.ceil(data.n_rows / MOST_ROWS))
    numbers = {i: _Cuts(terms[i], data.columns[i]) for i in terms if _is_continuous(terms[i], i in flags)}
    others = [_variable(terms[i], i in flags, data.columns[i]) for i in terms if i not in numbers]
    first = _with_cuts(others, numbers, {i: cuts.spread() for i, cuts in numbers.items()}, data)
    search = Imitation(first.held, first.subjects, data.truth, max_conditions)
    clauses = search.find(max_clauses, least_gain=max(1.0, 0.002 * data.n_rows))
    chosen = {first.conditions[i] for clause in clauses for i in clause}
    near = {i: cuts.near([c for c in chosen if c.feature == i]) for i, cuts in numbers.items()}
    second = _with_cuts(others, numbers, near, data)
    number = {condition: i for i, condition in enumerate(second.conditions)}
    clauses = [tuple(number[first.conditions[i]] for i in clause) for clause in clauses]
    search = Imitation(second.held, second.subjects, data.truth, max_conditions)
    return [second.clause(clause) for clause in search.pruned(search.improve(clauses))]


def _is_continuous(terms: Sequence[Term], is_flag: bool) -> bool:
    return not is_flag and any(term.kind == "raw" for term in terms)


class _Cuts:
    """Where a number can be cut: between two values next to each other, at the shortest number there."""

    def __init__(self, terms: Sequence[Term], column: Column):
        self.terms = terms
        self.values, counts = np.unique(column.numbers[~column.missing], return_counts=True)
        self.below = np.cumsum(counts)[:-1]
        self.has_gaps = bool(column.missing.any())
        self.mean = next(term.mean for term in terms if term.kind == "raw")

    def spread(self) -> list[float]:
        """Some cuts with about as many rows between them."""
        if len(self.below) <= MOST_CUTS:
            return [self.at(i) for i in range(len(self.below))]
        wanted = np.linspace(0.0, self.below[-1], MOST_CUTS + 2)[1:-1]
        return [self.at(i) for i in np.unique(np.searchsorted(self.below, wanted)).tolist()]

    def near(self, conditions: Iterable[Condition]) -> list[float]:
        """The cuts of these conditions, and those around them up to the next of the spread."""
        cuts = {end for c in conditions for interval in c.intervals for end in interval if math.isfinite(end)}
        coarse = [-1, *self.places(self.spread()), len(self.below)]
        found: set[int] = set()
        for place in self.places(cuts):
            i = coarse.index(place)
            around = np.linspace(coarse[i - 1] + 1, coarse[i + 1] - 1, 2 * MOST_NEAR).round().astype(int)
            found.update([place, *around.tolist()])
        return [self.at(i) for i in sorted(found)]

    def places(self, cuts: Iterable[float]) -> list[int]:
        return (np.searchsorted(self.values, sorted(cuts), side="right") - 1).tolist()

    def at(self, i: int) -> float:
        low, high = float(self.values[i]), float(self.values[i + 1])
        middle = low + 0.5 * (high - low)
        numbers = (float(f"{middle:.{digits}e}") for digits in range(17))
        return next((number for number in numbers if low <= number < high), low)

    def masks(self, variable: _Variable) -> Iterator[int]:
        """Choices in which a missing value is where the model puts it: at the mean."""
        home = 0
        if self.has_gaps and self.mean is not None:
            home = next(1 << i for i, (low, high) in enumerate(variable.cells) if low < self.mean <= high)
        absent = variable.everything & ~variable.complete
        for mask in variable.choices():
            yield mask | absent if mask & home else mask


def _with_cuts(
    others: Sequence[_Variable], numbers: dict[int, _Cuts], cuts: dict[int, list[float]], data: _Data
) -> _Choices:
    cut = [_number(numbers[i].terms[0], cuts[i], absent=numbers[i].has_gaps) for i in numbers]
    variables = sorted([*others, *cut], key=lambda variable: variable.term.feature)
    masks = []
    for variable in variables:
        known = numbers.get(variable.term.feature)
        some = known.masks(variable) if known else variable.choices()
        masks.append([mask for mask in some if mask not in (0, variable.everything)])
    return _choices(variables, masks, data)


# --- the public function ---------------------------------------------------------------------------------------------


def dnf(
    model: SMaLLModel,
    X: Any = None,
    *,
    label: Any = None,
    boolean: str | bool | Sequence[str] = "auto",
    simplify: bool = True,
    max_clauses: int = 4,
    max_conditions: int = 3,
) -> DNF:
    """When the model predicts ``label``, as an OR of ANDs of conditions on single features.

    Exact where the model asks literals only, or weighs features that are 0 or 1: those whose column of ``X`` is
    (``boolean="auto"``), those named (a list of labels), or all (True). Every case is then checked against the model.
    Rows ``X`` say which cases occur: with ``simplify`` a clause gives way to a shorter or plainer one that holds for
    the same rows, and the answer tells whether it is still exact.

    Where numbers are weighed, at most ``max_clauses`` clauses of at most ``max_conditions`` conditions imitate the
    model on the rows of ``X``; ``fidelity`` is the share of them on which they agree. Rows that were not given, for
    which `DNF.predict` is there, make the more honest test of it.

    Parameters
    ----------
    label : class, default None
        None is the class that owns the prototypes; with more than two classes it must be given.

    Examples
    --------
    >>> from smallearn.model import Prototype, SMaLLModel, Term
    >>> terms = (Term(0, 2.0, "age", "above", 40.0), Term(1, 1.0, "colour", "equals", "red"))
    >>> model = SMaLLModel(("no", "yes"), "<U3", 2, (Prototype(1, -2.5, terms),))
    >>> print(dnf(model))
    Predict 'yes' if this holds, otherwise 'no':
      1. age > 40 and colour = 'red'
    Exactly the model, on every input (truth table of 4 cases).
    """
    number = _class_number(model, label)
    limits: dict[str, Any] = {"max_clauses": max_clauses, "max_conditions": max_conditions}
    for name, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
            raise ValueError(f"{name}={value!r} is not a positive whole number.")
    data = None if X is None else _read(model, X, number)
    terms = _weighed(model)
    flags = _flags(terms, data, boolean)
    continuous = [some[0].label for i, some in terms.items() if _is_continuous(some, i in flags)]
    other = model.classes[1 - number] if len(model.classes) == 2 else None
    empty = DNF((), model.classes[number], other, model.n_features)
    if not continuous:
        found = _exact(empty, model, number, flags, data, simplify)
    elif data is None:
        raise ValueError(
            f"The model weighs numbers ({listed(continuous)}): pass rows X for clauses that imitate it, or "
            "boolean=True if they are 0 or 1."
        )
    else:
        found = replace(empty, clauses=tuple(_imitated(terms, flags, data, int(max_clauses), int(max_conditions))))
    if data is None:
        return found
    return replace(found, fidelity=float(np.mean(found.predict(X) == data.truth)), n_rows=data.n_rows)


def _exact(empty: DNF, model: SMaLLModel, number: int, flags: set[int], data: _Data | None, simplify: bool) -> DNF:
    terms = _weighed(model)
    columns = {} if data is None else data.columns
    variables = [_variable(some, i in flags, columns.get(i)) for i, some in terms.items()]
    function = _Function(model, variables, number)
    cubes = exact = function.cubes()
    if data is not None and simplify:
        cubes = _shortened(function, exact, data)
    cubes = function.in_order(cubes)
    found = replace(empty, clauses=tuple(map(function.clause, cubes)))
    sure = exact if set(cubes) != set(exact) else None
    verified = function.checked(cubes, sure)
    if verified is not None:
        return replace(found, exact=True, domain=function.domain(), verified=verified)
    verified = function.checked(cubes, sure, complete=True)
    return found if verified is None else replace(found, domain=function.domain(complete=True), verified=verified)


def _class_number(model: SMaLLModel, label: Any) -> int:
    if label is None and len(model.classes) == 2:
        return model.prototypes[0].owner
    if label is None:
        raise ValueError(f"With more than two classes, label must be given: one of {listed(model.classes)}.")
    if label not in model.classes:
        raise ValueError(f"label={show(label)} is none of the classes; it must be one of {listed(model.classes)}.")
    return model.classes.index(label)


def _flags(terms: dict[int, list[Term]], data: _Data | None, boolean: str | bool | Sequence[str]) -> set[int]:
    """The features that are weighed and are 0 or 1."""
    raw = {some[0].label: i for i, some in terms.items() if any(term.kind == "raw" for term in some)}
    if isinstance(boolean, str):
        if boolean != "auto":
            raise ValueError(f"boolean={boolean!r} is not 'auto', True or a list of features.")
        return set() if data is None else {i for i in raw.values() if _is_flag(data.columns[i])}
    named = (list(raw) if boolean else []) if isinstance(boolean, bool) else list(boolean)
    unknown = [name for name in named if name not in raw]
    if unknown:
        raise ValueError(
            f"boolean names {listed(unknown)}; the features that the model weighs are {listed(list(raw))}."
        )
    wrong = [name for name in named if data is not None and not _is_flag(data.columns[raw[name]])]
    if wrong:
        raise ValueError(f"X has other values than 0 and 1 for {listed(wrong)}.")
    return {raw[name] for name in named}


def _is_flag(column: Column) -> bool:
    return bool(np.isin(column.numbers[~column.missing], (0.0, 1.0)).all())
