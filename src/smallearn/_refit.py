"""A model that a person changed, fitted to rows again: what is not fixed is refitted, and terms that left replaced."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from smallearn._learn.data.encoding import encode_table
from smallearn._learn.data.labels import Labels
from smallearn._learn.data.literals import RAW
from smallearn._learn.data.problem import Problem, build_problem
from smallearn._learn.data_parameters import check_sample_weight
from smallearn._learn.solve.held import HeldProblem, Weighed
from smallearn._learn.solve.objective import residual
from smallearn._text import count, joined, listed
from smallearn._version import __version__
from smallearn.model import Edit, Editor, Prototype, Range, SMaLLModel, Term, as_model, read_rows
from smallearn.model._arguments import codes
from smallearn.model._edit import changed_by
from smallearn.model._sentences import CONSTANT, shares_terms

ALPHA = 1e-2  # of a model that does not say what it was trained with
CUT_POINTS = 20  # of a feature, as in training
FIXING = ("weight", "add")  # edits after which the weight of a term is a person's
SHORTLIST = 12  # candidate terms that are fitted before one is added


def refit(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    keep: Sequence[str] = (),
    alpha: float | None = None,
    replace_terms: bool = False,
) -> SMaLLModel:
    """Fit the weights and constants of a model to rows, all but those that a person set.

    The log loss with the ridge penalty is minimised, as in training. The cuts, the terms and the decision threshold
    stay. The points of a score card stay whole, and one point is worth what it was.

    Parameters
    ----------
    model : SMaLLModel, Editor or fitted estimator
        The model, most often one that `SMaLLModel.edit` changed.
    X : array, sparse matrix or table
        Rows × features, as the model was trained on.
    y : array of class labels
        One for each row.
    sample_weight : array of float, default=None
        The weight of each row; None for 1.
    keep : sequence of str, default=()
        Terms, as they are printed, whose weights also stay as they are, in every score; "constant" for the constants.
    alpha : float, default=None
        The ridge penalty. None for that of training, or 0.01 if it is not known.
    replace_terms : bool, default=False
        Whether to add a term for each that was dropped, the one that lowers the objective most each time. Features that
        a person forbade are left out.

    Returns
    -------
    SMaLLModel
        The refitted model, which remembers that in ``edits``. It has no certificate and no cross-validated score.

    See Also
    --------
    smallearn.SMaLLModel.edit : Change a model by hand.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier, refit
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = SMaLLClassifier(n_prototypes=1, n_nonzero=3, random_state=0).fit(X, y).model_
    >>> [term.label for term in model.terms]
    ['worst radius', 'worst texture', 'worst concave points']
    >>> edited = refit(model.edit().forbid("worst texture"), X, y)
    >>> [edit.text for edit in edited.edits][-1]
    '2 weights and 1 constant refitted on 569 rows'
    """
    _check(alpha, replace_terms)
    changed = model.model if isinstance(model, Editor) else as_model(model)
    setting = _setting(changed, X, y, sample_weight, alpha)
    fixed = _fixed(changed, keep)
    n_free = sum(len(prototype.terms) + 1 for prototype in changed.prototypes) - len(fixed)
    places = _places(changed) if replace_terms else 0
    if not n_free and not places:
        raise ValueError("There is nothing to refit: all weights and constants are set by hand or kept.")
    is_card = changed.is_score_card
    found: list[Edit] = []
    for _ in range(places):
        added = _best_addition(changed, setting, fixed)
        if added is None:
            break
        changed, edits = added
        found.extend(edits)
    result = _fit(changed, setting, fixed, whole=is_card)
    return _remembered(changed, result, setting, fixed, found, is_card)


@dataclass(frozen=True)
class _Setting:
    """The rows that a model is fitted to: ``kept`` are those of positive weight, which ``labels`` are of."""

    X: Any
    y: Any
    weight: np.ndarray
    code: np.ndarray
    kept: np.ndarray
    labels: Labels
    alpha: float


@dataclass(frozen=True)
class _Fit:
    """Prototypes with new weights, and the objective."""

    prototypes: tuple[Prototype, ...]
    objective: float
    problem: HeldProblem
    weighed: Weighed


Fixed = set[tuple[int, Any]]
"""The prototype and the key of each term whose weight is kept; the key of a constant is None."""


def _check(alpha: Any, replace_terms: Any) -> None:
    is_number = isinstance(alpha, Real) and not isinstance(alpha, bool)
    if alpha is not None and not (is_number and 0.0 < float(alpha) < float("inf")):
        raise ValueError(f"alpha={alpha!r} is not a positive number or None.")
    if not isinstance(replace_terms, bool | np.bool_):
        raise ValueError(f"replace_terms={replace_terms!r} is not True or False.")


def _setting(model: SMaLLModel, X: Any, y: Any, sample_weight: Any, alpha: float | None) -> _Setting:
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    code = codes(model, y, X.shape[0])
    weight = check_sample_weight(sample_weight, X)
    kept = weight > 0.0
    total = float(weight[kept].sum())
    zero_owner = None if model.sole_owner is None else 1 - model.sole_owner
    labels = Labels(code=code[kept], weight=weight[kept] / total, total=total, zero_owner=zero_owner)
    if alpha is None:
        alpha = ALPHA if model.training is None else model.training.alpha
    return _Setting(X=X, y=y, weight=weight, code=code, kept=kept, labels=labels, alpha=float(alpha))


def _key(term: Term) -> tuple:
    return term.feature, term.kind, term.value


def _fixed(model: SMaLLModel, keep: Sequence[str]) -> Fixed:
    """What a person set, and what is to be kept."""
    if isinstance(keep, str):
        raise ValueError(f"keep={keep!r} is not a list of terms: keep=[{keep!r}].")
    fixed: Fixed = set()
    for j, prototype in enumerate(model.prototypes):
        fixed |= {(j, _key(term)) for term in prototype.terms if is_by_hand(model, j, term)}
        if CONSTANT in keep or is_by_hand(model, j, None):
            fixed.add((j, None))
    for text in keep:
        if text != CONSTANT:
            fixed |= {(j, _key(term)) for j, term in model.edit().find(text).items()}
    return fixed


def is_by_hand(model: "SMaLLModel", j: int, term: Term | None) -> bool:
    """Whether a person has set the weight of a term in score ``j``, or its constant (None)."""
    if term is None:
        return any(edit.action == "constant" and edit.score in (None, j + 1) for edit in model.edits)
    for edit in reversed(model.edits):
        if edit.action in FIXING and edit.score in (None, j + 1) and edit.what == term.text:
            return True
        if edit.action == "cut" and edit.what == term.text:
            term = replace(term, value=edit.before)  # what it was called before
    return False


# --- weights ---------------------------------------------------------------------------------------------------------


def _fit(model: SMaLLModel, setting: _Setting, fixed: Fixed, *, whole: bool = False) -> _Fit:
    """The best weights of the model's terms on the rows; ``whole``: those of a score card."""
    rows = read_rows(model, setting.X)
    column = {key: at for at, key in enumerate(dict.fromkeys(_key(term) for term in model.terms))}
    values = np.empty((int(setting.kept.sum()), len(column)))
    shape = (len(model.prototypes), len(column) + 1)
    used, free = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    weights, unit = np.zeros(shape), np.full(shape, model.scale)
    for j, prototype in enumerate(model.prototypes):
        used[j, -1], free[j, -1], weights[j, -1] = True, (j, None) not in fixed, prototype.intercept
        for term in prototype.terms:
            at = column[_key(term)]
            values[:, at] = rows.factor(term)[setting.kept]
            used[j, at], free[j, at], weights[j, at] = True, (j, _key(term)) not in fixed, term.weight
            unit[j, at] = model.scale / (term.unit or 1.0)
    owner = np.array(model.owners)
    problem = HeldProblem(values=values, labels=setting.labels, owner=owner, used=used, alpha=setting.alpha)
    start = weights * model.scale
    weighed = problem.fit_rounded(start, free, unit) if whole else problem.fit(start, free)
    found = np.where(free, weighed.weights / model.scale, weights)
    if whole:
        points = np.where(free, np.rint(weighed.weights / unit), 0.0)
        found = np.where(free, points * unit / model.scale, weights)
    prototypes = tuple(
        replace(
            prototype,
            intercept=float(found[j, -1]),
            terms=tuple(replace(term, weight=float(found[j, column[_key(term)]])) for term in prototype.terms),
        )
        for j, prototype in enumerate(model.prototypes)
    )
    return _Fit(prototypes=prototypes, objective=weighed.objective, problem=problem, weighed=weighed)


def _remembered(
    model: SMaLLModel, result: _Fit, setting: _Setting, fixed: Fixed, found: Sequence[Edit], is_card: bool
) -> SMaLLModel:
    """The refitted model, with what is known of its rows."""
    n_rows = int(setting.kept.sum())
    new = {(edit.what, edit.score) for edit in found}
    kept = [
        (j, term)
        for j, prototype in enumerate(result.prototypes)
        for term in prototype.terms
        if (j, _key(term)) not in fixed and not any((term.text, score) in new for score in (None, j + 1))
    ]
    constants = sum((j, None) not in fixed for j in range(len(result.prototypes)))
    parts = [count(len(kept), "weight")] * bool(kept) + [count(constants, "constant")] * bool(constants)
    edits = [Edit("refit", joined(parts), after=float(n_rows))] if parts else []
    for edit in found:
        j = (edit.score or 1) - 1
        term = next(term for term in result.prototypes[j].terms if term.text == edit.what)
        edits.append(replace(edit, after=term.points if is_card else term.weight))
    training = model.training
    if training is not None:
        training = replace(
            training,
            smallearn=__version__,
            n_rows=n_rows,
            alpha=setting.alpha,
            objective=result.objective,
            lower_bound=None,
            certified=False,
        )
    fields: dict[str, Any] = {"training": training, "prototypes": result.prototypes}
    fields["ranges"] = _ranges(replace(model, prototypes=result.prototypes), setting)
    changed = changed_by(model, tuple(edits), **fields)
    target = None if model.data is None else model.data.target
    with suppress(ValueError, OverflowError):  # rows that only training can read, such as numbers as text
        changed = changed.trained_on(setting.X, setting.y, target=target)
    return changed


def _ranges(model: SMaLLModel, setting: _Setting) -> tuple[Range, ...]:
    """The ranges of the numeric features in use, over the rows."""
    known = {extent.feature for extent in model.ranges}
    known |= {term.feature for term in model.terms if term.kind in ("raw", "at_most", "above")}
    rows, ranges = read_rows(model, setting.X), []
    for term in model.features:
        if term.feature in known:
            numbers = rows.column(term).numbers[setting.kept]
            present = numbers[~np.isnan(numbers)]
            if len(present):
                ranges.append(Range(term.feature, float(present.min()), float(present.max())))
    return tuple(ranges)


# --- other terms -----------------------------------------------------------------------------------------------------


def _places(model: SMaLLModel) -> int:
    """How many terms the model has lost by hand; one that several scores share is one."""
    lost = [edit for edit in model.edits if edit.action == "drop"]
    gained = [edit for edit in model.edits if edit.action in ("add", "found")]
    if _is_shared(model):
        return max(0, len({edit.what for edit in lost}) - len({edit.what for edit in gained}))
    return max(0, len(lost) - len(gained))


def _is_shared(model: SMaLLModel) -> bool:
    """Whether a term that several scores have is one, as its budget counts it."""
    if len(model.prototypes) == 1:
        return False
    return shares_terms(model) if model.training is None else model.training.budget == "shared"


def _best_addition(model: SMaLLModel, setting: _Setting, fixed: Fixed) -> tuple[SMaLLModel, list[Edit]] | None:
    """The model with the term that lowers the objective most; None if there is no candidate."""
    fitted = _fit(model, setting, fixed)
    best = None
    for scores, term in _shortlist(model, fitted, setting):
        prototypes = tuple(
            replace(prototype, terms=(*prototype.terms, term)) if j in scores else prototype
            for j, prototype in enumerate(fitted.prototypes)
        )
        tried = replace(model, prototypes=prototypes)
        objective = _fit(tried, setting, fixed).objective
        if best is None or objective < best[0]:
            best = objective, tried, scores, term
    if best is None:
        return None
    _, tried, scores, term = best
    several = len(model.prototypes) > 1
    return tried, [Edit("found", term.text, None, 0.0, j + 1 if several else None) for j in scores]


def _shortlist(model: SMaLLModel, fitted: _Fit, setting: _Setting) -> list[tuple[tuple[int, ...], Term]]:
    """The candidate terms along which the objective falls fastest, with the scores that they are for."""
    problem = _candidates(model, setting)
    rows = problem.rows(model.sole_owner, False, 1)
    roles = setting.labels.roles(fitted.weighed.assignment)
    slope = residual(fitted.problem.scores(fitted.weighed.weights), roles) * roles.weight[:, None]
    gain = rows.combine(slope)[:, : len(problem.candidates)] ** 2
    gain[:, problem.scaling.inverse_scale == 0.0] = 0.0
    forbidden = {edit.what for edit in model.edits if edit.action == "forbid"}
    dropped = {(edit.what, edit.score) for edit in model.edits if edit.action == "drop"}
    names = _names(model, setting.X)
    shared = _is_shared(model)
    groups = [tuple(range(len(gain)))] if shared else [(j,) for j in range(len(gain))]
    totals = np.array([gain[list(group)].sum(axis=0) for group in groups])
    chosen: list[tuple[tuple[int, ...], Term]] = []
    for flat in np.argsort(-totals, axis=None, kind="stable"):
        at, l = np.unravel_index(flat, totals.shape)
        if len(chosen) == SHORTLIST or not totals[at, l] > 0.0:
            break
        term = _term(problem, int(l), names)
        scores = tuple(groups[at])
        has = any(_key(one) == _key(term) for j in scores for one in model.prototypes[j].terms)
        was = any((term.text, score) in dropped for j in scores for score in (None, j + 1))
        if not has and not was and term.label not in forbidden:
            chosen.append((scores, term))
    return chosen


def _candidates(model: SMaLLModel, setting: _Setting) -> Problem:
    """The candidate terms on the rows: of the kinds that the model has, and conditions."""
    X, categories = setting.X, {}
    if not hasattr(X, "tocsr"):
        table = encode_table(X, "from_dtype")
        X, categories = table.values, table.categories
    kinds = {edit.what for edit in model.edits if edit.action == "drop"}
    only_raw = all(term.kind == "raw" for term in model.terms) and not any(what.startswith("[") for what in kinds)
    is_card = model.scale != 1.0
    literals = "raw" if only_raw and not is_card else "thresholds" if is_card else "both"
    return build_problem(
        X, setting.code, setting.weight, literals=literals, cut_points=CUT_POINTS, categories=categories
    )


def _term(problem: Problem, l: int, names: Sequence[str] | None) -> Term:
    """A candidate as a term, of weight 0."""
    candidates = problem.candidates
    feature, kind = int(candidates.feature[l]), candidates.kind[l]
    fills = kind == RAW and problem.has_gaps
    column = int(np.flatnonzero(problem.column_feature == feature)[0]) if fills else 0
    return Term(
        feature=feature,
        weight=0.0,
        name=None if names is None else names[feature],
        kind=kind,
        value=candidates.value[l],
        mean=float(problem.column_scaling.mean[column]) if fills else None,
    )


def _names(model: SMaLLModel, X: Any) -> list[str] | None:
    """The names of all features, for terms of features that the model does not use."""
    if X.shape[1] != model.n_features:
        raise ValueError(
            f"replace_terms=True looks at all features: X has {X.shape[1]} columns, the model was trained on "
            f"{model.n_features}. Pass the table with the columns of training, in their order."
        )
    if not hasattr(X, "columns"):
        if any(term.name is not None for term in model.terms):
            raise ValueError("replace_terms=True with a model that has names needs a table with names, not an array.")
        return None
    names = [str(name) for name in X.columns]
    wrong = [term.name for term in model.features if term.name is not None and names[term.feature] != term.name]
    if wrong:
        raise ValueError(f"replace_terms=True needs the columns in the order of training; {listed(wrong[:5])} differ.")
    unnamed = any(term.name is None for term in model.terms)
    return None if unnamed else names
