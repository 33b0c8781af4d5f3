"""Random pipelines and random models at their ends: the folded model gives what the pipeline gives, row by row."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    Binarizer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from smallearn import SMaLLClassifier, SMaLLModel, fold_pipeline
from smallearn.export import to_python
from smallearn.model import Prototype, Term

N_ROWS = 40
NUMBERS, TEXTS = ["age", "dose"], ["ward"]
pytestmark = pytest.mark.filterwarnings("ignore")


def table(seed):
    random = np.random.default_rng(seed)
    age = np.round(random.normal(40.0, 20.0, N_ROWS), int(random.integers(0, 4)))
    age[random.random(N_ROWS) < 0.2] = np.nan
    dose = random.integers(0, 5, N_ROWS).astype(float) * 10.0 ** random.integers(-3, 4)
    ward = random.choice(np.array(["A", "B", "C", "D"], dtype=object), N_ROWS, p=[0.5, 0.3, 0.15, 0.05])
    ward[random.random(N_ROWS) < 0.1] = np.nan
    return pd.DataFrame({"age": age, "dose": dose, "ward": ward})


# --- random steps ----------------------------------------------------------------------------------------------------

scalers = st.sampled_from(
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        MinMaxScaler(),
        MinMaxScaler((-1.5, 2.0)),
        MaxAbsScaler(),
        RobustScaler(),
        RobustScaler(with_centering=False, unit_variance=True),
        "passthrough",
    ]
)
clipped = st.sampled_from([MinMaxScaler((-1.0, 1.0), clip=True)])
imputers = st.sampled_from(
    [
        SimpleImputer(),
        SimpleImputer(strategy="median", add_indicator=True),
        SimpleImputer(strategy="most_frequent"),
        SimpleImputer(strategy="constant", fill_value=-7.5, add_indicator=True),
    ]
)
binned = st.sampled_from(
    [
        KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"),
        KBinsDiscretizer(4, encode="ordinal", strategy="uniform"),
        KBinsDiscretizer(3, encode="onehot", strategy="quantile", quantile_method="averaged_inverted_cdf"),
        KBinsDiscretizer(3, encode="ordinal", strategy="uniform", dtype=np.float32),
        Binarizer(threshold=0.25),
    ]
)
encoders = st.sampled_from(
    [
        OneHotEncoder(),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        OneHotEncoder(drop="first"),
        OneHotEncoder(handle_unknown="ignore", drop="if_binary"),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=8),
        OneHotEncoder(max_categories=3),
        OrdinalEncoder(),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=-2),
        OrdinalEncoder(min_frequency=8),
    ]
)
text_imputers = st.sampled_from(
    [
        SimpleImputer(strategy="most_frequent"),
        SimpleImputer(strategy="constant", fill_value="none", add_indicator=False),
        "passthrough",
    ]
)


@st.composite
def numeric_steps(draw):
    steps = [draw(st.one_of(imputers, st.just("passthrough"))), draw(scalers)]
    end = draw(st.sampled_from(["none", "bins", "clip", "impute last", "codes"]))
    if end == "bins":
        steps = [draw(imputers), steps[1], draw(binned), draw(st.sampled_from(["passthrough", MinMaxScaler()]))]
    elif end == "clip":
        steps.append(draw(clipped))
    elif end == "impute last":
        steps += [draw(imputers), draw(scalers)]
    elif end == "codes":
        steps = [SimpleImputer(), draw(st.sampled_from([OneHotEncoder(handle_unknown="ignore"), OrdinalEncoder()]))]
    return steps


@st.composite
def text_steps(draw):
    return [
        draw(text_imputers),
        draw(encoders),
        draw(st.sampled_from(["passthrough", StandardScaler(with_mean=False)])),
    ]


def chain(steps):
    return Pipeline([(f"step {place}", step) for place, step in enumerate(steps)])


@st.composite
def preprocessors(draw):
    named = draw(st.booleans())
    places = {"age": "age", "dose": "dose", "ward": "ward"} if named else {"age": 0, "dose": 1, "ward": 2}
    parts = [
        ("first", chain(draw(numeric_steps())), [places[name] for name in draw(st.sampled_from([["age"], NUMBERS]))]),
        ("again", chain(draw(numeric_steps())), [places["age"]]),
        ("text", chain(draw(text_steps())), [places["ward"]]),
        ("dropped", "drop", [places["dose"]]),
    ]
    columns = ColumnTransformer(
        draw(st.permutations(parts)),
        remainder=draw(st.sampled_from(["drop", "passthrough"])),
        sparse_threshold=draw(st.sampled_from([0.0, 1.0])),
        transformer_weights=draw(st.sampled_from([None, {"again": 0.3}])),
    )
    after = draw(st.sampled_from(["passthrough", MaxAbsScaler(), StandardScaler(with_mean=False)]))
    return named, chain([columns, after])


# --- random models ---------------------------------------------------------------------------------------------------


def classifier_for(values, literals, random):
    """A classifier with a random model of the columns, as if it had been trained."""
    n_columns = values.shape[1]
    known = [column[np.isfinite(column)] for column in values.T]
    prototypes = []
    n_classes = int(random.integers(2, 4))
    for owner in range(n_classes) if n_classes > 2 else [1] * int(random.integers(1, 3)):
        terms = {}
        for _ in range(int(random.integers(1, 6))):
            column = int(random.integers(n_columns))
            kind = "raw" if literals == "raw" else str(random.choice(["raw", "at_most", "above", "missing", "equals"]))
            value = None
            if kind in ("at_most", "above", "equals"):
                value = float(random.choice(known[column])) if len(known[column]) else 0.0
            mean = float(random.normal()) if kind == "raw" and literals != "raw" else None
            terms[column, kind, value] = Term(column, float(random.normal()), kind=kind, value=value, mean=mean)
        prototypes.append(Prototype(owner, float(random.normal()), tuple(terms.values())))
    classifier = SMaLLClassifier(literals=literals)
    labels = tuple("abc"[:n_classes])
    classifier.model_ = SMaLLModel(labels, "<U1", n_features=n_columns, prototypes=tuple(prototypes))
    classifier.classes_ = np.array(labels)
    classifier.n_features_in_ = n_columns
    return classifier


def fresh_rows(model, trained, random):
    """Rows with other values in the columns that the model uses: of training, missing, unknown, at the cut points."""
    used = {term.feature for term in model.terms}
    rows = []
    cuts = {
        feature: [
            value
            for term in model.terms
            if term.feature == feature and isinstance(term.value, float)
            for value in (term.value, math.nextafter(term.value, -math.inf), math.nextafter(term.value, math.inf))
        ]
        for feature in used
    }
    usual = trained.dropna().iloc[0]  # a column that the model does not use may not be missing for the pipeline
    for _ in range(25):
        row = list(usual)
        for feature in used:
            choices = [np.nan, *trained.iloc[:6, feature], *cuts[feature]]
            choices += (
                ["unknown", "none"] if trained.columns[feature] in TEXTS else [-7.5, 1e6, random.normal(40.0, 30.0)]
            )
            row[feature] = choices[int(random.integers(len(choices)))]
        rows.append(row)
    return pd.DataFrame(rows, columns=trained.columns).astype({"age": float, "dose": float, "ward": object})


# Shrinking would take minutes: a pipeline is fitted each time.
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(preprocessors(), st.sampled_from(["raw", "both"]), st.integers(0, 2**32 - 1))
def test_the_folded_model_gives_what_the_pipeline_gives(preprocessor, literals, seed):
    random = np.random.default_rng(seed)
    named, steps = preprocessor
    trained = table(seed)
    try:
        values = steps.fit_transform(as_given(trained, named))
    except (ValueError, TypeError):  # scikit-learn refuses: bins of missing values, a constant column
        assume(False)
    values = np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=float)
    pipeline = Pipeline([("before", steps), ("classifier", classifier_for(values, literals, random))])
    model, error = folded(pipeline)
    if model is None:
        assert any(reason in error for reason in ("clips", "encode before scaling", "computes in float32"))
        return
    assert SMaLLModel.from_json(model.to_json()) == model
    assert [term.name for term in model.features] == [
        trained.columns[t.feature] if named else None for t in model.features
    ]
    script = {}
    exec(to_python(model), script)
    fresh = fresh_rows(model, trained, random)
    taken = []
    for place, row in enumerate(fresh.to_numpy(dtype=object).tolist()):
        one = as_given(fresh.iloc[[place]], named)
        try:
            label = model.predict(one)[0]
        except ValueError:
            for refusing in (pipeline.predict_proba, model.predict_proba):
                with pytest.raises(ValueError):
                    refusing(one)
            with pytest.raises(ValueError):
                model.predict_one(row)
            continue
        taken.append(place)
        assert model.predict_one(row) == script["predict"](row) == label
    rows = as_given(fresh.iloc[taken], named)
    chances = pipeline.predict_proba(rows) if taken else np.empty((0, len(model.classes)))
    np.testing.assert_allclose(model.predict_proba(rows), chances, rtol=0.0, atol=1e-9)
    if taken:
        scores = pipeline.decision_function(rows)
        np.testing.assert_allclose(model.decision_function(rows), scores, rtol=1e-12, atol=1e-9)
        clear = np.diff(np.sort(chances, axis=1)[:, -2:], axis=1)[:, 0] > 1e-9
        assert (pipeline.predict(rows) == model.predict(rows))[clear].all()


def as_given(frame, named):
    return frame if named else frame.to_numpy(dtype=object)


def folded(pipeline):
    """The model, or the message of the error."""
    try:
        return fold_pipeline(pipeline), None
    except ValueError as error:
        return None, str(error)
