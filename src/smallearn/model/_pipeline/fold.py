"""`fold_pipeline`: a fitted pipeline, or what wraps a classifier, as one model in the units of the raw table."""

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from smallearn._text import show
from smallearn.model._histograms import Histogram
from smallearn.model._model import SMaLLModel
from smallearn.model._parts import Accepted, Range
from smallearn.model._pipeline.columns import MISSING, REFUSED, Column, Curve, Table, constant
from smallearn.model._pipeline.terms import folded, gain_of, shared_means
from smallearn.model._pipeline.transformers import apply
from smallearn.model._reference import carried_over


def fold_pipeline(pipeline: Any) -> SMaLLModel:
    """Fold a fitted pipeline into one model in the units of the raw table.

    The model takes the rows that the pipeline takes and gives the same answers. Literals and categories are exactly
    those of the pipeline, scores and probabilities differ by rounding alone. So exports, explanations and reports speak
    of the columns that the user knows. Every function that takes a model takes a pipeline too, and folds it.

    Parameters
    ----------
    pipeline : Pipeline
        A fitted scikit-learn ``Pipeline`` that ends in a `SMaLLClassifier` or a `SMaLLClassifierCV`. Its other steps
        are ``StandardScaler``, ``MinMaxScaler``, ``MaxAbsScaler``, ``RobustScaler``, ``SimpleImputer``,
        ``OneHotEncoder``, ``OrdinalEncoder``, ``KBinsDiscretizer``, ``Binarizer``, a selection of features,
        ``"passthrough"``, and ``ColumnTransformer``, ``FeatureUnion`` and ``Pipeline`` of these. A search over
        parameters stands for its best estimator, and ``TunedThresholdClassifierCV`` and ``FixedThresholdClassifier``
        give the model their threshold.

    Returns
    -------
    SMaLLModel
        It may have more terms than the classifier: a weight of an ordinal code is one for each category. Rows that the
        pipeline refuses, such as those with an unknown category, are refused, as far as columns in use are concerned.

    Raises
    ------
    ValueError
        If a step cannot be folded, such as ``PCA``, or is not fitted. The message names the step.
    TypeError
        If it is something else.

    See Also
    --------
    smallearn.model.as_model : The model of a fitted estimator or pipeline.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from smallearn import SMaLLClassifier, fold_pipeline
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> pipeline = make_pipeline(StandardScaler(), SMaLLClassifier(1, 2, random_state=0)).fit(X, y)
    >>> model = fold_pipeline(pipeline)
    >>> [term.text for term in model.terms]
    ['worst radius', 'worst concave points']
    >>> bool(abs(model.predict_proba(X) - pipeline.predict_proba(X)).max() < 1e-9)
    True
    """
    if isinstance(pipeline, SMaLLModel):
        return pipeline
    found = _unrolled(pipeline)
    if not found.steps:
        return found.model
    inputs = next(step for _, step in (*found.steps, ("", found.classifier)) if hasattr(step, "n_features_in_"))
    labels = getattr(inputs, "feature_names_in_", None)
    names = [None] * inputs.n_features_in_ if labels is None else [str(label) for label in labels]
    table = Table(tuple(map(Column, range(len(names)))))
    for name, step in found.steps:
        table = apply(step, table, name)
    if not found.classifier._allows_gaps():
        table = table.guarded(*(column.mapped(lambda o: REFUSED if o is MISSING else o) for column in table.columns))
    return _folded(found.model, table, names)


# --- what is around a classifier -------------------------------------------------------------------------------------


class _Unrolled(NamedTuple):
    """The steps before a classifier by name, the classifier, and its model, with the threshold of what wraps it."""

    steps: list[tuple[str, Any]]
    classifier: Any
    model: SMaLLModel


def _unrolled(estimator: Any) -> _Unrolled:
    fitted = getattr(estimator, "model_", None)
    if isinstance(fitted, SMaLLModel):
        return _Unrolled([], estimator, fitted)
    if hasattr(estimator, "best_estimator_"):  # a search over parameters
        return _unrolled(estimator.best_estimator_)
    kind = type(estimator).__name__
    if kind == "TunedThresholdClassifierCV" and not hasattr(estimator, "best_threshold_"):
        raise ValueError(f"This {kind} is not fitted yet; call fit first.")
    if kind in ("FixedThresholdClassifier", "TunedThresholdClassifierCV"):
        found = _unrolled(getattr(estimator, "estimator_", estimator.estimator))
        return found._replace(model=replace(found.model, decision_threshold=_threshold(estimator, found.model)))
    if getattr(estimator, "steps", None):
        found = _unrolled(estimator.steps[-1][1])
        return found._replace(steps=[*estimator.steps[:-1], *found.steps])
    if isinstance(estimator, str | os.PathLike):
        path = show(os.fspath(estimator))
        raise TypeError(f"{path} is a path, not a model; read it first: smallearn.load_model(path).")
    if hasattr(estimator, "fit") and _is_from_smallearn(type(estimator)):
        raise ValueError(f"This {kind} is not fitted yet and has no model; call fit first (with refit=True).")
    raise TypeError(
        f"A {kind} is not a model; pass a SMaLLModel, a fitted SMaLLClassifier or SMaLLClassifierCV, or a pipeline "
        "that ends in one."
    )


def _is_from_smallearn(kind: type) -> bool:
    """Whether a class, or one that it inherits from, is defined in this package."""
    package = __name__.partition(".")[0]
    return any(base.__module__.partition(".")[0] == package for base in kind.__mro__)


def _threshold(wrapper: Any, model: SMaLLModel) -> float:
    """The probability of the second class above which a classifier with a threshold of its own predicts it."""
    kind = type(wrapper).__name__
    if kind == "TunedThresholdClassifierCV":
        threshold, positive = wrapper.best_threshold_, wrapper._curve_scorer._get_pos_label()
    else:
        threshold, positive = wrapper.threshold, wrapper.pos_label
    in_log_odds = wrapper.response_method == "decision_function"
    if isinstance(threshold, str):  # "auto"
        threshold = 0.0 if in_log_odds else 0.5
    is_second = positive is None or positive == model.classes[1]
    if in_log_odds:
        probability = 0.5 * (1.0 + math.tanh(0.5 * (threshold if is_second else -threshold)))
    else:
        probability = float(threshold if is_second else 1.0 - threshold)
    if not 0.0 <= probability <= 1.0:
        raise ValueError(f"The threshold of this {kind} is {threshold:g}: it predicts one class, whatever the row.")
    return min(max(probability, math.nextafter(0.0, 1.0)), math.nextafter(1.0, 0.0))


# --- the model -------------------------------------------------------------------------------------------------------


def _folded(model: SMaLLModel, table: Table, names: Sequence[str | None]) -> SMaLLModel:
    """The model of the raw table, from that of the columns of ``table``."""
    if len(table.columns) != model.n_features:
        raise ValueError(f"The steps make {len(table.columns)} columns; the classifier takes {model.n_features}.")
    gains = [
        [(table.columns[term.feature].feature, gain_of(term, table.columns[term.feature])) for term in prototype.terms]
        for prototype in model.prototypes
    ]
    means = shared_means(chain.from_iterable(gains))
    prototypes = tuple(folded(*pair, names, means) for pair in zip(model.prototypes, gains, strict=True))
    used = {term.feature for prototype in prototypes for term in prototype.terms}
    needed = {feature for feature, mean in means.items() if mean is None}
    raw = replace(
        model,
        frontier_models=tuple(_folded(one, table, names) for one in model.frontier_models),
        alternatives=tuple(_folded(one, table, names) for one in model.alternatives),
        n_features=len(names),
        prototypes=prototypes,
        ranges=tuple(extent for extent in _ranges(model, table) if extent.feature in used),
        accepted=tuple(_accepted(table.guards, used, needed)),
        data=None,  # its fingerprint is of the rows that the classifier saw
        reference=None,
    )
    kept = () if model.reference is None else _histograms(model.reference.features, table, used)
    return replace(raw, reference=carried_over(model, raw, kept))


def _histograms(known: Sequence[Histogram], table: Table, used: set[int]) -> Iterator[Histogram]:
    """The histograms of raw numbers that a step only shifts and scales, or leaves as they are."""
    seen: set[int] = set()
    for one in known:
        column = table.columns[one.feature or 0]
        curve = column.other
        fills_gaps = column.missing not in (MISSING, REFUSED)  # how many there were is then not known
        if not isinstance(curve, Curve) or curve.bent is not None or column.special or fills_gaps:
            continue
        if one.edges is not None and column.feature in used - seen:
            seen.add(column.feature)
            yield replace(one, edges=tuple(map(curve.origin, one.edges)), feature=column.feature)


def _ranges(model: SMaLLModel, table: Table) -> list[Range]:
    """The ranges of the raw numbers, as far as the model or a transformer knows them."""
    ranges: dict[int, Range] = {}
    known = {extent.feature: (extent.low, extent.high) for extent in model.ranges}
    for position, column in enumerate(table.columns):
        curve, ends = column.other, column.extent
        if ends is None and position in known and isinstance(curve, Curve) and curve.bent is None:
            low, high = known[position]
            ends = curve.origin(low), curve.origin(high)
        if ends is not None and -math.inf < ends[0] <= ends[1] < math.inf:
            ranges.setdefault(column.feature, Range(column.feature, *ends))
    return [ranges[feature] for feature in sorted(ranges)]


def _accepted(guards: Sequence[Column], used: set[int], needed: set[int]) -> Iterator[Accepted]:
    """What features in use may be, for those that may not be anything; ``needed`` have terms that refuse a gap."""
    for feature in sorted(used):
        own = [guard for guard in guards if guard.feature == feature]
        lists = [
            [value for value, output in guard.special.items() if output is not REFUSED]
            for guard in own
            if guard.other == constant(REFUSED)
        ]
        categories = tuple(v for v in lists[0] if all(v in other for other in lists)) if lists else None
        missing = all(guard.missing is not REFUSED for guard in own)
        if categories is not None or not (missing or feature in needed):
            yield Accepted(feature, categories, missing)
