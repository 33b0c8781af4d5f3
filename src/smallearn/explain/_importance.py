"""Which prototypes, terms and features matter, on given rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from smallearn._text import count, show
from smallearn.model import SMaLLModel, Term
from smallearn.model._columns import Rows
from smallearn.model._rows import as_model, codes, read_rows
from smallearn.model._rule import decide, scores, winners

REPEATS = 10


@dataclass(frozen=True)
class PrototypeShare:
    """How many rows a prototype decides: on ``wins`` it has the greatest score, a ``share`` of all; ``right`` of these
    are of the class that the model gives them."""

    number: int
    owner: Any
    wins: int
    share: float
    right: float


@dataclass(frozen=True)
class TermLoss:
    """What accuracy loses without a term: with its average over the rows in its place."""

    prototype: int
    term: Term
    loss: float


@dataclass(frozen=True)
class FeatureLoss:
    """What accuracy loses without a feature (all its terms averaged), and when its values are shuffled among the rows,
    as scikit-learn's permutation importance has it: mean and standard deviation of the shuffles."""

    label: str
    loss: float
    permuted: float
    spread: float


@dataclass(frozen=True)
class Importance:
    """Which prototypes, terms and features matter on ``n_rows`` rows. ``agreement`` is the rank correlation of the two
    losses of the features (Spearman; None with fewer than three features, or where all are alike)."""

    n_rows: int
    accuracy: float
    prototypes: tuple[PrototypeShare, ...]
    terms: tuple[TermLoss, ...]
    features: tuple[FeatureLoss, ...]
    agreement: float | None

    def __str__(self) -> str:
        lines = [f"{self.accuracy:.1%} of the {count(self.n_rows, 'row')} are right."]
        lines += [
            f"    prototype {one.number} has the greatest score on {one.share:.1%}, {one.right:.1%} of them right"
            for one in (self.prototypes if len(self.prototypes) > 1 else ())
        ]
        lines.append("Points of accuracy lost without each feature (and by shuffling it):")
        width = max([len(show(one.label, quote=False)) for one in self.features], default=0)
        for one in sorted(self.features, key=lambda one: -one.loss):
            name = show(one.label, quote=False)
            lines.append(
                f"    {name:<{width}}  {100 * one.loss:5.1f}  ({100 * one.permuted:.1f} ± {100 * one.spread:.1f})"
            )
        if self.agreement is not None:
            lines.append(f"Rank correlation of the two: {self.agreement:.2f}.")
        return "\n".join(lines)


def importance(model: Any, X: Any, y: Any, *, n_repeats: int = REPEATS, random_state: Any = 0) -> Importance:
    """How often each prototype wins, and what accuracy loses without each term and each feature, on rows ``X`` of
    classes ``y``. Permutation importance is scikit-learn's, on the columns in use."""
    model = as_model(model)
    rows = read_rows(model, X)
    code = codes(model, y, rows.n_rows)
    if rows.n_rows == 0:
        raise ValueError("There are no rows on which something could matter.")
    accuracy = float(np.mean(_decisions(model, rows) == code))
    every = [(j, term) for j, one in enumerate(model.prototypes) for term in one.terms]
    average = {place: rows.factor(place[1]).mean() for place in every}

    def loss(places: Iterable[Place]) -> float:
        without = _decisions(model, rows, {place: average[place] for place in places})
        return accuracy - float(np.mean(without == code))

    terms = tuple(TermLoss(j + 1, term, loss([(j, term)])) for j, term in every)
    permuted = _permuted(model, rows, code, n_repeats, random_state)
    features = tuple(
        FeatureLoss(one.label, loss([place for place in every if place[1].feature == one.feature]), *shuffled)
        for one, shuffled in zip(model.features, permuted, strict=True)
    )
    return Importance(rows.n_rows, accuracy, tuple(_shares(model, rows, code)), terms, features, _agreement(features))


Place = tuple[int, Term]  # a prototype, by position, and a term of it


def _decisions(model: SMaLLModel, rows: Rows, instead: Mapping[Place, Any] | None = None) -> np.ndarray:
    """The position of each row's class, with other factors ``instead`` of the terms' own."""
    other = {} if instead is None else instead

    def factor(j: int, term: Term) -> Any:
        return other[j, term] if (j, term) in other else rows.factor(term)

    z = [scores([prototype], partial(factor, j), rows.n_rows) for j, prototype in enumerate(model.prototypes)]
    return decide(np.hstack(z), model.owners, len(model.classes))


def _shares(model: SMaLLModel, rows: Rows, code: np.ndarray) -> Iterator[PrototypeShare]:
    owners = model.owners
    z = scores(model.prototypes, rows.factor, rows.n_rows)
    winner, right = winners(z, owners), decide(z, owners, len(model.classes)) == code
    for j, owner in enumerate(owners):
        mine = winner == j
        share = float(right[mine].mean()) if mine.any() else float("nan")
        yield PrototypeShare(j + 1, model.classes[owner], int(mine.sum()), float(mine.mean()), share)


def _permuted(model: SMaLLModel, rows: Rows, code: np.ndarray, n_repeats: int, random_state: Any):
    """scikit-learn's permutation importance of the features in use, mean and deviation. What it shuffles are the
    numbers of the rows, column by column, so that no value has to be read twice."""
    from sklearn.inspection import permutation_importance

    if not model.features:
        return []
    column = {term.feature: i for i, term in enumerate(model.features)}
    places = [(j, term) for j, one in enumerate(model.prototypes) for term in one.terms]

    def score(_: Any, shuffled: np.ndarray, labels: np.ndarray) -> float:
        instead = {(j, term): rows.factor(term)[shuffled[:, column[term.feature]]] for j, term in places}
        return float(np.mean(_decisions(model, rows, instead) == labels))

    table = np.tile(np.arange(rows.n_rows)[:, None], len(model.features))
    found = permutation_importance(
        _Fitted(), table, code, scoring=score, n_repeats=n_repeats, random_state=random_state
    )
    return list(zip(found.importances_mean.tolist(), found.importances_std.tolist(), strict=True))


class _Fitted:
    """What scikit-learn wants to see: the scorer knows the model."""

    def fit(self, X, y):
        return self


def _agreement(features: Sequence[FeatureLoss]) -> float | None:
    losses, permuted = [one.loss for one in features], [one.permuted for one in features]
    if len(features) < 3 or len(set(losses)) < 2 or len(set(permuted)) < 2:
        return None
    return float(stats.spearmanr(losses, permuted).statistic)
