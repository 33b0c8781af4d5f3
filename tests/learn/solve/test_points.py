"""Score cards: whole points against brute force, against rounding, and against the weights that they replace."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

from smallearn._learn.data.labels import Assignment, Labels
from smallearn._learn.kernels import NO_PROTOTYPE
from smallearn._learn.solve.points import MOST_WHOLE, _rows, _Search, _Terms, find_points
from smallearn.model import Prototype, SMaLLModel, Term


def slow_loss(z, own, code, owner, row_weight):
    """The mean loss from its formula; own = NO_PROTOTYPE is the prototype frozen at zero."""
    total = 0.0
    has_zero = np.any(own == NO_PROTOTYPE)
    for i in range(len(code)):
        z_own = 0.0 if own[i] == NO_PROTOTYPE else z[i, own[i]]
        rivals = [z[i, j] for j in range(len(owner)) if owner[j] != code[i]]
        if has_zero and own[i] != NO_PROTOTYPE:
            rivals.append(0.0)
        total += row_weight[i] * math.log1p(sum(math.exp(min(rival - z_own, 700.0)) for rival in rivals))
    return total


def scores(found, B):
    return found.scale * (B @ (found.points / found.units).T + found.intercepts)


def rows_of(own, code, owner, zero_owner=0, weight=None):
    """The roles of some rows, by default of equal weight and with prototypes of class 1."""
    weight = np.full(len(code), 1.0 / len(code)) if weight is None else weight
    labels = Labels(code=code, weight=weight, total=1.0, zero_owner=zero_owner)
    return {"roles": labels.roles(Assignment(own=own, owner=owner))}


def one_prototype(y):
    return rows_of(np.where(y == 1, 0, NO_PROTOTYPE), y, np.array([1]))


def two_classes(B, y, **options):
    """A logistic regression, and its weights and intercept as a model of one prototype, for `find_points`."""
    fit = LogisticRegression(**options).fit(B, y)
    return fit, (B, fit.coef_, fit.intercept_), one_prototype(y)


@st.composite
def problems(draw):
    seed, m, t = draw(st.integers(0, 10**6)), draw(st.integers(2, 30)), draw(st.integers(1, 4))
    rng = np.random.default_rng(seed)
    raw = rng.random(t) < 0.3
    B = np.where(raw, rng.normal(size=(m, t)) * 10.0 ** rng.integers(-3, 4, t), rng.random((m, t)) < 0.5)
    if draw(st.booleans()):
        owner, zero_owner = np.ones(draw(st.integers(1, 2)), dtype=int), 0
        code = rng.integers(0, 2, m)
        code[0] = 0
    else:
        owner, zero_owner = np.array([0, 0, 1, 2]), None
        code = rng.integers(0, 3, m)
    members = [np.flatnonzero(owner == label) for label in range(3)]
    own = np.array([rng.choice(members[label]) if len(members[label]) else NO_PROTOTYPE for label in code])
    weights = rng.normal(size=(len(owner), t)) * (rng.random((len(owner), t)) < 0.8)
    weights = np.where(raw, weights / (B.std(axis=0) + 1e-9), weights)
    row_weight = rng.random(m) + 0.1
    model = B, weights, rng.normal(size=len(owner))
    return model, rows_of(own, code, owner, zero_owner, row_weight / row_weight.sum()), raw, draw(st.integers(1, 12))


@settings(max_examples=20)
@given(problems())
def test_points_keep_their_promises_and_are_never_worse_than_rounding(problem):
    (B, weights, intercepts), rows, raw, most = problem
    own, owner = rows["roles"].own, rows["roles"].owner
    code, row_weight = rows["roles"].code, rows["roles"].weight
    found = find_points(B, weights, intercepts, **rows, raw=raw, max_points=most)
    assert found.points.dtype.kind == found.intercepts.dtype.kind == "i"
    assert np.abs(found.points).max(initial=0) <= most
    assert not found.points[weights == 0.0].any()
    assert (found.units[~raw] == 1.0).all()
    np.testing.assert_allclose(np.log10(found.units), np.rint(np.log10(found.units)), atol=1e-12)
    assert 0.0 < found.scale < math.inf
    z = scores(found, B)
    loss = slow_loss(z, own, code, owner, row_weight)
    assert found.loss == pytest.approx(loss, rel=1e-9, abs=1e-12)
    assert found.objective == pytest.approx(found.loss, rel=1e-9, abs=1e-12)
    if raw.any() or not weights.any():
        return
    for largest in range(1, most + 1):
        scale = np.abs(weights).max() / largest
        z = scale * (B @ np.rint(weights / scale).T + np.rint(intercepts / scale))
        assert found.loss <= slow_loss(z, own, code, owner, row_weight) * (1.0 + 1e-9) + 1e-12


@pytest.mark.parametrize("seed", range(12))
def test_points_are_as_good_as_the_best_of_all_on_small_problems(seed):
    rng = np.random.default_rng(seed)
    t = 1 + seed % 3
    B = (rng.random((60, t)) < 0.5).astype(float)
    y = (B @ rng.normal(size=t) * 2.0 + rng.logistic(size=60) > 0.5).astype(int)
    _, model, rows = two_classes(B, y, C=100.0)
    found = find_points(*model, **rows, raw=np.zeros(t, dtype=bool), max_points=2)
    sign = 2 * y - 1
    best = math.inf
    for points in itertools.product(range(-2, 3), repeat=t):
        for intercept in range(-6, 7):
            u = sign * (B @ np.array(points) + intercept)
            best = min(best, minimize_scalar(lambda s, u=u: np.logaddexp(0.0, -s * u).mean(), bounds=(0.01, 20.0)).fun)
    assert found.loss <= best * 1.001


@pytest.mark.parametrize(("most", "excess"), [(1, 0.2), (3, 0.03), (5, 0.02), (10, 0.01)])
def test_points_of_the_breast_cancer_literals_are_nearly_as_good_as_the_real_weights(most, excess):
    X, y = load_breast_cancer(return_X_y=True)
    B = np.column_stack([X[:, l] > np.quantile(X[:, l], q) for l in (7, 20, 21) for q in (0.5, 0.7)]).astype(float)
    fit, model, rows = two_classes(B, y, C=10.0)
    found = find_points(*model, **rows, raw=np.zeros(6, dtype=bool), max_points=most)
    real = np.logaddexp(0.0, -(2 * y - 1) * fit.decision_function(B)).mean()
    assert found.loss <= real * (1.0 + excess)
    assert np.mean((scores(found, B)[:, 0] > 0.0) == y) >= fit.score(B, y) - 0.01


@pytest.mark.parametrize("most", [3, 5, 10])
def test_numbers_get_units_of_a_power_of_ten(most):
    X, y = load_breast_cancer(return_X_y=True)
    B = X[:, [7, 20, 23]]  # of sizes 0.05, 16 and 900
    deviation = B.std(axis=0)
    fit, (_, weights, intercepts), rows = two_classes(B / deviation, y, C=10.0)
    found = find_points(B, weights / deviation, intercepts, **rows, raw=np.ones(3, dtype=bool), max_points=most)
    real = np.logaddexp(0.0, -(2 * y - 1) * fit.decision_function(B / deviation)).mean()
    assert found.loss <= real * 1.06
    assert found.units[0] < 1.0 < found.units[2]
    assert np.mean((scores(found, B)[:, 0] > 0.0) == y) >= fit.score(B / deviation, y) - 0.01


def test_separable_rows_have_a_finite_scale_and_a_penalty_lowers_it():
    B = np.array([[0.0], [0.0], [1.0], [1.0]])
    y = np.array([0, 0, 1, 1])
    _, model, rows = two_classes(B, y)
    free = find_points(*model, **rows, raw=np.zeros(1, dtype=bool), max_points=5)
    held = find_points(*model, **rows, raw=np.zeros(1, dtype=bool), max_points=5, alpha=0.1)
    assert free.loss < 0.01
    assert 0.0 < held.scale * abs(held.points[0, 0]) < free.scale * abs(free.points[0, 0]) < 1e3
    weight = held.scale * held.points[0, 0]
    assert held.objective == pytest.approx(
        held.loss + 0.05 * (0.5 * weight) ** 2
    )  # the literal's standard deviation is a half


def test_a_model_without_terms_is_a_constant():
    y = np.array([0, 1, 1, 1])
    options = {**one_prototype(y), "raw": np.zeros(1, dtype=bool), "max_points": 5}
    found = find_points(np.ones((4, 1)), np.zeros((1, 1)), np.array([math.log(3.0)]), **options)
    assert not found.points.any()
    assert found.scale * found.intercepts[0] == pytest.approx(math.log(3.0), rel=1e-3)
    zero = find_points(np.ones((4, 1)), np.zeros((1, 1)), np.zeros(1), **options)
    assert zero.loss <= math.log(2.0)


@pytest.mark.parametrize("constant", [0.5, -2.0])
def test_beside_a_weight_of_nearly_nothing_the_constant_stays_a_whole_number(constant):
    rng = np.random.default_rng(0)
    B, y = 1e38 * rng.normal(size=(30, 1)), (rng.random(30) < 0.5).astype(int)
    weights, options = np.array([[1e-60]]), one_prototype(y)  # 1e60 points of the constant for one of the term
    found = find_points(B, weights, np.array([constant]), **options, raw=np.array([True]), max_points=5, alpha=0.01)
    assert np.abs(found.intercepts).max() <= MOST_WHOLE
    assert found.loss == pytest.approx(np.logaddexp(0.0, -(2.0 * y - 1.0) * scores(found, B)[:, 0]).mean())


def test_points_have_no_common_divisor():
    B = np.eye(2)[[0, 1] * 20]
    y = np.array([0, 1] * 20)
    y[:6] = 1 - y[:6]
    _, model, rows = two_classes(B, y)
    found = find_points(*model, **rows, raw=np.zeros(2, dtype=bool), max_points=10)
    assert np.gcd.reduce(np.append(found.points.ravel(), found.intercepts)) == 1


def test_points_make_a_model_that_is_a_score_card():
    X, y = load_breast_cancer(return_X_y=True)
    B = np.column_stack([X[:, 7] > 0.05, X[:, 20]]).astype(float)
    _, model, rows = two_classes(B, y)
    found = find_points(*model, **rows, raw=np.array([False, True]), max_points=5)
    amounts = (found.points[0] / found.units).tolist()
    terms = (Term(7, amounts[0], None, "above", 0.05), Term(20, amounts[1], unit=float(found.units[1])))
    model = SMaLLModel((0, 1), "<i8", 30, (Prototype(1, float(found.intercepts[0]), terms),), scale=found.scale)
    assert model.is_score_card
    np.testing.assert_allclose(model.decision_function(X), scores(found, B)[:, 0], rtol=1e-9, atol=1e-9)
    log_odds = -(2 * y - 1) * model.decision_function(X)
    assert np.logaddexp(0.0, log_odds).mean() == pytest.approx(found.loss)


@pytest.mark.parametrize("zero_owner", [0, None])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_the_model_of_the_objective_has_its_slopes_and_curvatures(zero_owner, alpha):
    rng = np.random.default_rng(0)
    m, t = 40, 3
    B = rng.normal(size=(m, t))
    owner = np.array([1, 1]) if zero_owner == 0 else np.array([0, 1, 1, 2])
    code = rng.integers(0, 2 if zero_owner == 0 else 3, m)
    own = np.array([np.flatnonzero(owner == label)[0] if label in owner else NO_PROTOTYPE for label in code])
    support = rng.random((len(owner), t)) < 0.7
    rows = _rows(B, **rows_of(own, code, owner, zero_owner), merge=False)
    terms = _Terms(support=support, max_points=9, alpha=alpha, deviation=np.ones(t), mean=np.full(t, 0.4))
    search = _Search(rows, terms, units=np.ones(t), scale=0.3)
    points = rng.integers(-3, 4, (len(owner), t)) * support
    theta = search.start(points, np.ones(len(owner)), 0.3).theta
    d = len(theta)

    def value(x):
        return search._value(x[:d], search._sums(x[:d]), math.exp(x[d]))

    x = np.append(theta, math.log(0.3))
    g, H = search._model(theta, 0.3)
    steps = 1e-4 * np.eye(d + 1)
    np.testing.assert_allclose(g, [(value(x + e) - value(x - e)) / 2e-4 for e in steps], rtol=1e-5, atol=1e-7)
    numeric = [
        [(value(x + e + f) - value(x + e - f) - value(x - e + f) + value(x - e - f)) / 4e-8 for f in steps]
        for e in steps
    ]
    np.testing.assert_allclose(H, numeric, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-150, 1e-49, 1e49, 1e99])
def test_numbers_of_any_size_give_the_same_card(scale):
    """Also if nothing is standardised, so that the penalty does not know the deviations of the terms."""
    rng = np.random.default_rng(0)
    B = rng.normal(size=(80, 2))
    code = (B[:, 0] - B[:, 1] + 0.5 * rng.normal(size=80) > 0.2).astype(int)
    rows = rows_of(np.zeros(80, dtype=np.intp), code, np.array([1]))
    raw, weights = np.array([True, True]), np.array([[2.0, -1.5]])
    one, other = (
        find_points(B * s, weights / s, np.array([-0.4]), **rows, raw=raw, max_points=9, deviation=np.ones(2))
        for s in (1.0, scale)
    )
    assert one.points.tolist() == other.points.tolist()
    assert one.intercepts.tolist() == other.intercepts.tolist()
    np.testing.assert_allclose(np.log10(other.units / one.units), np.log10(scale), rtol=0.03)
    assert one.objective == pytest.approx(other.objective, rel=1e-6)
