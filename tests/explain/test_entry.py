"""What every function of `smallearn.explain` takes: a model or a fitted estimator, and rows or `Rows`."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from smallearn import SMaLLClassifier, explain
from smallearn.model import Term, read_rows
from tests.helpers.models import model_of

QUESTIONS = {
    "describe": lambda model, X, _: explain.describe(model, X),
    "rounded": lambda model, X, _: explain.rounded(model, X),
    "case": lambda model, X, _: explain.case(model, np.array([5.0, 3.0, 4.0, 1.0]), X=X),
    "dnf": lambda model, X, _: explain.dnf(model, X),
    "importance": lambda model, X, y: explain.importance(model, X, y, n_repeats=2),
}


@pytest.fixture(scope="module")
def fitted():
    X, y = load_iris(return_X_y=True)
    return SMaLLClassifier(1, 2, literals="thresholds", random_state=0).fit(X, y == 2), X, y == 2


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_a_fitted_estimator_and_rows_read_before_give_the_same_answer(fitted, question):
    classifier, X, y = fitted
    model = classifier.model_
    expected = question(model, X, y)
    assert str(question(classifier, X, y)) == str(expected)
    assert str(question(model, read_rows(model, X), y)) == str(expected)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_an_estimator_without_a_model_is_refused(fitted, question):
    _, X, y = fitted
    with pytest.raises(ValueError, match="This SMaLLClassifier is not fitted yet and has no model; call fit first"):
        question(SMaLLClassifier(), X, y)
    with pytest.raises(TypeError, match=r"'model.json' is a path, not a model"):
        question("model.json", X, y)


def test_a_case_may_be_a_row_that_was_read_before(fitted):
    classifier, X, _ = fitted
    model = classifier.model_
    one = explain.case(model, read_rows(model, X[:1]))
    assert one.scores == explain.case(model, X[0]).scores
    with pytest.raises(ValueError, match="A case is one row; there are 2 here"):
        explain.case(model, read_rows(model, X[:2]))


def test_scores_that_overflow_are_refused_in_the_words_of_the_model():
    model = model_of(Term(0, 10.0, "a"), Term(1, -10.0, "b"))
    X = np.array([[1e308, 1e308], [0.0, 1.0]])
    with pytest.raises(ValueError, match="The scores overflow") as refused:
        model.predict(X)
    for ask in (explain.describe, explain.rounded, lambda model, X: explain.importance(model, X, ["no", "yes"])):
        with pytest.raises(ValueError, match="The scores overflow") as also:
            ask(model, X)
        assert str(also.value) == str(refused.value)
