"""`monitor`: how far new rows have moved away from the training rows, and how well the model does on them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from smallearn._text import count, joined, show
from smallearn.evaluation._evaluate import Evaluation, evaluate
from smallearn.evaluation._intervals import Interval, wilson
from smallearn.evaluation._periods import NO_DATE, as_periods, in_order
from smallearn.evaluation._stability import LARGE, LARGE_SHIFT, SHIFT, Drift
from smallearn.evaluation._watch import Watch
from smallearn.model import SMaLLModel
from smallearn.model._arguments import as_model, codes, read_rows
from smallearn.model._rare import rare_position

PERFORMANCE = "performance"


@dataclass(frozen=True)
class Period:
    """The rows of one period, or all rows, compared with the training rows.

    Parameters
    ----------
    name : str
        The period: ``"2024-03"``; ``"all rows"`` for all.
    n_rows : int
        The number of rows.
    scores : tuple of Drift
        How far the score has moved; with more than two classes that of each class. Empty if the model was changed
        after its training.
    features : tuple of Drift
        How far each feature in use has moved, as far as the model has a histogram of it.
    predicted : tuple of int
        The number of rows predicted to be of each class.
    confusion : ndarray of shape (n_classes, n_classes) or None
        The confusion matrix of the rows with a known class; None without labels.

    Examples
    --------
    >>> from smallearn.evaluation import Period
    >>> Period("2024-03", 10, (), (), predicted=(6, 4), confusion=np.array([[5, 1], [1, 3]])).accuracy.value
    0.8
    """

    name: str
    n_rows: int
    scores: tuple[Drift, ...]
    features: tuple[Drift, ...]
    predicted: tuple[int, ...]
    confusion: np.ndarray | None

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """The scores and the features.

        Returns
        -------
        tuple of Drift
        """
        return (*self.scores, *self.features)

    @property
    def accuracy(self) -> Interval | None:
        """The share of correct predictions, with its 95% interval.

        Returns
        -------
        Interval or None
            None if no row has a known class.
        """
        if self.confusion is None or not self.confusion.sum():
            return None
        return wilson(int(np.trace(self.confusion)), int(self.confusion.sum()))

    def worst(self, drifts: Sequence[Drift] | None = None) -> Drift | None:
        """The drift with the highest index, those first that chance does not explain.

        Parameters
        ----------
        drifts : sequence of Drift, optional
            Some of them; by default all.

        Returns
        -------
        Drift or None
            None if there is none.
        """
        some = self.drifts if drifts is None else drifts
        return max(some, key=lambda one: (one.exceeds(0.0), one.psi), default=None)


@dataclass(frozen=True)
class Monitoring:
    """New rows compared with the training rows, as `monitor` returns them.

    Parameters
    ----------
    classes : tuple
        The classes of the model.
    n_reference : int
        The number of training rows that were counted.
    overall : Period
        All rows.
    periods : tuple of Period
        The rows of each period, from the earliest on; rows without one come first, as ``"no date"``.
    predicted_before : tuple of float or None
        The share of the training rows predicted to be of each class; None if the decision was changed after training.
    observed_before : tuple of float or None
        The share of the training rows that are of each class; None if unknown.
    evaluation : Evaluation or None
        The scores of the model on the rows with a known class; None without labels.
    expected : str or None
        The score in training: ``"85.0% ± 0.5% by cross-validation (accuracy)"``; None if unknown.
    notes : tuple of str
        What could not be compared, and why.
    score : str or None, default=None
        The score that the model was chosen by, on the rows with a known class, if that is not the accuracy:
        ``"F1 of 'yes' 0.581"``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.evaluation import monitor
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> clf = SMaLLClassifier(1, 3, random_state=0).fit(X, y)
    >>> monitor(clf, X).is_stable()
    True
    """

    classes: tuple[Any, ...]
    n_reference: int
    overall: Period
    periods: tuple[Period, ...]
    predicted_before: tuple[float, ...] | None
    observed_before: tuple[float, ...] | None
    evaluation: Evaluation | None
    expected: str | None
    notes: tuple[str, ...]
    score: str | None = None

    @property
    def rare(self) -> int | None:
        """The position of the rarest class in training, if accuracy says little of it.

        Returns
        -------
        int or None
            None if no class has less than 20% of the rows, with more than two classes half of an equal share.
        """
        return None if self.observed_before is None else rare_position(self.observed_before)

    def shifted(self, limit: float = LARGE) -> tuple[str, ...]:
        """What has moved, over all rows or in the latest period.

        Parameters
        ----------
        limit : float, default=0.25
            The population stability index from which on something has moved, unless chance explains it.

        Returns
        -------
        tuple of str
            ``"score"`` and names of features.
        """
        latest = self._latest()
        parts = (self.overall,) if latest is None else (self.overall, latest)
        return tuple(dict.fromkeys(one.name for part in parts for one in part.drifts if one.exceeds(limit)))

    def _latest(self) -> Period | None:
        return next((period for period in reversed(self.periods) if period.name != NO_DATE), None)

    def is_stable(self, limit: float = LARGE) -> bool:
        """Whether nothing has moved, over all rows and in the latest period.

        Parameters
        ----------
        limit : float, default=0.25
            As in `shifted`.

        Returns
        -------
        bool
        """
        return not self.shifted(limit)

    def summary(self) -> tuple[str, ...]:
        """Say what has moved, and whether the model still does as well.

        Returns
        -------
        tuple of str
            Sentences.
        """
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        rows = f"{self.overall.n_rows:,} rows, compared with {self.n_reference:,} training rows"
        if not self.overall.drifts:
            yield f"{rows}: nothing can be compared."
        elif not _moved(self.overall):
            yield f"{rows}: stable."
        else:
            yield f"{rows}: {_moved_text(self.overall)}."
        latest = self._latest()
        if latest is not None and _moved(latest) and _moved(latest) != _moved(self.overall):
            yield f"In the latest period, {latest.name}: {_moved_text(latest)}."
        if self.score is not None:
            yield self.score + ("" if self.expected is None else f"; in training {self.expected}") + "."
        if self.evaluation is not None:
            yield f"Accuracy {self.evaluation.accuracy}{self._beside()}."
        yield from self.notes

    def _beside(self) -> str:
        """The score in training, said to be another one than accuracy if it is."""
        if self.expected is None or self.score is not None:
            return ""
        if self.expected.endswith("by cross-validation"):
            return f"; in training {self.expected}"
        return f". The score by which the model was chosen, in training: {self.expected}"

    def stability_lines(self) -> list[tuple[str, ...]]:
        """Give the stability of the scores and features as text.

        Returns
        -------
        list of tuple of str
            The head, and a line for each score and feature, features with the highest index first.
        """
        features = sorted(self.overall.features, key=lambda one: -one.psi)
        return [STABILITY_HEAD, *(_stability_line(one) for one in (*self.overall.scores, *features))]

    def change_lines(self) -> list[tuple[str, str, str, str]]:
        """Give the bins that moved most as text, of what has moved.

        Returns
        -------
        list of (str, str, str, str)
            The head, and lines with the name, the values, and the shares in training and now; the head alone if nothing
            has moved.
        """
        moved = [one for one in self.overall.drifts if one.exceeds(0.1)]
        lines = [
            (_shown(one), part.text, f"{part.before:.1%}", f"{part.now:.1%}") for one in moved for part in one.moved()
        ]
        return [CHANGE_HEAD, *lines]

    def class_lines(self) -> list[tuple[str, ...]]:
        """Give the share of each class as text.

        Returns
        -------
        list of tuple of str
            The head, and for each class its share among the predictions and the true classes, in training and now
            (``–`` where it is unknown).
        """
        lines: list[tuple[str, ...]] = [CLASS_HEAD]
        confusion = self.overall.confusion
        for at, label in enumerate(self.classes):
            now = self.overall.predicted[at] / max(1, self.overall.n_rows)
            true = None if confusion is None else confusion[at].sum() / max(1, confusion.sum())
            before = None if self.predicted_before is None else self.predicted_before[at]
            observed = None if self.observed_before is None else self.observed_before[at]
            lines.append((show(label, quote=False), *map(_share, (before, now, observed, true))))
        return lines

    def period_lines(self) -> list[tuple[str, ...]]:
        """Give the periods as text.

        Returns
        -------
        list of tuple of str
            The head, and a line for each period: its rows, the index of the score, the feature that moved most, the
            share predicted to be of the last class, and the accuracy with its 95% interval.
        """
        head = (
            "period",
            "rows",
            "score PSI",
            "largest of a feature",
            f"predicted {show(self.classes[-1], quote=False)}",
        )
        judged = () if self.evaluation is None else ("accuracy", *self._rare_head())
        lines: list[tuple[str, ...]] = [(*head, *judged)]
        for one in self.periods:
            score, feature = one.worst(one.scores), one.worst(one.features)
            known = (f"{one.accuracy}" if one.accuracy is not None else "–", *self._rare_shares(one.confusion))
            lines.append(
                (
                    one.name,
                    f"{one.n_rows:,}",
                    "–" if score is None else _marked(score),
                    "–" if feature is None else f"{_marked(feature)} {show(feature.name, quote=False)}",
                    _share(one.predicted[-1] / max(1, one.n_rows)),
                    *(known if self.evaluation is not None else ()),
                )
            )
        return lines

    def _rare_head(self) -> tuple[str, ...]:
        if self.rare is None:
            return ()
        label = show(self.classes[self.rare], quote=False)
        return f"recall of {label}", f"precision of {label}"

    def _rare_shares(self, confusion: np.ndarray | None) -> tuple[str, ...]:
        """The recall and the precision of the rare class, from a confusion matrix."""
        if self.rare is None:
            return ()
        if confusion is None:
            return "–", "–"
        found = confusion[self.rare, self.rare]
        sizes = confusion[self.rare].sum(), confusion[:, self.rare].sum()
        return tuple(_share(found / size if size else None) for size in sizes)

    def rare_class_lines(self) -> list[tuple[str, str, str]]:
        """Give the recall and the precision of the rare class as text.

        Returns
        -------
        list of (str, str, str)
            Name, value and meaning, as `Evaluation.figures` gives them; empty if no class is rare, or without labels.
        """
        if self.rare is None or self.overall.confusion is None:
            return []
        meanings = ("share of the rows of this class that are found", "share of the rows predicted so that are right")
        shares = self._rare_shares(self.overall.confusion)
        return list(zip(self._rare_head(), shares, meanings, strict=True))


STABILITY_HEAD = (
    "",
    "PSI",
    "reading",
    "by chance, up to",
    "missing: training",
    "now",
    "outside range",
    "new categories",
)
CHANGE_HEAD = ("", "values", "training", "now")
CLASS_HEAD = ("class", "predicted: training", "now", "true: training", "now")


def monitor(
    model: SMaLLModel,
    X: Any,
    y: Any = None,
    *,
    periods: Any = None,
    period: str = "month",
    random_state: int = 0,
) -> Monitoring:
    """Compare new rows with those that a model was trained on.

    The population stability index (PSI) says how far the score and each feature in use have moved since training: below
    0.1 they are usually called stable, above 0.25 the shift is large. It is compared with what chance explains, for few
    rows have a high index without any shift. The histograms of the training rows are in the model.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model, with a ``reference``.
    X : array, sparse matrix or table of shape (n_rows, n_features)
        The new rows.
    y : array-like of shape (n_rows,), default=None
        Their classes, if these are known.
    periods : array-like of shape (n_rows,), default=None
        The date of each row, or the name of its period; these are compared one by one too.
    period : {"month", "week", "quarter", "day"}, default="month"
        How dates are grouped.
    random_state : int, default=0
        Seed of the bootstrap, for intervals.

    Returns
    -------
    Monitoring
        The drift of the score and of each feature, overall and by period, and the performance.

    Raises
    ------
    ValueError
        If the model has no histograms of its training rows, there are no rows, or ``y`` has an unknown class.

    See Also
    --------
    smallearn.SMaLLModel.with_reference : Compare with other rows, and for models of earlier versions.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.evaluation import monitor
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> clf = SMaLLClassifier(1, 3, random_state=0).fit(X, y)
    >>> moved = X.assign(**{"worst radius": 1.4 * X["worst radius"]})
    >>> monitor(clf, moved).shifted()
    ('score', 'worst radius')
    """
    model = as_model(model)
    rows = read_rows(model, X)
    if rows.n_rows == 0:
        raise ValueError("X has no rows; a model is monitored on at least one.")
    running = RunningMonitor(model)
    code = None if y is None else codes(model, column_or_1d(y), rows.n_rows)
    running.add(rows, code, None if periods is None else as_periods(periods, period, rows.n_rows))
    return running.result(None if y is None else evaluate(model, rows, y, random_state=random_state))


class RunningMonitor:
    """The same for rows that come block by block, for tables that need not fit in memory."""

    def __init__(self, model: SMaLLModel):
        self._model = model
        self._watch = Watch(model)

    def add(self, X: Any, code: np.ndarray | None = None, periods: np.ndarray | None = None) -> None:
        """Add a block of rows; the position of each class, -1 where it is unknown; and the period, None if it has
        none."""
        self._watch.add(read_rows(self._model, X), code, periods)

    def result(self, evaluation: Evaluation | None = None, score: str | None = None) -> Monitoring:
        """What was seen of all rows, with an evaluation of those that have a class, and the score that the model was
        chosen by."""
        model, watch = self._model, self._watch
        reference = model.reference
        assert reference is not None
        names = in_order(watch.periods)
        dated = names != [None]
        total = sum(reference.predicted)
        return Monitoring(
            classes=model.classes,
            n_reference=reference.n_rows,
            overall=self._period("all rows", names),
            periods=tuple(self._period(NO_DATE if name is None else str(name), [name]) for name in names if dated),
            predicted_before=tuple(one / total for one in reference.predicted) if watch.decides_as_trained else None,
            observed_before=_observed(model),
            evaluation=evaluation,
            expected=_expected(model, is_named=score is not None),
            notes=tuple(_notes(model, watch)),
            score=score,
        )

    def _period(self, name: str, periods: Sequence[Any]) -> Period:
        seen = self._watch.seen(periods)
        return Period(
            name=name,
            n_rows=seen.n_rows,
            scores=seen.scores,
            features=seen.features,
            predicted=seen.predicted,
            confusion=seen.confusion if seen.confusion.any() else None,
        )


def _observed(model: SMaLLModel) -> tuple[float, ...] | None:
    if model.data is None:
        return None
    counts = model.data.class_counts
    return tuple(one / sum(counts) for one in counts) if sum(counts) else None


def _expected(model: SMaLLModel, is_named: bool) -> str | None:
    """The score of the model in its cross-validation, with its name unless the text before it names it."""
    chosen = model.selection
    if chosen is None:
        return None
    metric = "" if is_named or chosen.metric == "accuracy" else f" ({chosen.metric})"
    return f"{chosen.text} by cross-validation{metric}"


def _moved(period: Period) -> dict[str, list[str]]:
    """What is more than stable in a period: names by how large the shift is."""
    names = {
        reading: [_shown(one) for one in period.drifts if one.reading == reading] for reading in (LARGE_SHIFT, SHIFT)
    }
    return {reading: found for reading, found in names.items() if found}


def _moved_text(period: Period) -> str:
    return "; ".join(f"{reading} of {joined(names)}" for reading, names in _moved(period).items())


def _notes(model: SMaLLModel, watch: Watch) -> Iterator[str]:
    if not watch.scores_as_trained:
        yield "The model was changed after its training, so that its score cannot be compared with that of then."
    known = {one.feature for one in model.reference.features} if model.reference is not None else set()
    lacking = [show(term.label, quote=False) for term in model.features if term.feature not in known]
    if lacking:
        yield f"The model has no histogram of {joined(lacking)}."
    if watch.n_small:
        yield f"{count(watch.n_small, 'period')} of fewer than {watch.FEW} rows: chance explains much there."


def _stability_line(one: Drift) -> tuple[str, ...]:
    new = "–" if one.outside is not None or one.is_score else _share(one.n_new / max(1, one.n_rows))
    if one.new_categories:
        new += f" ({joined([show(value) for value, _ in one.new_categories[:3]])})"
    gaps = ("–", "–") if one.is_score else tuple(map(_share, one.missing))
    return (_shown(one), f"{one.psi:.3f}", one.reading, f"{one.by_chance:.3f}", *gaps, _share(one.outside), new)


def _shown(one: Drift) -> str:
    return show(one.name, quote=False)


def _marked(one: Drift) -> str:
    """The index, with a mark where it is more than stable."""
    return f"{one.psi:.3f}{ {SHIFT: ' !', LARGE_SHIFT: ' !!'}.get(one.reading, '') }"


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"
