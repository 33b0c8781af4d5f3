"""The trained model: frozen, in raw units, only the terms it uses. Needs numpy alone.

`_decision` is the rule by which it decides, `_columns` the value of a term on a row, `_print` and `_html` what it looks
like, `_json` its file.
"""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from smallearn.model import _html, _json, _print
from smallearn.model._card import CardRow, card_of
from smallearn.model._checks import check_parts
from smallearn.model._columns import check_accepted, factor_in
from smallearn.model._count import count_terms
from smallearn.model._decision import (
    Costs,
    Decision,
    class_scores,
    compared,
    decide,
    decision_of,
    finite,
    scores,
    sole_owner,
    winners,
)
from smallearn.model._edit import Edit, Editor, known_features
from smallearn.model._fingerprint import combined, fingerprint
from smallearn.model._histograms import Reference
from smallearn.model._lazy import by_block
from smallearn.model._one_row import decide_one
from smallearn.model._parts import (
    NO_TABLE,
    Accepted,
    DataFacts,
    Deployment,
    Description,
    Prototype,
    Range,
    Selection,
    StandardModels,
    TableFacts,
    Term,
    Training,
    without_gaps,
)
from smallearn.model._reference import carried_over, reference_of
from smallearn.model._rows import CHUNK_ROWS, Rows, gather
from smallearn.model._score_card import ScoreCard, score_card
from smallearn.model._sentences import decision_sentence
from smallearn.model._totals import attainable_totals

FEW_CLASSES = 32  # for which comparing all labels with each class is faster than looking up each label
MOST_TOTALS = 25  # of a score card: a longer list is not read


@dataclass(frozen=True)
class SMaLLModel:
    """A trained classifier: a few short scores, and the rule by which they decide.

    With two classes, one of them owns all prototypes: it is predicted if any score is above 0 (from 0 on, if it is the
    first class). With more, the class with the highest score is predicted; at a tie the first. A decision threshold
    takes the place of 0, and a cost matrix that of the highest score.

    Every method that takes ``X`` takes an array, a sparse matrix, a pandas, polars or pyarrow table (by name, if the
    model has names), or `Rows` that were read before. For a Dask array or dataframe, `predict`, `predict_proba` and
    `decision_function` return a Dask array, which is computed block by block when it is asked for.

    Parameters
    ----------
    classes : tuple
        The class labels, in order.
    class_dtype : str
        The numpy type of what `predict` returns.
    n_features : int
        The number of features of the training data.
    prototypes : tuple of Prototype
        The scores.
    training : Training or None, default=None
        How the model was trained, if known.
    scale : float, default=1.0
        What one point of score is worth in log-odds.
    ranges : tuple of Range, default=()
        The ranges of the features in use over the training rows, as far as they are numeric and known.
    selection : Selection or None, default=None
        How the model was chosen, and its score on held-out rows, if known.
    data : DataFacts or None, default=None
        What is known about the training rows.
    decision_threshold : float, default=0.5
        With two classes, ``classes[1]`` is predicted where its probability exceeds this. With more it is 0.5.
    cost_matrix : tuple of tuple of float or None, default=None
        With more than two classes, the cost of each prediction, true × predicted classes: the class of least expected
        cost is predicted, at a tie the first. With two classes it is None: costs are a threshold.
    accepted : tuple of Accepted, default=()
        The features in use of which not every value is accepted; a row with another value is an error.
    deployment : Deployment or None, default=None
        How the model is compiled for the chip that it was chosen for, if there is one.
    frontier_models : tuple of SMaLLModel, default=()
        The best model of each size, as `SMaLLClassifierCV.frontier_models_` has them. Predictions and exports of this
        model ignore them.
    alternatives : tuple of SMaLLModel, default=()
        Models that are about as good and read other features, as `SMaLLClassifierCV.alternatives_` has them.
    descriptions : tuple of Description, default=()
        What features are called for readers, and their units.
    device_limits : tuple of (str, float), default=()
        The limits that the model was chosen under for the chip of ``deployment``: "max_flash", "max_ram", "max_cycles"
        or "max_time_us", and the greatest value that is allowed.
    reference : Reference or None, default=None
        Histograms of the training rows, with which `smallearn.evaluation.monitor` compares new ones, if known.
    standard_models : StandardModels or None, default=None
        Standard models on the training rows, for comparison, if they are kept with the model.
    edits : tuple of Edit, default=()
        What a person changed after training, in order. The model then has no certificate and no cross-validated score,
        and ``training`` tells of the model before it was changed.
    table : TableFacts, default=TableFacts()
        What is known of the table that it was trained on: which rows were held out, which columns identify a row, and
        which classes have another name there.

    See Also
    --------
    load_model : Read a model from a file.

    Examples
    --------
    >>> from smallearn.model import Prototype, SMaLLModel, Term
    >>> terms = (Term(feature=0, weight=2.0, name="age", kind="above", value=40.0),)
    >>> prototype = Prototype(owner=1, intercept=-1.0, terms=terms)
    >>> model = SMaLLModel(("no", "yes"), "<U3", n_features=1, prototypes=(prototype,))
    >>> print(model)
    SMaLL model: 1 term in 1 prototype, 1 of 1 feature used
    Predict 'yes' if this score is above 0, otherwise 'no'.
    <BLANKLINE>
      Score for class 'yes'
        +2 × [age > 40]
        -1 (constant)
    <BLANKLINE>
      points: probability of 'yes'
        -1: 26.9%
        +1: 73.1%
    >>> model.predict([[35.0], [50.0]]).tolist()
    ['no', 'yes']
    """

    classes: tuple[Any, ...]
    class_dtype: str
    n_features: int
    prototypes: tuple[Prototype, ...]
    training: Training | None = None
    scale: float = 1.0
    ranges: tuple[Range, ...] = ()
    selection: Selection | None = None
    data: DataFacts | None = None
    decision_threshold: float = 0.5
    cost_matrix: Costs | None = None
    accepted: tuple[Accepted, ...] = ()
    deployment: Deployment | None = None
    frontier_models: "tuple[SMaLLModel, ...]" = ()
    alternatives: "tuple[SMaLLModel, ...]" = ()
    descriptions: tuple[Description, ...] = ()
    device_limits: tuple[tuple[str, float], ...] = ()
    reference: Reference | None = None
    standard_models: StandardModels | None = None
    edits: tuple[Edit, ...] = ()
    table: TableFacts = NO_TABLE

    def __post_init__(self):
        check_parts(self)

    # --- what it is made of ----------------------------------------------------------------------------------------

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms of all prototypes.

        Returns
        -------
        tuple of Term
            In the order of the prototypes.
        """
        return tuple(term for prototype in self.prototypes for term in prototype.terms)

    @property
    def card(self) -> tuple[CardRow, ...]:
        """The different terms, each with its weight in every prototype.

        Returns
        -------
        tuple of CardRow
            A row for each feature, kind and value among the terms; ``[x ≤ 1]`` and ``[x > 1]`` are two rows. They are
            in the order of the terms.

        Examples
        --------
        >>> from smallearn.model import Prototype, SMaLLModel, Term
        >>> prototypes = [Prototype(j, 0.0, (Term(0, weight),)) for j, weight in enumerate((1.0, 2.0, -3.0))]
        >>> model = SMaLLModel(("a", "b", "c"), "<U1", n_features=1, prototypes=tuple(prototypes))
        >>> [(row.text, row.weights) for row in model.card]
        [('x0', (1.0, 2.0, -3.0))]
        """
        return card_of(self.prototypes)

    @property
    def n_terms(self) -> int:
        """How many terms the model has, as its budget counts them.

        Returns
        -------
        int
            With a shared budget the rows of the `card`, where a term that several classes weigh is one; otherwise every
            weight.
        """
        shared = self.training is not None and self.training.budget == "shared"
        return count_terms(self.prototypes)[0] if shared else len(self.terms)

    @property
    def owners(self) -> tuple[int, ...]:
        """The class of each prototype.

        Returns
        -------
        tuple of int
            Positions in ``classes``.
        """
        return tuple(prototype.owner for prototype in self.prototypes)

    @property
    def sole_owner(self) -> int | None:
        """The class that owns all prototypes.

        Returns
        -------
        int or None
            Its position in ``classes``; the other of two classes then scores 0. None if every class owns prototypes.
        """
        return sole_owner(self.owners, len(self.classes))

    @cached_property
    def _owns_several(self) -> bool:
        """Whether a class owns several prototypes, so that they are numbered."""
        return len(self.prototypes) > len(set(self.owners))

    @property
    def features(self) -> tuple[Term, ...]:
        """The features in use.

        Returns
        -------
        tuple of Term
            One term for each feature, in the order of the features.
        """
        used = {term.feature: term for term in self.terms}
        return tuple(used[index] for index in sorted(used))

    @property
    def rule(self) -> str:
        """How the scores make a decision.

        Returns
        -------
        str
            One sentence.
        """
        return decision_sentence(self)

    @property
    def decision(self) -> Decision:
        """What the scores are compared by: the decision threshold or the cost matrix, in points.

        Returns
        -------
        Decision
            With ``cut``, ``offsets`` and ``costs``.
        """
        return decision_of(self.decision_threshold, self.cost_matrix, self.sole_owner, self.scale)

    @property
    def cut(self) -> float:
        """The score that decides between two classes.

        Returns
        -------
        float
            In points: the owner of the prototypes is predicted if any score is above it (from it on, if the owner is
            the first class). 0 with a decision threshold of 0.5, and where every class owns prototypes.
        """
        return self.decision.cut

    @cached_property
    def is_score_card(self) -> bool:
        """Whether the model counts whole points.

        Returns
        -------
        bool
            True if the constants, the weights of literals and the weights of raw features per unit are whole numbers.
        """
        counted = all(term.kind != "raw" or term.unit is not None for term in self.terms)
        points = [*(term.points for term in self.terms), *(prototype.intercept for prototype in self.prototypes)]
        return bool(self.terms) and counted and all(map(_is_whole, points))

    def totals(self) -> list[tuple[int, float]]:
        """The totals that a score card of literals can reach, with their probabilities.

        Returns
        -------
        list of (int, float)
            Points, and the probability of the class that owns the prototypes. Empty if the model is no score card, has
            raw features or prototypes of several classes, or can reach more totals than can be read.
        """
        if self.sole_owner is None or not self.is_score_card or any(term.kind == "raw" for term in self.terms):
            return []
        totals = attainable_totals(self.prototypes)
        if totals is None or len(totals) > MOST_TOTALS:
            return []
        return [(total, 0.5 * (1.0 + math.tanh(0.5 * self.scale * total))) for total in totals]

    def score_card(
        self,
        scaling: str | None = None,
        *,
        points: float = 600.0,
        odds: float = 50.0,
        pdo: float = 20.0,
        low: float = 0.0,
        high: float = 100.0,
        digits: int | None = None,
        X: Any = None,
    ) -> ScoreCard:
        """Write a model of literals as a score card.

        Points are not below 0. A row gets those of one bin of each feature; they add up to a total, from which the
        log-odds of the model follow exactly. With several prototypes there is a card for each, and the highest total
        counts.

        Parameters
        ----------
        scaling : {"pdo", "min_max"} or None, default=None
            How totals are scaled. "pdo", as in credit files: a total of ``points`` means odds of ``odds`` to 1 for the
            class that owns the card, and ``pdo`` more points double them. "min_max": totals go from ``low`` to
            ``high``. None: the points of the model, from 0.
        points, odds, pdo : float, default=600, 50 and 20
            For "pdo".
        low, high : float, default=0 and 100
            For "min_max".
        digits : int or None, default=None
            Round points to so many digits after the point, 0 for whole points. That may change decisions.
        X : array, sparse matrix or table, default=None
            Rows on which to count the decisions that rounding changes.

        Returns
        -------
        ScoreCard
            It prints itself; `ScoreCard.lines` and `ScoreCard.to_frame` give it as a table.

        Raises
        ------
        ValueError
            If the model has raw terms, which have no bins, or a parameter is not allowed.

        Examples
        --------
        >>> from smallearn.model import Prototype, SMaLLModel, Term
        >>> terms = (Term(0, 1.5, "age", "above", 40.0),)
        >>> model = SMaLLModel(("no", "yes"), "<U3", n_features=1, prototypes=(Prototype(1, -1.0, terms),))
        >>> card = model.score_card("pdo", points=600, odds=50, pdo=20, digits=0)
        >>> card.totals([[35.0], [50.0]]).ravel().tolist()
        [458.0, 501.0]
        """
        return score_card(self, scaling, points=points, odds=odds, pdo=pdo, low=low, high=high, digits=digits, X=X)

    def __str__(self) -> str:
        return _print.text_of(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return _html.model_html(self)

    # --- variants --------------------------------------------------------------------------------------------------

    def with_feature_names(self, names: Sequence[str]) -> "SMaLLModel":
        """Name the features, for training data that came without names.

        Parameters
        ----------
        names : sequence of str
            One name for each feature of the training data.

        Returns
        -------
        SMaLLModel
            A model that predicts the same.
        """
        if len(names) != self.n_features:
            raise ValueError(f"There are {len(names)} names for {self.n_features} features.")
        prototypes = tuple(
            replace(prototype, terms=tuple(replace(term, name=str(names[term.feature])) for term in prototype.terms))
            for prototype in self.prototypes
        )
        return replace(self._with_others(lambda one: one.with_feature_names(names)), prototypes=prototypes)

    def _with_others(self, change: "Callable[[SMaLLModel], SMaLLModel]") -> "SMaLLModel":
        """The same model, whose models of other sizes and alternatives are changed."""
        if not self.frontier_models and not self.alternatives:
            return self
        return replace(
            self,
            frontier_models=tuple(map(change, self.frontier_models)),
            alternatives=tuple(map(change, self.alternatives)),
        )

    def edit(self, feature_names: Sequence[str] | None = None) -> Editor:
        """Change the model by hand: cuts, weights, constants, the threshold and terms.

        Parameters
        ----------
        feature_names : sequence of str, default=None
            The names of all features of the training data, in order. They are needed to add a term of a feature that no
            term of the model, its models of other sizes and its alternatives has.

        Returns
        -------
        Editor
            Its methods change one thing each and return a new editor; its ``model`` is the changed model.
            `smallearn.refit` fits the other weights to rows.

        Examples
        --------
        >>> from smallearn.model import Prototype, SMaLLModel, Term
        >>> terms = (Term(feature=0, weight=2.0, name="age", kind="above", value=40.0),)
        >>> model = SMaLLModel(("no", "yes"), "<U3", n_features=1, prototypes=(Prototype(1, -1.0, terms),))
        >>> edited = model.edit().change_cut("age", 40, 45).set_threshold(0.3).model
        >>> [term.text for term in edited.terms], [edit.text for edit in edited.edits]
        (['[age > 45]'], ['cut 40 → 45 in [age > 45]', 'decision threshold 0.5 → 0.3'])
        """
        return Editor(self, known_features(self, feature_names))

    def for_complete_rows(self) -> "SMaLLModel":
        """Leave out what handles missing values, which makes exports smaller and faster.

        Returns
        -------
        SMaLLModel
            A model that predicts the same for rows without missing values, and refuses a row in which a number that it
            uses is missing, so that no export has to ask whether one is. ``[x ≤ 1]`` becomes ``[x > 1]`` with the
            opposite weight and another constant.
        """
        prototypes = tuple(map(without_gaps, self.prototypes))
        terms = [term for prototype in prototypes for term in prototype.terms]
        used = {term.feature for term in terms}
        compared = {term.feature for term in terms if term.kind == "above"}
        known = {one.feature: one.categories for one in self.accepted if one.categories is not None}
        model = replace(
            self._with_others(SMaLLModel.for_complete_rows),
            prototypes=prototypes,
            ranges=tuple(extent for extent in self.ranges if extent.feature in used),
            accepted=tuple(
                Accepted(feature=feature, categories=known.get(feature), missing=feature not in compared)
                for feature in sorted({*known, *compared} & used)
            ),
            reference=None,
        )
        kept = () if self.reference is None else (one for one in self.reference.features if one.feature in used)
        return replace(model, reference=carried_over(self, model, kept))

    # --- predictions -----------------------------------------------------------------------------------------------

    def scores(self, X: Any) -> np.ndarray:
        """Compute the score of every prototype on every row.

        Parameters
        ----------
        X : array, sparse matrix, table or Rows
            The rows to score.

        Returns
        -------
        ndarray of shape (n_rows, n_prototypes)
            In points, summed term by term in the order of the terms. Those of `Rows` cannot be written to.
        """
        return self._from_scores(X, lambda z: z)

    def _from_scores(self, X: Any, answer: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """The answer for every row, from its scores; chunk by chunk, so that these stay in the cache."""
        if isinstance(X, Rows) and X.shape[1] == self.n_features:
            check_accepted(self.accepted, X.columns)
            return answer(X.scores(self.prototypes))
        answers, begin = answer(np.empty((0, len(self.prototypes)))), 0
        for n_rows, columns in gather(X, self.features, self.n_features):
            if begin == 0:
                n_all = X.shape[0] if hasattr(X, "shape") else len(X)
                answers = np.empty((n_all, *answers.shape[1:]), dtype=answers.dtype)
            check_accepted(self.accepted, columns)
            answers[begin : begin + n_rows] = answer(scores(self.prototypes, partial(factor_in, columns), n_rows))
            begin += n_rows
        return answers

    def decision_function(self, X: Any) -> np.ndarray:
        """Compute log-odds.

        Parameters
        ----------
        X : array, sparse matrix, table or Rows
            The rows to compute log-odds for.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            With two classes, positive for ``classes[1]``; with more, the score of each class.
        """
        n_scores = None if len(self.classes) == 2 else len(self.classes)
        lazy = by_block(X, self.decision_function, float, n_scores)
        return self._from_scores(X, self._log_odds) if lazy is None else lazy

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each row.

        Parameters
        ----------
        X : array, sparse matrix, table or Rows
            The rows to classify.

        Returns
        -------
        ndarray of shape (n_rows,)
            Class labels, of type ``class_dtype``.
        """
        lazy = by_block(X, self.predict, self.class_dtype, None)
        return self._from_scores(X, lambda z: self.labels(self.decide(z))) if lazy is None else lazy

    def decide(self, z: np.ndarray) -> np.ndarray:
        """Decide between the classes.

        Parameters
        ----------
        z : ndarray of shape (n_rows, n_prototypes)
            What `scores` returned.

        Returns
        -------
        ndarray of int, shape (n_rows,)
            The predicted class of each row, as a position in ``classes``.
        """
        # Not times the scale, which could round a small score to 0.
        return decide(z, self.owners, len(self.classes), self.decision)

    def compared(self, z: np.ndarray) -> np.ndarray:
        """Compute what decides between the classes: the highest wins, at a tie the first.

        Parameters
        ----------
        z : ndarray of shape (n_rows, n_prototypes)
            What `scores` returned.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The score of each class in points, with `cut` for one without prototypes; with a cost matrix, scores with
            its offsets, or expected costs times -1 (relative, not per row).
        """
        return compared(z, self.owners, len(self.classes), self.decision)

    def winners(self, z: np.ndarray) -> np.ndarray:
        """Find the prototype that decides.

        Parameters
        ----------
        z : ndarray of shape (n_rows, n_prototypes)
            What `scores` returned.

        Returns
        -------
        ndarray of int, shape (n_rows,)
            The prototype with the highest score, with a cost matrix among those of the predicted class.
        """
        return winners(z, self.owners, self.decision)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probability of each class.

        Parameters
        ----------
        X : array, sparse matrix, table or Rows
            The rows to give probabilities for.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The softmax of the decision function; with two classes its sigmoid.
        """
        lazy = by_block(X, self.predict_proba, float, len(self.classes))
        return self._from_scores(X, self.chances) if lazy is None else lazy

    def chances(self, z: np.ndarray) -> np.ndarray:
        """Compute probabilities from scores.

        Parameters
        ----------
        z : ndarray of shape (n_rows, n_prototypes)
            What `scores` returned.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            What `predict_proba` returns for these rows.
        """
        decision = self._decisions(z)
        weight = np.exp(decision - np.maximum.reduce(decision.T)[:, None])
        return weight / weight.sum(axis=1, keepdims=True)

    def _decisions(self, z: np.ndarray) -> np.ndarray:
        """The log-odds of each class, relative to a class without prototypes if there is one."""
        with np.errstate(over="ignore"):
            return finite(self.scale * class_scores(z, self.owners, len(self.classes)))

    def _log_odds(self, z: np.ndarray) -> np.ndarray:
        """What `decision_function` returns, from the scores."""
        decision = self._decisions(z)
        return decision[:, 1] - decision[:, 0] if len(self.classes) == 2 else decision

    def predict_one(self, row: Any) -> Any:
        """Predict the class of one row, without numpy's overhead.

        Parameters
        ----------
        row : mapping or sequence
            From feature names (``x0``, ``x1``, … if the data had none) to values, of which only those in use are read;
            or the values of all features.

        Returns
        -------
        class label
            One of ``classes``.
        """
        return self.classes[decide_one(self, row)]

    def labels(self, code: np.ndarray) -> np.ndarray:
        """Look up class labels.

        Parameters
        ----------
        code : ndarray of int
            Positions in ``classes``.

        Returns
        -------
        ndarray
            The labels, of type ``class_dtype``.
        """
        values = np.empty(len(self.classes), dtype=self.class_dtype)
        values[:] = self.classes
        return values.take(code)

    def codes(self, y: Any) -> np.ndarray:
        """Look up the positions of class labels.

        Parameters
        ----------
        y : array of class labels
            One for each row.

        Returns
        -------
        ndarray of int
            Positions in ``classes``; -1 for a label that the model does not know.
        """
        labels = np.asarray(y)
        numeric = labels.dtype.kind in "biuf" and np.dtype(self.class_dtype).kind in "biuf"
        if numeric and len(self.classes) <= FEW_CLASSES:
            code = np.full(labels.shape, -1, dtype=np.int64)
            for position, label in enumerate(self.classes):
                code[labels == label] = position
            return code
        number = {label: position for position, label in enumerate(self.classes)}
        chunks = (labels[begin : begin + CHUNK_ROWS].tolist() for begin in range(0, len(labels), CHUNK_ROWS))
        found = (number.get(label, -1) for chunk in chunks for label in chunk)
        return np.fromiter(found, dtype=np.int64, count=len(labels))

    # --- what it was trained on --------------------------------------------------------------------------------------

    def trained_on(self, X: Any, y: Any, **names: str | None) -> "SMaLLModel":
        """Record the training rows, so that the model recognises them.

        Parameters
        ----------
        X : array, sparse matrix, table or Rows
            The training rows.
        y : array of class labels
            One for each row.
        **names : str or None
            ``target``, the name of the column of classes, and ``source``, the name of the file.

        Returns
        -------
        SMaLLModel
            The same model with ``data``.
        """
        return self._trained_on_codes(X, self.codes(y), **names)

    def _trained_on_codes(
        self, X: Any, code: np.ndarray, sums: np.ndarray | None = None, /, **names: str | None
    ) -> "SMaLLModel":
        """As `trained_on`, with the position of each class; and with the sums of the hashes of rows, if known."""
        chunks = (code[begin : begin + CHUNK_ROWS] for begin in range(0, len(code), CHUNK_ROWS))
        counts = sum(np.bincount(chunk[chunk >= 0], minlength=len(self.classes)) for chunk in chunks)
        class_counts = tuple(np.broadcast_to(counts, len(self.classes)).tolist())
        rows = fingerprint(self.features, self.n_features, X, code) if sums is None else combined(sums)
        facts = DataFacts(fingerprint=rows, class_counts=class_counts, **names)
        return replace(self, data=facts)

    def with_reference(self, X: Any, sample_weight: Any = None) -> "SMaLLModel":
        """Keep histograms of some rows, with which `smallearn.evaluation.monitor` compares new ones.

        ``fit`` does so with the training rows. This is for models of earlier versions, and to compare with other rows.

        Parameters
        ----------
        X : array, sparse matrix, table or Rows
            The rows, such as the training rows.
        sample_weight : array-like of shape (n_rows,), default=None
            The weight of each row.

        Returns
        -------
        SMaLLModel
            The same model with ``reference``.
        """
        return replace(self, reference=reference_of(self, X, sample_weight))

    def was_trained_on(self, X: Any, y: Any) -> bool:
        """Check whether these are the training rows.

        Parameters
        ----------
        X : array, sparse matrix, table or Rows
            Some rows, in any order.
        y : array of class labels
            One for each row.

        Returns
        -------
        bool
            Whether the classes and the features in use are those of the training rows; False if these are not known.
        """
        if self.data is None or len(y) != sum(self.data.class_counts):
            return False
        known = self.data.fingerprint
        return fingerprint(self.features, self.n_features, X, self.codes(y), like=known) == known

    # --- its file --------------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Write the model as JSON text.

        Returns
        -------
        str
            With every number exact: `from_json` returns an equal model.
        """
        return _json.write(vars(self))

    @classmethod
    def from_json(cls, text: str) -> "SMaLLModel":
        """Read a model from JSON text.

        Parameters
        ----------
        text : str
            What `to_json` returned, in this or an earlier version of smallearn.

        Returns
        -------
        SMaLLModel
            The model.

        Raises
        ------
        ValueError
            If the text is anything else. The message says where and why.
        """
        fields = _json.read(text)
        return cls(**fields | {name: tuple(cls(**one) for one in fields.get(name, ())) for name in _json.NESTED})

    def save(self, path: str | os.PathLike) -> None:
        """Write the model to a JSON file.

        The file is written whole or not at all: an interruption leaves the old file or the new one.

        Parameters
        ----------
        path : str or path
            Where to write it. A file that is there is replaced.
        """
        _json.save(self.to_json(), path)


def class_dtype(classes: np.ndarray) -> str:
    """The numpy type under which a model keeps these labels: their own, or objects."""
    return classes.dtype.str if _json.CLASS_DTYPE.fullmatch(classes.dtype.str) else "|O"


def load_model(path: str | os.PathLike) -> SMaLLModel:
    """Read a model from a file that `SMaLLModel.save` wrote.

    The file is data, never code, and is checked before use. Files of every earlier version of smallearn can be read.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    SMaLLModel
        The model, equal to the one that was saved.

    Raises
    ------
    ValueError
        If the file is no model, or was written by a later version of smallearn. The message says where and why.

    Examples
    --------
    >>> import os, tempfile
    >>> from smallearn import SMaLLClassifier, load_model
    >>> classifier = SMaLLClassifier(n_prototypes=1, n_nonzero=1).fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.json")
    ...     classifier.model_.save(path)
    ...     load_model(path) == classifier.model_
    True
    """
    try:
        return SMaLLModel.from_json(_json.load(path))
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


def _is_whole(points: float) -> bool:
    """Whole but for the rounding of ``(points / unit) * unit``."""
    return math.isfinite(points) and abs(points - round(points)) <= 1e-9 * max(1.0, abs(points))
