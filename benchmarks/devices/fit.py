"""Weights for `smallearn.devices._estimate`: random models are measured, and least squares does the rest."""

import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import nnls

from smallearn.devices import CHIPS, cost
from smallearn.devices._cost import LAYOUTS, NUMBERS, Cost
from smallearn.devices._estimate import QUANTITIES, counts_of, entry_of
from smallearn.devices._toolchain import TooLargeError
from smallearn.export._fixed.quantise import target_of
from smallearn.model import Prototype, Range, SMaLLModel, Term
from smallearn.model._columns import factor_of_one

FOLDS = 6
SMALL = 16.0  # below this a byte or a cycle more or less is no great error
FEATURES, ROWS = 12, 100
SHARED = 0.7  # of the models of more than two classes have the same terms in all prototypes
SHARE = 0.9  # of the models keep to the error that is stated


def random_model(seed: int) -> SMaLLModel:
    """A model of usual size: one to three prototypes of one to five terms (for each of three or four classes, one or
    two of one to three, or all with the same two to twelve), raw, literal or both, on features of different ranges."""
    rng = np.random.default_rng([seed, 5])
    n_classes = int(rng.choice([2, 2, 2, 3, 3, 4, 6]))
    several = n_classes > 2
    each, most = (int(rng.integers(1, 3)), 3) if several else (int(rng.integers(1, 4)), 5)
    owners = [owner for owner in range(n_classes) for _ in range(each)] if several else [int(rng.integers(2))] * each
    style = rng.choice(["raw", "thresholds", "both"])
    centre, spread = rng.normal(size=FEATURES) * 10, np.exp(rng.normal(size=FEATURES))
    shared: list[Term] = []
    if several and rng.random() < SHARED:
        used = rng.choice(FEATURES, rng.integers(2, FEATURES + 1), replace=bool(style == "thresholds"))
        shared = [_term(rng, int(feature), style, centre[feature], spread[feature]) for feature in used]
    prototypes = []
    for owner in owners:
        used = rng.choice(FEATURES, rng.integers(1, most + 1), replace=False)
        terms = tuple(_term(rng, int(feature), style, centre[feature], spread[feature]) for feature in used)
        if shared:
            terms = tuple(replace(term, weight=float(term.weight * rng.normal())) for term in shared)
        prototypes.append(Prototype(owner, -_middle(rng, terms, centre, spread), terms))
    features = sorted({term.feature for prototype in prototypes for term in prototype.terms})
    ranges = tuple(Range(l, float(centre[l] - 3 * spread[l]), float(centre[l] + 3 * spread[l])) for l in features)
    return SMaLLModel(tuple(range(n_classes)), "<i8", FEATURES, tuple(prototypes), ranges=ranges)


def _term(rng: np.random.Generator, feature: int, style: str, centre: float, spread: float) -> Term:
    weight = float(rng.choice([-1.0, 1.0]) * rng.uniform(0.2, 2.0))
    if style == "raw" or (style == "both" and rng.random() < 0.5):
        mean = float(centre) if style == "both" else None  # as trained: with literals, values may be missing
        return Term(feature, weight / float(spread), mean=mean)
    return Term(feature, weight, kind=str(rng.choice(["at_most", "above"])), value=float(rng.normal(centre, spread)))


def _middle(rng: np.random.Generator, terms: tuple[Term, ...], centre: np.ndarray, spread: np.ndarray) -> float:
    """Between the least and the greatest score of some rows, so that no answer is always the same."""
    rows = rng.uniform(centre - 3 * spread, centre + 3 * spread, (ROWS, FEATURES))
    scores = sum(
        term.weight * np.array([factor_of_one(term, value) for value in rows[:, term.feature]]) for term in terms
    )
    return float(scores.min() + scores.max()) / 2


def quantities(found: Cost) -> list[float]:
    """Of a cost, those of QUANTITIES."""
    return [found.flash, found.ram, found.count, found.mean, found.time_us * CHIPS[found.chip].clock / 1e6]


def measured(chip: str, number: str, layout: str, readings: str, seeds: range) -> tuple[np.ndarray, np.ndarray]:
    """The counts of random models, and what they cost: of those that fit the chip."""
    options = {"method": "measure", "layout": layout, "readings": readings}
    counts, costs = [], []
    for model in map(random_model, seeds):
        try:
            costs.append(quantities(cost(model, chip, number, **options)))
        except TooLargeError:
            continue
        counts.append(list(counts_of(target_of(model, number, readings=readings), layout).values()))
    return np.array(counts, dtype=float), np.array(costs)


def fitted(chip: str, number: str, layout: str, readings: str, models: int) -> dict[str, Any]:
    """Weights of each quantity that make the sum of squared relative errors least, none of them negative; and the error
    that nine of ten models keep to, each estimated from the other folds."""
    counts, costs = measured(chip, number, layout, readings, range(models))
    weights, errors = {}, {}
    for place, quantity in enumerate(QUANTITIES):
        truth, folds = costs[:, place], np.arange(len(costs)) % FOLDS
        weights[quantity] = [round(float(weight), 2) for weight in _least(counts, truth)]
        guess = np.zeros(len(costs))
        for fold in range(FOLDS):
            guess[folds == fold] = counts[folds == fold] @ _least(counts[folds != fold], truth[folds != fold])
        off = np.abs(guess - truth) / np.maximum(truth, SMALL)
        errors[quantity] = round(float(np.quantile(off, SHARE)), 3)
    return {"weights": weights, "errors": errors}


def _least(counts: np.ndarray, truth: np.ndarray) -> np.ndarray:
    scale = 1.0 / (truth + SMALL)
    return nnls(counts * scale[:, None], truth * scale)[0]


def main(jobs: int, chips: list[str], models: int) -> None:
    """Measure and fit, and write estimates.json after each chip. Those of other chips are kept."""
    path = files("smallearn.devices").joinpath("estimates.json")
    tables: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for chip in chips:
        every = [
            (number, layout, readings)
            for number in NUMBERS
            for layout in LAYOUTS[:2]
            for readings in ("float", "codes")
            if (number, readings) != ("float32", "codes")
        ]
        found = Parallel(n_jobs=jobs)(delayed(fitted)(chip, *one, models) for one in every)
        tables[chip] = {number: {} for number in NUMBERS}
        for (number, layout, readings), table in zip(every, found, strict=True):
            tables[chip][number][entry_of(number, layout, readings)] = table
            shares = ", ".join(f"{quantity} {100 * error:.0f}%" for quantity, error in table["errors"].items())
            print(f"{chip:<10} {number:<7} {layout:<5} {readings:<5} nine of ten within: {shares}", flush=True)
        text = json.dumps({name: tables[name] for name in CHIPS if name in tables}, indent=1)
        path.write_text(text + "\n", encoding="utf-8")  # type: ignore[attr-defined]
