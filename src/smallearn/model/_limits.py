"""How large the numbers of a model may be: so that scores, and differences of scores and values, are finite."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from smallearn._text import show
from smallearn.model._term import Term

if TYPE_CHECKING:
    from smallearn.model._model import SMaLLModel

LARGEST = 1e305  # a number of the model, and what the weights of a prototype add up to, also in log-odds


def check_limits(model: "SMaLLModel") -> None:
    """Raise ValueError, which names the field, unless a model's numbers are small enough to compute with."""
    for j, prototype in enumerate(model.prototypes):
        place = f"prototypes[{j}]"
        _check(prototype.intercept, f"{place}.intercept")
        total = abs(prototype.intercept)
        for i, term in enumerate(prototype.terms):
            for name in ("weight", "value", "mean", "unit"):
                _check(getattr(term, name), f"{place}.terms[{i}].{name}")
            total += _effect(term)
        numbers = [prototype.intercept, *(term.weight for term in prototype.terms)]
        if total * max(1.0, model.scale) > LARGEST and all(map(math.isfinite, numbers)):
            raise ValueError(
                f"{place}: the scores overflow, for the weights, times the scale, add up to more than {LARGEST:g}."
            )
    for position, extent in enumerate(model.ranges):
        _check(extent.low, f"ranges[{position}].low")
        _check(extent.high, f"ranges[{position}].high")
    if model.training is not None:
        for name in ("objective", "lower_bound", "alpha", "max_cost"):
            _check(getattr(model.training, name), f"training.{name}")
    if model.selection is not None:
        for position, score in enumerate(model.selection.scores):
            _check(score, f"selection.scores[{position}]")
        for position, step in enumerate(model.selection.frontier):
            _check(step.score, f"selection.frontier[{position}].score")
            _check(step.spread, f"selection.frontier[{position}].spread")


def check_kinds(model: "SMaLLModel") -> None:
    """Raise ValueError if a feature is text in one term and a number in another, also of other sizes or alternatives:
    there would be no value that all of them take."""
    first: dict[tuple[int, bool], str] = {}
    for place, term in _places(model):
        if term.kind == "missing" or (term.kind == "equals" and not isinstance(term.value, str)):
            continue
        is_text = term.kind == "equals"
        other = first.get((term.feature, not is_text))
        if other is not None:
            needs = "numbers", "text"
            raise ValueError(
                f"{place}: {term.text} needs {needs[is_text]}, and {other}, of the same feature, {needs[not is_text]}."
            )
        first.setdefault((term.feature, is_text), place)


def _places(model: "SMaLLModel") -> Iterator[tuple[str, Term]]:
    """The terms of a model, of its other sizes and alternatives, with their place in its file."""
    for j, prototype in enumerate(model.prototypes):
        for i, term in enumerate(prototype.terms):
            yield f"prototypes[{j}].terms[{i}]", term
    for name in ("frontier_models", "alternatives"):
        for position, other in enumerate(getattr(model, name)):
            for place, term in _places(other):
                yield f"{name}[{position}].{place}", term


def _effect(term: Term) -> float:
    """The largest change of the score by a term: its weight, or for a number that of one or of the mean."""
    return abs(term.weight) * max(1.0, abs(term.mean or 0.0))


def _check(value: object, place: str) -> None:
    """A number of at most this size; text and None are none of its business."""
    if isinstance(value, int | float) and LARGEST < abs(value) < math.inf:
        raise ValueError(f"{place}: expected a number of at most {LARGEST:g} in size, found {show(value)}.")
