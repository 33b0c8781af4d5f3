"""The parts of a model: terms, prototypes, ranges, how it was trained and chosen. Frozen data, no arithmetic on rows.

A term is ``weight · b``, where ``b`` is the feature itself (kind ``raw``) or a literal, which is 1 where it holds and 0
elsewhere. A missing value makes no literal hold but ``missing``, so that ``at_most`` and ``above`` of one threshold are
both false there; a raw term puts the training mean in its place.
"""

import math
from dataclasses import dataclass

from smallearn._text import count, show, show_category

KINDS = ("raw", "at_most", "above", "equals", "missing")
BUDGETS = ("prototype", "total", "shared")
Category = str | int | float | bool


@dataclass(frozen=True)
class Term:
    """``weight · b`` of the feature at position ``feature``, called ``name`` if the data had names.

    ========  ===========  =======================================================================================
    kind      b            fields
    ========  ===========  =======================================================================================
    raw       x            ``mean`` stands in for a missing value (None: that is an error); ``unit``, of a score card:
                           the weight is a whole number of points for each ``unit`` of x
    at_most   [x ≤ value]  ``value`` a number
    above     [x > value]  ``value`` a number
    equals    [x = value]  ``value`` a category: text, a number or a boolean
    missing   [x missing]
    ========  ===========  =======================================================================================
    """

    feature: int
    weight: float
    name: str | None = None
    kind: str = "raw"
    value: Category | None = None
    mean: float | None = None
    unit: float | None = None

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"A term's kind is one of {', '.join(KINDS)}, not {show(self.kind)}.")

    @property
    def label(self) -> str:
        return f"x{self.feature}" if self.name is None else self.name

    @property
    def text(self) -> str:
        """What the weight is multiplied by, on one line: ``radius`` or ``[radius ≤ 13.2]``."""
        label = show(self.label, quote=False)
        if self.kind == "raw":
            return label
        if self.kind == "missing":
            return f"[{label} is missing]"
        if self.kind == "equals":
            return f"[{label} = {show_category(self.value)}]"
        return f"[{label} {'≤' if self.kind == 'at_most' else '>'} {self.value:.6g}]"

    @property
    def points(self) -> float:
        """The weight per unit: a whole number in a score card."""
        return self.weight * (self.unit or 1.0)


@dataclass(frozen=True)
class Prototype:
    """A score for class number ``owner`` of the model's classes."""

    owner: int
    intercept: float
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Range:
    """The least and the greatest value of a feature that is a number, over the training rows."""

    feature: int
    low: float
    high: float


@dataclass(frozen=True)
class Training:
    """How the model was made. The bound is on the training objective at the final assignment of rows to prototypes: no
    model within the same budget has a lower one there. It says nothing of test accuracy.

    ``n_nonzero`` counts terms in each prototype, terms in all or features shared by all prototypes, as ``budget`` says
    ("prototype", "total", "shared"); ``max_cost`` is what the features may cost together (None: no limit);
    ``certified`` whether the model was proven to be optimal within its budget.
    """

    smallearn: str
    n_rows: int
    alpha: float
    n_nonzero: int | None
    objective: float
    lower_bound: float
    budget: str = "prototype"
    max_cost: float | None = None
    certified: bool = False

    @property
    def optimality_gap(self) -> float:
        return (self.objective - self.lower_bound) / self.objective

    @property
    def rivals(self) -> str:
        """The models that the bound speaks of: ``no model with at most 3 terms a prototype``."""
        limits = []
        if self.n_nonzero is not None:
            thing = "different term" if self.budget == "shared" else "term"
            where = {"prototype": " a prototype", "total": " in all", "shared": ""}[self.budget]
            limits.append(f"at most {count(self.n_nonzero, thing)}{where}")
        if self.max_cost is not None:
            limits.append(f"a cost of at most {self.max_cost:.6g}")
        return f"no model with {' and '.join(limits)}" if limits else "no model"


@dataclass(frozen=True)
class Step:
    """The best candidate with ``n_terms`` terms: its mean score over the folds, and the standard error of that."""

    n_terms: int
    n_prototypes: int
    score: float
    spread: float


@dataclass(frozen=True)
class Selection:
    """How the model was chosen: its score on each fold by ``metric``, and the best candidate of each size, which is the
    frontier of size against score. ``max_terms`` was the limit."""

    metric: str
    scores: tuple[float, ...]
    max_terms: int
    frontier: tuple[Step, ...]

    def told(self, value: float) -> str:
        """A score by this metric in words: a share in percent, others as they are."""
        return f"{value:.1%}" if "accuracy" in self.metric else f"{value:.3f}"

    @property
    def text(self) -> str:
        """``95.8% ± 0.5%``: the mean and its standard error."""
        return f"{self.told(self.score)} ± {self.told(self.spread)}"

    @property
    def score(self) -> float:
        """The mean over the folds."""
        return math.fsum(self.scores) / len(self.scores)

    @property
    def spread(self) -> float:
        """The standard error of the mean."""
        return standard_error(self.scores)


def standard_error(scores: tuple[float, ...]) -> float:
    """Of the mean of some scores; 0 of a single one."""
    if len(scores) < 2:
        return 0.0
    mean = math.fsum(scores) / len(scores)
    variance = math.fsum((score - mean) ** 2 for score in scores) / (len(scores) - 1)
    return math.sqrt(variance / len(scores))


@dataclass(frozen=True)
class DataFacts:
    """The training rows: how many of each class, what the column of classes and the file were called if that is known,
    and a fingerprint by which the same rows are known again, in any order (see `smallearn.model._fingerprint`)."""

    fingerprint: str
    class_counts: tuple[int, ...]
    target: str | None = None
    source: str | None = None
