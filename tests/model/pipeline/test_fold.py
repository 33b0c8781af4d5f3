"""What becomes of the terms behind each transformer, and what cannot be folded."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

from smallearn import SMaLLClassifier, SMaLLModel, fold_pipeline
from smallearn.model import Accepted, Prototype, Range, Term

X = pd.DataFrame({"age": [20.0, 30.0, 50.0, 60.0], "dose": [1.0, -1.0, 3.0, 1.0], "ward": ["A", "B", "B", "C"]})


def ending_in(steps, *terms, rows=X, intercept=0.0, literals="both", ranges=()):
    """A pipeline of fitted steps and a classifier with these terms on the columns that they make."""
    steps = steps.fit(rows)
    width = steps.transform(rows).shape[1]
    classifier = SMaLLClassifier(literals=literals)
    prototype = Prototype(1, intercept, tuple(Term(column, *about) for column, *about in terms))
    classifier.model_ = SMaLLModel(("no", "yes"), "<U3", width, (prototype,), ranges=ranges)
    classifier.classes_, classifier.n_features_in_ = np.array(["no", "yes"]), width
    return Pipeline([("steps", steps), ("classifier", classifier)])


def literal(column, weight, kind, value=None):
    return column, weight, None, kind, value


def texts(model):
    return [(round(term.weight, 9), term.text) for term in model.terms]


def check(pipeline, rows=X):
    model = fold_pipeline(pipeline)
    np.testing.assert_allclose(model.predict_proba(rows), pipeline.predict_proba(rows), rtol=0.0, atol=1e-9)
    return model


def test_a_weight_of_a_scaled_number_is_one_of_the_raw_number():
    model = check(ending_in(StandardScaler(), (0, 2.0), rows=X[["age"]], intercept=1.0), X[["age"]])
    spread = np.std(X.age)
    assert model.terms == (Term(0, pytest.approx(2.0 / spread), "age"),)
    assert model.prototypes[0].intercept == pytest.approx(1.0 - 2.0 * X.age.mean() / spread)


def test_a_threshold_is_the_last_number_that_is_below_it_in_the_pipelines_arithmetic():
    random = np.random.default_rng(0)
    for scaler in (StandardScaler(), MinMaxScaler((-3.0, 0.1)), MaxAbsScaler()):
        rows = random.normal(3.0, 1.7, (50, 1))
        cut = float(scaler.fit_transform(rows)[7, 0])
        model = fold_pipeline(ending_in(scaler, literal(0, 1.0, "at_most", cut), rows=rows))
        (term,) = model.terms
        assert (term.kind, term.weight) == ("at_most", 1.0)
        near = np.nextafter(term.value, [[-np.inf], [np.inf]])
        assert scaler.transform([[term.value]])[0, 0] <= cut
        assert (scaler.transform(near)[:, 0] <= cut).tolist() == [True, False]


def test_imputing_gives_a_raw_term_another_mean():
    rows = X.assign(age=[20.0, np.nan, 50.0, 60.0])[["age"]]
    pipeline = ending_in(make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), (0, 2.0), rows=rows)
    model = check(pipeline, rows)
    assert model.terms[0].mean == 50.0


def test_branches_with_different_means_need_a_literal():
    rows = X.assign(age=[20.0, np.nan, 50.0, 60.0])[["age"]]
    branches = make_union(SimpleImputer(strategy="median"), SimpleImputer(strategy="constant", fill_value=-1.0))
    model = check(ending_in(branches, (0, 2.0), (1, 3.0), rows=rows), rows)
    assert texts(model) == [(5.0, "age"), (-153.0, "[age is missing]")]
    assert model.terms[0].mean == 50.0


def test_indicators_are_literals():
    rows = X.assign(age=[20.0, np.nan, 50.0, 60.0])[["age"]]
    model = check(ending_in(SimpleImputer(add_indicator=True), (1, 2.0), rows=rows), rows)
    assert texts(model) == [(2.0, "[age is missing]")]


def test_a_number_that_stands_for_missing_is_a_literal():
    pipeline = ending_in(
        make_pipeline(SimpleImputer(missing_values=-1.0, strategy="constant", fill_value=7.0), MaxAbsScaler()),
        (0, 7.0),
        literal(0, 5.0, "at_most", 0.5),
        rows=X[["dose"]],
    )
    model = check(pipeline, X[["dose"]])
    assert texts(model) == [(1.0, "dose"), (8.0 - 5.0, "[dose = -1]"), (5.0, "[dose ≤ 3.5]")]
    with pytest.raises(ValueError, match="missing"):
        pipeline.predict(X[["dose"]] * np.nan)
    with pytest.raises(ValueError, match="dose"):
        model.predict(X[["dose"]] * np.nan)


def test_categories_are_literals_and_unknown_ones_are_refused():
    pipeline = ending_in(OneHotEncoder(), (1, 2.0), rows=X[["ward"]], literals="raw")
    model = check(pipeline, X[["ward"]])
    assert texts(model) == [(2.0, "[ward = 'B']")]
    assert model.accepted == (Accepted(0, ("A", "B", "C"), missing=False),)
    ignoring = ending_in(OneHotEncoder(handle_unknown="ignore"), (1, 2.0), rows=X[["ward"]])
    assert fold_pipeline(ignoring).accepted == ()


def test_a_weight_of_a_code_is_one_for_each_category():
    pipeline = ending_in(OrdinalEncoder(), (0, 2.0), rows=X[["ward"]])
    assert texts(check(pipeline, X[["ward"]])) == [(2.0, "[ward = 'B']"), (4.0, "[ward = 'C']")]
    unknown = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    pipeline = ending_in(unknown, literal(0, 2.0, "at_most", 1.5), literal(0, 1.0, "missing"), rows=X[["ward"]])
    model = check(pipeline, pd.DataFrame({"ward": ["A", "B", "C", "D", np.nan]}))
    assert texts(model) == [(2.0 - 1.0, "[ward = 'A']"), (1.0, "[ward = 'B']"), (-1.0, "[ward = 'C']")]


def test_bins_are_thresholds_with_a_range():
    steps = make_pipeline(StandardScaler(), KBinsDiscretizer(3, encode="ordinal", strategy="uniform"))
    model = check(ending_in(steps, (0, 1.5), rows=X[["age"]]), X[["age"]])
    assert [(weight, text[:5]) for weight, text in texts(model)] == [(1.5, "[age "), (1.5, "[age ")]
    assert model.ranges == (Range(0, 20.0, 60.0),)
    assert model.accepted == (Accepted(0, missing=False),)


def test_ranges_are_those_of_the_raw_numbers():
    scaled = StandardScaler().fit_transform(X[["age"]])[:, 0]
    extent = Range(0, float(scaled.min()), float(scaled.max()))
    model = fold_pipeline(ending_in(StandardScaler(), (0, 1.0), rows=X[["age"]], ranges=(extent,)))
    assert model.ranges == (Range(0, 20.0, 60.0),)


def test_a_score_card_of_literals_stays_one():
    model = check(
        ending_in(StandardScaler(), literal(1, 3.0, "above", 0.0), rows=X[["age", "dose"]], intercept=-1.0),
        X[["age", "dose"]],
    )
    assert model.is_score_card


def test_points_for_each_unit_stay_so_where_the_constant_does():
    pipeline = ending_in(MaxAbsScaler(), (0, 6.0, None, "raw", None, None, 0.5), rows=X[["age"]])
    assert fold_pipeline(pipeline).terms[0].unit == 30.0
    centred = ending_in(StandardScaler(), (0, 6.0, None, "raw", None, None, 0.5), rows=X[["age"]])
    assert fold_pipeline(centred).terms[0].unit is None


def test_columns_are_chosen_by_position_name_and_mask():
    for columns in ([0, -2], ["age", "dose"], slice(0, 2), [True, True, False], lambda table: list(table)[:2]):
        steps = ColumnTransformer([("scaled", StandardScaler(), columns)], remainder="drop")
        assert texts(check(ending_in(steps, (1, 2.0))))[0][1] == "dose"


def test_text_that_passes_is_compared_as_it_is():
    steps = make_column_transformer((StandardScaler(), ["age"]), ("passthrough", ["ward"]))
    pipeline = ending_in(steps, literal(1, 1.0, "equals", "B"), literal(1, 2.0, "missing"))
    pipeline[-1].set_params(categorical_features=[1])
    assert texts(check(pipeline)) == [(1.0, "[ward = 'B']"), (2.0, "[ward is missing]")]


def test_text_that_passes_and_is_imputed():
    steps = make_column_transformer(
        (SimpleImputer(strategy="constant", fill_value="B"), ["ward"]), ("passthrough", ["age"])
    )
    pipeline = ending_in(steps, literal(0, 1.0, "equals", "B"))
    pipeline[-1].set_params(categorical_features=[0])
    rows = X.assign(ward=["A", np.nan, "B", "X"])
    assert texts(check(pipeline, rows)) == [(1.0, "[ward is missing]"), (1.0, "[ward = 'B']")]


def test_a_function_that_does_nothing_passes():
    rows = X[["age"]].to_numpy()
    assert texts(check(ending_in(FunctionTransformer(), (0, 2.0), rows=rows), rows)) == [(2.0, "x0")]


def test_without_steps_the_model_is_as_it_was():
    fitted = make_pipeline(SMaLLClassifier(1, 1)).fit(X[["age"]], [0, 0, 1, 1])
    assert fold_pipeline(fitted) is fitted[-1].model_
    passing = make_pipeline("passthrough", SMaLLClassifier(1, 1)).fit(X[["age"]], [0, 0, 1, 1])
    assert fold_pipeline(passing).prototypes == passing[-1].model_.prototypes


# --- what cannot be folded -------------------------------------------------------------------------------------------


class Doubled(StandardScaler):
    def transform(self, X, copy=None):
        return 2.0 * super().transform(X, copy)


NUMBERS = X[["age", "dose"]]


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (make_pipeline(PCA(1)), r"Step 'pca' \(PCA\) cannot be folded into the model: no term of a model"),
        (make_union(PCA(1)), r"Step 'pca' \(PCA\)"),
        (make_pipeline(Doubled()), r"Step 'doubled' \(Doubled\) cannot be folded"),
        (
            make_pipeline(FunctionTransformer(np.sqrt)),
            r"Step 'functiontransformer' \(FunctionTransformer\) cannot .*: its function may be any",
        ),
        (
            make_pipeline(MinMaxScaler(clip=True)),
            r"Step 'minmaxscaler' \(MinMaxScaler\) clips, and the model has a weight for the number that comes out",
        ),
        (
            make_pipeline(StandardScaler(), OneHotEncoder(sparse_output=False)),
            r"Step 'onehotencoder' \(OneHotEncoder\) cannot be folded .*: it refuses numbers between others",
        ),
        (
            make_pipeline(StandardScaler(), SimpleImputer(missing_values=0.0)),
            r"Step 'simpleimputer' \(SimpleImputer\) cannot .*: 0.0 stands for a missing value after numbers",
        ),
        (
            make_pipeline(OneHotEncoder(dtype=np.float32), MaxAbsScaler()),
            r"Step 'maxabsscaler' \(MaxAbsScaler\) cannot be folded into the model: it computes in float32",
        ),
        (
            FeatureUnion([("scaled", StandardScaler())], transformer_weights={"scaled": -1.0}),
            r"Step 'steps' \(FeatureUnion\) cannot be folded into the model: its weight is -1",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_cannot_be_folded_is_an_error_that_names_the_step(steps, message):
    rows = NUMBERS.abs()
    with pytest.raises(ValueError, match=message):
        fold_pipeline(ending_in(steps, (0, 1.0), rows=rows))


def test_none_and_nan_as_two_categories_cannot_be_folded():
    rows = np.array([["A"], [None], [np.nan], ["B"]], dtype=object)
    with pytest.raises(ValueError, match=r"'onehotencoder'.*None and NaN as different categories"):
        fold_pipeline(ending_in(make_pipeline(OneHotEncoder()), (0, 1.0), rows=rows))


def test_a_pipeline_that_is_not_fitted_is_refused():
    with pytest.raises(ValueError, match="This SMaLLClassifier is not fitted yet"):
        fold_pipeline(make_pipeline(StandardScaler(), SMaLLClassifier()))


def test_steps_that_do_not_fit_together_are_refused():
    pipeline = ending_in(StandardScaler(), (0, 1.0), rows=NUMBERS)
    other = ending_in(StandardScaler(), (0, 1.0), rows=X[["age"]])
    with pytest.raises(ValueError, match="The steps make 2 columns; the classifier takes 1"):
        fold_pipeline(make_pipeline(pipeline[0], other[-1]))
    with pytest.raises(
        ValueError, match=r"Step 'maxabsscaler' \(MaxAbsScaler\) was fitted to 1 columns; .* gives it 2"
    ):
        fold_pipeline(make_pipeline(pipeline[0], MaxAbsScaler().fit(X[["age"]]), other[-1]))
