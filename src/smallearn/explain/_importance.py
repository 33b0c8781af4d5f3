"""Which prototypes, terms and features matter on some rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from smallearn._text import count, show
from smallearn.model import SMaLLModel, Term
from smallearn.model._arguments import as_model, codes, read_rows
from smallearn.model._decision import scores
from smallearn.model._rows import Rows

REPEATS = 10


@dataclass(frozen=True)
class PrototypeShare:
    """How often a prototype has the highest score.

    Parameters
    ----------
    number : int
        The number of the prototype, from 1.
    owner : class label
        The class that owns it.
    wins : int
        The number of rows on which its score is highest.
    share : float
        The same as a share of all rows.
    right : float
        The accuracy on these rows; NaN if there are none.
    """

    number: int
    owner: Any
    wins: int
    share: float
    right: float


@dataclass(frozen=True)
class TermLoss:
    """How much accuracy is lost without a term.

    Parameters
    ----------
    prototype : int
        The number of the prototype, from 1.
    term : Term
        The term.
    loss : float
        The accuracy lost if the term is replaced by its average over the rows.
    """

    prototype: int
    term: Term
    loss: float


@dataclass(frozen=True)
class FeatureLoss:
    """How much accuracy is lost without a feature.

    Parameters
    ----------
    label : str
        The name of the feature.
    loss : float
        The accuracy lost if all terms of the feature are replaced by their averages over the rows.
    permuted : float
        The accuracy lost if its values are shuffled among the rows: scikit-learn's permutation importance, the mean
        over the repeats.
    spread : float
        The standard deviation over the repeats.
    """

    label: str
    loss: float
    permuted: float
    spread: float


@dataclass(frozen=True)
class Importance:
    """Which prototypes, terms and features matter: what `importance` returns.

    Parameters
    ----------
    n_rows : int
        The number of rows.
    accuracy : float
        The accuracy of the model on them.
    prototypes : tuple of PrototypeShare
        How often each prototype has the highest score: ``number``, ``owner``, ``wins``, ``share``, ``right``.
    terms : tuple of TermLoss
        The accuracy lost without each term: ``prototype``, ``term``, ``loss``.
    features : tuple of FeatureLoss
        The accuracy lost without each feature, ``loss``, and by shuffling its values, ``permuted`` with the standard
        deviation ``spread``; its name is ``label``.
    agreement : float or None
        Spearman's rank correlation of the two losses of the features; None with fewer than three features, or if all
        losses are equal.

    Examples
    --------
    >>> from smallearn.explain import importance
    >>> from smallearn.model import Prototype, SMaLLModel, Term
    >>> prototype = Prototype(owner=1, intercept=-1.5, terms=(Term(feature=0, weight=1.0, name="dose"),))
    >>> model = SMaLLModel(("no", "yes"), "<U3", n_features=1, prototypes=(prototype,))
    >>> found = importance(model, [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> found.accuracy, found.features[0].loss
    (1.0, 0.5)
    """

    n_rows: int
    accuracy: float
    prototypes: tuple[PrototypeShare, ...]
    terms: tuple[TermLoss, ...]
    features: tuple[FeatureLoss, ...]
    agreement: float | None

    def __str__(self) -> str:
        lines = [f"Accuracy {self.accuracy:.1%} on {count(self.n_rows, 'row')}."]
        lines += [
            f"    score {one.number}, for class {show(one.owner)}, is highest on {one.share:.1%} of the rows"
            + (f", accuracy {one.right:.1%}" if one.wins else "")
            for one in (self.prototypes if len(self.prototypes) > 1 else ())
        ]
        lines.append("Percentage points of accuracy lost without each feature (and by shuffling it):")
        width = max([len(show(one.label, quote=False)) for one in self.features], default=0)
        for one in sorted(self.features, key=lambda one: -one.loss):
            name = show(one.label, quote=False)
            lines.append(
                f"    {name:<{width}}  {100 * one.loss:5.1f}  ({100 * one.permuted:.1f} ± {100 * one.spread:.1f})"
            )
        if self.agreement is not None:
            lines.append(f"Rank correlation of the two losses: {self.agreement:.2f}.")
        return "\n".join(lines)


def importance(model: Any, X: Any, y: Any, *, n_repeats: int = REPEATS, random_state: Any = 0) -> Importance:
    """Measure which prototypes, terms and features matter.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    X : array, sparse matrix, table or Rows
        Rows × features.
    y : array of class labels
        The true class of each row.
    n_repeats : int, default=10
        How often the values of each feature are shuffled.
    random_state : int, RandomState or None, default=0
        The seed of the shuffles.

    Returns
    -------
    Importance
        Print it, or take its fields.

    Examples
    --------
    >>> from smallearn.explain import importance
    >>> from smallearn.model import Prototype, SMaLLModel, Term
    >>> terms = (Term(feature=0, weight=1.0, name="dose"), Term(feature=1, weight=0.1, name="age"))
    >>> model = SMaLLModel(("no", "yes"), "<U3", n_features=2, prototypes=(Prototype(1, -1.5, terms),))
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> print(importance(model, X, ["no", "no", "yes", "yes"]))
    Accuracy 100.0% on 4 rows.
    Percentage points of accuracy lost without each feature (and by shuffling it):
        dose   50.0  (35.0 ± 32.0)
        age     0.0  (0.0 ± 0.0)
    """
    model = as_model(model)
    rows = read_rows(model, X)
    code = codes(model, y, rows.n_rows)
    if rows.n_rows == 0:
        raise ValueError("X has no rows; importance needs at least one.")
    accuracy = float(np.mean(_decisions(model, rows) == code))
    places = _places(model)
    average = {place: rows.factor(place[1]).mean() for place in places}

    def loss(left_out: Iterable[Place]) -> float:
        without = _decisions(model, rows, {place: average[place] for place in left_out})
        return accuracy - float(np.mean(without == code))

    permuted = _permuted(model, rows, code, n_repeats, random_state)
    features = tuple(
        FeatureLoss(
            label=one.label,
            loss=loss([place for place in places if place[1].feature == one.feature]),
            permuted=mean,
            spread=deviation,
        )
        for one, (mean, deviation) in zip(model.features, permuted, strict=True)
    )
    return Importance(
        n_rows=rows.n_rows,
        accuracy=accuracy,
        prototypes=tuple(_shares(model, rows, code)),
        terms=tuple(TermLoss(prototype=j + 1, term=term, loss=loss([(j, term)])) for j, term in places),
        features=features,
        agreement=_agreement(features),
    )


Place = tuple[int, Term]  # the position of a prototype, and a term of it


def _places(model: SMaLLModel) -> list[Place]:
    """All terms of all prototypes."""
    return [(j, term) for j, prototype in enumerate(model.prototypes) for term in prototype.terms]


def _decisions(model: SMaLLModel, rows: Rows, instead: Mapping[Place, Any] | None = None) -> np.ndarray:
    """The position of the predicted class of each row, with other factors ``instead`` of the terms' own."""
    other = {} if instead is None else instead

    def factor(j: int, term: Term) -> Any:
        return other[j, term] if (j, term) in other else rows.factor(term)

    z = [scores([prototype], partial(factor, j), rows.n_rows) for j, prototype in enumerate(model.prototypes)]
    return model.decide(np.hstack(z))


def _shares(model: SMaLLModel, rows: Rows, code: np.ndarray) -> Iterator[PrototypeShare]:
    """How often each prototype decides, and is right."""
    z = model.scores(rows)
    winner, right = model.winners(z), model.decide(z) == code
    for j, owner in enumerate(model.owners):
        mine = winner == j
        yield PrototypeShare(
            number=j + 1,
            owner=model.classes[owner],
            wins=int(mine.sum()),
            share=float(mine.mean()),
            right=float(right[mine].mean()) if mine.any() else float("nan"),
        )


def _permuted(
    model: SMaLLModel, rows: Rows, code: np.ndarray, n_repeats: int, random_state: Any
) -> list[tuple[float, float]]:
    """scikit-learn's permutation importance of each feature in use: mean and standard deviation.

    What it shuffles are row numbers, one column for each feature, so that the values are read once.
    """
    from sklearn.inspection import permutation_importance

    if not model.features:
        return []
    column = {term.feature: i for i, term in enumerate(model.features)}
    places = _places(model)

    def score(_: Any, shuffled: np.ndarray, labels: np.ndarray) -> float:
        instead = {(j, term): rows.factor(term)[shuffled[:, column[term.feature]]] for j, term in places}
        return float(np.mean(_decisions(model, rows, instead) == labels))

    table = np.tile(np.arange(rows.n_rows)[:, None], len(model.features))
    result = permutation_importance(
        _Fitted(), table, code, scoring=score, n_repeats=n_repeats, random_state=random_state
    )
    return list(zip(result.importances_mean.tolist(), result.importances_std.tolist(), strict=True))


class _Fitted:
    """An estimator for scikit-learn's checks; the scorer has the model."""

    def fit(self, X, y):
        return self


def _agreement(features: Sequence[FeatureLoss]) -> float | None:
    """Spearman's rank correlation of the two losses; None if it is not defined or says nothing."""
    losses, permuted = [one.loss for one in features], [one.permuted for one in features]
    if len(features) < 3 or len(set(losses)) < 2 or len(set(permuted)) < 2:
        return None
    return float(stats.spearmanr(losses, permuted).statistic)
