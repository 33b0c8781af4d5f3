"""Scores with intervals, and errors."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_iris

from smallearn import SMaLLClassifier
from smallearn.evaluation import _evaluate, evaluate
from smallearn.model import Prototype, Selection, SMaLLModel, Term


@pytest.fixture(scope="module", params=["two classes", "three classes"])
def judged(request):
    load = load_breast_cancer if request.param == "two classes" else load_iris
    X, y = load(return_X_y=True, as_frame=True)
    model = SMaLLClassifier(1, 2, random_state=0).fit(X[::2], y[::2]).model_
    return model, X, y, evaluate(model, X, y)


def test_the_figures_are_those_of_scikit_learn(judged):
    model, X, y, found = judged
    chances, predicted = model.predict_proba(X), model.predict(X)
    two = len(model.classes) == 2
    assert found.accuracy.value == pytest.approx(metrics.accuracy_score(y, predicted))
    assert found.balanced_accuracy.value == pytest.approx(metrics.balanced_accuracy_score(y, predicted))
    area = metrics.roc_auc_score(y, chances[:, 1]) if two else metrics.roc_auc_score(y, chances, multi_class="ovr")
    assert found.auc.value == pytest.approx(area)
    assert found.log_loss.value == pytest.approx(metrics.log_loss(y, chances))
    if two:
        assert found.brier.value == pytest.approx(metrics.brier_score_loss(y, chances[:, 1]))
    assert (found.roc is not None) == two
    assert np.array_equal(found.confusion, metrics.confusion_matrix(y, predicted))
    assert not found.is_training_data
    assert evaluate(model, X[::2], y[::2]).is_training_data


def test_intervals_hold_the_value_and_have_the_width_of_theory(judged):
    *_, y, found = judged
    for interval in (found.accuracy, found.balanced_accuracy, found.auc, found.log_loss, found.brier):
        assert interval.low <= interval.value <= interval.high
    share, n = found.accuracy.value, len(y)
    normal = 2 * stats.norm.ppf(0.975) * np.sqrt(share * (1 - share) / n)
    assert found.accuracy.high - found.accuracy.low == pytest.approx(normal, rel=0.35)


def test_mistakes_are_listed_the_surest_first(judged):
    model, X, y, found = judged
    wrong = np.flatnonzero(model.predict(X) != y)
    assert {one.row for one in found.mistakes} <= set(wrong)
    assert len(found.mistakes) == min(10, len(wrong))
    sure = [one.probability for one in found.mistakes]
    assert sure == sorted(sure, reverse=True)
    assert all(one.truth != one.predicted for one in found.mistakes)
    for group in found.groups:
        assert group.wrong > 1.0 - found.accuracy.value


def test_one_class_alone_has_no_area_under_a_curve():
    model = SMaLLModel((0, 1), "<i8", 1, (Prototype(1, -0.5, (Term(0, 1.0),)),))
    found = evaluate(model, [[0.0], [1.0]], [0, 0])
    assert found.auc is None
    assert found.roc is None
    assert [name for name, *_ in found.figures()][:2] == ["accuracy", "balanced accuracy"]


def test_rows_that_say_nothing_are_refused():
    model = SMaLLModel(("a", "b"), "<U1", 1, (Prototype(1, -0.5, (Term(0, 1.0),)),))
    with pytest.raises(ValueError, match="y has labels that the model does not know: 'c'; its classes are 'a', 'b'"):
        evaluate(model, [[0.0], [1.0]], ["a", "c"])
    with pytest.raises(ValueError, match="no rows"):
        evaluate(model, np.empty((0, 1)), [])


# --- cases that once went wrong --------------------------------------------------------------------------------------


def test_rows_whose_probabilities_are_all_1_are_ranked_by_their_scores():
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, 0.0, (Term(0, 1.0),)),))
    found = evaluate(model, [[50.0], [60.0], [45.0], [70.0]], ["no", "yes", "no", "yes"])
    assert found.auc.value == 1.0


def test_labels_may_be_a_column_and_must_be_as_many():
    model = SMaLLModel((False, True), "|b1", 1, (Prototype(1, 0.0, (Term(0, 1.0),)),))
    assert evaluate(model, [[1.0], [-1.0]], pd.DataFrame({"y": [True, False]})["y"]).accuracy.value == 1.0
    with pytest.raises(ValueError, match="one label for each of the 2 rows"):
        evaluate(model, [[1.0], [-1.0]], [True])


def test_a_summary_says_how_far_the_rows_can_tell():
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, 0.0, (Term(0, 1.0),)),))
    X, y = [[1.0], [-1.0], [2.0], [3.0]], ["yes", "no", "yes", "no"]
    trained = model.trained_on(np.array(X), y)
    on_training = ("These are the training rows: expect lower scores on new rows.",)
    assert evaluate(trained, X, y).summary(trained) == on_training
    selected = replace(trained, selection=Selection("accuracy", (0.7, 0.8), 2, ()))
    rely, optimistic = evaluate(selected, X, y).summary(selected)
    assert rely == "75.0% ± 5.0% by cross-validation (accuracy, 2 folds): the score to rely on."
    assert optimistic == "These are the training rows, so the scores on them are optimistic."
    unknown = evaluate(model, X, y)
    assert unknown.summary(model, rows="the rows of a file") == (
        f"{unknown.accuracy:.1%} of the rows of a file are predicted correctly.",
    )
    worse = ["no", "no", "no", "no"]
    *_, baseline = evaluate(trained, X, worse).summary(trained)
    assert baseline == "Always guessing the most common class would be at least as accurate."


@pytest.mark.parametrize("n_classes", [2, 3])
def test_with_many_rows_intervals_are_about_those_of_the_bootstrap(n_classes, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    y = np.digitize(X[:, 0] + X[:, 1] + rng.normal(size=4000), [0.8] if n_classes == 2 else [-1.0, 1.2])
    model = SMaLLClassifier(1, 2, random_state=0).fit(X[:500], y[:500]).model_
    slow = evaluate(model, X, y)
    monkeypatch.setattr(_evaluate, "MOST_RESAMPLED", 1000)
    quick = evaluate(model, X, y)
    for name in ("balanced_accuracy", "auc", "log_loss", "brier"):
        a, b = getattr(slow, name), getattr(quick, name)
        assert b.value == pytest.approx(a.value, rel=1e-10)
        width = a.high - a.low
        assert abs(b.low - a.low) < 0.15 * width
        assert abs(b.high - a.high) < 0.15 * width
