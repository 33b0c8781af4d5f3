"""What a person does not fix is refitted to the minimum of the objective; what is fixed is held exactly."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize
from sklearn.datasets import load_breast_cancer, load_iris

from smallearn import SMaLLClassifier, SMaLLModel, refit
from smallearn.model import Edit, Prototype, Term

CANCER = load_breast_cancer(return_X_y=True, as_frame=True)
IRIS = load_iris(return_X_y=True, as_frame=True)


def trained(X, y, **parameters):
    return SMaLLClassifier(random_state=0, certify=False, **parameters).fit(X, y).model_


def weights_of(model):
    return np.array([*(term.weight for term in model.terms), *(one.intercept for one in model.prototypes)])


@pytest.mark.parametrize(
    ("data", "parameters"),
    [
        (CANCER, {"n_prototypes": 1, "n_nonzero": 3, "literals": "both"}),
        (CANCER, {"n_prototypes": 2, "n_nonzero": 3}),
        (IRIS, {"n_prototypes": 1, "n_nonzero": 2, "budget": "shared"}),
        (CANCER, {"n_prototypes": 1, "n_nonzero": 3, "positive_class": 0, "alpha": 0.1}),
    ],
    ids=["literals", "two prototypes", "three classes", "other owner"],
)
def test_a_refit_of_an_unchanged_model_gives_the_weights_of_training(data, parameters):
    model = trained(*data, **parameters)
    again = refit(model, *data)
    np.testing.assert_allclose(weights_of(again), weights_of(model), rtol=1e-5, atol=1e-7)
    assert again.training.objective == pytest.approx(model.training.objective, rel=1e-8)


def test_what_a_person_set_stays_exactly_and_the_rest_is_the_minimum():
    X, y = CANCER
    model = trained(X, y, n_prototypes=1, n_nonzero=3)
    first, *others = model.terms
    edited = refit(model.edit().set_weight(first.text, 0.125).set_constant(2.0), X, y)
    assert (edited.terms[0].weight, edited.prototypes[0].intercept) == (0.125, 2.0)
    names = [term.label for term in model.terms]
    values, deviation, mean = X[names].to_numpy(), X[names].std(ddof=0).to_numpy(), X[names].mean().to_numpy()

    def objective(free):  # by the book
        w = np.array([0.125, *free])
        z = values @ w + 2.0
        ridge = np.sum((w * deviation) ** 2) + (2.0 + w @ mean) ** 2
        return np.mean(np.logaddexp(0.0, np.where(y == 1, -z, z))) + 0.5 * model.training.alpha * ridge

    found = [term.weight for term in edited.terms[1:]]
    best = optimize.minimize(objective, found, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13})
    assert objective(found) <= best.fun + 1e-10
    assert edited.training.objective == pytest.approx(objective(found), rel=1e-8)
    assert len(found) == len(others)


def test_a_weight_that_was_set_is_kept_after_the_file_was_read_again():
    X, y = CANCER
    model = trained(X, y, n_prototypes=1, n_nonzero=3, literals="thresholds")
    term = model.terms[0]
    edited = model.edit().set_weight(term.text, 1.5).change_cut(term.label, term.value, term.value + 1).model
    again = refit(SMaLLModel.from_json(edited.to_json()), X, y)
    assert again.terms[0].weight == 1.5
    assert not np.isclose(again.terms[1].weight, model.terms[1].weight, rtol=1e-3)


def test_terms_that_are_to_be_kept_stay_too():
    X, y = CANCER
    model = trained(X, y, n_prototypes=1, n_nonzero=3)
    edited = refit(model.edit().forbid(model.terms[0].label), X, y, keep=[model.terms[1].text, "constant"])
    assert edited.terms[0] == model.terms[1]
    assert edited.prototypes[0].intercept == model.prototypes[0].intercept
    assert edited.terms[1].weight != model.terms[2].weight
    assert edited.edits[-1] == Edit("refit", "1 weight", after=569.0)


def test_a_row_of_weight_2_is_the_row_twice_and_weight_0_is_no_row():
    X, y = CANCER
    model = trained(X, y, n_prototypes=1, n_nonzero=3)
    weight = np.arange(len(y)) % 3
    twice = np.repeat(np.arange(len(y)), weight)
    by_weight = refit(model, X, y, sample_weight=weight)
    by_rows = refit(model, X.iloc[twice], y.iloc[twice])
    np.testing.assert_allclose(weights_of(by_weight), weights_of(by_rows), rtol=1e-6)


def test_replaced_terms_lower_the_objective_and_leave_out_what_is_forbidden():
    X, y = CANCER
    model = trained(X, y, n_prototypes=1, n_nonzero=3, literals="both")
    editor = model.edit().forbid(model.terms[0].label).drop(model.terms[1].text)
    fewer, same = refit(editor, X, y), refit(editor, X, y, replace_terms=True)
    assert (len(fewer.terms), len(same.terms)) == (1, 3)
    assert same.training.objective < fewer.training.objective
    assert model.terms[0].label not in [term.label for term in same.terms]
    assert model.terms[1].text not in [term.text for term in same.terms]
    assert [edit.action for edit in same.edits] == ["drop", "forbid", "drop", "refit", "found", "found"]
    assert same.edits[-1].after == same.terms[-1].weight
    assert same.was_trained_on(X, y)
    assert {extent.feature for extent in same.ranges} == {term.feature for term in same.terms}
    again = refit(same, X, y, replace_terms=True)  # no place is left
    assert len(again.terms) == 3


def test_a_shared_term_is_replaced_in_every_score():
    X, y = IRIS
    model = trained(X, y, n_nonzero=2, budget="shared")
    edited = refit(model.edit().drop(model.card[0].text), X, y, replace_terms=True)
    assert (len(edited.card), len(edited.terms)) == (2, 6)


def test_categories_and_missing_values_are_searched_too():
    rng = np.random.RandomState(0)
    X = CANCER[0][["mean radius", "mean texture"]].copy()
    X["ward"] = np.where(CANCER[1] == 1, "A", "B")
    X.loc[rng.rand(len(X)) < 0.1, "mean texture"] = np.nan
    term = Term(0, 1.0, "mean radius", "at_most", 15.0)
    model = SMaLLModel((0, 1), "<i8", 3, (Prototype(1, 0.0, (term, Term(1, 1.0, "mean texture", "above", 20.0))),))
    edited = refit(model.edit().forbid("mean texture"), X, CANCER[1], replace_terms=True)
    assert edited.terms[1].label == "ward"
    assert np.mean(edited.predict(X) == CANCER[1]) == 1.0


def test_a_score_card_stays_one_and_keeps_the_points_that_were_set():
    X, y = CANCER
    model = trained(X, y, n_prototypes=1, n_nonzero=4, literals="thresholds", max_points=5)
    edited = refit(model.edit().set_weight(model.terms[0].text, 4), X, y)
    assert edited.is_score_card
    assert edited.scale == model.scale
    assert edited.terms[0].weight == 4.0
    assert all(term.weight != 0.0 for term in edited.terms)
    dropped = refit(model.edit().drop(model.terms[1].text), X, y, replace_terms=True)
    assert dropped.is_score_card
    assert len(dropped.terms) == 4


def test_the_model_says_what_was_refitted_and_claims_no_certificate():
    X, y = CANCER
    model = SMaLLClassifier(n_prototypes=1, n_nonzero=2, random_state=0).fit(X, y).model_
    assert "better is possible" in str(model)
    edited = refit(model, X[:300], y[:300])
    assert "2 weights and 1 constant refitted on 300 rows" in str(edited)
    assert "better is possible" not in str(edited)
    assert (edited.training.n_rows, edited.training.lower_bound) == (300, None)
    assert edited.was_trained_on(X[:300], y[:300])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0.0}, "alpha=0.0 is not a positive number or None"),
        ({"replace_terms": "yes"}, "replace_terms='yes' is not True or False"),
        ({"keep": "worst radius"}, "is not a list of terms"),
        ({"keep": ["age"]}, "There is no term age. The model has"),
        ({"sample_weight": [1.0]}, "sample_weight has shape (1,)"),
    ],
)
def test_what_cannot_be_is_refused(arguments, message):
    X, y = CANCER
    model = trained(X, y, n_prototypes=1, n_nonzero=2)
    with pytest.raises(ValueError, match=re.escape(message)):
        refit(model, X, y, **arguments)


def test_nothing_to_refit_unknown_labels_and_other_columns_are_refused():
    X, y = CANCER
    model = trained(X, y, n_prototypes=1, n_nonzero=2)
    with pytest.raises(ValueError, match="nothing to refit"):
        refit(model, X, y, keep=[*(term.text for term in model.terms), "constant"])
    with pytest.raises(ValueError, match="labels that the model does not know: 2"):
        refit(model, X, y + 1)
    dropped = model.edit().drop(model.terms[0].text)
    with pytest.raises(ValueError, match=re.escape("X has 2 columns, the model was trained on 30")):
        refit(dropped, X[[term.label for term in model.terms]], y, replace_terms=True)
    with pytest.raises(ValueError, match="needs a table with names"):
        refit(dropped, X.to_numpy(), y, replace_terms=True)
    assert len(refit(model, X.to_numpy(), y).terms) == 2


def test_a_term_that_left_is_replaced_by_one_weight_where_the_budget_counts_weights():
    X, y = CANCER
    fitted = SMaLLClassifier(2, 4, budget="total", literals="thresholds", random_state=0).fit(X, y).model_
    both = fitted.terms[:2]
    shared = replace(
        fitted, prototypes=tuple(replace(one, terms=both) for one in fitted.prototypes), ranges=(), reference=None
    )
    assert shared.n_terms == len(shared.terms) == 4
    dropped = shared.edit(feature_names=list(X.columns)).drop(both[0].text, score=1)
    assert refit(dropped, X, y, replace_terms=True).n_terms == 4
