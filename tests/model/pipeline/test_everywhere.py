"""Every function that takes a model takes a pipeline, and scikit-learn's wrappers of classifiers."""

import inspect
from functools import partial
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler

import smallearn
from smallearn import (
    SMaLLClassifier,
    SMaLLClassifierCV,
    devices,
    evaluation,
    explain,
    export,
    fold_pipeline,
    plot,
    report,
)
from smallearn.export._scripts import languages
from smallearn.model import as_model

N = 120


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": random.normal(50.0, 15.0, N),
            "dose": random.integers(1, 6, N).astype(float),
            "ward": random.choice(["A", "B", "C"], N),
        }
    )
    y = np.where(X.age + 20.0 * (X.ward == "A") + 4.0 * X.dose > 65.0, "yes", "no")
    X.loc[::9, "age"] = np.nan
    return X, y


def steps():
    return make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age"]),
        (OneHotEncoder(), ["ward"]),
        (KBinsDiscretizer(3, strategy="uniform"), ["dose"]),
    )


@pytest.fixture(scope="module")
def pipeline(data):
    return make_pipeline(steps(), SMaLLClassifier(1, 4, literals="both", random_state=0)).fit(*data)


@pytest.fixture(scope="module")
def numeric(data):
    """Of numbers alone, for what takes nothing else."""
    X, y = data
    return make_pipeline(StandardScaler(), SMaLLClassifier(1, 2, random_state=0)).fit(
        X[["dose", "age"]].fillna(50.0), y
    )


CALLS = {
    "evaluate": lambda s: evaluation.evaluate(s.model, s.X, s.y),
    "monitor": lambda s: evaluation.monitor(s.model, s.X, s.y),
    "refit": lambda s: smallearn.refit(s.model, s.X, s.y),
    "case": lambda s: explain.case(s.model, s.X.iloc[[1]], X=s.X),
    "describe": lambda s: explain.describe(s.model, s.X),
    "dnf": lambda s: explain.dnf(s.model, s.X),
    "importance": lambda s: explain.importance(s.model, s.X, s.y, n_repeats=2),
    "reason_codes": lambda s: explain.reason_codes(s.model, s.X),
    "rounded": lambda s: explain.rounded(s.model, s.X),
    "export": lambda s: export.export(s.model, "sql"),
    "flatten": lambda s: export.flatten(s.model),
    "float32_error_bound": lambda s: export.float32_error_bound(s.model, s.X.astype({"age": np.float32})),
    "format_loss": lambda s: export.format_loss(s.model, "int16", s.X),
    "model_hash": lambda s: export.model_hash(s.model),
    "quantise": lambda s: export.quantise(s.model),
    "to_arduino": lambda s: export.to_arduino(s.model, s.folder / "Model"),
    "to_c": lambda s: export.to_c(s.model),
    "to_onnx": lambda s: export.to_onnx(s.model),
    "to_pmml": lambda s: export.to_pmml(s.model),
    "to_sql": lambda s: export.to_sql(s.model),
    "cost": lambda s: devices.cost(s.model, method="estimate"),
    "contributions": lambda s: plot.contributions(s.model, s.X.iloc[[1]]),
    "decision_surface": lambda s: plot.decision_surface(s.model, s.X, s.y),
    "reliability": lambda s: plot.reliability(s.model, s.X, s.y),
    "score_card": lambda s: plot.score_card(s.model),
    "violins": lambda s: plot.violins(s.model, s.X, s.y),
    "report_html": lambda s: report.report_html(s.model, s.X, s.y, chips=()),
    "as_model": lambda s: as_model(s.model),
    "fold_pipeline": lambda s: fold_pipeline(s.model),
}
CALLS |= {f"to_{name}": partial(lambda name, s: export.export(s.model, name), name) for name in languages()}
CALLS["to_python"] = lambda s: export.to_python(s.model, conformance=s.X)
NO_MODEL = {"familiar", "wilson", "register", "register_onnx", "available", "read_rows", "load_model"}
NO_MODEL |= {"frontier"}  # of a trained classifier: its frontier is a record of the selection


def test_every_public_function_is_called_here():
    modules = (smallearn, smallearn.model, evaluation, explain, export, devices, plot, report)
    public = {name for module in modules for name in module.__all__ if inspect.isfunction(getattr(module, name))}
    assert public - NO_MODEL == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_a_function_takes_a_pipeline(name, pipeline, numeric, data, tmp_path):
    X, y = data
    given = numeric if name == "decision_surface" else pipeline
    rows = X[["dose", "age"]].fillna(50.0) if given is numeric else X
    assert CALLS[name](SimpleNamespace(model=given, X=rows, y=y, folder=tmp_path)) is not None
    plt.close("all")


def test_the_text_of_exports_and_explanations_has_raw_units(pipeline):
    model = fold_pipeline(pipeline)
    assert {term.label for term in model.terms} <= {"age", "dose", "ward"}
    assert export.to_sql(pipeline) == export.to_sql(model)
    assert "A, B, C for ward" in export.to_python(pipeline)


# --- wrappers --------------------------------------------------------------------------------------------------------


def agrees(wrapped, X):
    model = as_model(wrapped)
    chances = wrapped.predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), chances, rtol=0.0, atol=1e-9)
    clear = np.abs(chances[:, 1] - model.decision_threshold) > 1e-9
    assert clear.mean() > 0.9
    assert (model.predict(X) == wrapped.predict(X))[clear].all()
    return model


@pytest.mark.parametrize("response", ["auto", "predict_proba", "decision_function"])
@pytest.mark.parametrize("positive", ["yes", "no", None])
def test_a_fixed_threshold_becomes_the_models(pipeline, data, response, positive):
    threshold = {"decision_function": -0.8}.get(response, 0.3)
    classifier = FixedThresholdClassifier(
        FrozenEstimator(pipeline), threshold=threshold, pos_label=positive, response_method=response
    ).fit(*data)
    if positive is None:  # scikit-learn does not know which of two texts is positive
        labels = (data[1] == "yes").astype(int)
        own = make_pipeline(steps(), SMaLLClassifier(1, 3, random_state=0))
        classifier = FixedThresholdClassifier(own, threshold=threshold, response_method=response).fit(data[0], labels)
    model = agrees(classifier, data[0])
    expected = 1.0 / (1.0 + np.exp(0.8)) if response == "decision_function" else 0.3
    assert model.decision_threshold == pytest.approx(1.0 - expected if positive == "no" else expected)


@pytest.mark.parametrize("response", ["predict_proba", "decision_function"])
@pytest.mark.parametrize("positive", ["yes", "no"])
def test_a_tuned_threshold_becomes_the_models(data, response, positive):
    inner = make_pipeline(steps(), SMaLLClassifier(1, 2, random_state=0))
    scoring = make_scorer(f1_score, pos_label=positive)
    tuned = TunedThresholdClassifierCV(inner, scoring=scoring, response_method=response, cv=2).fit(*data)
    agrees(tuned, data[0])


def test_the_automatic_threshold_is_a_half(pipeline, data):
    fixed = FixedThresholdClassifier(FrozenEstimator(pipeline), pos_label="yes").fit(*data)
    assert as_model(fixed).decision_threshold == 0.5
    assert as_model(fixed.set_params(response_method="decision_function")).decision_threshold == 0.5


@pytest.mark.parametrize(("threshold", "positive"), [(0.0, "yes"), (0.0, "no"), (1.0, "yes")])
def test_thresholds_at_the_ends_decide_for_one_class(pipeline, data, threshold, positive):
    fixed = FixedThresholdClassifier(FrozenEstimator(pipeline), threshold=threshold, pos_label=positive).fit(*data)
    assert as_model(fixed).predict(data[0]).tolist() == fixed.predict(data[0]).tolist()


def test_a_threshold_outside_of_probabilities_is_refused(pipeline, data):
    fixed = FixedThresholdClassifier(FrozenEstimator(pipeline), threshold=1.5, pos_label="yes").fit(*data)
    with pytest.raises(ValueError, match=r"threshold of this FixedThresholdClassifier is 1.5: it predicts one class"):
        as_model(fixed)


def test_a_wrapper_that_is_not_fitted_is_refused():
    with pytest.raises(ValueError, match="TunedThresholdClassifierCV is not fitted"):
        as_model(TunedThresholdClassifierCV(SMaLLClassifier()))


@pytest.mark.parametrize("search", [GridSearchCV, RandomizedSearchCV])
def test_a_search_stands_for_its_best_pipeline(search, data):
    inner = make_pipeline(steps(), SMaLLClassifier(1, 2, random_state=0))
    options = {"n_iter": 2, "random_state": 0} if search is RandomizedSearchCV else {}
    found = search(inner, {"smallclassifier__n_nonzero": [1, 2]}, cv=2, **options).fit(*data)
    agrees(found, data[0])


def test_wrappers_and_pipelines_may_be_in_one_another(data):
    inner = make_pipeline(steps(), make_pipeline(StandardScaler(), SMaLLClassifier(1, 3, random_state=0)))
    search = GridSearchCV(inner, {"pipeline__smallclassifier__n_nonzero": [2, 3]}, cv=2)
    agrees(FixedThresholdClassifier(search, threshold=0.4, pos_label="yes").fit(*data), data[0])
    fixed = FixedThresholdClassifier(SMaLLClassifier(1, 3, random_state=0), threshold=0.4, pos_label="yes")
    assert agrees(make_pipeline(steps(), fixed).fit(*data), data[0]).decision_threshold == 0.4


def test_a_pipeline_of_another_classifier_is_refused(data):
    other = make_pipeline(steps(), RandomForestClassifier(3)).fit(*data)
    with pytest.raises(TypeError, match="A RandomForestClassifier is not a model"):
        as_model(other)


# --- SelectFromModel -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("literals", ["raw", "thresholds", "both"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_select_from_model_takes_the_features_in_use(literals, n_classes):
    random = np.random.default_rng(1)
    X = random.normal(size=(150, 6))
    y = np.digitize(X[:, 1] + 2.0 * X[:, 4], [0.0] if n_classes == 2 else [-1.0, 1.0])
    selector = SelectFromModel(SMaLLClassifier(n_classes if n_classes > 2 else 1, 2, literals=literals), threshold=1e-9)
    selector.fit(X, y)
    importances = selector.estimator_.feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert importances.argmax() == 4
    assert selector.get_support().tolist() == selector.estimator_.support_.any(axis=0).tolist()
    smaller = make_pipeline(
        SelectFromModel(SMaLLClassifier(n_classes if n_classes > 2 else 1, 2)), SMaLLClassifier(literals=literals)
    )
    model = fold_pipeline(smaller.fit(X, y))
    np.testing.assert_allclose(model.predict_proba(X), smaller.predict_proba(X), atol=1e-9)
    assert model.n_features == 6


def test_importances_of_a_chosen_model(data):
    X = data[0][["age", "dose"]].fillna(50.0)
    chosen = SMaLLClassifierCV(max_terms=2, cv=2, random_state=0).fit(X, data[1])
    assert chosen.feature_importances_.shape == (2,)
    assert chosen.feature_importances_.sum() == pytest.approx(1.0)
