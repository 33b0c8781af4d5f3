"""A file of every format that was ever written loads, and predicts what it always did.

The files in ``tests/model/files`` are never changed. A change of the format raises its number and adds a file.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from smallearn import SMaLLModel, load_model
from smallearn.model import Accepted, DataFacts, Deployment, Description, Histogram, Range, Selection, Step, Training
from smallearn.model._json import VERSION, _added
from smallearn.model._term import KINDS

FILES = Path(__file__).parent / "files"


def file_of(number):
    return FILES / f"format-{number}.json"


def tumours(**columns):
    names = ["mean concave points", "worst radius", "worst texture", "radius error"]
    return pd.DataFrame({name: columns.get(name.replace(" ", "_"), 0.0) for name in names}, index=range(3))


# By hand: the rows, the scores and the classes.
KNOWN = {
    1: (
        tumours(mean_concave_points=[0.05, 0.1, 0.0], worst_radius=[16.0, 20.0, 0.0], radius_error=[0.5, 0.5, 1.0]),
        [[-8.0, -2.0], [-0.5, -2.0], [-30.5, 2.0]],
        ["benign", "benign", "malignant"],
    ),
    2: (
        pd.DataFrame(
            {"age": [50.0, None, 30.0], "ward": ["A", "B", None], "smoker": [True, False, None], "dose": [100, None, 0]}
        ),
        [[1.0], [-0.5], [-3.0]],
        [False, True, True],
    ),
    3: (
        [[9.0, 9.0, 1.5, 0.2], [9.0, 9.0, 4.0, 2.0], [9.0, 9.0, 6.0, 1.65]],
        [[0.75, 0.25, -1.875], [-0.5, 0.25, -1.0], [-1.5, 0.25, 1.5]],
        [1, 2, 3],
    ),
    4: (
        pd.DataFrame(
            {
                "size": [4.0, np.nan, 1.0],
                "colour": ["blue", "größer ≥ 2", None],
                "other": 0,
                "code": pd.Series([1, 2, 9007199254740993], dtype=object),
            }
        ),
        [[0.25], [-1.0], [0.75]],
        ["yes", "no", "yes"],
    ),
    5: (
        pd.DataFrame({"pressure": [140.0, 100.0, None], "other": 0, "dose": [0.0, 1.0, None]}),
        [[3.0, -2.0], [-8.0, -2.0], [1.0, 2.0]],
        [10, 20, 10],
    ),
    # 'yes' where 2 * score is below log(4): a score below 0.693
    6: (
        pd.DataFrame({"age": [3.5, 3.25, 0.0], "ward": ["B", "B", "A"]}),
        [[0.75, -2.0], [0.625, -2.0], [-1.0, 1.0]],
        ["no", "yes", "no"],
    ),
    # both classes have prototypes; a tie is the first class
    7: (
        [[1.0, 9.0, 0.0], [0.0, 9.0, 4.0], [2.0, 9.0, 3.0]],
        [[1.0, -0.5, 0.25], [-1.0, 1.5, 2.25], [3.0, 1.0, 1.75]],
        [False, True, False],
    ),
    # refuses other wards, and a missing age
    8: (
        pd.DataFrame({"ward": ["A", "B", None], "age": [30.0, 40.0, 50.0]}),
        [[1.5], [-0.5], [0.5]],
        ["yes", "no", "yes"],
    ),
    9: (
        pd.DataFrame({"ward": ["A", "B", None], "age": [30.0, 40.0, 50.0]}),
        [[1.5], [-0.5], [0.5]],
        ["yes", "no", "yes"],
    ),
    # the same with other sizes, an alternative, descriptions and histograms of the training rows
    10: (
        pd.DataFrame({"ward": ["A", "B", None], "age": [30.0, 40.0, 50.0]}),
        [[1.5], [-0.5], [0.5]],
        ["yes", "no", "yes"],
    ),
}


def test_there_is_a_file_of_every_format():
    assert set(FILES.iterdir()) == {file_of(number) for number in range(1, VERSION + 1)}
    for number in KNOWN:
        assert json.loads(file_of(number).read_text(encoding="utf-8"))["version"] == number
    assert list(KNOWN) == list(range(1, VERSION + 1))


def test_the_newest_format_and_no_earlier_one_has_every_kind_of_term():
    assert ("raw", *_added("kind", VERSION)) == KINDS
    first = json.loads(file_of(1).read_text(encoding="utf-8"))
    first["prototypes"][0]["terms"][0]["kind"] = "missing"
    with pytest.raises(ValueError, match="'missing' is not one of 'raw', the kinds of format 1"):
        SMaLLModel.from_json(json.dumps(first))


@pytest.mark.parametrize("number", KNOWN)
def test_a_file_of_every_format_predicts_what_it_always_did(number):
    rows, scores, labels = KNOWN[number]
    model = load_model(file_of(number))
    assert model.scores(rows).tolist() == scores
    assert model.predict(rows).tolist() == labels
    again = SMaLLModel.from_json(model.to_json())  # in a newer format
    assert again == model
    assert again.predict(rows).tolist() == labels


def test_what_an_early_format_does_not_say_has_the_value_that_it_meant():
    models = [load_model(file_of(number)) for number in KNOWN]
    first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth = models
    assert (first.scale, first.ranges, first.selection, first.data) == (1.0, (), None, None)
    assert {(term.kind, term.value, term.mean, term.unit) for term in first.terms} == {("raw", None, None, None)}
    assert (first.training.budget, first.training.max_cost, first.training.certified) == ("prototype", None, False)
    assert (second.scale, second.is_score_card, second.ranges) == (0.5, True, ())
    assert second.training.limits == ("a cost of at most 7.5",)
    assert third.ranges == (Range(feature=2, low=1.0, high=6.9), Range(feature=3, low=0.1, high=2.5))
    assert (third.training, third.selection, third.data) == (None, None, None)
    assert isinstance(fourth.training, Training)
    assert fourth.selection == Selection(
        metric="accuracy",
        scores=(0.9, 0.95, 0.925),
        max_terms=4,
        frontier=(
            Step(n_terms=1, n_prototypes=1, score=0.85, spread=0.02),
            Step(n_terms=3, n_prototypes=1, score=0.925, spread=0.014),
        ),
    )
    assert fourth.data == DataFacts(fourth.data.fingerprint, (70, 50), target="bought", source="customers.csv")
    assert fourth.training.lower_bound == 0.42
    assert fifth.training.lower_bound is None
    assert (fifth.decision_threshold, fifth.cost_matrix) == (0.5, None)
    assert sixth.decision_threshold == 0.2
    assert (sixth.sole_owner, seventh.sole_owner) == (0, None)
    assert seventh.accepted == ()
    assert eighth.accepted == (Accepted(0, ("A", "B")), Accepted(1, missing=False))
    assert eighth.deployment is None
    assert ninth.deployment == Deployment("atmega328p", "int8", "code", "counts", (("age", 0.1, 0.0, 0, 1023),))
    assert (ninth.frontier_models, ninth.alternatives, ninth.descriptions) == ((), (), ())
    assert [one.n_terms for one in tenth.frontier_models] == [1, 2]
    assert tenth.frontier_models[1] == replace(ninth, deployment=None)
    assert [term.text for term in tenth.alternatives[0].terms] == ["[ward = 'A']"]
    assert ninth.reference is None
    assert (tenth.reference.n_rows, tenth.reference.predicted) == (43, (15.5, 27.5))
    assert tenth.reference.scores == (Histogram(counts=(20.0, 23.0), edges=(-0.5, 0.5, 1.5)),)
    assert tenth.reference.features == (
        Histogram(counts=(40.0, 2.0), categories=("B", "A"), missing=1.0, feature=0),
        Histogram(counts=(30.0, 13.0), edges=(18.0, 40.5, 90.0), feature=1),
    )
    assert tenth.descriptions == (Description("age", "age at admission", "years"), Description("ward"))


def test_a_model_is_written_in_the_oldest_format_from_6_on_that_holds_it():
    for number in KNOWN:
        written = json.loads(load_model(file_of(number)).to_json())["version"]
        assert written == max(number, 6)


def test_a_newer_format_is_refused_by_its_number_with_advice(tmp_path):
    text = file_of(VERSION).read_text(encoding="utf-8")
    newer = tmp_path / "newer.json"
    newer.write_text(text.replace(f'"version": {VERSION}', f'"version": {VERSION + 1}'), encoding="utf-8")
    message = rf"newer.json: The model's file has format {VERSION + 1}; smallearn \S+ reads formats 1 to {VERSION}\. "
    with pytest.raises(ValueError, match=message + "Install a newer smallearn, or save the model again with this one"):
        load_model(newer)
