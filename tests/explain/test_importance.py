"""Which prototypes, terms and features matter, compared with scikit-learn and with models without them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.inspection import permutation_importance

from smallearn import SMaLLClassifier, explain
from smallearn.model import Prototype, SMaLLModel, Term


def test_importance_counts_wins_and_losses(tumours):
    X, y = tumours
    model = SMaLLClassifier(2, 3, random_state=3, positive_class="benign").fit(X, y).model_
    found = explain.importance(model, X, y)
    assert found.accuracy == pytest.approx(np.mean(model.predict(X) == y))
    winner = model.scores(X).argmax(axis=1)
    assert [one.wins for one in found.prototypes] == [int((winner == j).sum()) for j in range(2)]
    for one in found.terms:
        prototype = model.prototypes[one.prototype - 1]
        kept = tuple(term for term in prototype.terms if term != one.term)
        shifted = prototype.intercept + one.term.weight * X[one.term.label].mean()
        without = replace(
            model,
            prototypes=tuple(Prototype(p.owner, shifted, kept) if p is prototype else p for p in model.prototypes),
            ranges=(),
        )
        assert one.loss == pytest.approx(found.accuracy - np.mean(without.predict(X) == y), abs=1e-12)
    assert found.agreement > 0.7
    assert "Rank correlation" in str(found)


def test_permutation_importance_is_that_of_scikit_learn():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = SMaLLClassifier(1, 2, random_state=3).fit(X, y)
    mine = explain.importance(clf.model_, X, y, n_repeats=60)
    theirs = permutation_importance(clf, X, y, n_repeats=60, random_state=1)
    for one in mine.features:
        position = list(X.columns).index(one.label)
        assert one.permuted == pytest.approx(theirs.importances_mean[position], abs=0.02)


def test_importance_needs_a_known_label_for_each_row():
    model = SMaLLModel((0, 1), "<i8", 1, (Prototype(1, -0.5, (Term(0, 1.0, "a"),)),))
    X, y = np.array([[0.0], [1.0], [1.0], [1.0]]), np.array([0, 1, 1, 0])
    assert explain.importance(model, X, y).accuracy == 0.75
    for wrong in (y[:3], y.reshape(-1, 1)):
        with pytest.raises(ValueError, match="one label for each of the 4 rows of X"):
            explain.importance(model, X, wrong)
    with pytest.raises(ValueError, match="labels that the model does not know: 7; its classes are 0, 1"):
        explain.importance(model, X, [0, 1, 7, 7])
    with pytest.raises(ValueError, match="no rows"):
        explain.importance(model, X[:0], y[:0])
