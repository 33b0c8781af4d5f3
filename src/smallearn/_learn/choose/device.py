"""The most accurate model that fits a chip: limits on the compiled code, and the number format that keeps them."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from smallearn._errors import Parameter, ParameterError
from smallearn._learn.assemble import Fitted
from smallearn._learn.choose.families import CandidateModel, Task
from smallearn._learn.choose.final import Choice, Sample, assemble_candidate
from smallearn._learn.choose.results import Results
from smallearn._learn.data.problem import Problem
from smallearn._text import count, listed, show
from smallearn.devices import Cost, cost
from smallearn.devices._limits import UNITS, Limits, cost_by_limit
from smallearn.export._fixed.quantise import quantise
from smallearn.model import Deployment, SMaLLModel

LAYOUTS = ("code", "table")
ROWS = 100  # rows of each predicted class on which time is measured: the classes take different times …
FEW_ROWS = 2  # … and on which a cost beyond the limits shows


@dataclass(frozen=True)
class DeviceRows:
    """The training rows as the user passed them, on which a chip's answers are checked and timed."""

    X: Any
    y: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class Deployed:
    """A model in one number format and layout: its cost, the limits that it exceeds, and the accuracy on the training
    rows that the format loses."""

    model: SMaLLModel
    number: str
    cost: Cost
    exceeded: Sequence[str]
    loss: float


def check_counts(problem: Problem, names: Any, counts: Mapping[str, tuple[float, float, int, int]]) -> None:
    """Raise unless the declared ``counts`` have every number that a model may use; warn of features with training
    values that the device cannot read. ``names`` are those of the features, or None."""
    labels = [f"x{l}" for l in range(problem.n_features)] if names is None else [str(name) for name in names]
    extents = problem.extents(list(range(problem.n_features)))
    lacking = [labels[feature] for feature, low, high in extents if low < high and labels[feature] not in counts]
    if lacking:
        unknown = [name for name in counts if name not in labels]
        but = f" (there is no feature {listed(unknown)})" if unknown else ""
        raise ParameterError(
            Parameter("counts"),
            f" lacks {listed(lacking)}{but}: it has to say what the device reads for every number that a model may "
            "use. Add what is missing, or leave these features out.",
        )
    for feature, least, greatest in extents:
        if labels[feature] not in counts:
            continue
        scale, offset, *ends = counts[labels[feature]]
        low, high = sorted(scale * end + offset for end in ends)
        if least < low - abs(scale) or greatest > high + abs(scale):
            warnings.warn(
                f"The declared counts of {show(labels[feature])} mean {low:.6g} to {high:.6g}, but the training rows "
                f"have {least:.6g} to {greatest:.6g}. Values beyond are read as the nearest count. Are they right?",
                UserWarning,
                stacklevel=3,
            )


def choose_for_device(
    task: Task,
    results: Results,
    limits: Limits,
    rows: DeviceRows,
    *,
    one_standard_error: bool,
    n_init: int,
    numbers: Sequence[str] | None = None,
) -> Choice:
    """The model with the highest expected score that keeps the limits in some number format.

    The best candidate model is trained, compiled and measured in every format. If no format keeps the limits, the next
    best that may keep them follows, until no candidate model left has a higher score than the best that does.
    """
    left, sample = results.complete(), Sample(task)
    least = min(candidate.n_terms for candidate in left)
    best: Choice | None = None
    highest = -np.inf  # the score by cross-validation, less what the number format loses
    smallest: list[Deployed] = []
    while left:
        chosen = results.choose(left, one_standard_error)
        if best is not None and results.mean(chosen) <= highest:
            break
        fitted = _train(task, results, sample, chosen, n_init)
        tried = deploy(fitted.model, limits, rows, numbers)
        fitting = [deployed for deployed in tried if not deployed.exceeded]
        for deployed in fitting:
            expected = results.mean(chosen) - deployed.loss
            if best is None or expected > highest:
                highest = expected
                kept = replace(fitted, model=_with_deployment(fitted.model, limits, deployed.cost))
                best = Choice(candidate=chosen, fitted=kept, number=deployed.number, cost=deployed.cost)
        if not smallest or len(fitted.model.terms) <= len(smallest[0].model.terms):
            smallest = tried
        most = np.inf if fitting else chosen.n_terms / min(limits.excess(deployed.cost) for deployed in tried)
        left = [c for c in left if c != chosen and (c.shape != chosen.shape or c.n_terms <= max(most, least))]
    if best is None:
        raise too_tight(limits, smallest)
    return best


def _with_deployment(model: SMaLLModel, limits: Limits, spent: Cost) -> SMaLLModel:
    """The model with how it is compiled."""
    used = {term.label for term in model.features}
    counts = tuple((label, *entry) for label, entry in (limits.counts or {}).items() if label in used)
    deployment = Deployment(
        chip=limits.device, number=spent.number, layout=spent.layout, readings=spent.readings, counts=counts
    )
    return replace(model, deployment=deployment, device_limits=limits.asked)


def _train(task: Task, results: Results, sample: Sample, candidate: CandidateModel, n_init: int) -> Fitted:
    """The candidate model, trained on all rows. A chip pays for each test of a missing value, so the model has such
    tests only if values were missing in training."""
    state = sample.train(candidate.family, [candidate], n_init)[candidate]
    fitted = assemble_candidate(task, results, candidate, sample.settle(candidate, state), results.frontier())
    return fitted if task.problem.has_gaps else replace(fitted, model=fitted.model.for_complete_rows())


def deploy(model: SMaLLModel, limits: Limits, rows: DeviceRows, numbers: Sequence[str] | None = None) -> list[Deployed]:
    """The model in these number formats, by default all that may be tried, and every layout, compiled and measured."""
    inputs: dict[str, Any] = {"readings": limits.readings, "counts": limits.counts}
    predicted = model.predict(rows.X)
    correct, truth = predicted == rows.y, model.codes(rows.y)
    of_class = [np.flatnonzero(predicted == label) for label in np.unique(predicted)]
    few, many = (
        _safe_indexing(rows.X, np.sort(np.concatenate([some[:most] for some in of_class]))) for most in (FEW_ROWS, ROWS)
    )
    deployed = []
    for number in numbers or limits.numbers:
        loss = 0.0
        if number != "float32":
            quantised = quantise(model, number, **inputs)
            on_chip = quantised.predict(quantised.codes(rows.X)) == truth
            loss = float(np.average(correct.astype(float) - on_chip, weights=rows.weight))
        for layout in LAYOUTS:
            spent = cost(model, limits.device, number, few, layout=layout, **inputs)
            if not limits.exceeded(spent):
                spent = cost(model, limits.device, number, many, layout=layout, **inputs)
            exceeded = limits.exceeded(spent)
            deployed.append(Deployed(model=model, number=number, cost=spent, exceeded=exceeded, loss=loss))
    return deployed


def too_tight(limits: Limits, smallest: list[Deployed]) -> ParameterError:
    """The error that no model keeps the limits: which ones, and what the smallest model costs."""
    always = [name for name in UNITS if all(name in deployed.exceeded for deployed in smallest)]
    names = always or sorted({name for deployed in smallest for name in deployed.exceeded})
    asked = [part for name in names for part in (Parameter(name, limits.limit(name)), ", ")][:-1]
    least = {name: min(cost_by_limit(deployed.cost)[name] for deployed in smallest) for name in UNITS}
    needs = ", ".join(f"{value:g} {UNITS[name]}" for name, value in least.items() if np.isfinite(value))
    terms = count(len(smallest[0].model.terms), "term")
    return ParameterError(
        "No model keeps ",
        *asked,
        f" on {limits.device}: the smallest, of {terms}, takes at least {needs} "
        f"(formats tried: {listed(limits.numbers)}). Raise the limits, or choose another chip.",
    )
