"""Why the model decides as it does about one row, and what would change the decision."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from smallearn._errors import Parameter, ParameterError
from smallearn._text import listed, show
from smallearn.explain._case.changes import Flip
from smallearn.explain._case.domains import known_from
from smallearn.explain._case.result import Case, Contribution
from smallearn.explain._case.search import smallest_flip
from smallearn.model import SMaLLModel, Term
from smallearn.model._arguments import as_model, as_row, checked_units, values_of
from smallearn.model._columns import factor_in_row
from smallearn.model._decision import contributions, leads, score

NO_LIMITS = (-math.inf, math.inf)


def case(
    model: Any,
    row: Any,
    *,
    X: Any = None,
    changeable: Sequence[str] | Mapping[str, tuple[float | None, float | None] | None] | None = None,
    units: Mapping[str, str] | None = None,
) -> Case:
    """Explain the decision about one row, and what would change it.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    row : mapping, sequence, or table, array or Rows of one row
        The row. A mapping needs only the features in use.
    X : array, sparse matrix, table or Rows, default=None
        Rows that show which numbers are whole, which categories exist, and ranges that the model does not know.
    changeable : sequence of str or mapping from str, default=None
        The features that may change: not a person's age, for example. A mapping holds each of them to a range:
        ``{"age": (18, 65), "income": (None, 5000), "colour": None}``, where None is no limit but that of the training
        data. None for all features in use.
    units : mapping from str to str, default=None
        The units of features: ``{"age": "years"}``.

    Returns
    -------
    Case
        Print it, or take its fields.

    Examples
    --------
    >>> from smallearn.explain import case
    >>> from smallearn.model import Prototype, Range, SMaLLModel, Term
    >>> prototype = Prototype(owner=1, intercept=-40.5, terms=(Term(feature=0, weight=1.0, name="age"),))
    >>> ages = Range(feature=0, low=18.0, high=90.0)
    >>> model = SMaLLModel(("no", "yes"), "<U3", n_features=1, prototypes=(prototype,), ranges=(ages,))
    >>> print(case(model, {"age": 35}, units={"age": "years"}))
    'no', with probability 99.6%.
    Below the threshold of 0: score -5.5.
    <BLANKLINE>
        -40.5  constant
          +35  age = 35 years
         -5.5  score
    <BLANKLINE>
    What would change the decision, one feature at a time, within its range in training:
        age from 35 to 40.6 years makes it 'yes'
    """
    model = as_model(model)
    units = checked_units(model, units)
    values = values_of(model, row)
    prediction = model.predict_one(as_row(model, values))
    factor = partial(factor_in_row, values)
    z = np.array([[float(score(prototype, factor)) for prototype in model.prototypes]])
    winner = int(model.winners(z)[0])
    features = _changeable(model, changeable)
    held = _held(model, changeable)
    known = replace(known_from(model, X), held=held)

    def flip_of(features: Sequence[Term]) -> Flip | None:
        found = smallest_flip(model, values, [term.feature for term in features], known)
        return None if found is None else _with_units(found, units)

    alone = {term.label: flip_of([term]) for term in features}
    return Case(
        model=model,
        values=values,
        prediction=prediction,
        probability=float(model.chances(z)[0, model.decide(z)[0]]),
        prototype=winner,
        scores=tuple(z[0].tolist()),
        margin=_margin(model, z, winner),
        parts=tuple(
            tuple(
                Contribution(term=term, value=values[term.feature], points=points, unit=units.get(term.label))
                for term, points in zip(prototype.terms, contributions(prototype, factor), strict=True)
            )
            for prototype in model.prototypes
        ),
        alone=alone,
        smallest=_smallest([*alone.values(), flip_of(features)]),
    )


def _smallest(flips: Sequence[Flip | None]) -> Flip | None:
    """The smallest of them; among equals the first."""
    return min((flip for flip in flips if flip is not None), key=lambda flip: flip.size, default=None)


def _with_units(flip: Flip, units: Mapping[str, str]) -> Flip:
    return replace(flip, changes=tuple(replace(change, unit=units.get(change.label)) for change in flip.changes))


def _changeable(model: SMaLLModel, labels: Sequence[str] | Mapping[str, Any] | None) -> list[Term]:
    """The features that may change."""
    if labels is None:
        return list(model.features)
    known = [term.label for term in model.features]
    unknown = [label for label in labels if label not in known]
    if unknown:
        raise ParameterError(
            Parameter("changeable"), f": {listed(unknown)} is not among the features in use: {listed(known)}."
        )
    return [term for term in model.features if term.label in labels]


def _held(model: SMaLLModel, changeable: Any) -> dict[int, tuple[float, float]]:
    """By feature, the range that the user holds it to."""
    if not isinstance(changeable, Mapping):
        return {}
    position = {term.label: term.feature for term in model.features}
    weighed = {term.feature for term in model.terms if term.kind in ("raw", "at_most", "above")}
    held = {}
    for label, limits in changeable.items():
        if limits is None:
            continue
        try:
            low, high = (default if end is None else float(end) for end, default in zip(limits, NO_LIMITS, strict=True))
        except (TypeError, ValueError):
            low, high = 1.0, 0.0
        if not low <= high:
            raise ParameterError(
                Parameter("changeable"),
                f": the range of {show(label)} is {limits!r}; it must be a pair (least, most) of numbers, of which "
                "either may be None, or None for any value.",
            )
        if position[label] not in weighed:
            raise ParameterError(
                Parameter("changeable"),
                f": {show(label)} has categories and no range; pass None in place of {limits!r}.",
            )
        held[position[label]] = (low, high)
    return held


def _margin(model: SMaLLModel, z: np.ndarray, winner: int) -> float:
    """How far the score that decides is above the cut of two classes, or what it has above that of the next class."""
    return float(leads(model.compared(z))[0, model.owners[winner]])
