"""The trained model: frozen, in raw units, only the terms it uses. Needs numpy alone.

`_rule` has the rule by which it decides, `_columns` the value of a term on a row.
"""

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from smallearn._text import count, listed, percent, rounded_down, show
from smallearn.model import _html, _json
from smallearn.model._columns import TEXT, Rows, factor_in, factor_of_one, gather
from smallearn.model._fingerprint import fingerprint
from smallearn.model._parts import DataFacts, Prototype, Range, Selection, Term, Training
from smallearn.model._rule import class_scores, decide, finite, score, scores

FEW = 32  # classes, for each of which the labels are compared as a whole
MOST_TOTALS = 25  # that a score card lists with their probabilities: more is no longer read


@dataclass(frozen=True)
class SMaLLModel:
    """A k-sparse p-prototype classifier: ``sign(max_j (w_j·x + b_j))`` with two classes, the greatest score with more.

    ``classes`` are the labels in order, ``class_dtype`` the numpy type of what `predict` returns, ``n_features`` the
    width of the training data, ``prototypes`` the scores, ``training`` how the model was made (None if unknown).
    ``scale`` is what one point of score is worth in log-odds: it matters to probabilities and to no prediction.
    ``ranges`` are those of the features in use over the training rows, as far as they are numbers and known.
    ``selection`` tells how it was chosen and how well it did on rows held out, ``data`` on what it was trained, both as
    far as known.
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

    def __post_init__(self):
        if len(self.classes) < 2 or not self.prototypes:
            raise ValueError("A model needs at least two classes and one prototype.")
        if not 0.0 < self.scale < math.inf:
            raise ValueError(f"A model's scale is a positive finite number, not {self.scale!r}.")
        names: dict[int, str | None] = {}
        for term in self.terms:
            if names.setdefault(term.feature, term.name) != term.name:
                both = listed([names[term.feature], term.name])
                raise ValueError(f"Feature {term.feature} has two names: {both}.")
        given = [name for name in names.values() if name is not None]
        if len(set(given)) < len(given) or 0 < len(given) < len(names):
            called = listed(list(names.values()))
            raise ValueError(f"The features in use must have different names, or all none: {called}.")
        ranged = [extent.feature for extent in self.ranges]
        if len(set(ranged)) < len(ranged) or not set(ranged) <= set(names):
            raise ValueError(f"Ranges belong to features in use, one for each at most, not to {listed(ranged)}.")
        if not all(-math.inf < extent.low <= extent.high < math.inf for extent in self.ranges):
            raise ValueError("A range goes from a finite number to another that is no less.")
        if self.data is not None and len(self.data.class_counts) != len(self.classes):
            raise ValueError(f"There are {len(self.data.class_counts)} counts of rows for {len(self.classes)} classes.")
        owners = {prototype.owner for prototype in self.prototypes}
        if len(self.classes) == 2 and len(owners) != 1:
            raise ValueError("With two classes, one of them owns all the prototypes.")
        if len(self.classes) > 2 and owners != set(range(len(self.classes))):
            raise ValueError("With more than two classes, each of them owns a prototype.")

    # --- predictions -----------------------------------------------------------------------------------------------

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms of all prototypes, in order."""
        return tuple(term for prototype in self.prototypes for term in prototype.terms)

    @property
    def owners(self) -> tuple[int, ...]:
        """The class of each prototype, by its place in ``classes``."""
        return tuple(prototype.owner for prototype in self.prototypes)

    @property
    def features(self) -> tuple[Term, ...]:
        """One term for each feature in use, in the order of the features."""
        used = {term.feature: term for term in self.terms}
        return tuple(used[index] for index in sorted(used))

    def with_feature_names(self, names: Sequence[str]) -> "SMaLLModel":
        """The same model, its features called ``names``: for data that came without."""
        if len(names) != self.n_features:
            raise ValueError(f"There are {len(names)} names for {self.n_features} features.")
        prototypes = tuple(
            replace(prototype, terms=tuple(replace(term, name=str(names[term.feature])) for term in prototype.terms))
            for prototype in self.prototypes
        )
        return replace(self, prototypes=prototypes)

    def for_complete_rows(self) -> "SMaLLModel":
        """The same model for rows in which nothing is missing, which it answers alike. Raw terms then refuse a gap in
        place of filling it, which makes what the model is exported to smaller and faster."""
        prototypes = tuple(
            replace(prototype, terms=tuple(replace(t, mean=None) for t in prototype.terms if t.kind != "missing"))
            for prototype in self.prototypes
        )
        used = {term.feature for prototype in prototypes for term in prototype.terms}
        return replace(self, prototypes=prototypes, ranges=tuple(r for r in self.ranges if r.feature in used))

    def scores(self, X: Any) -> np.ndarray:
        """The score of every prototype in points, rows × prototypes: summed term by term, in the order of the terms."""
        if isinstance(X, Rows) and X.shape[1] == self.n_features:
            return X.scores(self.prototypes)
        blocks = []
        for n_rows, columns in gather(X, self.features, self.n_features):
            blocks.append(scores(self.prototypes, partial(factor_in, columns), n_rows))
        return np.concatenate(blocks) if blocks else np.empty((0, len(self.prototypes)))

    def decision_function(self, X: Any) -> np.ndarray:
        """Log-odds. Two classes: positive for ``classes[1]``. More: the score of each class, rows × classes."""
        decision = self._decisions(self.scores(X))
        return decision[:, 1] - decision[:, 0] if len(self.classes) == 2 else decision

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row of an array, a sparse matrix, or a pandas or polars table, by name if it has names."""
        z = self.scores(X)  # not times the scale, which could round a small score to 0
        return self.labels(decide(z, self.owners, len(self.classes)))

    def predict_proba(self, X: Any) -> np.ndarray:
        """The softmax of the decision function; with two classes ``σ`` of it."""
        return self.chances(self.scores(X))

    def chances(self, z: np.ndarray) -> np.ndarray:
        """The probability of each class, rows × classes, from what `scores` gave."""
        decision = self._decisions(z)
        weight = np.exp(decision - decision.max(axis=1, keepdims=True))
        return weight / weight.sum(axis=1, keepdims=True)

    def _decisions(self, z: np.ndarray) -> np.ndarray:
        """Log-odds of each class, against a class that owns no prototype if there is one."""
        with np.errstate(over="ignore"):
            return finite(self.scale * class_scores(z, self.owners, len(self.classes)))

    def predict_one(self, row: Any) -> Any:
        """The class of one row: a mapping from feature names (``x0``, ``x1``, … if the data had none), of which only
        those in use are read, or a sequence of all features."""
        by_name = hasattr(row, "keys")
        best, winner = (0.0, 1 - self.prototypes[0].owner) if len(self.classes) == 2 else (-math.inf, -1)
        try:
            if isinstance(row, TEXT):
                raise TypeError(f"{row!r} is text")
            if not by_name and len(row) != self.n_features:
                raise ValueError(f"The row has {len(row)} values; the model was trained on {self.n_features} features.")
            for prototype in self.prototypes:
                z = score(prototype, lambda term: factor_of_one(term, row[term.label if by_name else term.feature]))
                if not -math.inf < z < math.inf:
                    values = {term.label: row[term.label if by_name else term.feature] for term in self.features}
                    raise ValueError(f"The row has a value that is too large or not a finite number: {values}.")
                if z > best or (z == best and prototype.owner < winner):
                    best, winner = z, prototype.owner
        except KeyError as problem:
            raise ValueError(f"The row lacks {show(problem.args[0])}; the model uses {listed(self._used())}.") from None
        except (IndexError, TypeError, OverflowError) as problem:
            kind = "value" if any(term.kind in ("equals", "missing") for term in self.terms) else "number"
            raise ValueError(
                f"The row must be a mapping or a sequence with a {kind} for each of {listed(self._used())}: {problem}."
            ) from None
        return self.classes[winner]

    def _used(self) -> list[str]:
        return [term.label for term in self.features]

    def labels(self, code: np.ndarray) -> np.ndarray:
        """The classes of these numbers, in the type that the model predicts in."""
        values = np.empty(len(self.classes), dtype=self.class_dtype)
        values[:] = self.classes
        return values[code]

    # --- what it was trained on --------------------------------------------------------------------------------------

    def trained_on(self, X: Any, y: Any, **names: str | None) -> "SMaLLModel":
        """The same model, with what is to be known of its training rows; ``names`` are ``target`` and ``source``."""
        code = self.codes(y)
        counts = tuple(np.bincount(code[code >= 0], minlength=len(self.classes)).tolist())
        return replace(self, data=DataFacts(self._fingerprint(X, code), counts, **names))

    def was_trained_on(self, X: Any, y: Any) -> bool:
        """Whether these are the training rows, in any order, as far as the model reads them."""
        if self.data is None or len(y) != sum(self.data.class_counts):
            return False
        return self._fingerprint(X, self.codes(y)) == self.data.fingerprint

    def _fingerprint(self, X: Any, code: np.ndarray) -> str:
        return fingerprint(self.features, self.n_features, X, code)

    def codes(self, y: Any) -> np.ndarray:
        """The number of each row's class; -1 for one that the model does not know."""
        labels = np.asarray(y)
        if labels.dtype.kind in "biuf" and len(self.classes) <= FEW and np.dtype(self.class_dtype).kind in "biuf":
            code = np.full(labels.shape, -1, dtype=np.int64)
            for position, label in enumerate(self.classes):
                code[labels == label] = position
            return code
        number = {label: position for position, label in enumerate(self.classes)}
        return np.array([number.get(label, -1) for label in labels.tolist()], dtype=np.int64)

    # --- in words --------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        most = max(len(prototype.terms) for prototype in self.prototypes)
        head = (
            f"SMaLL model: {count(len(self.prototypes), 'prototype')} of at most {count(most, 'term')}, "
            f"{len(self.features)} of {count(self.n_features, 'feature')} used"
        )
        return "\n".join(
            [head, self.rule, *self._unit(), *self._blocks(), *self._probabilities(), *self._certificate()]
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return _html.rule_html(self)

    @property
    def rule(self) -> str:
        """How the scores make a decision, in a sentence."""
        if len(self.classes) > 2:
            return f"Predict the class of the highest score; at a tie the first of {listed(self.classes)}."
        owner = self.prototypes[0].owner
        which = "this score is" if len(self.prototypes) == 1 else "any of these scores is"
        bar = "above 0" if owner == 1 else "0 or more"
        return f"Predict {show(self.classes[owner])} if {which} {bar}, otherwise {show(self.classes[1 - owner])}."

    def _unit(self) -> Iterator[str]:
        if self.scale != 1.0:
            yield f"One point is worth {self.scale:.2g} in log-odds."

    def _blocks(self) -> Iterator[str]:
        card = self.is_score_card
        for number, prototype in enumerate(self.prototypes, start=1):
            of_class = f", for {show(self.classes[prototype.owner])}" if len(self.classes) > 2 else ""
            yield f"\n  prototype {number}{of_class}"
            lines = [_points_of(term) if card else _weight_of(term) for term in prototype.terms]
            lines.append((f"{prototype.intercept:+.{15 if card else 4}g}", "(constant)"))
            width = max(len(weight) for weight, _ in lines)
            for weight, name in lines:
                yield f"    {weight:>{width}} {name}".rstrip()

    @property
    def is_score_card(self) -> bool:
        """Whether scores are counted in whole points: of each literal, of each unit of a number, and to begin with."""
        counted = all(term.kind != "raw" or term.unit is not None for term in self.terms)
        points = [*(term.points for term in self.terms), *(prototype.intercept for prototype in self.prototypes)]
        return bool(self.terms) and counted and all(map(_is_whole, points))

    def totals(self) -> list[tuple[int, float]]:
        """Every total that a score card of literals can come to, and the probability of the prototypes' class there;
        none where a reader could not take them in."""
        if len(self.classes) > 2 or not self.is_score_card or any(term.kind == "raw" for term in self.terms):
            return []
        totals = _attainable(self.prototypes)
        if totals is None or len(totals) > MOST_TOTALS:
            return []
        return [(total, 0.5 * (1.0 + math.tanh(0.5 * self.scale * total))) for total in totals]

    def _probabilities(self) -> Iterator[str]:
        totals = self.totals()
        if not totals:
            return
        yield f"\n  points: probability of {show(self.classes[self.prototypes[0].owner])}"
        width = max(len(f"{total:+d}") for total, _ in totals)
        for total, chance in totals:
            yield f"    {total:+{width}d}: {percent(chance)}"

    def _certificate(self) -> Iterator[str]:
        if self.training is None:
            return
        facts = self.training
        yield (
            f"\nCertificate: training objective {facts.objective:.4g}; {facts.rivals} is below "
            f"{rounded_down(facts.lower_bound)}\n"
            f"(gap {facts.optimality_gap:.1%}), for this assignment of rows to prototypes. "
            "It says nothing of test accuracy."
        )

    # --- JSON ------------------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """The model as JSON text, every number exact; `from_json` gives an equal model back."""
        return _json.write(vars(self))

    @classmethod
    def from_json(cls, text: str) -> "SMaLLModel":
        """Read what `to_json` wrote. Anything else is an error that says where and why."""
        return cls(**_json.read(text))

    def save(self, path: str | os.PathLike) -> None:
        """Write the JSON to ``path``, whole or not at all: a crash leaves the old file or the new one."""
        _json.save(self.to_json(), path)


def class_dtype(classes: np.ndarray) -> str:
    """The type under which a model keeps these labels: their own, or plain objects."""
    return classes.dtype.str if _json.CLASS_DTYPE.fullmatch(classes.dtype.str) else "|O"


def load_model(path: str | os.PathLike) -> SMaLLModel:
    """Read a model that `SMaLLModel.save` wrote. The file is data, never code, and is checked before use."""
    try:
        return SMaLLModel.from_json(_json.load(path))
    except ValueError as problem:
        raise ValueError(f"{os.fspath(path)}: {problem}") from None


def _weight_of(term: Term) -> tuple[str, str]:
    return f"{term.weight:+.4g}", f"× {term.text}"


def _points_of(term: Term) -> tuple[str, str]:
    per = "" if term.unit in (None, 1.0) else f"per {term.unit:.15g} "
    return f"{round(term.points):+d}", f"{per}× {term.text}"


def _is_whole(points: float) -> bool:
    """Whole but for the rounding of ``(points / unit) * unit``."""
    return math.isfinite(points) and abs(points - round(points)) <= 1e-9 * max(1.0, abs(points))


def _attainable(prototypes: Sequence[Prototype], most: int = 5000) -> list[int] | None:
    """The greatest totals that a row of literals can have, in order; None if the combinations are too many.

    The literals of one feature depend on each other: of ``[x ≤ 3]`` and ``[x > 3]`` only one holds. So each feature is
    given one value from every region in which its literals are constant, and the features are combined freely.
    """
    literals: dict[int, list[Term]] = {}
    for prototype in prototypes:
        for term in prototype.terms:
            literals.setdefault(term.feature, []).append(term)
    totals = {tuple(round(prototype.intercept) for prototype in prototypes)}
    for feature, terms in literals.items():
        numbers = {float(term.value) for term in terms if isinstance(term.value, int | float)} or {0.0}
        nearby = {math.nextafter(number, side) for number in numbers for side in (-math.inf, math.inf)}
        values = [None, *(term.value for term in terms), *filter(math.isfinite, numbers | nearby)]
        gains = {
            tuple(
                sum(
                    round(term.points) * int(factor_of_one(term, value))
                    for term in prototype.terms
                    if term.feature == feature
                )
                for prototype in prototypes
            )
            for value in values
        }
        totals = {tuple(map(sum, zip(total, gain, strict=True))) for total in totals for gain in gains}
        if len(totals) > most:
            return None
    return sorted({max(total) for total in totals})
