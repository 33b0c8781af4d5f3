"""The estimator as its users meet it: the promise, the classes, the weights, the containers, scikit-learn's habits."""

import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smallearn import SMaLLClassifier, datasets
from smallearn._learn.solve.solvers import SOLVERS
from tests.helpers import problems


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


# --- the promise ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"refit_support": False}, {"reassign": False}, {"fit_intercept": False}])
@pytest.mark.parametrize("k", [1, 2, 5, 30, 99, None])
def test_no_prototype_has_more_terms_than_promised(cancer, k, options):
    clf = SMaLLClassifier(3, k, random_state=0, **options).fit(*cancer)
    budget = 30 if k is None else min(k, 30)
    assert clf.support_.dtype == bool
    assert clf.support_.sum(axis=1).max() <= budget
    assert np.array_equal(clf.support_, clf.prototypes_ != 0.0)
    assert all(len(prototype.terms) <= budget for prototype in clf.model_.prototypes)
    assert clf.lower_bound_ <= clf.objective_
    assert clf.optimality_gap_ == pytest.approx((clf.objective_ - clf.lower_bound_) / clf.objective_)
    assert 0.0 <= clf.duality_gap_ <= clf.tol


@pytest.mark.parametrize(("k", "alpha"), problems.REFERENCE)
def test_the_reference_table_comes_out_of_the_estimator(k, alpha):
    X, y, own = problems.breast_cancer_groups()
    clf = SMaLLClassifier(2, k, alpha, assignment=own, reassign=False, tol=1e-8).fit(X, y)
    assert clf.lower_bound_ == pytest.approx(problems.REFERENCE[k, alpha], abs=6e-8)
    assert clf.lower_bound_ / (1.0 - clf.duality_gap_) == pytest.approx(problems.REFERENCE[k, alpha], abs=6e-8)


def test_objective_is_that_of_the_model_in_standardised_space(cancer):
    X, y = cancer
    clf = SMaLLClassifier(1, 3, 0.02).fit(X, y)
    z = clf.decision_function(X)
    loss = np.logaddexp(0.0, np.where(y == 1, -z, z)).mean()
    weights = clf.prototypes_ * X.std(axis=0)
    intercept = clf.intercepts_ + clf.prototypes_ @ X.mean(axis=0)
    assert clf.objective_ == pytest.approx(loss + 0.01 * (np.sum(weights**2) + np.sum(intercept**2)), rel=1e-9)


def test_without_intercept_the_folded_means_remain(cancer):
    X, y = cancer
    clf = SMaLLClassifier(2, 3, fit_intercept=False, random_state=0).fit(X, y)
    np.testing.assert_allclose(clf.intercepts_, -clf.prototypes_ @ X.mean(axis=0))
    raw = SMaLLClassifier(2, 3, fit_intercept=False, standardize=False, random_state=0).fit(X / X.std(axis=0), y)
    assert np.all(raw.intercepts_ == 0.0)


def test_the_paper_preset_is_what_the_paper_describes(cancer):
    clf = SMaLLClassifier.paper_preset(n_nonzero=3, random_state=0)
    assert clf.alpha == 0.1
    assert clf.solver_options == {"geometry": "euclidean", "step_sizes": (0.01, 0.001), "average": True}
    assert (clf.reassign, clf.refit_support, clf.fit_intercept) == (False, False, False)
    clf.fit(*cancer)
    assert clf.n_iter_ == 2000
    assert clf.score(*cancer) > 0.93
    assert clf.support_.sum(axis=1).tolist() == [3, 3]
    assert SMaLLClassifier.paper_preset(alpha=0.5, max_iter=7).get_params()["alpha"] == 0.5


# --- classes -------------------------------------------------------------------------------------------------------


def test_either_class_can_own_the_prototypes(cancer):
    X, y = cancer
    upper = SMaLLClassifier(2, 3, random_state=0).fit(X, y)
    mirrored = SMaLLClassifier(2, 3, random_state=0, positive_class=0).fit(X, 1 - y)
    assert upper.prototype_classes_.tolist() == [1] * len(upper.prototypes_)
    assert mirrored.prototype_classes_.tolist() == [0] * len(mirrored.prototypes_)
    np.testing.assert_array_equal(upper.prototypes_, mirrored.prototypes_)
    np.testing.assert_array_equal(upper.decision_function(X), -mirrored.decision_function(X))
    np.testing.assert_array_equal(upper.predict(X), 1 - mirrored.predict(X))


def test_auto_takes_the_class_with_the_lower_objective(cancer):
    X, y = cancer
    each = [SMaLLClassifier(2, 3, random_state=0, positive_class=label).fit(X, y) for label in (0, 1)]
    auto = SMaLLClassifier(2, 3, random_state=0, positive_class="auto").fit(X, y)
    assert auto.objective_ == min(clf.objective_ for clf in each)


def test_both_classes_can_own_prototypes(cancer):
    X, y = cancer
    one = SMaLLClassifier(2, 3, random_state=0).fit(X, y)
    both = SMaLLClassifier(2, 3, random_state=0, positive_class="both").fit(X, y)
    assert both.prototype_classes_.tolist() == [0, 0, 1, 1]
    assert (both.model_.sole_owner, one.model_.sole_owner) == (None, 1)
    assert both.support_.sum(axis=1).max() <= 3
    assert both.objective_ < one.objective_
    assert both.lower_bound_ <= both.objective_
    z = X @ both.prototypes_.T + both.intercepts_
    lead = z[:, 2:].max(axis=1) - z[:, :2].max(axis=1)
    np.testing.assert_allclose(both.decision_function(X), lead, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(both.predict(X), (both.decision_function(X) > 0.0).astype(int))
    np.testing.assert_allclose(both.predict_proba(X)[:, 1], 1.0 / (1.0 + np.exp(-lead)), rtol=1e-6)
    assert [both.model_.predict_one(row) for row in X[:50]] == both.predict(X[:50]).tolist()


def test_a_threshold_moves_the_decision_between_two_classes_that_both_own_prototypes(cancer):
    X, y = cancer
    plain = SMaLLClassifier(2, 3, random_state=0, positive_class="both").fit(X, y)
    moved = SMaLLClassifier(2, 3, random_state=0, positive_class="both", decision_threshold=0.9).fit(X, y)
    np.testing.assert_array_equal(moved.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(moved.predict(X), (plain.predict_proba(X)[:, 1] > 0.9).astype(int))
    assert np.any(moved.predict(X) != plain.predict(X))
    weighted = SMaLLClassifier(2, 3, random_state=0, positive_class="both", class_weight={0: 1.0, 1: 3.0}).fit(X, y)
    assert weighted.decision_threshold_ == pytest.approx(0.25)
    lead = weighted.decision_function(X)
    np.testing.assert_array_equal(weighted.predict(X), (lead > -np.log(3.0)).astype(int))
    without, within = (1.0 / (1.0 + np.exp(-lead - added)) for added in (0.0, np.log(3.0)))
    assert abs(without.mean() - y.mean()) < abs(within.mean() - y.mean())


def test_signs_need_prototypes_of_one_class(cancer):
    with pytest.raises(ValueError, match="needs prototypes of one class; positive_class='both' has others"):
        SMaLLClassifier(2, 3, positive_class="both", monotonic_cst={0: 1}).fit(*cancer)


@pytest.mark.parametrize("positive", [0, 1])
def test_a_tie_goes_to_the_first_class(positive):
    """At the boundary between two mirrored rows the score is exactly zero."""
    X = np.array([[-1.0], [1.0]] * 5)
    y = np.array([0, 1] * 5)
    clf = SMaLLClassifier(1, 1, positive_class=positive, fit_intercept=False).fit(X, y)
    assert clf.decision_function([[0.0]])[0] == 0.0
    assert clf.predict([[0.0]])[0] == 0
    assert clf.model_.predict_one([0.0]) == 0
    np.testing.assert_array_equal(clf.predict_proba([[0.0]]), [[0.5, 0.5]])


def test_three_classes_have_prototypes_each(iris):
    X, y = iris
    clf = SMaLLClassifier(2, 2, 1e-3, random_state=0).fit(X, y)
    scores = X @ clf.prototypes_.T + clf.intercepts_
    by_class = np.column_stack([scores[:, clf.prototype_classes_ == label].max(axis=1) for label in range(3)])
    np.testing.assert_allclose(clf.decision_function(X), by_class, atol=1e-9)
    assert np.array_equal(clf.predict(X), by_class.argmax(axis=1))
    shifted = np.exp(by_class - by_class.max(axis=1, keepdims=True))
    np.testing.assert_allclose(clf.predict_proba(X), shifted / shifted.sum(axis=1, keepdims=True), atol=1e-9)
    assert np.all(np.diff(clf.prototype_classes_) >= 0)
    assert clf.score(X, y) > 0.95


def test_a_given_assignment_indexes_within_the_class(iris):
    X, y = iris
    within = np.arange(150) % 2
    clf = SMaLLClassifier(2, 2, assignment=within, reassign=False).fit(X, y)
    assert clf.prototype_classes_.tolist() == [0, 0, 1, 1, 2, 2]


def test_probabilities_are_the_sigmoid_of_the_decision(cancer):
    clf = SMaLLClassifier(2, 3, random_state=0).fit(*cancer)
    decision = clf.decision_function(cancer[0])
    np.testing.assert_allclose(clf.predict_proba(cancer[0])[:, 1], 1.0 / (1.0 + np.exp(-decision)), atol=1e-12)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1.0, 2.0], [7, 3]])
def test_labels_of_any_kind_come_back_as_they_were(cancer, labels):
    X, y = cancer
    named = np.array(labels)[y]
    clf = SMaLLClassifier(2, 3, random_state=0, positive_class=labels[1]).fit(X, named)
    assert clf.classes_.tolist() == sorted(labels)
    assert clf.predict(X).dtype == named.dtype
    assert clf.score(X, named) > 0.94
    assert set(clf.prototype_classes_.tolist()) == {labels[1]}


# --- true DNFs -----------------------------------------------------------------------------------------------------


LINES = {(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)}


def test_tic_tac_toe_is_learned_exactly_with_one_prototype_per_line_from_nearly_every_start():
    X, y = datasets.tic_tac_toe(return_X_y=True)
    assert X.shape == (958, 27)
    exact = 0
    for seed in range(10):
        clf = SMaLLClassifier(8, 3, 1e-3, random_state=seed).fit(X, y)
        if clf.score(X, y) == 1.0:
            exact += 1
            # A line may be told by its x or by the absence of o: the cells are the same.
            assert {tuple(np.flatnonzero(row) // 3) for row in clf.support_} == LINES
    assert exact >= 9


@pytest.mark.parametrize("alpha", [0.1, 0.01, 0.001, 0.0001])
def test_a_hidden_dnf_is_learned_exactly(alpha):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (3000, 20)).astype(float)
    terms = [((0, 1), (1, 1), (2, 0)), ((3, 1), (4, 0), (5, 1)), ((6, 0), (7, 1), (8, 1))]
    y = np.any([np.all([X[:, l] == value for l, value in term], axis=0) for term in terms], axis=0).astype(int)
    clf = SMaLLClassifier(3, 3, alpha, random_state=0).fit(X[:2100], y[:2100])
    assert clf.score(X[2100:], y[2100:]) == 1.0


# --- weights -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{}, {"class_weight": "balanced"}, {"solver": "mirror-prox", "tol": 1e-3}, {"positive_class": "auto"}],
    ids=str,
)
def test_weight_two_equals_the_row_twice_and_weight_zero_none(options):
    X, y = make_classification(120, 8, n_informative=5, weights=[0.7], random_state=0)
    weight = np.random.default_rng(0).integers(0, 4, 120)
    order = np.random.default_rng(1).permutation(weight.sum())
    weighted = SMaLLClassifier(2, 3, random_state=0, **options).fit(X, y, weight.astype(float))
    X2, y2 = np.repeat(X, weight, axis=0)[order], np.repeat(y, weight)[order]
    repeated = SMaLLClassifier(2, 3, random_state=0, **options).fit(X2, y2)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-6, atol=1e-8)


def test_the_scale_of_the_weights_does_not_matter(cancer):
    X, y = cancer
    one, other = (SMaLLClassifier(2, 3, random_state=0).fit(X, y, np.full(569, w)) for w in (1.0, 1e-3))
    np.testing.assert_allclose(one.prototypes_, other.prototypes_, rtol=1e-8)


def test_class_weights_enter_the_loss_only(cancer):
    X, y = cancer
    plain = SMaLLClassifier(1, 3).fit(X, y)
    tilted = SMaLLClassifier(1, 3, class_weight={0: 10.0}).fit(X, y)
    assert np.mean(tilted.predict(X) == 0) > np.mean(plain.predict(X) == 0)
    by_hand = np.where(y == 0, 10.0, 1.0)
    z = tilted.decision_function(X) - np.log(10.0)  # the weights are taken out of the log-odds
    loss = np.average(np.logaddexp(0.0, np.where(y == 1, -z, z)), weights=by_hand)
    # The penalty is on weights in units of the unweighted deviation: class weights do not move it.
    weights = tilted.prototypes_ * X.std(axis=0)
    intercept = tilted.intercepts_ - np.log(10.0) + tilted.prototypes_ @ X.mean(axis=0)
    penalty = 0.005 * (np.sum(weights**2) + np.sum(intercept**2))
    assert tilted.objective_ == pytest.approx(loss + penalty, rel=1e-9)


def test_balanced_weights_are_inverse_to_the_frequencies(cancer):
    X, y = cancer
    weights = {label: len(y) / (2 * np.sum(y == label)) for label in (0, 1)}
    one, other = (SMaLLClassifier(2, 3, class_weight=w, random_state=0).fit(X, y) for w in ("balanced", weights))
    np.testing.assert_allclose(one.prototypes_, other.prototypes_, rtol=1e-9)


# --- containers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, None])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("wrap", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_data_give_the_model_of_the_dense_array(wrap, n_classes, k):
    X = problems.sparse_matrix(200, 15, 0.2, seed=0).toarray()
    y = np.argsort(np.argsort(X[:, :5].sum(axis=1) + 0.01 * np.arange(200))) * n_classes // 200
    dense, thin = (SMaLLClassifier(2, k, 1e-2, random_state=0, tol=1e-9).fit(data, y) for data in (X, wrap(X)))
    assert np.array_equal(dense.support_, thin.support_)
    np.testing.assert_allclose(dense.prototypes_, thin.prototypes_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(dense.decision_function(X), thin.decision_function(wrap(X)), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("k", [5, 400])
def test_sparse_data_never_become_dense(monkeypatch, k):
    """Few columns at a time, or few rows."""
    X = problems.sparse_matrix(1000, 3000, 1e-2, seed=0)
    y = (X[:, :300].sum(axis=1) > 1.5).astype(int)
    shapes = []
    original = sparse.csr_array.toarray
    monkeypatch.setattr(
        sparse.csr_array, "toarray", lambda self, *args: (shapes.append(self.shape), original(self, *args))[1]
    )
    clf = SMaLLClassifier(2, k, random_state=0, reassign=1).fit(X, y)
    assert clf.support_.sum(axis=1).max() <= k
    assert max((height * width for height, width in shapes), default=0) <= 100_000  # of three million


def test_float32_is_read_as_it_is_and_gives_the_model_of_its_values(cancer):
    X, y = cancer
    thin = X.astype(np.float32)
    half, full = (SMaLLClassifier(2, 3, random_state=0).fit(data, y) for data in (thin, thin.astype(np.float64)))
    np.testing.assert_allclose(half.prototypes_, full.prototypes_, rtol=1e-9)


def test_tables_bring_their_names(cancer):
    X, y = cancer
    names = load_breast_cancer().feature_names.tolist()
    plain = SMaLLClassifier(2, 3, random_state=0).fit(X, y)
    for table in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        clf = SMaLLClassifier(2, 3, random_state=0).fit(table, y)
        assert clf.feature_names_in_.tolist() == names
        np.testing.assert_array_equal(clf.prototypes_, plain.prototypes_)
        np.testing.assert_array_equal(clf.predict(table), plain.predict(X))
        used = {names[l] for l in np.flatnonzero(clf.support_.any(axis=0))}
        assert {term.name for term in clf.model_.features} == used
        assert all(name in str(clf.model_) for name in used)


def test_dense_arrays_are_not_copied(cancer, monkeypatch):
    seen = []
    from smallearn._learn.data import blocks

    original = blocks.DenseRows.__init__
    monkeypatch.setattr(
        blocks.DenseRows,
        "__init__",
        lambda self, X, *args, **more: (seen.append(X), original(self, X, *args, **more))[1],
    )
    X, y = cancer
    SMaLLClassifier(2, 3, random_state=0).fit(X, y)
    assert np.shares_memory(seen[0], X)


# --- determinism and symmetry --------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_same_data_and_seed_give_the_same_model_bit_for_bit(cancer, solver):
    one, other = (SMaLLClassifier(3, 3, random_state=7, solver=solver).fit(*cancer) for _ in range(2))
    assert one.model_ == other.model_
    assert one.model_.to_json() == other.model_.to_json()


def test_the_number_of_threads_does_not_change_the_model(monkeypatch):
    monkeypatch.setattr("smallearn._learn.data.blocks.BLOCK_ENTRIES", 1000)
    X, y = make_classification(2000, 10, random_state=0)
    models = [SMaLLClassifier(2, 3, random_state=0, n_jobs=n_jobs).fit(X, y).model_ for n_jobs in (None, 2, -1)]
    assert models[0] == models[1] == models[2]


# --- many rows -------------------------------------------------------------------------------------------------------


@pytest.fixture
def many(monkeypatch):
    """Rows that count as many: a sample of a quarter of them is trained on first."""
    monkeypatch.setattr("smallearn.estimator.MANY_ROWS", 5000)
    monkeypatch.setattr("smallearn.estimator.SAMPLE_ROWS", 2000)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 10))
    score = 2.0 * np.maximum(X[:, 0] + X[:, 1] - X[:, 2], X[:, 3] - X[:, 4] + X[:, 5]) - 1.0
    return X, (rng.random(8000) < 1.0 / (1.0 + np.exp(-score))).astype(int)


every_option = pytest.mark.parametrize(
    "options",
    [{}, {"literals": "both"}, {"positive_class": "auto"}, {"n_prototypes": 1}, {"local_search": True}],
    ids=str,
)


@every_option
def test_a_sample_first_gives_nearly_the_model_of_all_rows_with_its_certificate(many, monkeypatch, options):
    sampled = SMaLLClassifier(**{"random_state": 0, **options}).fit(*many)
    monkeypatch.setattr("smallearn.estimator.MANY_ROWS", 10_000)
    plain = SMaLLClassifier(**{"random_state": 0, **options}).fit(*many)
    assert sampled.objective_ == pytest.approx(plain.objective_, rel=1e-3)
    assert sampled.lower_bound_ <= sampled.objective_
    assert sampled.duality_gap_ <= 1e-4


@every_option
def test_many_rows_in_another_order_or_as_weights_give_the_same_model(many, options):
    X, y = many
    rng = np.random.default_rng(1)
    times = rng.integers(1, 3, len(y))
    copies = rng.permutation(np.repeat(np.arange(len(y)), times))
    weighted = SMaLLClassifier(**{"random_state": 0, **options}).fit(X, y, times.astype(float))
    repeated = SMaLLClassifier(**{"random_state": 0, **options}).fit(X[copies], y[copies])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)
    np.testing.assert_array_equal(weighted.support_, repeated.support_)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-6, atol=1e-6)


def test_the_number_of_threads_does_not_change_the_model_of_many_rows(many, monkeypatch):
    monkeypatch.setattr("smallearn._learn.data.blocks.BLOCK_ENTRIES", 1000)
    models = [SMaLLClassifier(2, 3, random_state=0, n_jobs=n_jobs).fit(*many).model_ for n_jobs in (None, 2)]
    assert models[0] == models[1]


@pytest.mark.parametrize("options", [{"reassign": False}, {"refit_support": False}], ids=str)
def test_no_sample_is_drawn_where_rows_may_not_move_or_weights_are_not_refitted(many, monkeypatch, options):
    drawn = []
    monkeypatch.setattr("smallearn._learn.data.content.sample", lambda *arguments: drawn.append(arguments))
    SMaLLClassifier(random_state=0, **options).fit(*many)
    assert not drawn
    SMaLLClassifier(random_state=0).fit(*many)
    assert drawn


def test_row_and_feature_order_change_nothing_once_the_assignment_is_given(cancer):
    X, y = cancer
    _, _, own = problems.breast_cancer_groups()
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(569), rng.permutation(30)
    plain = SMaLLClassifier(2, 3, assignment=own).fit(X, y)
    mixed = SMaLLClassifier(2, 3, assignment=own[rows]).fit(X[rows][:, columns], y[rows])
    np.testing.assert_allclose(mixed.prototypes_, plain.prototypes_[:, columns], rtol=1e-7, atol=1e-10)
    assert mixed.objective_ == pytest.approx(plain.objective_, rel=1e-10)


def test_units_do_not_matter(cancer):
    X, y = cancer
    units = 10.0 ** np.linspace(-6, 6, 30)
    one, other = (SMaLLClassifier(2, 3, random_state=0).fit(data, y) for data in (X, X * units + 5.0 * units))
    np.testing.assert_allclose(one.prototypes_, other.prototypes_ * units, rtol=1e-6, atol=1e-12)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-8)


# --- what it says --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_running_out_of_iterations_warns_with_the_gap_and_what_to_raise(cancer, solver):
    clf = SMaLLClassifier(2, 3, solver=solver, max_iter=2, tol=1e-9, random_state=0, reassign=False)
    with pytest.warns(ConvergenceWarning, match=r"\(max_iter=2\) at a relative duality gap of .*Raise max_iter"):
        clf.fit(*cancer)
    assert clf.duality_gap_ > 1e-9
    assert clf.lower_bound_ <= clf.objective_
    assert clf.support_.sum(axis=1).max() <= 3


def test_verbose_tells_the_rounds_and_silence_is_the_default(cancer, capsys):
    SMaLLClassifier(2, 3, random_state=0, verbose=1).fit(*cancer)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[SMaLL] start: objective ")
    assert lines[1].startswith("[SMaLL] round ")
    SMaLLClassifier(2, 3, random_state=0).fit(*cancer)
    assert capsys.readouterr().out == ""


# --- scikit-learn's habits -----------------------------------------------------------------------------------------


def test_clone_and_pickle(cancer):
    clf = SMaLLClassifier(2, 3, random_state=0).fit(*cancer)
    assert clone(clf).get_params() == clf.get_params()
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict_proba(cancer[0]), clf.predict_proba(cancer[0]))
    assert again.model_ == clf.model_


def test_grid_search_with_two_processes_gives_the_scores_of_one(cancer):
    grid = {"n_nonzero": [1, 3], "alpha": [1e-3, 1e-1]}
    searches = [
        GridSearchCV(SMaLLClassifier(2, random_state=0), grid, cv=3, n_jobs=n_jobs).fit(*cancer) for n_jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*(search.cv_results_["mean_test_score"] for search in searches))
    assert searches[0].best_score_ > 0.93


def test_pipeline_and_calibration(cancer):
    X, y = cancer
    pipeline = make_pipeline(StandardScaler(), SMaLLClassifier(2, 3, random_state=0))
    assert cross_val_score(pipeline, X, y, cv=5).mean() > 0.93
    calibrated = CalibratedClassifierCV(SMaLLClassifier(2, 3, random_state=0), cv=3).fit(X, y)
    assert calibrated.score(X, y) > 0.93


def test_sample_weights_are_routed(cancer):
    X, y = cancer
    weight = np.random.default_rng(0).uniform(0.1, 2.0, len(y))
    direct = SMaLLClassifier(2, 3, random_state=0).fit(X, y, weight)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler(with_mean=False, with_std=False).set_fit_request(sample_weight=False)
        clf = SMaLLClassifier(2, 3, random_state=0).set_fit_request(sample_weight=True)
        routed = make_pipeline(scaler, clf).fit(X, y, sample_weight=weight)
    assert routed[-1].model_ == direct.model_


def test_transform_output_is_left_alone(cancer):
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(SMaLLClassifier(2, 3, random_state=0).fit(*cancer).predict(cancer[0]), np.ndarray)


def test_parameters_are_not_changed_by_fit(cancer):
    options = {"geometry": "entropy", "step_sizes": (0.1, 0.1), "average": True}
    clf = SMaLLClassifier(2, 3, solver="mirror-prox", solver_options=options, tol=1e-2)
    before = {name: repr(value) for name, value in clf.get_params().items()}
    clf.fit(*cancer)
    assert {name: repr(value) for name, value in clf.get_params().items()} == before


@pytest.mark.parametrize(
    ("geometry", "steps", "average"),
    [
        *itertools.product(["entropy"], ["adaptive", (0.1, 0.1)], [True, False]),
        *itertools.product(["euclidean"], ["adaptive", (0.1, 0.001)], [True, False]),
    ],
)
@pytest.mark.parametrize("data", [load_breast_cancer, load_iris])
def test_every_kind_of_mirror_prox_finds_a_good_model(data, geometry, steps, average):
    X, y = data(return_X_y=True)
    options = {"geometry": geometry, "step_sizes": steps, "average": average}
    clf = SMaLLClassifier(
        2, 3, 0.1, solver="mirror-prox", solver_options=options, tol=None, max_iter=300, random_state=0, reassign=False
    ).fit(X, y)
    assert clf.score(X, y) > 0.8
    assert clf.duality_gap_ < (1e-3 if steps == "adaptive" else 0.2)
