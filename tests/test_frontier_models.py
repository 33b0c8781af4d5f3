"""The models of every size that `SMaLLClassifierCV` keeps with the chosen one."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smallearn import SMaLLClassifierCV, load_model
from smallearn._learn.data import source
from smallearn.model import Selection, fold_pipeline
from smallearn.model._sentences import smaller_model, smaller_sentence


@pytest.fixture(scope="module")
def data():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def fitted(data):
    return SMaLLClassifierCV(max_terms=6, min_terms=1, random_state=0, verbose=-1).fit(*data)


def test_there_is_a_model_of_every_size_of_the_frontier_in_ascending_order(fitted):
    sizes = [model.n_terms for model in fitted.frontier_models_]
    assert sizes == [1, 2, 3, 4, 5, 6]
    assert sizes == [step.n_terms for step in fitted.model_.selection.frontier]


def test_the_chosen_model_is_one_of_them_with_the_same_weights(fitted):
    model = fitted.model_
    own = next(other for other in fitted.frontier_models_ if other.n_terms == model.n_terms)
    assert own.prototypes == model.prototypes
    assert own.training == model.training
    assert own.decision_threshold == model.decision_threshold
    assert own.selection.scores == model.selection.scores


def test_the_score_of_each_is_the_one_of_its_step(fitted):
    scores = [model.selection.score for model in fitted.frontier_models_]
    assert scores == pytest.approx([step.score for step in fitted.model_.selection.frontier])


def test_each_is_trained_on_all_rows_and_about_as_accurate_there_as_on_held_out_rows(fitted, data):
    X, y = data
    for model in fitted.frontier_models_:
        assert model.training.n_rows == len(y)
        assert model.training.lower_bound is None or model.prototypes == fitted.model_.prototypes
        assert np.mean(model.predict(X) == y) > model.selection.score - 0.01
        assert model.data is None
        assert model.selection.frontier == ()
        assert not model.frontier_models


def test_the_model_holds_them_too_and_so_do_its_file_and_a_pickle(fitted, tmp_path):
    assert fitted.model_.frontier_models == fitted.frontier_models_
    fitted.model_.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json") == fitted.model_
    assert pickle.loads(pickle.dumps(fitted)).frontier_models_ == fitted.frontier_models_


def test_a_folded_pipeline_has_them_in_raw_units(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), SMaLLClassifierCV(max_terms=2, cv=2, random_state=0, verbose=-1))
    pipeline.fit(X, y)
    folded = fold_pipeline(pipeline)
    scaled = pipeline[0].transform(X)
    assert len(folded.frontier_models) == len(pipeline[1].frontier_models_) > 1
    for raw, model in zip(folded.frontier_models, pipeline[1].frontier_models_, strict=True):
        np.testing.assert_allclose(raw.decision_function(X), model.decision_function(scaled), rtol=1e-6, atol=1e-9)


def test_without_them_the_model_is_the_same_and_the_error_names_the_parameter(data, fitted):
    alone = SMaLLClassifierCV(max_terms=6, min_terms=1, frontier_models=False, random_state=0, verbose=-1).fit(*data)
    assert alone.model_ == replace(fitted.model_, frontier_models=())
    with pytest.raises(AttributeError, match="frontier_models=True"):
        alone.frontier_models_  # noqa: B018  # reading it is what fails
    with pytest.raises(AttributeError, match="no model yet"):
        SMaLLClassifierCV().frontier_models_  # noqa: B018


def test_a_second_fit_without_them_forgets_those_of_the_first(data):
    clf = SMaLLClassifierCV(max_terms=2, cv=2, random_state=0, verbose=-1).fit(*data)
    assert len(clf.frontier_models_) == 2
    clf.set_params(frontier_models=False).fit(*data)
    assert not hasattr(clf, "frontier_models_")


@pytest.mark.parametrize(
    "parameters",
    [{}, {"budget": "total"}, {"max_points": 5}, {"scoring": "neg_log_loss"}, {"class_weight": "balanced"}],
    ids=str,
)
def test_with_several_classes_and_other_parameters_sizes_ascend_within_the_budget(parameters):
    X, y = load_iris(return_X_y=True)
    clf = SMaLLClassifierCV(max_terms=4, min_terms=1, cv=3, random_state=0, verbose=-1, **parameters).fit(X, y)
    sizes = [model.n_terms for model in clf.frontier_models_]
    assert sizes == sorted(set(sizes))
    assert max(sizes) <= 4
    assert clf.n_terms_ in sizes
    assert all(model.is_score_card for model in clf.frontier_models_ if parameters.get("max_points"))


def test_many_rows_are_settled_for_each_size(monkeypatch, data):
    monkeypatch.setattr(source, "POOL_ROWS", 300)
    monkeypatch.setattr(source, "LEAST_POOL_ROWS", 1)
    X, y = data
    clf = SMaLLClassifierCV(max_terms=3, min_terms=1, cv=2, random_state=0, verbose=-1).fit(X, y)
    assert [model.n_terms for model in clf.frontier_models_] == [1, 2, 3]
    assert {model.training.n_rows for model in clf.frontier_models_} == {len(y)}


def test_when_time_is_up_the_chosen_model_is_there_alone(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        clf = SMaLLClassifierCV(max_terms=6, time_limit=1e-6, random_state=0, verbose=-1).fit(*data)
    assert [model.prototypes for model in clf.frontier_models_] == [clf.model_.prototypes]


# --- whether fewer terms would do as well ----------------------------------------------------------------------------


def with_scores(model, *scores):
    """The model with these scores on the folds."""
    return replace(model, selection=Selection(metric="accuracy", scores=scores, max_terms=6, frontier=()))


def test_the_smallest_model_within_a_standard_error_of_the_differences_would_do(fitted):
    by_size = {model.n_terms: model for model in fitted.frontier_models_}
    chosen = with_scores(by_size[4], 0.90, 0.80, 0.70)  # folds differ much more than models do
    close, far = with_scores(by_size[3], 0.91, 0.79, 0.69), with_scores(by_size[2], 0.89, 0.79, 0.69)
    assert smaller_model(replace(chosen, frontier_models=(far, close, chosen))) == close
    assert smaller_model(replace(chosen, frontier_models=(far, chosen))) is None
    assert smaller_model(chosen) is None
    sentence = smaller_sentence(replace(chosen, frontier_models=(close,)))
    assert sentence == "3 terms would do as well: 79.7% by cross-validation, within a standard error of 80.0%."


def test_a_single_fold_says_nothing_about_smaller_models(fitted):
    by_size = {model.n_terms: model for model in fitted.frontier_models_}
    chosen, other = with_scores(by_size[4], 0.9), with_scores(by_size[3], 0.9)
    assert smaller_sentence(replace(chosen, frontier_models=(other,))) is None
