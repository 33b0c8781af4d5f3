"""What users pass beside a model: an estimator in its place, and rows that were read before."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smallearn import SMaLLClassifier, SMaLLClassifierCV
from smallearn.model import Rows, as_model, read_rows
from tests.helpers.models import CARD, NO, ROWS, THREE, YES

X = np.array([[0.0, 1.0], [0.2, 0.0], [1.0, 1.0], [1.2, 0.0]])
y = np.array(["no", "no", "yes", "yes"])
CLASSIFIER = SMaLLClassifier(n_prototypes=1, n_nonzero=1)

# --- an estimator in place of a model --------------------------------------------------------------------------------


def test_a_fitted_estimator_stands_for_its_model():
    fitted = SMaLLClassifier(n_prototypes=1, n_nonzero=1).fit(X, y)
    assert as_model(fitted) is fitted.model_
    assert as_model(YES) is YES


def test_a_search_over_parameters_stands_for_its_best_model():
    search = GridSearchCV(CLASSIFIER, {"alpha": [0.1]}, cv=2).fit(X, y)
    assert as_model(search) is search.best_estimator_.model_


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (CLASSIFIER, ValueError, "This SMaLLClassifier is not fitted yet and has no model; call fit first"),
        (SMaLLClassifierCV(), ValueError, "This SMaLLClassifierCV is not fitted yet and has no model; call fit first"),
        ("model.json", TypeError, "'model.json' is a path, not a model; read it first: smallearn.load_model"),
        (make_pipeline(StandardScaler(), CLASSIFIER), ValueError, "This SMaLLClassifier is not fitted yet"),
        (LogisticRegression(), TypeError, "A LogisticRegression is not a model; pass a SMaLLModel, a fitted SMaLL"),
        (None, TypeError, "A NoneType is not a model; pass a SMaLLModel"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_anything_but_a_model_or_a_fitted_estimator_is_refused_with_advice(given, error, message):
    with pytest.raises(error, match=message):
        as_model(given)


def test_a_class_derived_from_an_estimator_is_known_as_one():
    class Derived(SMaLLClassifier):
        pass

    with pytest.raises(ValueError, match="This Derived is not fitted yet"):
        as_model(Derived())


# --- rows that were read before --------------------------------------------------------------------------------------

TABLE = pd.DataFrame(
    {
        "member": [True, False, None],
        "age": [41.0, None, 3.0],
        "other": ["a", "b", "c"],
        "colour": ["red", "blue", "green"],
    }
)


@pytest.mark.parametrize(("model", "table"), [(YES, ROWS), (NO, ROWS), (THREE, ROWS[:, :2]), (CARD, TABLE)])
def test_rows_that_were_read_give_what_the_table_gives(model, table):
    rows = read_rows(model, table)
    assert isinstance(rows, Rows)
    assert rows.shape == (len(table), model.n_features)
    for question in (model.scores, model.decision_function, model.predict, model.predict_proba):
        np.testing.assert_array_equal(question(rows), question(table))
    answers = model.predict(table)
    trained = model.trained_on(table, answers)
    assert model.trained_on(rows, answers) == trained
    assert trained.was_trained_on(rows, answers)


def test_rows_are_read_once_and_scored_once():
    rows = read_rows(YES, ROWS)
    assert read_rows(YES, rows) is rows
    assert YES.scores(rows) is YES.scores(rows)
    with pytest.raises(ValueError, match="read-only"):
        YES.scores(rows)[0, 0] = 1.0


def test_no_rows_have_no_answers():
    rows = read_rows(YES, np.empty((0, 3)))
    assert rows.n_rows == 0
    assert YES.predict(rows).shape == (0,)
    assert YES.scores(rows).shape == (0, 2)


def test_rows_that_were_read_for_another_model_are_refused():
    rows = read_rows(YES, ROWS)
    with pytest.raises(ValueError, match="These rows have 3 features; the model was trained on 2"):
        THREE.predict(rows)
    renamed = YES.with_feature_names(["u", "v", "w"])
    with pytest.raises(ValueError, match="These rows were read without feature 'u'; read the table again"):
        renamed.predict(rows)


def test_tables_and_batches_of_arrow_are_read_by_name():
    frame = pd.DataFrame({"a": [0.0, 0.2, np.nan, 1.2], "b": ["u", None, "v", "v"], "c": [1, 2, 3, 4]})
    classifier = SMaLLClassifier(1, 2, literals="both", categorical_features="from_dtype").fit(frame, y)
    table = pa.Table.from_pandas(frame[["c", "b", "a"]])
    for rows in (table, table.to_batches()[0]):
        np.testing.assert_array_equal(classifier.model_.predict_proba(rows), classifier.model_.predict_proba(frame))
    with pytest.raises(ValueError, match=r"lacks the columns .* its first are 'c'"):
        classifier.model_.predict(table.select(["c"]))


def test_a_batch_without_a_shape_is_read_by_name_too():
    """Those of pyarrow before version 16 have none."""

    class Batch:
        column_names = ("c", "b")

        def __len__(self):
            return 2

        def __array__(self, *_args, **_kwargs):
            raise AssertionError("the names of the columns would be lost")

        def to_pandas(self):
            return pd.DataFrame({"c": [9.0, 9.0], "b": [0.0, 1.0]})

    model = SMaLLClassifier(1, 1).fit(pd.DataFrame({"b": [0.0, 0.0, 1.0, 1.0]}), [0, 0, 1, 1]).model_
    assert model.predict(Batch()).tolist() == [0, 1]
