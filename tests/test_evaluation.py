"""Scores with intervals, where a model errs, and familiar models beside it."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_iris

from smallearn import SMaLLClassifier, SMaLLClassifierCV
from smallearn.evaluation import N_FAMILIAR, Comparison, Familiar, Group, _groups, evaluate, familiar, wilson
from smallearn.model import Prototype, SMaLLModel, Term


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


def test_a_share_of_few_rows_stays_within_its_limits():
    assert wilson(3, 3).high == 1.0
    assert wilson(3, 3).low == pytest.approx(0.4385, abs=1e-3)
    assert wilson(0, 3).low == 0.0


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


def test_groups_are_by_category_and_gap_too():
    term = Term(0, 1.0, "colour", "equals", "red")
    model = SMaLLModel((0, 1), "<i8", 1, (Prototype(1, -0.5, (term,)),))
    X = pd.DataFrame({"colour": ["red"] * 20 + ["blue"] * 20 + [None] * 20}, dtype=object)
    y = [1] * 20 + [0] * 20 + [1] * 15 + [0] * 5
    (group,) = evaluate(model, X, y).groups
    assert (group.text, group.n_rows, group.wrong) == ("colour is missing", 20, 0.75)


def test_one_class_alone_has_no_area_under_a_curve():
    model = SMaLLModel((0, 1), "<i8", 1, (Prototype(1, -0.5, (Term(0, 1.0),)),))
    found = evaluate(model, [[0.0], [1.0]], [0, 0])
    assert found.auc is None
    assert found.roc is None
    assert [name for name, *_ in found.figures()][:2] == ["accuracy", "balanced accuracy"]


def test_rows_that_say_nothing_are_refused():
    model = SMaLLModel(("a", "b"), "<U1", 1, (Prototype(1, -0.5, (Term(0, 1.0),)),))
    with pytest.raises(ValueError, match="y has the class 'c'; the model knows 'a', 'b'"):
        evaluate(model, [[0.0], [1.0]], ["a", "c"])
    with pytest.raises(ValueError, match="no rows"):
        evaluate(model, np.empty((0, 1)), [])


def test_familiar_models_take_text_and_gaps():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X["letter"] = ["a", "b", None] * 50
    X.iloc[3, 1] = np.nan
    steps = []
    compared = familiar(X[::2], y[::2], (X[1::2], y[1::2]), step=lambda: steps.append(1))
    found = compared.models
    assert compared.trained
    assert len(found) == len(steps) == N_FAMILIAR
    scores = {one.name: one.score for one in found}
    assert scores["always the most frequent class"] == pytest.approx(1 / 3)
    assert min(score for name, score in scores.items() if name != "always the most frequent class") > 0.85
    assert all(one.spread == 0.0 for one in found)


def test_familiar_models_are_tried_by_folds():
    X, y = load_iris(return_X_y=True, as_frame=True)
    compared = familiar(X, y)
    found = {one.name: one for one in compared.models}
    assert found["logistic regression"].score > 0.9
    assert found["logistic regression"].size == "12 weights"
    assert found["decision tree"].spread > 0.0


def test_a_comparison_says_how_fair_it_is():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = SMaLLClassifierCV(2, n_prototypes=1, literals="raw", random_state=0).fit(X[::2], y[::2])
    model = clf.model_
    on_training, on_others = evaluate(model, X[::2], y[::2]), evaluate(model, X[1::2], y[1::2])
    by_folds = Comparison((Familiar("guess", 0.5, 0.1, "nothing"),), trained=False)
    assert "has its cross-validated score" in by_folds.words(model, on_training)
    assert by_folds.lines(model, on_training)[0][1].startswith(f"{clf.best_score_:.1%} ±")
    assert "that favours them" in by_folds.words(model, on_others)
    assert by_folds.lines(model, on_others)[0][1] == f"{on_others.accuracy.value:.1%}"
    assert by_folds.lines(model, on_others)[1] == ("guess", "50.0% ± 10.0%", "nothing")
    assert "flatters it" in by_folds.words(replace(model, selection=None), on_training)
    assert "trained on the training rows" in Comparison((), trained=True).words(model, on_others)
    assert "may not be those of" in Comparison((), trained=True, same=None).words(model, on_others)
    assert "is not known" in by_folds.words(replace(model, data=None), on_others)
    fewer = replace(by_folds, folds=3, n_rows=70).words(model, on_others)
    assert "by 3 stratified folds of 70 of these rows, without classes of too few" in fewer


# --- cases that once went wrong --------------------------------------------------------------------------------------


def test_rows_whose_probabilities_are_all_1_are_ranked_by_their_scores():
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, 0.0, (Term(0, 1.0),)),))
    found = evaluate(model, [[50.0], [60.0], [45.0], [70.0]], ["no", "yes", "no", "yes"])
    assert found.auc.value == 1.0


def test_text_with_pandas_own_gaps_is_grouped():
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -1.0, (Term(0, 2.0, "s", "equals", "a"),)),))
    X = pd.DataFrame({"s": pd.array(["a", "b", None] * 20, dtype=pd.StringDtype("python"))})
    found = evaluate(model, X, ["yes", "no", "yes"] * 20)
    assert found.groups == (Group("s is missing", 20, 1.0),)


def test_labels_may_be_a_column_and_must_be_as_many():
    model = SMaLLModel((False, True), "|b1", 1, (Prototype(1, 0.0, (Term(0, 1.0),)),))
    assert evaluate(model, [[1.0], [-1.0]], pd.DataFrame({"y": [True, False]})["y"]).accuracy.value == 1.0
    with pytest.raises(ValueError, match="X has 2 rows and y 1"):
        evaluate(model, [[1.0], [-1.0]], [True])


def test_many_categories_take_no_longer_than_rows():
    terms = (Term(0, 2.0, "s", "equals", "v1"),)
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -1.0, terms),))
    X = pd.DataFrame({"s": [f"v{i % 20_000}" for i in range(60_000)]}, dtype=object)
    begin = time.perf_counter()
    assert _groups(model, X, np.zeros(60_000, dtype=bool)) == []
    assert time.perf_counter() - begin < 5.0
