"""Values that a model refuses, wherever rows come in."""

import json

import duckdb
import numpy as np
import pandas as pd
import pytest

from smallearn import SMaLLModel
from smallearn.explain import case
from smallearn.export import to_c, to_python, to_sql
from smallearn.model import Accepted, Prototype, Term, read_rows

TERMS = (
    Term(0, 2.0, "ward", "equals", "A"),
    Term(1, 1.0, "age", "above", 40.0),
    Term(2, 1.0, "code", "equals", 3.0),
)
ACCEPTED = (Accepted(0, ("A", "B")), Accepted(1, missing=False), Accepted(2, (1, 3.0, True), missing=False))
MODEL = SMaLLModel(("no", "yes"), "<U3", 3, (Prototype(1, -1.5, TERMS),), accepted=ACCEPTED)
GOOD = {"ward": "A", "age": 50.0, "code": 3}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ward": "C"}, "Feature 'ward' is 'C'; the model accepts 'A', 'B'"),
        ({"ward": "A "}, "Feature 'ward' is 'A '; the model accepts"),
        ({"age": None}, "Feature 'age' is missing, which the model does not accept"),
        ({"code": 2}, "Feature 'code' is 2; the model accepts 1, 3.0, True"),
        ({"code": np.nan}, "Feature 'code' is missing"),
    ],
)
def test_a_value_that_is_not_accepted_is_refused_everywhere(changed, message):
    row = GOOD | changed
    table = pd.DataFrame([GOOD, row])
    calls = [
        lambda: MODEL.predict(table),
        lambda: MODEL.predict_proba(table),
        lambda: MODEL.scores(read_rows(MODEL, table)),
        lambda: MODEL.predict_one(row),
        lambda: MODEL.predict_one(list(row.values())),
        lambda: case(MODEL, row),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=message):
            call()


def test_what_is_accepted_is_predicted():
    table = pd.DataFrame([GOOD, GOOD | {"ward": None}, GOOD | {"code": True, "age": 1.0, "ward": "B"}])
    assert MODEL.predict(table).tolist() == ["yes", "yes", "no"]
    assert MODEL.predict(table.to_numpy(dtype=object)).tolist() == ["yes", "yes", "no"]


def test_a_change_leads_to_a_value_that_is_accepted():
    found = case(MODEL, GOOD | {"age": 20.0, "code": 1}, changeable=["ward"])
    assert found.smallest.changes[0].after == "B"


def test_rows_without_gaps_need_no_test_for_them():
    model = MODEL.for_complete_rows()
    assert model.accepted == (Accepted(0, ("A", "B")), Accepted(1, missing=False), Accepted(2, (1, 3.0, True)))


def test_sql_has_no_prediction_where_the_model_refuses():
    rows = [GOOD, GOOD | {"ward": "C"}, GOOD | {"ward": None}, GOOD | {"age": None}, GOOD | {"code": 2}]
    rows += [GOOD | {"code": None}]
    data = pd.DataFrame(rows).astype({"ward": "string", "age": float, "code": float})  # noqa: F841 - read by DuckDB
    found = duckdb.sql(f"SELECT prediction FROM ({to_sql(MODEL, 'duckdb').rstrip().rstrip(';')})").fetchall()
    assert [label for (label,) in found] == ["yes", None, "yes", None, None, None]


def test_other_exports_say_that_they_do_not_check():
    for text in (to_python(MODEL), to_c(MODEL)):
        assert "The model accepts A, B, a missing value for ward and refuses others; here that is not checked." in text


@pytest.mark.parametrize(
    ("accepted", "message"),
    [
        ((Accepted(1),), "Accepted values are some categories, or all but missing ones"),
        ((Accepted(4, missing=False),), "Accepted values belong to features in use, once for each, not to 4"),
        ((ACCEPTED[0], ACCEPTED[0]), "once for each, not to 0, 0"),
        ((Accepted(0, ("B", "C")),), r"The accepted values of feature 0 lack that of \[ward = 'A'\]"),
        ((Accepted(1, ("young", "old")),), r"\[age > 40\] needs numbers; the accepted values of feature 1 are text"),
    ],
)
def test_what_is_accepted_fits_the_model(accepted, message):
    with pytest.raises(ValueError, match=message):
        SMaLLModel(("no", "yes"), "<U3", 5, MODEL.prototypes, accepted=accepted)


def test_a_file_has_what_is_accepted():
    assert SMaLLModel.from_json(MODEL.to_json()) == MODEL
    tree = json.loads(MODEL.to_json())
    tree["accepted"][0]["categories"] = "AB"
    with pytest.raises(ValueError, match=r"^accepted\[0\].categories: expected list, found 'AB'"):
        SMaLLModel.from_json(json.dumps(tree))
    odd = SMaLLModel(("no", "yes"), "<U3", 3, MODEL.prototypes, accepted=(Accepted(0, ("A", 1 + 2j)),))
    with pytest.raises(ValueError, match="JSON holds finite numbers"):
        odd.to_json()
