"""`SMaLLClassifierCV` and `frontier` as their users meet them: the promise, the table, folds and scores, containers."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import balanced_accuracy_score, make_scorer
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smallearn import SMaLLClassifier, SMaLLClassifierCV, SMaLLModel, datasets, frontier

QUICK = {"alphas": [0.01, 0.001], "cv": 3, "n_init": 1, "random_state": 0, "n_prototypes": [1, 2], "cut_points": 5}
FITTED = (
    *("classes_", "intercepts_", "support_", "prototype_classes_", "objective_", "lower_bound_", "optimality_gap_"),
    *("duality_gap_", "n_iter_", "n_terms_", "number_", "device_cost_", "model_", "prototypes_"),
)
COLUMNS = ["n_terms", "n_prototypes", "alpha", "literals", "budget", "one_sided", "loss", "positive_class"]


def quick(max_terms=4, **parameters):
    return SMaLLClassifierCV(max_terms, **{**QUICK, **parameters})


@pytest.fixture(scope="module")
def fitted(cancer):
    return quick().fit(*cancer)


def same(one, two, X):
    """Two estimators with the same choice and, to rounding, the same model."""
    assert one.best_params_ == two.best_params_
    assert [(t.feature, t.kind, t.value) for t in one.model_.terms] == [
        (t.feature, t.kind, t.value) for t in two.model_.terms
    ]
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), rtol=1e-6, atol=1e-6)


# --- the promise -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", ["total", "prototype", "shared"])
@pytest.mark.parametrize("max_terms", [1, 2, 5])
@pytest.mark.parametrize("data", ["cancer", "iris"])
def test_the_model_never_has_more_terms_than_promised(request, data, max_terms, budget):
    X, y = request.getfixturevalue(data)
    clf = quick(max_terms, budget=budget, alphas=[0.01], certificate=True).fit(X, y)
    terms = [(t.feature, t.kind, t.value) for p in clf.model_.prototypes for t in p.terms]
    assert clf.n_terms_ == len(terms if clf.best_params_["budget"] != "shared" else set(terms)) <= max_terms
    assert len(set(terms)) <= max_terms
    assert (clf.cv_results_["n_terms"] <= max_terms).all()
    assert clf.lower_bound_ <= clf.objective_
    assert clf.support_.shape == (len(clf.model_.prototypes), X.shape[1])
    assert clf.score(X, y) > {"cancer": 0.8, "iris": 0.6}[data]


def test_with_two_classes_every_weight_counts_and_with_more_a_term_that_classes_share_counts_once(cancer, iris):
    two, three = (quick(4, alphas=[0.01], literals="raw").fit(X, y) for X, y in (cancer, iris))
    assert set(two.cv_results_["budget"].tolist()) == {"total"}
    assert set(three.cv_results_["budget"].tolist()) == {"shared", "total"}
    assert len(two.model_.terms) == two.n_terms_ <= 4
    assert len(three.model_.card) <= 4 < len(three.model_.terms)
    every = quick(4, alphas=[0.01], literals="raw", budget="total").fit(*iris)
    assert set(every.cv_results_["budget"].tolist()) == {"total"}
    assert len(every.model_.terms) == every.n_terms_ <= 4


def test_where_any_of_some_words_decides_a_one_sided_model_is_chosen():
    rng = np.random.default_rng(0)
    present = rng.random((600, 30)) < 0.12
    y = present[:, :5].any(axis=1).astype(int)
    X = sparse.csr_matrix(present * rng.integers(1, 4, present.shape)).astype(float)
    clf = SMaLLClassifierCV(5, alphas=[0.01], random_state=0, cv=3).fit(X, y)
    assert set(clf.cv_results_["one_sided"].tolist()) == {False, True}
    assert {term.feature for term in clf.model_.terms} == set(range(5))
    assert clf.score(X, y) == 1.0
    dense = SMaLLClassifierCV(2, alphas=[0.01], random_state=0, cv=3).fit(X.toarray(), y)
    assert set(dense.cv_results_["one_sided"].tolist()) == {False}
    one_sided = clf.cv_results_["one_sided"]
    assert set(clf.cv_results_["positive_class"][one_sided].tolist()) == {0, 1}


SEGMENTS = [
    "1110111",
    "0010010",
    "1011101",
    "1011011",
    "0111010",
    "1101011",
    "1101111",
    "1010010",
    "1111111",
    "1111011",
]


def test_with_fewer_weights_than_classes_the_spherical_score_wins_more_rows():
    rng = np.random.default_rng(0)
    shown = np.array([[int(lit) for lit in digit] for digit in SEGMENTS])
    y = np.arange(2000) % 10
    X = (shown[y] ^ (rng.random((2000, 7)) < 0.1)).astype(float)
    options = {"alphas": [0.001], "random_state": 0, "cv": 3, "scoring": "accuracy"}
    clf = SMaLLClassifierCV(8, budget="total", certificate=True, **options).fit(X[:1000], y[:1000])
    loss, score = clf.cv_results_["loss"], clf.cv_results_["mean_test_score"]
    assert clf.best_params_["loss"] == "spherical"
    assert np.nanmax(score[loss == "spherical"]) > np.nanmax(score[loss == "log"]) + 0.03
    assert len(clf.model_.terms) <= 8
    assert clf.score(X[1000:], y[1000:]) > 0.48
    assert 0.0 < clf.lower_bound_ <= clf.objective_ < np.log(10)  # of the log loss, whatever the loss in training
    shared = SMaLLClassifierCV(2, **options).fit(X[:300], y[:300])
    assert set(shared.cv_results_["loss"].tolist()) == {"log"}


@pytest.mark.parametrize("max_terms", [1, 2, 3, 7])
def test_by_default_each_prototype_that_is_tried_has_about_two_terms(cancer, max_terms):
    clf = quick(max_terms, n_prototypes=None, alphas=[0.01], literals="raw", cv=2).fit(*cancer)
    expected = {1: {1}, 2: {1}, 3: {1, 2}, 7: {1, 2, 3, 4}}[max_terms]
    assert set(clf.cv_results_["n_prototypes"].tolist()) == expected
    assert clf.n_terms_ <= max_terms


def test_a_hidden_rule_is_found_and_terms_that_do_nothing_are_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = (X[:, 2] > 0.3).astype(int)
    clf = quick(6, n_prototypes=1, one_standard_error=True).fit(X, y)
    assert clf.support_[:, 2].all()
    assert clf.n_terms_ <= 2
    assert clf.score(X, y) > 0.95


def test_one_standard_error_never_takes_more_terms(cancer, fitted):
    careful = quick(one_standard_error=True).fit(*cancer)
    assert careful.best_params_["n_terms"] <= fitted.best_params_["n_terms"]
    assert careful.n_terms_ <= fitted.best_params_["n_terms"]


def test_a_search_that_got_stuck_on_all_rows_starts_anew():
    hidden = datasets.random_dnf(4, 2, 20, 4000, random_state=4)  # four starts are not enough for it
    X, y = hidden.data[:2000], hidden.target[:2000]
    clf = SMaLLClassifierCV(8, n_prototypes=4, alphas=[0.001, 0.0001], positive_class=1, literals="raw", random_state=4)
    clf.fit(X, y)
    assert clf.best_score_ == pytest.approx(1.0)
    assert clf.score(hidden.data[2000:], hidden.target[2000:]) == 1.0


def test_of_equals_the_one_with_fewest_terms_is_taken():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (300, 8)).astype(float)
    y = ((X[:, 0] == 1) & (X[:, 1] == 1)).astype(int)
    clf = quick(4, literals="raw").fit(X, y)
    assert clf.n_terms_ == clf.best_params_["n_terms"] == 2
    assert clf.score(X, y) == 1.0


# --- the table -------------------------------------------------------------------------------------------------------


def test_the_results_are_a_table_in_which_best_is_found_again(fitted):
    table = pd.DataFrame(fitted.cv_results_)
    folds = [f"split{fold}_test_score" for fold in range(3)]
    assert list(table.columns) == [*COLUMNS, "mean_test_score", "std_test_score", "rank_test_score", *folds, "params"]
    np.testing.assert_allclose(table["mean_test_score"], table[folds].mean(axis=1))
    np.testing.assert_allclose(table["std_test_score"], table[folds].std(axis=1, ddof=0), atol=1e-12)
    assert [dict(row) for row in table["params"]] == table[COLUMNS].to_dict("records")
    whole = table[table[folds].notna().all(axis=1)]
    assert whole["rank_test_score"].min() == 1
    expected = whole["mean_test_score"].rank(method="min", ascending=False)
    assert whole["rank_test_score"].tolist() == expected.tolist()
    assert table.loc[table[folds].isna().any(axis=1), "rank_test_score"].isna().all()
    best = table.loc[fitted.best_index_]
    assert best["params"] == fitted.best_params_
    assert best["mean_test_score"] == fitted.best_score_
    assert fitted.best_index_ in whole.index
    assert not table.duplicated(COLUMNS).any()


def test_the_table_offers_what_was_asked_for(cancer):
    clf = quick(3, n_prototypes=[2], alphas=[0.5], literals="thresholds", positive_class=0).fit(*cancer)
    table = clf.cv_results_
    assert set(table["n_prototypes"]) == {2}
    assert set(table["alpha"]) == {0.5}
    assert set(table["literals"]) == {"thresholds"}
    assert set(table["positive_class"]) == {0}
    assert {term.kind for term in clf.model_.terms} <= {"at_most"}
    assert set(clf.prototype_classes_) == {0}


def test_thresholds_beside_other_kinds_may_still_use_a_column_of_two_values():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 120), rng.normal(size=120)]).astype(float)
    clf = quick(1, n_prototypes=[1], literals=["thresholds", "raw"]).fit(X, X[:, 0])
    table = pd.DataFrame(clf.cv_results_)
    assert (table[table["literals"] == "thresholds"]["mean_test_score"] > 0.999).any()


def test_without_refit_there_is_a_choice_and_no_model(cancer, fitted):
    clf = quick(refit=False).fit(*cancer)
    assert clf.best_params_ == fitted.best_params_
    assert [name for name in FITTED if hasattr(clf, name)] == []
    absent = {"number_", "device_cost_", "prototypes_"}  # there is no device, and terms may be literals
    assert {name for name in FITTED if hasattr(fitted, name)} == set(FITTED) - absent
    with pytest.raises(NotFittedError):
        clf.predict(cancer[0])


def test_refitting_without_refit_leaves_no_earlier_model_behind(cancer):
    clf = quick(2, n_prototypes=1).fit(*cancer)
    clf.set_params(refit=False).fit(*cancer)
    with pytest.raises(NotFittedError):
        clf.predict(cancer[0])


# --- folds, scores, seeds --------------------------------------------------------------------------------------------


def balanced(estimator, X, y):
    return balanced_accuracy_score(y, estimator.predict(X))


@pytest.mark.parametrize("data", ["cancer", "iris"])
def test_a_score_may_be_a_name_a_scorer_or_a_function(request, data):
    X, y = request.getfixturevalue(data)
    scores = ["balanced_accuracy", make_scorer(balanced_accuracy_score), balanced]
    selectors = [quick(2, n_prototypes=1, scoring=scoring, decision_threshold=0.5) for scoring in scores]
    tables = [selector.fit(X, y).cv_results_["mean_test_score"] for selector in selectors]
    np.testing.assert_allclose(tables[0], tables[1])
    np.testing.assert_allclose(tables[0], tables[2])


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "roc_auc", "neg_brier_score", "f1"])
def test_the_score_of_a_fold_is_that_of_the_model_trained_there(cancer, scoring):
    """One prototype, all raw features: the candidate is a logistic regression, which can be trained apart."""
    X, y = cancer
    X = X[:, :2]
    splitter = StratifiedKFold(3)
    clf = quick(2, n_prototypes=1, alphas=[0.01], literals="raw", scoring=scoring, cv=splitter, standardize=False)
    clf.set_params(decision_threshold=0.5)
    shown = clf.fit(X / X.std(axis=0), y).cv_results_
    line = shown["n_terms"].tolist().index(2)
    plain = SMaLLClassifier(1, 2, 0.01, standardize=False)
    expected = cross_val_score(plain, X / X.std(axis=0), y, cv=splitter, scoring=scoring)
    np.testing.assert_allclose([shown[f"split{fold}_test_score"][line] for fold in range(3)], expected, rtol=1e-3)


@pytest.mark.parametrize("cv", [3, KFold(3, shuffle=True, random_state=1), None], ids=["number", "splitter", "none"])
def test_folds_may_be_a_number_a_splitter_or_none(cancer, cv):
    X, y = cancer
    clf = quick(2, n_prototypes=1, cv=cv).fit(X, y)
    n_folds = 15 if cv is None else 3
    assert f"split{n_folds - 1}_test_score" in clf.cv_results_
    assert f"split{n_folds}_test_score" not in clf.cv_results_


def test_an_iterable_of_folds_gives_the_choice_of_its_splitter(cancer):
    X, y = cancer
    splitter = StratifiedKFold(3, shuffle=True, random_state=1)
    one = quick(3, cv=splitter).fit(X, y)
    two = quick(3, cv=splitter.split(X, y)).fit(X, y)
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    same(one, two, X)


def test_the_same_seed_gives_the_same_model_and_two_processes_that_of_one(cancer, fitted):
    again, parallel = quick().fit(*cancer), quick(n_jobs=2).fit(*cancer)
    assert again.model_ == parallel.model_ == fitted.model_
    for name in ("mean_test_score", "split0_test_score"):
        np.testing.assert_array_equal(again.cv_results_[name], fitted.cv_results_[name])
        np.testing.assert_array_equal(parallel.cv_results_[name], fitted.cv_results_[name])


@pytest.mark.parametrize("seed", range(20, 40))
@pytest.mark.parametrize("max_terms", [1, 3])
def test_folds_that_find_models_of_different_sizes_still_give_a_model(seed, max_terms):
    rng = np.random.RandomState(seed)  # labels at random: with signs forbidden, a fold may find no term worth having
    n, m = rng.randint(1, 4), rng.randint(14, 40)
    X, y = rng.randint(0, 3, (m, n)).astype(float), (rng.rand(m) > 0.5).astype(int)
    options = {"n_prototypes": [2], "literals": "raw", "alphas": [0.01], "budget": "shared", "random_state": seed}
    clf = quick(max_terms, monotonic_cst=[-1] * n, **options).fit(X, y)
    assert len({term.feature for term in clf.model_.terms}) <= clf.best_params_["n_terms"] <= max_terms
    assert np.isfinite(clf.best_score_)
    assert all(term.weight * (2 * p.owner - 1) <= 0.0 for p in clf.model_.prototypes for term in p.terms)


# --- weights ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("parameters", [{}, {"one_standard_error": True}, {"scoring": "balanced_accuracy"}])
def test_weight_two_equals_the_row_twice_and_weight_zero_none(cancer, parameters, gaps):
    X, y = cancer[0][:90].copy(), cancer[1][:90]
    rng = np.random.default_rng(0)
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    times = rng.integers(0, 4, len(y))
    copies = rng.permutation(np.repeat(np.arange(len(y)), times))
    weighted = quick(3, **parameters).fit(X, y, sample_weight=times)
    copied = quick(3, **parameters).fit(X[copies], y[copies])
    np.testing.assert_allclose(
        weighted.cv_results_["mean_test_score"], copied.cv_results_["mean_test_score"], atol=1e-6
    )
    same(weighted, copied, X)


def test_class_weights_sway_the_choice_as_they_sway_training(cancer):
    X, y = cancer
    for label in (0, 1):
        plain = quick(3).fit(X, y).predict(X)
        swayed = quick(3, class_weight={label: 1000.0, 1 - label: 1e-4}).fit(X, y).predict(X)
        assert np.mean(swayed[y == label] == label) > 0.99
        assert np.mean(swayed == label) > np.mean(plain == label) + 0.1


# --- containers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cv", [3, StratifiedKFold(3)])
def test_sparse_data_give_the_model_of_the_dense_array(cv):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((120, 6)) < 0.6, 0.0, rng.normal(size=(120, 6)))
    y = (X[:, 0] - X[:, 3] + 0.3 * rng.normal(size=120) > 0.0).astype(int)
    dense = quick(3, literals="raw", cv=cv).fit(X, y)
    same(dense, quick(3, literals="raw", cv=cv).fit(sparse.csr_array(X), y), X)


def test_presence_is_a_term_of_sparse_columns():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.7, (200, 5)).astype(float) * rng.integers(1, 9, (200, 5))
    y = (counts[:, 1] > 0.0).astype(int)
    clf = quick(2, n_prototypes=1).fit(sparse.csr_matrix(counts), y)
    assert ("above", 1, 0.0) in [(term.kind, term.feature, term.value) for term in clf.model_.terms]
    assert clf.score(sparse.csr_matrix(counts), y) == 1.0


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_tables_with_categories_and_missing_values_and_labels_of_text(frame):
    rng = np.random.default_rng(0)
    colour, age = rng.choice(["red", "green", "blue"], 150).tolist(), rng.normal(40.0, 10.0, 150)
    y = np.where((np.array(colour) == "red") | (age > 55.0), "yes", "no")
    ages = [None if i % 9 == 0 else float(a) for i, a in enumerate(age)]
    colours = [None if i % 11 == 0 else c for i, c in enumerate(colour)]
    table = frame({"colour": colours, "age": ages, "noise": rng.normal(size=150)})
    clf = quick(3, categorical_features="from_dtype").fit(table, y)
    assert clf.feature_names_in_.tolist() == ["colour", "age", "noise"]
    assert clf.classes_.tolist() == ["no", "yes"]
    assert ("colour", "equals", "red") in [(t.name, t.kind, t.value) for t in clf.model_.terms]
    assert clf.score(table, y) > 0.85
    assert SMaLLModel.from_json(clf.model_.to_json()).predict(table).tolist() == clf.predict(table).tolist()
    assert len(clf.model_.terms) <= 3


def test_it_lives_in_pipelines_clones_pickles_and_cross_validation(cancer, fitted):
    X, y = cancer
    assert pickle.loads(pickle.dumps(fitted)).predict(X).tolist() == fitted.predict(X).tolist()
    assert clone(fitted).get_params() == fitted.get_params()
    assert not hasattr(clone(fitted), "model_")
    pipeline = make_pipeline(StandardScaler(), quick(2, n_prototypes=1)).fit(X, y)
    assert pipeline.score(X, y) > 0.8
    assert cross_val_score(quick(2, n_prototypes=1), X, y, cv=2).min() > 0.8


def test_it_is_silent_where_there_is_no_terminal(cancer, capsys):
    quick(2, n_prototypes=1).fit(*cancer)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


# --- the frontier ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["cancer", "iris"])
def test_the_frontier_has_a_model_for_each_number_of_terms(request, data):
    X, y = request.getfixturevalue(data)
    points = frontier(X, y, 4, **QUICK)
    assert [point.n_terms for point in points] == [1, 2, 3, 4]
    for point in points:
        assert point.model.n_terms <= point.n_terms
        assert len(point.model.card) <= point.n_terms
        assert point.params["n_terms"] == point.n_terms
        assert 0.5 < point.score <= 1.0 or (data == "iris" and point.n_terms == 1)
        assert 0.0 <= point.spread < 0.2
        assert list(point.params) == COLUMNS
        assert np.mean(point.model.predict(X) == y) > (0.3 if point.n_terms == 1 else 0.55)
    assert points[-1].score >= points[0].score - points[0].spread


def test_the_frontier_takes_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] > 0.0).astype(int)
    flipped = np.where(np.arange(80) < 20, 1 - y, y)
    points = frontier(X, flipped, 2, sample_weight=np.where(np.arange(80) < 20, 0.0, 1.0), **QUICK)
    assert [point.n_terms for point in points] == [1, 2]
    assert np.mean(points[0].model.predict(X) == y) > 0.9
