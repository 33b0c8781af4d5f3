"""Decision thresholds, costs and class weights, from training to prediction."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import balanced_accuracy_score, f1_score, make_scorer, precision_score, recall_score

from smallearn import SMaLLClassifier, SMaLLClassifierCV, frontier, load_model


def rare(m, seed):
    """Rows of which 6% are positive: a chance of at most 40%, which depends on two features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 5))
    return X, (rng.random(m) < 0.4 * expit(3.0 * (X[:, 0] + X[:, 1]) - 5.0)).astype(int)


X, Y = rare(1500, 0)
X_NEW, Y_NEW = rare(6000, 1)
QUICK = {"max_terms": 3, "n_prototypes": 1, "alphas": [0.01], "literals": "raw", "cv": 3, "random_state": 0}


def quick(**parameters):
    return SMaLLClassifierCV(**{**QUICK, "verbose": -1, **parameters}).fit(X, Y)


# --- chosen with the model -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scoring", "metric", "better"), [("f1", f1_score, 0.2), ("balanced_accuracy", balanced_accuracy_score, 0.2)]
)
def test_on_a_rare_class_the_chosen_threshold_is_far_better_than_one_half(scoring, metric, better):
    chosen, fixed = quick(scoring=scoring), quick(scoring=scoring, decision_threshold=0.5)
    assert chosen.decision_threshold_ < 0.3
    assert fixed.decision_threshold_ == 0.5
    reached = metric(Y_NEW, chosen.predict(X_NEW))
    assert reached > metric(Y_NEW, fixed.predict(X_NEW)) + better
    assert chosen.best_score_ == pytest.approx(reached, abs=0.1)  # no hope is raised that is not fulfilled


@pytest.mark.parametrize("parameters", [{"scoring": "f1"}, {"decision_threshold": 0.2}, {"class_weight": {1: 5.0}}])
@pytest.mark.parametrize("owner", [0, 1])
def test_the_second_class_is_predicted_where_its_probability_exceeds_the_threshold(parameters, owner):
    clf = quick(**parameters, positive_class=owner)
    assert clf.decision_threshold_ == clf.model_.decision_threshold != 0.5
    chance = clf.predict_proba(X_NEW)[:, 1]
    np.testing.assert_array_equal(clf.predict(X_NEW), (chance > clf.decision_threshold_).astype(int))
    np.testing.assert_allclose(logit(chance), clf.decision_function(X_NEW))


def test_the_threshold_changes_no_probability():
    one, other = quick(decision_threshold=0.2), quick(decision_threshold=0.5)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert one.predict(X).sum() > other.predict(X).sum()


@pytest.mark.parametrize("scoring", [None, "accuracy", "neg_log_loss", "roc_auc", "average_precision"])
def test_a_score_that_needs_no_threshold_leaves_one_half(scoring):
    assert quick(scoring=scoring).decision_threshold_ == 0.5


def test_an_own_metric_has_a_threshold_of_its_own():
    def recall_at_precision(truth, predicted):
        return recall_score(truth, predicted) * (precision_score(truth, predicted, zero_division=1.0) >= 0.2)

    clf = quick(scoring=make_scorer(recall_at_precision))
    predicted = clf.predict(X_NEW)
    assert precision_score(Y_NEW, predicted) > 0.15
    assert recall_score(Y_NEW, predicted) > recall_score(Y_NEW, quick(scoring="f1").predict(X_NEW))


def test_a_metric_by_name_and_as_a_scorer_choose_the_same():
    one, other = quick(scoring="f1"), quick(scoring=make_scorer(f1_score))
    assert one.decision_threshold_ == other.decision_threshold_
    assert one.best_score_ == other.best_score_


def test_every_model_of_a_frontier_has_its_threshold():
    points = frontier(X, Y, **{**QUICK, "max_terms": 2}, scoring="f1", verbose=-1)
    assert all(point.model.decision_threshold < 0.4 for point in points)


def test_the_threshold_is_in_the_file(tmp_path):
    clf = quick(scoring="f1")
    clf.model_.save(tmp_path / "model.json")
    read = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(read.predict(X_NEW), clf.predict(X_NEW))
    assert "(a probability of 1 above" in str(read)


def test_a_threshold_is_for_two_classes():
    for estimator in (SMaLLClassifier(decision_threshold=0.4), SMaLLClassifierCV(2, decision_threshold=0.4)):
        with pytest.raises(
            ValueError, match=r"decision_threshold=0.4 is for two classes, but y has 3; leave it 'auto'"
        ):
            estimator.fit(*load_iris(return_X_y=True))
    assert SMaLLClassifier(decision_threshold=0.5).fit(*load_iris(return_X_y=True)).decision_threshold_ == 0.5


def test_a_classifier_takes_a_threshold():
    plain = SMaLLClassifier(1, 2).fit(X, Y)
    moved = clone(plain).set_params(decision_threshold=0.1).fit(X, Y)
    assert (plain.decision_threshold_, moved.decision_threshold_) == (0.5, 0.1)
    np.testing.assert_array_equal(moved.predict(X), (plain.predict_proba(X)[:, 1] > 0.1).astype(int))


# --- costs -----------------------------------------------------------------------------------------------------------


def test_with_two_classes_costs_are_a_threshold():
    costs = np.array([[0.0, 1.0], [9.0, 0.0]])
    clf = quick(cost_matrix=costs)
    assert clf.decision_threshold_ == 0.1
    assert clf.model_.cost_matrix is None
    assert clf.model_.selection.metric == "negative mean cost"
    mean = costs[Y_NEW, clf.predict(X_NEW)].mean()
    assert mean < costs[Y_NEW, quick().predict(X_NEW)].mean()
    assert clf.best_score_ == pytest.approx(-mean, abs=0.1)


def test_with_more_classes_the_least_expected_cost_is_predicted(tmp_path):
    X, y = load_wine(return_X_y=True)
    costs = np.array([[0.0, 1.0, 2.0], [50.0, 0.0, 1.0], [1.0, 20.0, 0.0]])
    clf = SMaLLClassifierCV(4, n_prototypes=1, cv=3, cost_matrix=costs, random_state=0, verbose=-1).fit(X, y)
    expected = clf.predict_proba(X) @ costs
    np.testing.assert_array_equal(clf.predict(X), expected.argmin(axis=1))
    assert clf.best_score_ <= 0.0
    clf.model_.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict(X), clf.predict(X))


# --- class weights ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [lambda **p: SMaLLClassifier(1, 2, 1e-4, **p).fit(X, Y), lambda **p: quick(alphas=[1e-4], **p)]
)
def test_class_weights_move_the_decision_and_not_the_probabilities(make):
    plain, weighted = make(), make(class_weight={0: 1.0, 1: 9.0})
    assert weighted.decision_threshold_ == pytest.approx(0.1)
    for clf in (plain, weighted):
        assert clf.predict_proba(X)[:, 1].mean() == pytest.approx(Y.mean(), abs=0.01)
    assert weighted.predict(X).mean() > 2 * plain.predict(X).mean()


def test_weights_of_classes_and_of_rows_decide_alike():
    by_class = SMaLLClassifier(1, 2, class_weight={0: 1.0, 1: 9.0}).fit(X, Y)
    by_row = SMaLLClassifier(1, 2, standardize=False, class_weight=None).fit(X, Y, sample_weight=np.where(Y, 9.0, 1.0))
    same_scale = SMaLLClassifier(1, 2, standardize=False, class_weight={0: 1.0, 1: 9.0}).fit(X, Y)
    np.testing.assert_array_equal(same_scale.predict(X), by_row.predict(X))
    np.testing.assert_allclose(same_scale.decision_function(X) + np.log(9.0), by_row.decision_function(X), atol=1e-6)
    assert by_class.predict_proba(X)[:, 1].mean() < by_row.predict_proba(X)[:, 1].mean() / 2


def test_with_more_classes_weights_are_costs():
    X, y = load_wine(return_X_y=True)
    weights = {0: 1.0, 1: 4.0, 2: 0.5}
    parameters = {"n_prototypes": 1, "n_nonzero": 1, "standardize": False}
    by_class = SMaLLClassifier(**parameters, class_weight=weights).fit(X, y)
    by_row = SMaLLClassifier(**parameters).fit(X, y, sample_weight=[weights[label] for label in y])
    np.testing.assert_array_equal(by_class.predict(X), by_row.predict(X))
    shifted = by_class.decision_function(X) + np.log(list(weights.values()))
    np.testing.assert_allclose(shifted, by_row.decision_function(X), atol=1e-6)
    assert by_row.model_.cost_matrix is None
    costs = np.array(by_class.model_.cost_matrix)
    np.testing.assert_allclose(costs / costs.max(), np.array([[0, 1, 1], [4, 0, 4], [0.5, 0.5, 0]]) / 4.0)


@pytest.mark.parametrize("owner", [0, 1])
@pytest.mark.parametrize("literals", ["raw", "thresholds"])
def test_a_score_card_keeps_whole_points_and_decides_as_before(owner, literals):
    cuts = {feature: [-0.5, 0.5, 1.0] for feature in range(5)}  # given, for quantiles depend on the weights of rows
    parameters = {"max_points": 5, "positive_class": owner, "literals": literals, "cut_points": cuts}
    parameters["standardize"] = False
    card = SMaLLClassifier(1, 3, **parameters, class_weight={0: 1.0, 1: 9.0}).fit(X, Y)
    by_row = SMaLLClassifier(1, 3, **parameters).fit(X, Y, sample_weight=np.where(Y, 9.0, 1.0))
    assert card.model_.is_score_card
    np.testing.assert_array_equal(card.predict(X), by_row.predict(X))
    points = (by_row.decision_function(X) - card.decision_function(X)) / card.model_.scale
    assert abs(points[0] - np.log(9.0) / card.model_.scale) <= 0.5
    np.testing.assert_allclose(points, np.rint(points), atol=1e-9)


def test_a_class_without_weight_leaves_probabilities_and_decision_as_they_are():
    clf = SMaLLClassifier(1, 2, class_weight={0: 0.0, 1: 1.0}).fit(X, Y)
    assert clf.decision_threshold_ == 0.5
    np.testing.assert_array_equal(clf.predict(X), (clf.predict_proba(X)[:, 1] > 0.5).astype(int))
