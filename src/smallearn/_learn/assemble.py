"""From a solution to all that an estimator keeps: the model and every fitted attribute, at once.

``assemble`` is a pure function. It turns the weights into raw units, makes the score card of ``max_points``, and names
terms, classes, ranges and the certificate in a `SMaLLModel`.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse, special

from smallearn._learn import kernels
from smallearn._learn.data.blocks import read_only
from smallearn._learn.data.labels import Assignment
from smallearn._learn.data.literals import RAW
from smallearn._learn.data.many_rows import best_prototypes
from smallearn._learn.data.problem import Problem
from smallearn._learn.data.table import Table
from smallearn._learn.prediction import FLOATS
from smallearn._learn.solve.budgets import Budget
from smallearn._learn.solve.descent import Found, Solution
from smallearn._learn.solve.points import Points, find_points
from smallearn._version import __version__
from smallearn.model import Prototype, Range, SMaLLModel, Term, Training, _fingerprint
from smallearn.model._decision import Costs, sole_owner
from smallearn.model._model import class_dtype

NO_CHANGE = {"decision_threshold": 0.5}, {"cost_matrix": None}  # decisions that a model takes by itself
LEAST = 1e-15  # of a threshold and its distance to 1, where one class weighs next to nothing


@dataclass(frozen=True)
class AssembleOptions:
    """Parameters that decide how a solution becomes a model.

    ``alpha`` is λ. ``max_points`` asks for a score card. ``fills_gaps``: raw terms keep the training mean and put it in
    the place of a missing value. ``decision_threshold`` is for two classes, ``cost_matrix`` for more; if both are None,
    the model decides as the weighted classes ask for.
    """

    alpha: float
    fit_intercept: bool = True
    max_points: int | None = None
    feature_names: np.ndarray | None = None
    fills_gaps: bool = False
    decision_threshold: float | None = None
    cost_matrix: Costs | None = None


@dataclass(frozen=True)
class Fitted:
    """What is fitted; the fields are the estimator's attributes without the underscore at the end.

    ``weights`` (p × n_features, raw units) is None where terms may be literals: one feature may then have several.
    ``feature_importances`` is the share of each feature in the standardised weights. The bound and the gaps are None
    where the certificate was not computed.
    """

    model: SMaLLModel
    classes: np.ndarray
    weights: np.ndarray | None
    intercepts: np.ndarray
    support: np.ndarray
    feature_importances: np.ndarray
    prototype_classes: np.ndarray
    objective: float
    lower_bound: float | None
    optimality_gap: float | None
    duality_gap: float | None
    n_iter: int


@dataclass(frozen=True)
class _Weights:
    """Weights (p × candidate terms) and constants (p) in raw units, times ``scale`` if they are points."""

    weights: np.ndarray
    intercepts: np.ndarray
    card: Points | None


def assemble(problem: Problem, found: Found, budget: Budget, options: AssembleOptions) -> Fitted:
    """Everything that is known of a trained model; a `Solution` has a certificate, any other model none."""
    raw = _weights(problem, found, budget, options)
    objective = found.value if raw.card is None else _card_objective(problem, found, raw, options.alpha)
    solution = found if isinstance(found, Solution) else None
    # What is found is within the budget, so that no bound is above its objective but by rounding errors. That of a
    # score card may be computed a little below the objective of the weights that it stands for.
    lower_bound = None if solution is None else float(min(solution.bound, solution.value, objective))
    terms = problem.candidates
    support = np.zeros((len(raw.weights), problem.n_features), dtype=bool)
    for j, l in zip(*np.nonzero(raw.weights), strict=True):
        support[j, terms.feature[l]] = True
    training = Training(
        smallearn=__version__,
        n_rows=problem.n_rows,
        alpha=float(options.alpha),
        n_nonzero=int(budget.limit) if budget.costs is None else None,
        objective=float(objective),
        lower_bound=lower_bound,
        budget=budget.pooling,
        max_cost=None if budget.costs is None else float(budget.limit),
        certified=solution is not None and bool(solution.certified) and raw.card is None,
    )
    raw, added = _without_class_weights(problem, found, raw)
    model = _model(problem, found, raw, options, training)
    decision = _decision(model, added, options)
    return Fitted(
        model=model if decision in NO_CHANGE else replace(model, **decision),
        classes=problem.classes,
        weights=raw.weights if set(terms.kind) <= {RAW} else None,
        intercepts=raw.intercepts,
        support=support,
        feature_importances=_importances(problem, raw.weights),
        prototype_classes=problem.classes[found.assignment.owner],
        objective=objective,
        lower_bound=lower_bound,
        optimality_gap=training.optimality_gap,
        duality_gap=None if solution is None else solution.relaxed.gap,
        n_iter=0 if solution is None else solution.n_iter,
    )


def _importances(problem: Problem, weights: np.ndarray) -> np.ndarray:
    """The share of each feature in the weights, each times the deviation of its term in training; they add up to 1."""
    scale = problem.scaling.inverse_scale
    moved = np.abs(weights).sum(axis=0) / np.where(scale > 0.0, scale, 1.0)
    sums = np.bincount(problem.candidates.feature, weights=moved, minlength=problem.n_features)
    total = sums.sum()
    return sums / total if total > 0.0 else sums


def remember_rows(model: SMaLLModel, X: Any, y: np.ndarray) -> SMaLLModel:
    """The model with a fingerprint of its training rows; as it was if only training can read them (numbers as text)."""
    with suppress(ValueError, OverflowError):
        if isinstance(X, Table):
            return model._trained_on_codes(X, X.code, target=X.target)
        code = model.codes(y)
        return model._trained_on_codes(X, code, _sum_hashes(model, X, code))
    return model


def _sum_hashes(model: SMaLLModel, X: Any, code: np.ndarray) -> np.ndarray | None:
    """`_fingerprint.sum_hashes` of the rows, compiled; None unless X is an array of floats, row by row in memory."""
    is_plain = type(X) is np.ndarray and X.dtype in FLOATS and X.flags.c_contiguous and X.flags.aligned
    if not is_plain:
        return None
    used, sums = np.array([term.feature for term in model.features], dtype=np.int64), np.zeros(2, dtype=np.uint64)
    if not kernels.sum_fingerprints(read_only(X), used, code, _fingerprint.STEP, _fingerprint.MISSING, sums):
        return None
    return np.array([len(X), *sums], dtype=np.uint64)


# --- weights and points ----------------------------------------------------------------------------------------------


def _weights(problem: Problem, found: Found, budget: Budget, options: AssembleOptions) -> _Weights:
    weights, intercepts = problem.to_raw_units(found.W, options.fit_intercept)
    if options.max_points is None:
        return _Weights(weights=weights, intercepts=intercepts, card=None)
    card = _score_card(problem, found, weights, intercepts, max_points=options.max_points, alpha=options.alpha)
    if budget.signs is not None:
        card = replace(card, points=np.where(card.points * weights < 0.0, 0, card.points))  # no forbidden sign
    scaled = card.scale * card.points / card.units
    return _Weights(weights=scaled, intercepts=card.scale * card.intercepts, card=card)


def _without_class_weights(problem: Problem, found: Found, raw: _Weights) -> tuple[_Weights, np.ndarray]:
    """Constants for probabilities of the data as they are, and what each class's scores have lost, in log-odds.

    Weight w of a class adds log w to its scores. A score card loses whole points: its probabilities are right up to
    half a point.
    """
    lost = problem.class_offsets
    if _owner(problem, found) is not None:  # the scores are log-odds of their owner against the other class
        lost = np.array([lost[0] - lost[1], lost[1] - lost[0]])
    if raw.card is None:
        return replace(raw, intercepts=raw.intercepts - lost[found.assignment.owner]), lost
    points = np.rint(lost / raw.card.scale).astype(np.int64)
    card = replace(raw.card, intercepts=raw.card.intercepts - points[found.assignment.owner])
    return replace(raw, intercepts=card.scale * card.intercepts, card=card), card.scale * points


def _score_card(problem, found: Found, weights, intercepts, *, max_points: int, alpha: float) -> Points:
    """Points in place of the refitted weights, on the same candidate terms."""
    rows = problem.rows(_owner(problem, found), False, 1)
    used = np.flatnonzero(np.any(weights != 0.0, axis=0))
    scale = np.where(problem.scaling.inverse_scale[used] > 0.0, problem.scaling.inverse_scale[used], 1.0)
    values = rows.columns(used) / scale + problem.scaling.mean[used]
    raw = np.array([problem.candidates.kind[l] == RAW for l in used], dtype=bool)
    values[:, ~raw] = np.rint(values[:, ~raw])
    card = find_points(
        values,
        weights[:, used],
        intercepts,
        roles=rows.labels.roles(_assignment(problem, found)),
        raw=raw,
        max_points=max_points,
        alpha=alpha,
        deviation=1.0 / scale,
        mean=problem.scaling.mean[used],
    )
    points = np.zeros(weights.shape, dtype=np.int64)
    points[:, used] = card.points
    units = np.ones(weights.shape[1])
    units[used] = card.units
    return replace(card, points=points, units=units)


def _card_objective(problem: Problem, found: Found, raw: _Weights, alpha: float) -> float:
    """The training objective of a score card, at the assignment of the certificate."""
    scale = np.where(problem.scaling.inverse_scale > 0.0, problem.scaling.inverse_scale, 1.0)
    W = np.column_stack([raw.weights / scale, raw.intercepts + raw.weights @ problem.scaling.mean])
    rows = problem.rows(_owner(problem, found), True, 1)
    loss = rows.sums(W, rows.labels.roles(_assignment(problem, found)), gradient=False).loss
    return loss + 0.5 * alpha * float(np.sum(W * W))


def _assignment(problem: Problem, found: Found) -> Assignment:
    """The assignment of the problem's rows; where these are a sample of the rows that the model was fitted to, each has
    the prototype that scores it best."""
    if isinstance(found.assignment, Assignment):
        return found.assignment
    rows = problem.rows(_owner(problem, found), found.W.shape[1] > len(problem.candidates), 1)
    return Assignment(own=best_prototypes(rows, found.W, found.assignment.owner), owner=found.assignment.owner)


def _owner(problem: Problem, found: Found) -> int | None:
    """The class that owns all prototypes, if one does."""
    return sole_owner(found.assignment.owner.tolist(), len(problem.classes))


# --- the model -------------------------------------------------------------------------------------------------------


def _decision(model: SMaLLModel, lost: np.ndarray, options: AssembleOptions) -> dict[str, Any]:
    """The model's threshold and cost matrix: those asked for, or those that give back what the scores have lost."""
    if len(model.classes) > 2:
        weights = None if options.cost_matrix is None and not np.ptp(lost) else np.exp(lost - lost.max())
        if options.cost_matrix is not None or weights is None:
            return {"cost_matrix": options.cost_matrix}
        return {"cost_matrix": tuple(map(tuple, (weights[:, None] * (1.0 - np.eye(len(weights)))).tolist()))}
    gap = lost[1] if model.sole_owner is not None else lost[1] - lost[0]
    if options.decision_threshold is not None or not gap:
        return {"decision_threshold": 0.5 if options.decision_threshold is None else float(options.decision_threshold)}
    cut = -gap
    if model.is_score_card and all(term.kind != RAW for term in model.terms):
        cut += 0.5 * model.scale  # totals are whole: between two of them no rounding error matters
    return {"decision_threshold": float(np.clip(special.expit(cut), LEAST, 1.0 - LEAST))}


def _model(problem: Problem, found: Found, raw: _Weights, options: AssembleOptions, training: Training) -> SMaLLModel:
    prototypes = tuple(
        Prototype(
            owner=int(owner),
            intercept=float(raw.intercepts[j] if raw.card is None else raw.card.intercepts[j]),
            terms=_terms(problem, raw, options, j),
        )
        for j, owner in enumerate(found.assignment.owner)
    )
    used = sorted({term.feature for prototype in prototypes for term in prototype.terms})
    return SMaLLModel(
        classes=tuple(problem.classes.tolist()),
        class_dtype=class_dtype(problem.classes),
        n_features=problem.n_features,
        prototypes=prototypes,
        training=training,
        scale=1.0 if raw.card is None else float(raw.card.scale),
        ranges=tuple(Range(feature=feature, low=low, high=high) for feature, low, high in problem.extents(used)),
    )


def _terms(problem: Problem, raw: _Weights, options: AssembleOptions, j: int) -> tuple[Term, ...]:
    """The terms of prototype ``j``."""
    candidates, card, names = problem.candidates, raw.card, options.feature_names
    column = {int(feature): a for a, feature in enumerate(candidates.feature[: candidates.n_raw])}
    fills = options.fills_gaps and not sparse.issparse(problem.X)
    terms = []
    for l in np.flatnonzero(raw.weights[j]):
        feature, kind = int(candidates.feature[l]), candidates.kind[l]
        terms.append(
            Term(
                feature=feature,
                weight=float(raw.weights[j, l] if card is None else card.points[j, l] / card.units[l]),
                name=None if names is None else str(names[feature]),
                kind=kind,
                value=candidates.value[l],
                mean=float(problem.column_scaling.mean[column[feature]]) if fills and kind == RAW else None,
                unit=None if card is None or kind != RAW else float(card.units[l]),
            )
        )
    return tuple(terms)
