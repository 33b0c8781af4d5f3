"""A model as the flat list of terms that every target is written from.

Everything that a target has to know about a model is decided here, once: which features are inputs, which of them hold
text, and which terms can never hold and are dropped.

A feature is text if it is compared with text. A feature with a raw or threshold term is a number, and so is one that is
compared with numbers only. A feature that is only tested for being missing is a number if the model knows its range or
was not trained, else text.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from smallearn._run.hashing import hex_digest
from smallearn._text import show
from smallearn._version import __version__
from smallearn.export._names import comment_text, unique_names
from smallearn.model import SMaLLModel, Term
from smallearn.model._arguments import as_model
from smallearn.model._card import aligned
from smallearn.model._decision import Decision, sole_owner
from smallearn.model._parts import Accepted, Category
from smallearn.model._sentences import threshold_text

HASH_DIGITS = 12


@dataclass(frozen=True)
class Input:
    """A feature that the model reads.

    Parameters
    ----------
    feature : int
        Its position among the features of the training data.
    label : str
        What the user calls it: any text.
    name : str
        The label as an identifier of lower-case ASCII letters, digits and underscores, different from that of every
        other input. It may be a reserved word: targets put a prefix before it.
    is_text : bool
        Whether it holds text; otherwise it is a number.
    categories : tuple
        The categories that a text input is compared with; other text equals none of them.
    low, high : float or None
        The range of a number in the training data; None if it is not known.
    may_be_missing : bool
        Whether the model can predict without it.
    accepted : Accepted or None, default=None
        The values that the model accepts; None if it accepts all. SQL has no prediction for others; the other targets
        refuse a missing number and leave categories to the caller, and say so.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import flatten
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> [input_.label for input_ in flatten(clf).inputs]
    ['x20', 'x27']
    """

    feature: int
    label: str
    name: str
    is_text: bool
    categories: tuple[Category, ...]
    low: float | None
    high: float | None
    may_be_missing: bool
    accepted: Accepted | None = None


@dataclass(frozen=True)
class FlatTerm:
    """A term of a prototype: ``weight · b``.

    Parameters
    ----------
    prototype : int
        The position of the prototype whose score it is added to.
    input : int
        The position of its input in `FlatModel.inputs`.
    weight : float
        Never 0.
    kind : str
        As in `smallearn.model.Term`: "raw", "at_most", "above", "equals" or "missing".
    value : str, float or None
        The cut point or category; None for "raw" and "missing".
    mean : float or None
        What stands in for a missing value in a raw term.
    text : str, default=""
        The term as the model prints it: ``[member = True]`` where ``value`` is 1.0.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import flatten
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> [(term.prototype, term.input, term.kind) for term in flatten(clf).terms]
    [(0, 0, 'raw'), (0, 1, 'raw')]
    """

    prototype: int
    input: int
    weight: float
    kind: str
    value: Category | None
    mean: float | None
    text: str = ""


@dataclass(frozen=True)
class FlatModel:
    """A model as a flat list of terms.

    The score of prototype ``j`` is ``intercepts[j] + Σ weight · b``, summed in the order of ``terms``. If one of two
    classes owns all prototypes, it is predicted if any score is above ``decision.cut`` (if it is class 1) or at least
    that (if it is class 0, as ties go to the first class), otherwise the other class. Otherwise the class with the
    greatest score is predicted, ties going to the first, or as ``decision`` says.

    Parameters
    ----------
    classes : tuple
        The labels.
    n_features : int
        How many features the training data had.
    inputs : tuple of Input
        The features in use, in the order of their positions.
    owners : tuple of int
        For each prototype, the position of its class in ``classes``.
    intercepts : tuple of float
        The constant of each prototype.
    terms : tuple of FlatTerm
        The terms of all prototypes.
    scale : float
        Log-odds of one unit of score.
    decision : Decision
        What the scores are compared by: `SMaLLModel.decision`.
    version : str
        The version of smallearn that made it.
    hash : str
        The `model_hash` of the model.
    is_edited : bool, default=False
        Whether a person changed the model after training.
    missing : tuple of str, default=()
        Texts and numbers that meant a missing value in training, beside the usual ones.
    missing_by_column : tuple of (str, tuple of str), default=()
        Inputs in which some of the usual texts, such as ``n/a``, were missing values in training, and these texts.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import flatten
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> flat = flatten(clf)
    >>> flat.classes, flat.owners, len(flat.of(0))
    ((0, 1), (1,), 2)
    """

    classes: tuple[Any, ...]
    n_features: int
    inputs: tuple[Input, ...]
    owners: tuple[int, ...]
    intercepts: tuple[float, ...]
    terms: tuple[FlatTerm, ...]
    scale: float
    decision: Decision
    version: str
    hash: str
    is_edited: bool = False
    missing: tuple[str, ...] = ()
    missing_by_column: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def has_one_owner(self) -> bool:
        """Whether one of two classes owns all prototypes; the other scores 0."""
        return sole_owner(self.owners, len(self.classes)) is not None

    @property
    def by_class(self) -> list[int]:
        """The positions of the prototypes, ordered by class: the first of the greatest scores wins a tie."""
        return sorted(range(len(self.owners)), key=lambda j: self.owners[j])

    def of(self, prototype: int) -> tuple[FlatTerm, ...]:
        """The terms of one prototype.

        Parameters
        ----------
        prototype : int
            Its position.

        Returns
        -------
        tuple of FlatTerm
        """
        return tuple(term for term in self.terms if term.prototype == prototype)

    @property
    def rows(self) -> list[tuple[FlatTerm | None, ...]]:
        """The rows of the card: what is multiplied by a weight of each prototype is the same along a row.

        Returns
        -------
        list of tuple of FlatTerm or None
            The term of each prototype; None where it has none.
        """
        return aligned(
            [self.of(j) for j in range(len(self.owners))], lambda term: (term.input, term.kind, term.value, term.mean)
        )

    @property
    def stamp(self) -> str:
        """The version and the hash, on one line: every export carries it."""
        changed = ", changed by hand" if self.is_edited else ""
        texts = ", ".join(map(comment_text, self.missing))  # each whole: a long line would lose its middle
        missing = f"; {texts} meant a missing value in training: pass it as one" if texts else ""
        return f"smallearn {self.version}, model {self.hash}{changed}{missing}"


def flatten(model: Any) -> FlatModel:
    """Flatten a model to its inputs and the terms that can make a difference.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.

    Returns
    -------
    FlatModel
        The inputs in the order of the features, and the terms in their order in the model.

    Raises
    ------
    ValueError
        If a number that a feature is compared with is beyond 2¹⁰²³.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import flatten
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> len(flatten(clf).terms)
    2
    """
    model = as_model(model)
    kept = _terms_that_matter(model)
    every = [term for terms in kept for term in terms]
    features = sorted({term.feature for term in every})
    labels = [next(term.label for term in every if term.feature == feature) for feature in features]
    position = {feature: place for place, feature in enumerate(features)}
    names = unique_names(labels)
    return FlatModel(
        classes=model.classes,
        n_features=model.n_features,
        inputs=tuple(_input(model, every, *one) for one in zip(features, labels, names, strict=True)),
        owners=model.owners,
        intercepts=tuple(prototype.intercept for prototype in model.prototypes),
        terms=tuple(
            FlatTerm(
                prototype=j,
                input=position[term.feature],
                weight=term.weight,
                kind=term.kind,
                value=_plain(term.value),
                mean=term.mean,
                text=term.text,
            )
            for j, terms in enumerate(kept)
            for term in terms
        ),
        scale=model.scale,
        decision=model.decision,
        version=__version__,
        hash=model_hash(model),
        is_edited=bool(model.edits),
        missing=model.table.missing,
        missing_by_column=tuple(entry for entry in model.table.missing_by_column if entry[0] in labels),
    )


def _input(model: SMaLLModel, kept: Sequence[Term], feature: int, label: str, name: str) -> Input:
    own = [term for term in kept if term.feature == feature]
    extent = next((extent for extent in reversed(model.ranges) if extent.feature == feature), None)
    in_model = [term for term in model.terms if term.feature == feature]
    accepted = next((one for one in model.accepted if one.feature == feature), None)
    needed = any(term.kind == "raw" and term.mean is None for term in in_model)
    is_compared = any(term.kind in ("raw", "at_most", "above") for term in in_model)
    is_text = any(isinstance(term.value, str) for term in own) or (
        # Only tested for being missing: in a trained model, numbers have a range.
        all(term.kind == "missing" for term in in_model) and model.training is not None and extent is None
    )
    return Input(
        feature=feature,
        label=label,
        name=name,
        is_text=is_text,
        categories=_categories(own) if is_text else (),
        low=None if is_text or extent is None else extent.low,
        high=None if is_text or extent is None else extent.high,
        may_be_missing=not (needed or (is_compared and accepted is not None and not accepted.missing)),
        accepted=None if accepted is None else _as_compared(accepted, is_text),
    )


def as_term(flat: FlatModel, term: FlatTerm) -> Term:
    """A term as the model has it, with the label of its feature."""
    input_ = flat.inputs[term.input]
    return Term(
        feature=input_.feature,
        weight=term.weight,
        name=input_.label,
        kind=term.kind,
        value=term.value,
        mean=term.mean,
    )


def decision_rule(flat: FlatModel, labels: Sequence[str], score: str = "any score") -> str:
    """How the scores make a decision, without the verb: ``yes if any score is above 0, otherwise no``."""
    if flat.decision.costs is not None:
        return "the class of the least expected cost, at a tie the first"
    if not flat.has_one_owner:
        added = zip(labels, flat.decision.offsets or (), strict=False)
        shifts = ", ".join(f"{offset:+.6g} for {label}" for label, offset in added if offset)
        return f"the class of the greatest score{f' ({shifts})' if shifts else ''}, at a tie the first"
    owner = flat.owners[0]
    return f"{labels[owner]} if {score} is {threshold_text(owner, flat.decision.cut)}, otherwise {labels[1 - owner]}"


def unchecked(flat: FlatModel) -> list[str]:
    """For the comment at the top: which values the model refuses, where the text that is written does not."""
    sentences = []
    for input_ in flat.inputs:
        known = None if input_.accepted is None else input_.accepted.categories
        if input_.accepted is not None and known is not None:
            values = ", ".join([*map(comment_text, known), *(["a missing value"] * input_.accepted.missing)])
            label = comment_text(input_.label)
            sentences.append(f"The model accepts {values} for {label} and refuses others; here that is not checked.")
    return sentences


def model_hash(model: Any) -> str:
    """Hash a model: twelve hexadecimal digits that change with anything in its file.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import model_hash
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> len(model_hash(clf)), model_hash(clf) == model_hash(clf.model_)
    (12, True)
    """
    return hex_digest(as_model(model).to_json(), HASH_DIGITS)


def _terms_that_matter(model: SMaLLModel) -> list[list[Term]]:
    """By prototype, without terms of weight 0, text compared with a number, and numbers that no float64 equals."""
    numeric = {term.feature for term in model.terms if term.kind in ("raw", "at_most", "above")}
    kept = []
    for prototype in model.prototypes:
        terms = [term for term in prototype.terms if term.weight != 0.0]
        for term in terms:
            if term.kind == "equals" and isinstance(term.value, int | float) and abs(term.value) > 2.0**1023:
                raise ValueError(
                    f"{term.text}: {show(term.value)} is too large to be compared with in an export; "
                    "numbers up to 2**1023 are allowed. Rescale the feature."
                )
        kept.append([term for term in terms if term.kind != "equals" or _can_hold(term, numeric)])
    return kept


def _can_hold(term: Term, numeric: set[int]) -> bool:
    if isinstance(term.value, str):
        return term.feature not in numeric
    return float(term.value) == term.value  # type: ignore[arg-type]


def _categories(terms: Sequence[Term]) -> tuple[Category, ...]:
    values = (_plain(term.value) for term in terms if term.kind == "equals")
    return tuple(value for value in dict.fromkeys(values) if value is not None)


def _as_compared(accepted: Accepted, is_text: bool) -> Accepted:
    """The values that an input may have: text, or numbers as float64 has them."""
    if accepted.categories is None:
        return accepted
    plain = map(_plain, accepted.categories)
    known = (value for value in plain if value is not None and (is_text or not isinstance(value, str)))
    return replace(accepted, categories=tuple(known))


def _plain(value: Category | None) -> Category | None:
    """Numbers as floats (True is 1.0, as when rows are compared), text as text."""
    return value if value is None or isinstance(value, str) else float(value)
