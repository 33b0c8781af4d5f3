"""Standard models beside a small one."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from smallearn import SMaLLClassifierCV, SMaLLModel
from smallearn.evaluation import N_FAMILIAR, Comparison, Familiar, evaluate, familiar


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
    assert scores["majority class"] == pytest.approx(1 / 3)
    assert min(score for name, score in scores.items() if name != "majority class") > 0.85
    assert all(one.spread == 0.0 for one in found)


def test_familiar_models_are_tried_by_folds():
    X, y = load_iris(return_X_y=True, as_frame=True)
    compared = familiar(X[::3], y[::3])
    found = {one.name: one for one in compared.models}
    assert found["logistic regression"].score >= 0.9
    assert found["logistic regression"].size == "12 weights"
    assert found["decision tree"].spread > 0.0


def test_a_comparison_says_how_fair_it_is():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = SMaLLClassifierCV(2, n_prototypes=1, literals="raw", random_state=0).fit(X[::2], y[::2])
    model = clf.model_
    on_training, on_others = evaluate(model, X[::2], y[::2]), evaluate(model, X[1::2], y[1::2])
    by_folds = Comparison((Familiar("guess", 0.5, 0.1, "nothing"),), trained=False)
    assert "is cross-validated too" in by_folds.words(model, on_training)
    assert by_folds.lines(model, on_training)[0][1].startswith(f"{clf.best_score_:.1%} ±")
    assert "which favours them" in by_folds.words(model, on_others)
    assert by_folds.lines(model, on_others)[0][1] == f"{on_others.accuracy.value:.1%}"
    assert by_folds.lines(model, on_others)[1] == ("guess", "50.0% ± 10.0%", "nothing", "–")
    assert "optimistic" in by_folds.words(replace(model, selection=None), on_training)
    assert "trained on the same table as this model" in Comparison((), trained=True).words(model, on_others)
    assert "another table than this model" in Comparison((), trained=True, same=False).words(model, on_others)
    assert "may differ from that of this model" in Comparison((), trained=True, same=None).words(model, on_others)
    assert "It is not known which rows" in by_folds.words(replace(model, data=None), on_others)
    fewer = replace(by_folds, folds=3, n_rows=70).words(model, on_others)
    assert "by 3-fold stratified cross-validation on 70 of these rows; classes with too few rows are left out" in fewer
    sampled = replace(by_folds, folds=3, n_rows=5000, sampled_from=41_000)
    assert "cross-validation on a random sample of 5,000 of the 41,000 rows. With all" in sampled.words(
        model, on_others
    )
    words = replace(sampled, trained=True).words(model, on_others)
    assert "trained on a random sample of 5,000 rows of the same table as this model" in words


def test_many_rows_are_compared_on_a_stratified_sample():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=3000), "c": rng.choice([f"c{i}" for i in range(60)], 3000)})
    y = np.where(X["a"] > 1.2, "yes", "no")
    y[:4] = "rare"
    compared = familiar(X, y, max_rows=300)
    assert (compared.n_rows, compared.sampled_from, compared.folds) == (303, 3000, 3)
    scores = {one.name: one.score for one in compared.models}
    assert scores["majority class"] == pytest.approx((y == "no").mean(), abs=0.02)
    assert scores["decision tree"] > 0.95
    assert all(one.seconds >= 0.0 for one in compared.models)
    again = familiar(X, y, max_rows=300)
    assert [one.score for one in again.models] == [one.score for one in compared.models]
    everything = familiar(X[:400], y[:400], max_rows=None)
    assert (everything.n_rows, everything.sampled_from) == (400, None)


def test_a_comparison_on_the_training_rows_is_kept_with_the_model():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = SMaLLClassifierCV(2, n_prototypes=1, literals="raw", random_state=0).fit(X, y).model_
    assert Comparison.kept_with(model) is None
    made = Comparison(
        (Familiar("guess", 0.5, 0.1, "nothing", 0.25),), trained=False, folds=3, n_rows=70, sampled_from=150
    )
    kept = SMaLLModel.from_json(made.kept_by(model).to_json())
    assert Comparison.kept_with(kept) == made
    assert kept.prototypes == model.prototypes
    with pytest.raises(ValueError, match="Only a comparison by cross-validation on the training rows is kept"):
        Comparison((), trained=True).kept_by(model)
