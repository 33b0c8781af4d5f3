"""Random small problems to train on: every fit keeps its promises, solvers agree, nothing that should not matter does.

Each problem is fitted, held to the promises (the budget, the certificate, finite numbers, no warning but those that are
documented), fitted by the other solver, whose certificate has to hold for the first model too, and fitted once more in
another shape that must not matter.
"""

import random
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from attacks.findings import Findings, complaint
from attacks.pool import Attempt, Outcome, as_findings, attempt_all
from smallearn import SMaLLClassifier, SMaLLModel

SHAPES = ("tiny", "wide", "collinear", "separable", "repeated", "constant", "rare", "noise", "grid", "three classes")
SCALES = ("none", "none", "columns", "small", "large", "extreme", "shifted")
WEIGHTS = ("none", "none", "uniform", "zeros", "huge")
FORMS = ("float32", "big-endian", "read-only", "strided", "fortran", "csr", "list")
SAME = ("rows", "repeats", "absent", "columns", "labels", "scaled", "again")
# What is refused, and rightly: values beyond the limits, columns without a cut point.
REFUSED = ("beyond 1e+", "There is no candidate term")
NEAR = 1e-9  # in nats: terms whose gains differ by less are as good, and either may be chosen
ROUNDING = 1e-9  # relative, of sums that are added in another order


@dataclass
class Problem:
    """Rows to train on and the parameters."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    parameters: dict[str, Any]

    def fit(self, **changes: Any) -> SMaLLClassifier:
        """The fitted classifier."""
        return SMaLLClassifier(**self.parameters | changes).fit(self.X, self.y, sample_weight=self.weight)


def attack(count: int, seed: int, first: int, jobs: int) -> Findings:
    """Attack with the problems of these numbers."""
    findings = Findings(f"Random problems, seed {seed}, numbers {first} to {first + count - 1}")
    tally = attempt_all(prepare, seed, range(first, first + count), jobs, memory=0, seconds=60.0)
    findings.count("problems", tally.tried)
    for name in sorted(tally.reached, key=lambda name: -tally.reached[name]):
        findings.count(name, tally.reached[name])
    findings.add(
        as_findings(tally, lambda i: f"python -m attacks fuzz --problems 1 --seed {seed} --first {i} --jobs 0")
    )
    return findings


def prepare() -> Attempt:
    """The attempt, with everything compiled."""
    X, y = np.arange(20.0).reshape(10, 2) % 7.0, np.arange(10) % 2
    for solver in ("accelerated", "mirror-prox"):
        for table in (X, sparse.csr_array(X)):
            SMaLLClassifier(solver=solver, max_iter=50, verbose=-1, tol=None).fit(table, y)
    return attempt


def attempt(dice: random.Random, number: int) -> Outcome:
    """One problem."""
    rng = np.random.default_rng(dice.getrandbits(64))
    problem = drawn(dice, rng)
    try:
        with warnings.catch_warnings():
            _only_documented()
            return _attempt(dice, rng, problem)
    except AssertionError as error:
        return Outcome(("fitted",), ((f"{error}".partition(":")[0], f"{error} {problem.parameters}"),))
    except Exception as error:
        return Outcome((), ((complaint(error, "fit"), f"{error} {problem.parameters}"[:600]),))


def _only_documented() -> None:
    """Raise every warning but those that tell users about their data or parameters."""
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", message=".*prototype", category=UserWarning)


def _attempt(dice: random.Random, rng: np.random.Generator, problem: Problem) -> Outcome:
    try:
        fitted = problem.fit()
    except ValueError as error:
        text = str(error)
        if any(said in text for said in REFUSED):
            return Outcome(("refused",))
        raise
    check_promises(problem, fitted)
    if problem.parameters["budget"] == "prototype":  # Mirror-Prox knows no other
        check_promises(problem, problem.fit(solver="mirror-prox"))
        check_agreement(problem)
    form = dice.choice(FORMS)
    check_form(problem, fitted, form)
    same = dice.choice(SAME)
    check_same(problem, same, rng)
    return Outcome(("fitted",))


# --- problems --------------------------------------------------------------------------------------------------------


def drawn(dice: random.Random, rng: np.random.Generator) -> Problem:
    """A random problem with random parameters."""
    shape = dice.choice(SHAPES)
    m, n = (dice.randint(2, 12), dice.randint(1, 4)) if shape == "tiny" else (dice.randint(10, 60), dice.randint(1, 8))
    if shape == "wide":
        m, n = dice.randint(4, 12), dice.randint(20, 60)
    X = rng.normal(size=(m, n))
    z = X[:, 0] - 0.5 * X[:, -1] + rng.normal(size=m) * (0.0 if shape == "separable" else 0.7)
    if shape == "collinear":
        X = np.hstack([X, X[:, :1] * 2.0, X @ rng.normal(size=(n, 1))])
    elif shape == "repeated":
        X, z = np.repeat(X, 3, axis=0), np.repeat(z, 3)
    elif shape == "constant":
        X[:, dice.randrange(n)] = dice.choice((0.0, 1.0, -7.5, 1e30))
    elif shape == "grid":
        X = rng.integers(-1, 2, (m, n)).astype(float)
    elif shape == "rare":
        X = np.vstack([X, rng.normal(size=(10_000 - m if dice.random() < 0.05 else 300, n))])
        z = np.full(len(X), -1.0)
        z[dice.randrange(len(X))] = 1.0
    elif shape == "noise":
        z = rng.normal(size=m)
    y = np.digitize(z, [-0.5, 0.5]) if shape == "three classes" else (z > np.median(z)).astype(int)
    if shape == "rare":
        y = (z > 0).astype(int)
    if len(np.unique(y)) < 2:
        y[0] = 1 - y[0] if y.max() < 2 else 0
    if len(np.unique(y)) < 2:
        y[:1] = y.max() + 1
    weight = _weight(dice, rng, y)
    standardize = dice.random() < 0.8
    X = _scaled(dice, rng, X, extreme=standardize)
    return Problem(X, y, weight, _parameters(dice, n, standardize))


def _scaled(dice: random.Random, rng: np.random.Generator, X: np.ndarray, extreme: bool) -> np.ndarray:
    scale = dice.choice(SCALES)
    if scale == "columns":
        return X * 10.0 ** rng.uniform(-3, 3, X.shape[1])
    if scale == "small":
        return X * 1e-100
    if scale == "large":
        return X * (1e100 if extreme else 1e20)
    if scale == "extreme":
        return X * 10.0 ** rng.uniform(-150, 150 if extreme else 48, X.shape[1])
    if scale == "shifted":
        return X + 10.0 ** dice.uniform(0, 8)
    return X


def _weight(dice: random.Random, rng: np.random.Generator, y: np.ndarray) -> np.ndarray | None:
    kind = dice.choice(WEIGHTS)
    if kind == "none":
        return None
    weight = rng.uniform(0.1, 3.0, len(y))
    if kind == "zeros":
        weight[rng.random(len(y)) < 0.4] = 0.0
    elif kind == "huge":
        weight[rng.integers(len(y))] = 1e12
    for label in np.unique(y):  # every class has rows that count
        weight[np.flatnonzero(y == label)[0]] = max(1.0, weight[np.flatnonzero(y == label)[0]])
    return weight


def _parameters(dice: random.Random, n: int, standardize: bool) -> dict[str, Any]:
    fit_intercept = dice.random() < 0.8
    return {
        "n_prototypes": dice.choice((1, 1, 2, 3)),
        "n_nonzero": dice.choice((1, 2, 3, None)),
        "alpha": 10.0 ** dice.uniform(-6, 4),
        "budget": dice.choice(("prototype", "prototype", "total", "shared")),
        "fit_intercept": fit_intercept,
        "standardize": standardize,
        "local_search": dice.random() < 0.2,
        "max_points": dice.choice((None, None, None, 5)) if fit_intercept else None,
        "certify": dice.random() < 0.1 and n <= 4,
        "class_weight": dice.choice((None, None, "balanced")),
        "literals": dice.choice(("raw", "raw", "thresholds", "both")),
        "random_state": dice.randrange(100),
        "verbose": -1,
        "max_iter": 2000,
    }


# --- promises --------------------------------------------------------------------------------------------------------


def check_promises(problem: Problem, fitted: SMaLLClassifier) -> None:
    """What every fitted classifier promises, whatever the data."""
    k = problem.parameters["n_nonzero"]
    used = [len(prototype.terms) for prototype in fitted.model_.prototypes]
    terms = {(term.feature, term.kind, term.value) for term in fitted.model_.terms}
    spent = {"prototype": max(used), "total": sum(used), "shared": len(terms)}[problem.parameters["budget"]]
    assert k is None or spent <= k, f"the budget is not kept: {spent} of {k}"
    for name in ("objective_", "lower_bound_", "duality_gap_", "optimality_gap_"):
        assert np.isfinite(getattr(fitted, name)), f"{name} is not finite: {getattr(fitted, name)}"
    low, high = fitted.lower_bound_, fitted.objective_
    assert 0.0 <= low <= high, f"the lower bound is above the objective: {low!r} > {high!r} by {low - high:.3g}"
    assert 0.0 <= fitted.duality_gap_ <= 1.0, f"duality_gap_ is no share: {fitted.duality_gap_}"
    probability = fitted.predict_proba(problem.X)
    assert np.isfinite(probability).all(), "a probability is not finite: at a training row"
    assert np.allclose(probability.sum(axis=1), 1.0), "probabilities do not add up to 1: at a training row"
    assert set(fitted.predict(problem.X)) <= set(fitted.classes_), "an unknown class is predicted: at a training row"
    assert SMaLLModel.from_json(fitted.model_.to_json()) == fitted.model_, "the model is not what is read again: JSON"


def check_agreement(problem: Problem) -> None:
    """From the same assignment of rows, each solver's bound holds for the other's model."""
    start = np.arange(len(problem.y)) % problem.parameters["n_prototypes"]
    fixed: dict[str, Any] = {"assignment": start, "reassign": False, "max_points": None, "certify": False}
    one = problem.fit(**fixed)
    other = problem.fit(**fixed, solver="mirror-prox")
    for a, b in ((one, other), (other, one)):
        low, high = a.lower_bound_, b.objective_
        assert low <= high * (1.0 + ROUNDING) + 1e-300, (
            f"a bound does not hold for the other solver: {low!r} > {high!r}"
        )


def check_form(problem: Problem, fitted: SMaLLClassifier, form: str) -> None:
    """The same numbers stored otherwise give the same model."""
    X = problem.X
    if form == "float32":
        with np.errstate(over="ignore"):
            single = X.astype(np.float32)
        if not np.isfinite(single).all():
            return
        wide = replace(problem, X=single.astype(float)).fit()
        _equal(wide, replace(problem, X=single).fit(), form, 1e-6)
        return
    if form == "csr" and problem.parameters["literals"] != "raw":
        return  # [x > 0] in place of cut points
    other: Any = {
        "big-endian": lambda: X.astype(">f8"),
        "read-only": lambda: _read_only(X),
        "strided": lambda: np.repeat(X, 2, axis=0)[::2],
        "fortran": lambda: np.asfortranarray(X),
        "csr": lambda: sparse.csr_array(X),
        "list": lambda: X.tolist(),
    }[form]()
    _equal(fitted, replace(problem, X=other).fit(), form, 1e-6 if form == "csr" else 0.0)


def _read_only(X: np.ndarray) -> np.ndarray:
    copy = X.copy()
    copy.flags.writeable = False
    return copy


def check_same(problem: Problem, same: str, rng: np.random.Generator) -> None:
    """What does not matter: the same problem in other words. Objectives agree but for rounding and ties."""
    X, y, weight = problem.X, problem.y, problem.weight
    fixed = replace(problem, parameters=problem.parameters | {"n_prototypes": 1, "max_points": None})
    base = fixed.fit()
    if same == "rows":
        order = rng.permutation(len(y))
        other = replace(fixed, X=X[order], y=y[order], weight=None if weight is None else weight[order])
    elif same == "repeats":
        times = rng.integers(1, 4, len(y))
        base = replace(fixed, weight=times.astype(float)).fit()
        other = replace(fixed, X=np.repeat(X, times, axis=0), y=np.repeat(y, times), weight=None)
    elif same == "absent":
        absent = rng.normal(size=(3, X.shape[1]))
        weights = np.ones(len(y)) if weight is None else weight
        labels = np.append(y, y[[0, 0, 1]])
        other = replace(fixed, X=np.vstack([X, absent]), y=labels, weight=np.append(weights, np.zeros(3)))
    elif same == "columns":
        other = replace(fixed, X=X[:, rng.permutation(X.shape[1])])
    elif same == "labels":
        other = replace(fixed, y=np.array(["a", "b", "c"])[y])
    elif same == "scaled":
        other = replace(fixed, X=X * (2.0 if problem.parameters["standardize"] else 1.0))
    else:
        other = fixed
    again = other.fit()
    check_promises(other, again)
    _close(base, again, f"{same} matter" if same != "again" else "a second fit is another")


def _equal(one: SMaLLClassifier, other: SMaLLClassifier, form: str, tolerance: float) -> None:
    if tolerance:
        _close(one, other, f"rows as {form} matter", tolerance)
    else:
        assert one.model_ == other.model_, f"rows as {form} give another model: {one.objective_} {other.objective_}"


def _close(one: SMaLLClassifier, other: SMaLLClassifier, what: str, tolerance: float = 1e-6) -> None:
    a, b = one.objective_, other.objective_
    assert abs(a - b) <= NEAR + tolerance * max(a, b), f"{what}: objectives {a!r} and {b!r}"
