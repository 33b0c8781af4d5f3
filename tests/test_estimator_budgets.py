"""Budgets, costs, signs, literals and proofs through the estimator: what is promised holds exactly, in every fit."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from smallearn import SMaLLClassifier, SMaLLClassifierCV

NAN = np.nan
BUDGETS = ("prototype", "total", "shared")
LITERALS = ("raw", "thresholds", "both")


def terms_of(model):
    """The terms of each prototype, as what they are without their weight."""
    return [[(term.feature, term.kind, term.value) for term in p.terms] for p in model.prototypes]


def spent(model, budget, costs=None):
    """What the model spends, by the definition: the most of a prototype, in all, or on different terms."""

    def price(term):
        return 1.0 if costs is None else costs[term[0]]

    each = terms_of(model)
    if budget == "shared":
        return sum(map(price, set(itertools.chain(*each))))
    sums = [sum(map(price, terms)) for terms in each]
    return sum(sums) if budget == "total" else max(sums)


def check_promises(clf, X):
    assert 0.0 <= clf.lower_bound_ <= clf.objective_
    assert clf.optimality_gap_ == pytest.approx((clf.objective_ - clf.lower_bound_) / clf.objective_)
    used = np.zeros(clf.support_.shape, dtype=bool)
    for j, prototype in enumerate(clf.model_.prototypes):
        used[j, [term.feature for term in prototype.terms]] = True
    np.testing.assert_array_equal(clf.support_, used)
    np.testing.assert_array_equal(clf.predict(X), clf.model_.predict(X))


# --- counts and costs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"local_search": True}, {"assignment": "auto", "n_init": 2}])
@pytest.mark.parametrize("literals", LITERALS)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("data", ["cancer", "iris"])
def test_a_number_of_terms_is_never_exceeded(request, data, budget, literals, options):
    X, y = request.getfixturevalue(data)
    for k in (1, 3):
        clf = SMaLLClassifier(2, k, budget=budget, literals=literals, cut_points=5, random_state=0, **options).fit(X, y)
        assert spent(clf.model_, budget) <= k
        check_promises(clf, X)


@pytest.mark.parametrize("literals", ["raw", "both"])
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("max_cost", [0.5, 3.0, 4.7])
def test_a_cost_is_never_exceeded_and_what_is_too_dear_is_never_used(cancer, budget, literals, max_cost):
    X, y = cancer
    costs = np.array([5.0, 1.0, 0.3, 2.0, 1.7, 0.4, 3.0, 1.0])
    options = {"budget": budget, "literals": literals, "cut_points": 5, "local_search": True, "random_state": 0}
    clf = SMaLLClassifier(2, feature_costs=costs, max_cost=max_cost, **options).fit(X, y)
    assert spent(clf.model_, budget, costs) <= max_cost * (1.0 + 1e-12)
    assert not clf.support_[:, costs > max_cost].any()
    assert clf.support_.any()
    check_promises(clf, X)
    chosen = SMaLLClassifierCV(3, feature_costs=costs, max_cost=max_cost, budget=budget, cv=2, n_init=1, alphas=[0.01])
    model = chosen.set_params(random_state=0, n_prototypes=[1, 2]).fit(X, y).model_
    assert spent(model, budget, costs) <= max_cost * (1.0 + 1e-12)


def test_costs_by_name_leave_the_others_at_one(cancer):
    X, y = cancer
    table = pd.DataFrame(X, columns=list("abcdefgh"))
    named = SMaLLClassifier(1, feature_costs={"h": 9.0, "a": 9.0}, max_cost=2.0).fit(table, y)
    listed = SMaLLClassifier(1, feature_costs=[9.0, 1, 1, 1, 1, 1, 1, 9.0], max_cost=2.0).fit(X, y)
    np.testing.assert_array_equal(named.prototypes_, listed.prototypes_)
    assert not named.support_[:, [0, 7]].any()


@pytest.mark.parametrize("parameters", [{}, {"literals": "both", "cut_points": 5}, {"budget": "total"}])
def test_features_that_are_always_in_are_in_every_prototype_outside_the_budget(cancer, parameters):
    X, y = cancer
    clf = SMaLLClassifier(2, 1, always_in=[4, 6], local_search=True, random_state=0, **parameters).fit(X, y)
    for terms in terms_of(clf.model_):
        assert {(4, "raw", None), (6, "raw", None)} <= set(terms)
    counted = [[t for t in terms if t not in ((4, "raw", None), (6, "raw", None))] for terms in terms_of(clf.model_)]
    assert (sum if parameters.get("budget") == "total" else max)(map(len, counted)) <= 1
    check_promises(clf, X)
    masked = SMaLLClassifier(2, 1, always_in=np.isin(np.arange(8), [4, 6]), local_search=True, random_state=0)
    assert masked.set_params(**parameters).fit(X, y).model_ == clf.model_


def test_features_that_are_always_in_stay_in_a_selection(cancer):
    X, y = cancer
    clf = SMaLLClassifierCV(2, always_in=[5], n_prototypes=[1, 2], alphas=[0.01], cv=2, n_init=1, random_state=0)
    for terms in terms_of(clf.fit(X, y).model_):
        assert (5, "raw", None) in terms
    assert sum(t != (5, "raw", None) for terms in terms_of(clf.model_) for t in terms) <= 2


# --- signs -----------------------------------------------------------------------------------------------------------


def check_monotone(clf, X, signs):
    """P(classes_[1]) along each feature with a sign, from below its range to above, at real rows."""
    for feature, sign in signs.items():
        for row in X[:: max(1, len(X) // 15)]:
            along = np.tile(row, (40, 1))
            low, high = np.nanmin(X[:, feature]), np.nanmax(X[:, feature])
            along[:, feature] = np.linspace(low - 1.0, high + 1.0, 40)
            steps = np.diff(clf.predict_proba(along)[:, 1])
            assert np.all(sign * steps >= -1e-12)


@pytest.mark.parametrize("local_search", [False, True])
@pytest.mark.parametrize("literals", LITERALS)
@pytest.mark.parametrize("positive_class", [0, 1])
@pytest.mark.parametrize("signs", [{0: 1, 3: 1, 6: 1}, {0: -1, 3: -1, 6: -1, 7: 1}])
def test_the_probability_is_monotone_where_it_is_to_be(cancer, literals, positive_class, signs, local_search):
    X, y = cancer
    parameters = {"literals": literals, "positive_class": positive_class, "cut_points": 5, "random_state": 0}
    clf = SMaLLClassifier(2, 3, monotonic_cst=signs, local_search=local_search, **parameters).fit(X, y)
    check_monotone(clf, X, signs)
    check_promises(clf, X)


@pytest.mark.parametrize("max_points", [None, 5])
@pytest.mark.parametrize("positive_class", [0, 1])
def test_the_probability_of_a_selected_model_is_monotone_too(cancer, positive_class, max_points):
    X, y = cancer
    signs = {0: -1, 2: 1, 7: -1}
    clf = SMaLLClassifierCV(
        5, monotonic_cst=signs, positive_class=positive_class, max_points=max_points, cv=2, n_init=1
    )
    check_monotone(clf.set_params(alphas=[0.001], n_prototypes=[1, 2], random_state=0).fit(X, y), X, signs)


def test_a_sign_against_the_data_leaves_the_feature_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = (X[:, 0] > 0.0).astype(int)
    assert SMaLLClassifier(1, 2, monotonic_cst=[1, 0]).fit(X, y).support_[0, 0]
    assert not SMaLLClassifier(1, 2, monotonic_cst=[-1, 0]).fit(X, y).support_[0, 0]


# --- literals and missing values -------------------------------------------------------------------------------------


def test_the_training_mean_stands_in_for_a_missing_number_and_literals_tell_it():
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 1.0, size=(200, 2))
    X[rng.random(200) < 0.3, 0] = NAN
    y = np.where(np.isnan(X[:, 0]), rng.random(200) < 0.95, X[:, 1] > 3.0).astype(int)
    clf = SMaLLClassifier(1, 3, literals="both", random_state=0).fit(X, y)
    assert ("missing", 0) in [(term.kind, term.feature) for term in clf.model_.terms]
    means = {term.feature: term.mean for term in clf.model_.terms if term.kind == "raw"}
    for feature, mean in means.items():
        assert mean == pytest.approx(np.nanmean(X[:, feature]))
    by_hand = np.full(200, clf.intercepts_[0])
    for term in clf.model_.terms:
        x = X[:, term.feature]
        by_hand += (
            term.weight
            * {
                "raw": np.where(np.isnan(x), np.nanmean(x), x),
                "at_most": x <= (term.value or 0.0),
                "missing": np.isnan(x),
            }[term.kind]
        )
    np.testing.assert_allclose(clf.decision_function(X), by_hand)
    assert clf.score(X, y) > 0.9


def test_models_with_literals_have_no_prototypes_and_say_so(cancer):
    clf = SMaLLClassifier(1, 2, literals="both").fit(*cancer)
    with pytest.raises(AttributeError, match=r"no 'prototypes_'.*model_\.terms"):
        _ = clf.prototypes_
    with pytest.raises(AttributeError, match="not fitted yet"):
        _ = SMaLLClassifier().prototypes_


@pytest.mark.parametrize(("literals", "allowed"), [("raw", False), ("thresholds", True), ("both", True)])
def test_the_tag_for_missing_values_follows_the_parameter(literals, allowed):
    for clf in (SMaLLClassifier(literals=literals), SMaLLClassifierCV(literals=literals)):
        assert clf.__sklearn_tags__().input_tags.allow_nan is allowed
    assert SMaLLClassifierCV().__sklearn_tags__().input_tags.allow_nan


def test_cut_points_of_the_user_are_the_only_ones(cancer):
    X, y = cancer
    clf = SMaLLClassifier(1, 3, literals="thresholds", cut_points={0: [13.0, 15.0], -1: [0.05]}).fit(X, y)
    assert {(term.feature, term.value) for term in clf.model_.terms} <= {(0, 13.0), (0, 15.0), (7, 0.05)}


def test_presence_is_the_literal_of_sparse_columns():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((100, 5)) < 0.5, 0.0, rng.uniform(1.0, 50.0, (100, 5)))
    y = (X[:, 3] > 0.0).astype(int)
    clf = SMaLLClassifier(1, 1, literals="thresholds").fit(sparse.csr_array(X), y)
    assert [(t.kind, t.feature, t.value) for t in clf.model_.terms] == [("above", 3, 0.0)]
    np.testing.assert_allclose(clf.decision_function(sparse.csr_array(X)), clf.decision_function(X))
    check_promises(clf, sparse.csr_array(X))


# --- bounds and proofs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("literals", ["raw", "thresholds"])
def test_certified_models_are_optimal_and_no_other_start_of_the_same_rows_is_below_the_bound(cancer, budget, literals):
    X, y = cancer[0][:, :5], cancer[1]
    own = np.arange(len(y)) % 2
    parameters = {"budget": budget, "literals": literals, "cut_points": 2, "assignment": own, "reassign": False}
    clf = SMaLLClassifier(2, 2, 0.05, certify=True, tol=1e-3, **parameters).fit(X, y)
    assert clf.optimality_gap_ <= 1e-3
    assert clf.model_.training.certified
    loose = SMaLLClassifier(2, 2, 0.05, tol=1e-3, **parameters).fit(X, y)
    assert loose.lower_bound_ <= clf.objective_ * (1.0 + 1e-9)
    assert clf.lower_bound_ <= loose.objective_ * (1.0 + 1e-9)
    assert clf.objective_ <= loose.objective_ * (1.0 + 1e-9)
    assert spent(clf.model_, budget) <= 2


def test_local_search_never_raise_the_objective(cancer):
    X, y = cancer
    plain = SMaLLClassifier(2, 2, random_state=0).fit(X, y)
    polished = SMaLLClassifier(2, 2, random_state=0, local_search=True).fit(X, y)
    assert polished.objective_ <= plain.objective_
    check_promises(polished, X)
