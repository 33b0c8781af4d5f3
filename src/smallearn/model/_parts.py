"""The parts of a model: prototypes, ranges, how it was trained and chosen. Frozen data, no arithmetic on rows."""

import math
from dataclasses import dataclass, replace

from smallearn._text import count
from smallearn.model._term import Category, Term

__all__ = [
    "BUDGETS",
    "Accepted",
    "Category",
    "DataFacts",
    "Description",
    "Familiar",
    "Prototype",
    "Range",
    "Selection",
    "StandardModels",
    "Step",
    "Term",
    "Training",
    "standard_error",
    "without_gaps",
]

BUDGETS = ("prototype", "total", "shared")


@dataclass(frozen=True)
class Prototype:
    """A constant plus a sum of terms: a score for one class.

    Parameters
    ----------
    owner : int
        The position of the class in the model's ``classes``.
    intercept : float
        The constant that the score starts from.
    terms : tuple of Term
        What is added to it, in this order.

    Examples
    --------
    >>> from smallearn.model import Prototype, Term
    >>> Prototype(owner=1, intercept=-3.0, terms=(Term(feature=0, weight=2.0, name="dose"),)).terms[0].text
    'dose'
    """

    owner: int
    intercept: float
    terms: tuple[Term, ...]


def without_gaps(prototype: Prototype) -> Prototype:
    """The prototype for rows without missing values: no term is false, or has a mean, because a value is missing."""
    intercept = prototype.intercept
    terms: dict[tuple, Term] = {}
    for term in prototype.terms:
        if term.kind == "missing":
            continue
        found = replace(term, mean=None)
        if term.kind == "at_most":
            intercept += term.weight
            found = replace(found, kind="above", weight=-term.weight)
        same = terms.get((found.feature, found.kind, found.value))
        if same is not None:
            found = replace(found, weight=same.weight + found.weight)
        terms[found.feature, found.kind, found.value] = found
    return replace(prototype, intercept=intercept, terms=tuple(terms.values()))


@dataclass(frozen=True)
class Range:
    """The smallest and the largest value of a numeric feature in the training rows.

    Parameters
    ----------
    feature : int
        The position of the feature in the training data.
    low : float
        The smallest value.
    high : float
        The largest value.

    Examples
    --------
    >>> from smallearn.model import Range
    >>> Range(feature=0, low=18.0, high=90.0).high
    90.0
    """

    feature: int
    low: float
    high: float


@dataclass(frozen=True)
class Accepted:
    """The values that a feature may have, where a model refuses others.

    A model that stands for a pipeline refuses the rows that the pipeline refuses.

    Parameters
    ----------
    feature : int
        The position of the feature in the training data.
    categories : tuple of str, int, float or bool, or None, default=None
        The values that are accepted; None if all are.
    missing : bool, default=True
        Whether a missing value is accepted.

    Examples
    --------
    >>> from smallearn.model import Accepted
    >>> Accepted(feature=0, categories=("blue", "red"), missing=False).takes("green")
    False
    """

    feature: int
    categories: tuple[Category, ...] | None = None
    missing: bool = True

    def takes(self, value: Category | None) -> bool:
        """Whether a value is accepted.

        Parameters
        ----------
        value : str, int, float, bool or None
            A value of the feature; None if it is missing.

        Returns
        -------
        bool
            True if it is among the categories, or may be missing.
        """
        if value is None:
            return self.missing
        return self.categories is None or value in self.categories


@dataclass(frozen=True)
class Training:
    """How a model was trained, and its certificate.

    The certificate is a lower bound on the training objective at the final assignment of rows to prototypes: no model
    within the same budget has a lower objective there. It says nothing about accuracy on new rows.

    Parameters
    ----------
    smallearn : str
        The version of smallearn that trained the model.
    n_rows : int
        The number of training rows.
    alpha : float
        The ridge penalty λ.
    n_nonzero : int or None
        The number of terms allowed; None if costs were the limit.
    objective : float
        The training objective of the model.
    lower_bound : float or None
        The certificate; None if it was not computed.
    budget : {"prototype", "total", "shared"}, default="prototype"
        Whether ``n_nonzero`` counts terms in each prototype, terms in all, or different terms.
    max_cost : float or None, default=None
        The total cost allowed for the features; None for no limit.
    certified : bool, default=False
        Whether the model was proven to be optimal within its budget.

    Examples
    --------
    >>> from smallearn.model import Training
    >>> facts = Training(smallearn="1.0", n_rows=40, alpha=0.01, n_nonzero=2, objective=0.25, lower_bound=0.2)
    >>> f"{facts.optimality_gap:.0%}", facts.limits
    ('20%', ('at most 2 terms per prototype',))
    """

    smallearn: str
    n_rows: int
    alpha: float
    n_nonzero: int | None
    objective: float
    lower_bound: float | None
    budget: str = "prototype"
    max_cost: float | None = None
    certified: bool = False

    @property
    def optimality_gap(self) -> float | None:
        """The distance from the objective to the bound, relative to the objective.

        Returns
        -------
        float or None
            0 if no model within the budget has a lower objective; None if the certificate was not computed.
        """
        return None if self.lower_bound is None else (self.objective - self.lower_bound) / self.objective

    @property
    def limits(self) -> tuple[str, ...]:
        """The budget: ``("at most 3 terms per prototype",)``.

        Returns
        -------
        tuple of str
            One text for each limit.
        """
        limits = []
        if self.n_nonzero is not None:
            thing = "different term" if self.budget == "shared" else "term"
            where = {"prototype": " per prototype", "total": " in all", "shared": ""}[self.budget]
            limits.append(f"at most {count(self.n_nonzero, thing)}{where}")
        if self.max_cost is not None:
            limits.append(f"a cost of at most {self.max_cost:.6g}")
        return tuple(limits)

    @property
    def rivals(self) -> str:
        """The models that the bound holds for: ``no model with at most 3 terms per prototype``.

        Returns
        -------
        str
            The subject of a sentence.
        """
        return f"no model with {' and '.join(self.limits)}" if self.limits else "no model"


@dataclass(frozen=True)
class Step:
    """The best candidate model of one size.

    Parameters
    ----------
    n_terms : int
        The number of terms.
    n_prototypes : int
        The number of prototypes.
    score : float
        The mean score over the folds.
    spread : float
        The standard error of the mean score.

    Examples
    --------
    >>> from smallearn.model import Step
    >>> Step(n_terms=2, n_prototypes=1, score=0.93, spread=0.01).score
    0.93
    """

    n_terms: int
    n_prototypes: int
    score: float
    spread: float


@dataclass(frozen=True)
class Selection:
    """How a model was chosen by cross-validation.

    Parameters
    ----------
    metric : str
        The name of the score: ``"accuracy"``, or that of another scorer.
    scores : tuple of float
        The score on each fold.
    max_terms : int
        The number of terms allowed.
    frontier : tuple of Step
        The best candidate model of each size.

    Examples
    --------
    >>> from smallearn.model import Selection
    >>> Selection(metric="accuracy", scores=(0.9, 0.94), max_terms=4, frontier=()).text
    '92.0% ± 2.0%'
    """

    metric: str
    scores: tuple[float, ...]
    max_terms: int
    frontier: tuple[Step, ...]

    def told(self, value: float) -> str:
        """A score by this metric as text.

        Parameters
        ----------
        value : float
            A score, or a difference of scores.

        Returns
        -------
        str
            An accuracy in percent, another metric in three decimals.
        """
        return f"{value:.1%}" if "accuracy" in self.metric else f"{value:.3f}"

    @property
    def text(self) -> str:
        """The mean score and its standard error: ``95.8% ± 0.5%``.

        Returns
        -------
        str
            Both as `told` formats them.
        """
        return f"{self.told(self.score)} ± {self.told(self.spread)}"

    @property
    def score(self) -> float:
        """The mean score over the folds.

        Returns
        -------
        float
            The arithmetic mean of ``scores``.
        """
        return math.fsum(self.scores) / len(self.scores)

    @property
    def spread(self) -> float:
        """The standard error of the mean score.

        Returns
        -------
        float
            0 for a single fold.
        """
        return standard_error(self.scores)


def standard_error(scores: tuple[float, ...]) -> float:
    """The standard error of the mean of some scores; 0 for a single one."""
    if len(scores) < 2:
        return 0.0
    mean = math.fsum(scores) / len(scores)
    largest = max(abs(score - mean) for score in scores) or 1.0  # whose square may overflow
    variance = math.fsum(((score - mean) / largest) ** 2 for score in scores) / (len(scores) - 1)
    return largest * math.sqrt(variance / len(scores))


@dataclass(frozen=True)
class HeldOut:
    """Rows of the table that a model was not trained on, so that it can be tested on them.

    Parameters
    ----------
    seed : int
        The seed by which the rows were drawn.
    class_counts : tuple of int
        The number of these rows in each class.

    Examples
    --------
    >>> from smallearn.model import HeldOut
    >>> HeldOut(seed=0, class_counts=(30, 10)).n_rows
    40
    """

    seed: int
    class_counts: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """The number of rows.

        Returns
        -------
        int
            The sum over the classes.
        """
        return sum(self.class_counts)


@dataclass(frozen=True)
class TableFacts:
    """What a model was told of the table that it was trained on.

    Parameters
    ----------
    ids : tuple of str, default=()
        The columns that identify a row.
    renamed : tuple of (str, str), default=()
        Classes that have another name in the table: that name, or a range of numbers such as ``30..50``, and the class.
    held_out : HeldOut or None, default=None
        The rows that the model was not trained on, if some were held out.
    missing : tuple of str, default=()
        Texts and numbers that mean a missing value, such as ``999``, beside the usual ones.
    missing_by_column : tuple of (str, tuple of str), default=()
        Columns in which some of the usual texts, such as ``n/a``, were read as missing values, and these texts.
    positive : str or None, default=None
        The class, as text, that the user named as the one that high scores mean and that F1 and the like are about.

    Examples
    --------
    >>> from smallearn.model import TableFacts
    >>> dict(TableFacts(renamed=(("0", "no"), ("1", "yes"))).renamed)["1"]
    'yes'
    """

    ids: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    held_out: HeldOut | None = None
    missing: tuple[str, ...] = ()
    missing_by_column: tuple[tuple[str, tuple[str, ...]], ...] = ()
    positive: str | None = None

    def __bool__(self) -> bool:
        return self != NO_TABLE


NO_TABLE = TableFacts()


@dataclass(frozen=True)
class DataFacts:
    """What a model knows about its training rows.

    Parameters
    ----------
    fingerprint : str
        A hash of the rows, in any order, by which the model recognises them.
    class_counts : tuple of int
        The number of rows of each class.
    target : str or None, default=None
        The name of the column of classes, if known.
    source : str or None, default=None
        The name of the file, if known.

    Examples
    --------
    >>> from smallearn.model import Prototype, SMaLLModel, Term
    >>> prototype = Prototype(owner=1, intercept=-1.5, terms=(Term(feature=0, weight=1.0),))
    >>> model = SMaLLModel(("no", "yes"), "<U3", n_features=1, prototypes=(prototype,))
    >>> model.trained_on([[1.0], [2.0], [3.0]], ["no", "yes", "yes"], target="ill").data.class_counts
    (1, 2)
    """

    fingerprint: str
    class_counts: tuple[int, ...]
    target: str | None = None
    source: str | None = None


@dataclass(frozen=True)
class Description:
    """What a feature is, in words.

    Parameters
    ----------
    name : str
        The name of the feature in the training data.
    words : str or None, default=None
        What it is called for readers; None if the name says it.
    unit : str or None, default=None
        The unit of its values.

    Examples
    --------
    >>> from smallearn.model import Description
    >>> Description(name="thalach", words="highest heart rate reached", unit="beats per minute").unit
    'beats per minute'
    """

    name: str
    words: str | None = None
    unit: str | None = None


@dataclass(frozen=True)
class Familiar:
    """The accuracy and the size of one standard model.

    Parameters
    ----------
    name : str
        The model: ``"random forest"``.
    score : float
        Its accuracy, averaged over the folds.
    spread : float
        The standard error of that mean; 0 if there was one test set.
    size : str
        What one would have to read to know the model: ``"2,845 splits"``.
    seconds : float or None, default=None
        CPU seconds of training it once, the choice of its regularisation or depth included.

    Examples
    --------
    >>> from smallearn.evaluation import Familiar
    >>> Familiar(name="decision tree", score=0.918, spread=0.0, size="6 splits").size
    '6 splits'
    """

    name: str
    score: float
    spread: float
    size: str
    seconds: float | None = None


@dataclass(frozen=True)
class StandardModels:
    """Standard models, cross-validated on the training rows of a model, as `smallearn fit --compare` keeps them.

    Parameters
    ----------
    models : tuple of smallearn.evaluation.Familiar
        The standard models.
    folds : int
        The number of folds.
    n_rows : int or None, default=None
        The number of rows that were cross-validated; None for all.
    sampled_from : int or None, default=None
        If these are a random sample: of how many rows.

    Examples
    --------
    >>> from smallearn.evaluation import Familiar
    >>> from smallearn.model import StandardModels
    >>> tree = Familiar(name="decision tree", score=0.918, spread=0.01, size="6 splits")
    >>> StandardModels(models=(tree,), folds=5).models[0].score
    0.918
    """

    models: tuple[Familiar, ...]
    folds: int
    n_rows: int | None = None
    sampled_from: int | None = None


@dataclass(frozen=True)
class Deployment:
    """How a model was chosen to be compiled for a chip; exports to C and Rust are written so by default.

    Parameters
    ----------
    chip : str
        The name of the chip.
    number : str
        The type of the weights, as in `smallearn.export.to_c`.
    layout : {"code", "table"}
        Whether the weights are in the code or in tables.
    readings : {"float", "counts", "codes"}
        What the device passes.
    counts : tuple of (str, float, float, int, int), default=()
        With "counts", the features in use: label, scale, offset, and the least and the greatest count.

    Examples
    --------
    >>> from smallearn.model import Deployment
    >>> Deployment("atmega328p", "int8", "code", "counts", (("age", 0.1, 0.0, 0, 1023),)).counts_by_label
    {'age': (0.1, 0.0, 0, 1023)}
    """

    chip: str
    number: str
    layout: str
    readings: str
    counts: tuple[tuple[str, float, float, int, int], ...] = ()

    @property
    def counts_by_label(self) -> dict[str, tuple[float, float, int, int]] | None:
        """The counts as `smallearn.export.to_c` takes them.

        Returns
        -------
        dict or None
            None if there are none.
        """
        return {label: (scale, offset, low, high) for label, scale, offset, low, high in self.counts} or None
