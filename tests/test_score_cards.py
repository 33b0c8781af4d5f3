"""Score cards through the estimators: whole points within their limit, a whole constant, probabilities by the total."""

import numpy as np
import pytest

from smallearn import SMaLLClassifier, SMaLLClassifierCV, SMaLLModel
from smallearn._learn import assemble


def test_a_card_of_several_prototypes_stays_near_the_weights_that_it_comes_from():
    """The constants are penalised as in the objective, so that no prototype drifts away."""
    rng = np.random.RandomState(12)
    X = rng.randn(60, 4)
    y = ((X[:, 0] * X[:, 1] + 0.5 * rng.randn(60)) > 0.0).astype(int)
    free = SMaLLClassifier(3, 2, random_state=12).fit(X, y)
    card = SMaLLClassifier(3, 2, max_points=5, random_state=12).fit(X, y)
    assert free.objective_ <= card.objective_ * (1.0 + 1e-9)
    assert card.objective_ <= 1.02 * free.objective_
    assert not SMaLLClassifier(1, 2, max_points=5, certify=True).fit(X, y).model_.training.certified


def check_card(clf, X, max_points):
    """Whole numbers within the limit, and predictions that are those of the totals counted by hand."""
    model = clf.model_
    assert model.scale > 0.0
    totals = np.empty((len(X), len(model.prototypes)))
    for j, prototype in enumerate(model.prototypes):
        assert prototype.intercept == int(prototype.intercept)
        totals[:, j] = prototype.intercept
        for term in prototype.terms:
            assert term.points == pytest.approx(round(term.points), abs=1e-9)
            assert 1 <= abs(round(term.points)) <= max_points
            x = X[:, term.feature]
            if term.kind == "raw":
                assert np.log10(term.unit) == pytest.approx(round(np.log10(term.unit)), abs=1e-9)
                totals[:, j] += round(term.points) * x / term.unit
            else:
                assert term.unit is None
                totals[:, j] += round(term.points) * (x <= term.value)
    np.testing.assert_allclose(model.scores(X), totals, atol=1e-8)
    owner = np.array([prototype.owner for prototype in model.prototypes])
    best = np.zeros((len(X), len(clf.classes_)))
    for label in np.unique(owner):
        best[:, label] = totals[:, owner == label].max(axis=1)
    odds = np.exp(model.scale * (best - best.max(axis=1, keepdims=True)))
    np.testing.assert_allclose(clf.predict_proba(X), odds / odds.sum(axis=1, keepdims=True), atol=1e-8)
    assert 0.0 <= clf.lower_bound_ <= clf.objective_
    assert SMaLLModel.from_json(model.to_json()) == model


@pytest.mark.parametrize("literals", ["raw", "thresholds", "both"])
@pytest.mark.parametrize("max_points", [1, 3, 20])
@pytest.mark.parametrize("data", ["cancer", "iris"])
def test_weights_are_whole_points_and_probabilities_follow_from_the_total(request, data, literals, max_points):
    X, y = request.getfixturevalue(data)
    clf = SMaLLClassifier(2, 3, literals=literals, cut_points=5, max_points=max_points, random_state=0).fit(X, y)
    check_card(clf, X, max_points)
    assert max(len(prototype.terms) for prototype in clf.model_.prototypes) <= 3


@pytest.mark.parametrize("data", ["cancer", "iris"])
def test_a_selection_gives_a_score_card_within_its_terms(request, data):
    X, y = request.getfixturevalue(data)
    quick = {"alphas": [0.01], "n_prototypes": [1, 2], "cv": 2, "n_init": 1, "random_state": 0}
    clf = SMaLLClassifierCV(4, **quick, max_points=5, certificate=True)
    check_card(clf.fit(X, y), X, 5)
    assert clf.n_terms_ == clf.model_.n_terms <= 4


def test_the_objective_of_a_card_is_its_own_and_many_points_come_near_the_weights(cancer):
    X, y = cancer
    free = SMaLLClassifier(1, 3, 0.02).fit(X, y)
    card = SMaLLClassifier(1, 3, 0.02, max_points=100).fit(X, y)
    z = card.decision_function(X)
    loss = np.logaddexp(0.0, np.where(y == 1, -z, z)).mean()
    weights = card.prototypes_ * X.std(axis=0)
    intercept = card.intercepts_ + card.prototypes_ @ X.mean(axis=0)
    assert card.objective_ == pytest.approx(loss + 0.01 * (np.sum(weights**2) + np.sum(intercept**2)), rel=1e-6)
    assert free.objective_ * (1.0 - 1e-9) <= card.objective_ <= free.objective_ * 1.02
    assert card.lower_bound_ == pytest.approx(free.lower_bound_)


def test_missing_values_count_no_points_but_those_of_missing_and_the_mean():
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 1.0, size=(200, 2))
    X[rng.random(200) < 0.3, 0] = np.nan
    y = np.where(np.isnan(X[:, 0]), rng.random(200) < 0.95, X[:, 1] > 3.0).astype(int)
    clf = SMaLLClassifier(1, 3, literals="both", max_points=5).fit(X, y)
    totals = np.full(200, clf.model_.prototypes[0].intercept)
    for term in clf.model_.terms:
        x = X[:, term.feature]
        if term.kind == "raw":
            totals += term.weight * np.where(np.isnan(x), term.mean, x)
        else:
            totals += term.weight * (np.isnan(x) if term.kind == "missing" else x <= term.value)
    np.testing.assert_allclose(clf.model_.scores(X)[:, 0], totals)
    assert clf.score(X, y) > 0.85


def test_signs_hold_for_points(cancer):
    X, y = cancer
    for positive_class in (0, 1):
        clf = SMaLLClassifier(2, 3, monotonic_cst=[-1] * 8, positive_class=positive_class, max_points=4, random_state=0)
        along = np.linspace(0.0, 1.0, 30)[:, None] * np.full(8, 30.0)
        assert np.all(np.diff(clf.fit(X, y).predict_proba(along)[:, 1]) <= 1e-12)


def test_features_that_are_always_in_have_points(cancer):
    X, y = cancer
    clf = SMaLLClassifier(1, 1, always_in=[4, 5], max_points=2).fit(X, y)
    assert clf.support_[0, [4, 5]].all()


@pytest.mark.parametrize("alpha", [1e-3, 1e-4])
@pytest.mark.parametrize("seed", [0, 4])
def test_the_objective_of_a_card_is_never_below_the_bound_where_rows_would_rather_be_elsewhere(cancer, seed, alpha):
    X, y = cancer
    own = np.random.RandomState(seed).randint(0, 2, len(y))
    clf = SMaLLClassifier(2, 2, alpha, assignment=own, reassign=False, max_points=20).fit(X, y)
    assert clf.lower_bound_ <= clf.objective_
    assert clf.optimality_gap_ >= 0.0


@pytest.mark.parametrize("alpha", [1.0, 1e3, 1e6])
def test_no_bound_is_above_the_objective_of_the_card(alpha, monkeypatch):
    """Not by rounding errors either: the card is within the budget, so that its objective is no less than the bound."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.normal(size=60) > 0.0).astype(int)
    clf = SMaLLClassifier(1, 2, max_points=5, alpha=alpha, certify=True, random_state=0)
    assert 0.0 <= clf.fit(X, y).lower_bound_ <= clf.objective_
    below = np.nextafter(clf.lower_bound_, 0.0)
    monkeypatch.setattr(assemble, "_card_objective", lambda *_: below)  # as rounding errors may have it
    clf.fit(X, y)
    assert clf.lower_bound_ == clf.objective_ == below
    assert clf.optimality_gap_ == 0.0


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e-49, 1e49, 1e80])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("every", [True, False], ids=["all columns", "one column"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_columns_of_any_size_have_a_card(scale, standardize, every):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=60) > 0.0).astype(int)
    X *= scale if every else np.array([scale, 1.0, 1.0])
    for separable in (False, True):
        labels = (X[:, 0] > 0.0).astype(int) if separable else y
        clf = SMaLLClassifier(1, 2, max_points=9, standardize=standardize, random_state=0).fit(X, labels)
        assert 0.0 <= clf.lower_bound_ <= clf.objective_
        assert clf.model_.is_score_card
        assert np.isfinite(clf.decision_function(X)).all()
        assert SMaLLModel.from_json(clf.model_.to_json()) == clf.model_
