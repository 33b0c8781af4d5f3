"""Exports to plain Python, run by CPython as a text and as a file."""

import ast
import math
import subprocess
import sys
import timeit

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy import sparse

from smallearn.export._flat import flatten
from smallearn.export._scripts.python import to_python
from tests.helpers import scripts
from tests.helpers.exports import MIXED, exportable, full_table, trained_models
from tests.helpers.models import CARD, ROWS, THREE, YES
from tests.helpers.scripts import Answer, all_features, assert_agrees


@pytest.fixture(scope="module")
def trained():
    return trained_models()


def load(text):
    """The module, which must be ASCII and in the syntax of Python 3.8."""
    text.encode("ascii")
    ast.parse(text, feature_version=(3, 8))
    module = {}
    exec(compile(text, "export", "exec"), module)
    return module


def answers(module, rows):
    return [_answer(module, row) for row in rows]


def _answer(module, row):
    reason, decision = module["reason"](row), module["decision"](row)
    assert reason["class"] == module["predict"](row)
    assert reason["score"] == module["scores"](row)[reason["prototype"]]
    return Answer(
        module["CLASSES"].index(module["predict"](row)),
        module["scores"](row),
        decision if isinstance(decision, list) else [decision],
        reason["prototype"],
        [(term["feature"], term["contribution"]) for term in reason["terms"]],
        module["probabilities"](row),
    )


def assert_all_agree(cases):
    for model, rows in cases:
        flat = flatten(model)
        everything = [all_features(flat, row) for row in rows]
        assert_agrees(model, rows, answers(load(to_python(model)), everything))
        assert_agrees(model, rows, answers(load(to_python(model, inputs="used")), rows))


# --- CPython ---------------------------------------------------------------------------------------------------------


def test_every_row_of_real_data_is_predicted_as_by_the_model(trained):
    assert_all_agree(scripts.with_rows(trained))


def test_every_edge_is_predicted_as_by_the_model():
    assert_all_agree(scripts.by_hand())


@given(exportable())
def test_any_model_is_predicted_as_by_the_model(case):
    assert_all_agree([case])


def test_names_can_do_no_harm():
    assert_all_agree([(scripts.hostile_model(), scripts.hostile_rows())])


@pytest.mark.parametrize("labels", scripts.LABELS.values(), ids=scripts.LABELS)
def test_classes_are_returned_with_their_type(labels):
    predict = load(to_python(scripts.labelled(labels)))["predict"]
    for i, label in enumerate(labels):
        found = predict([float(i)])
        assert type(found) is type(label)
        assert repr(found) == repr(label)


def test_nan_is_missing_as_none_is():
    module = load(to_python(MIXED))
    for row in ([None, None, None, None, None], [None, 150.0, "A", 1.0, 3], [50, 0.1, None, None, True]):
        with_nan = [math.nan if value is None else value for value in row]
        assert module["scores"](with_nan) == module["scores"](row)
        assert module["predict"](with_nan) == module["predict"](row) == MIXED.predict_one(row)


def test_a_number_is_not_its_text_and_true_is_one():
    module = load(to_python(MIXED))
    for count in (1, 1.0, True, "1", 3, "3", 3.0, False, 0):
        row = [50.0, 100.0, "A", 0.0, count]
        assert module["scores"](row) == MIXED.scores(np.array([row], dtype=object))[0].tolist()


def test_whole_numbers_beyond_floats_are_compared_as_the_model_does():
    threshold = 2.0**60
    prototype = scripts.Prototype(1, -0.5, (scripts.Term(0, 1.0, "a", "above", threshold),))
    model = scripts.replace(YES, n_features=1, prototypes=(prototype,))
    for number in (2**60, 2**60 + 1, 2**60 + 129, 2**60 + 1000):
        assert load(to_python(model))["predict"]([number]) == model.predict_one([number])


@pytest.mark.parametrize("row", scripts.REFUSED.values(), ids=scripts.REFUSED)
def test_a_row_without_an_answer_is_a_value_error(row):
    module = load(to_python(scripts.NEEDY))
    assert module["predict"](scripts.FULL) == scripts.NEEDY.predict_one(scripts.FULL)
    for function in ("predict", "scores", "decision", "probabilities", "reason"):
        with pytest.raises(ValueError, match="missing, too large or of a wrong type"):
            module[function](row)
    with pytest.raises(ValueError):
        scripts.NEEDY.predict_one(row)


@pytest.mark.parametrize("row", [[], [1.0, 2.0], [1.0, 2.0, 3.0, 4.0], {"a": 1, "b": 2, "c": 3}, 7])
def test_a_row_of_another_length_is_refused(row):
    module = load(to_python(YES))
    for function in ("predict", "scores"):
        with pytest.raises(ValueError, match="3 values"):
            module[function](row)


def test_text_that_the_model_refuses_is_refused():
    module = load(to_python(MIXED))
    for row in ([50, "7", "A", 0.0, 1], ["7", 7, "A", 0.0, 1]):
        for predict in (module["predict"], MIXED.predict_one):
            with pytest.raises(ValueError):
                predict(row)


def test_log_odds_that_overflow_are_refused_and_the_class_is_not():
    for model in (scripts.replace(YES, scale=1e300), scripts.replace(THREE, scale=1e300)):
        module = load(to_python(model))
        row = [1e10] * model.n_features
        assert module["predict"](row) == model.predict_one(row)
        with pytest.raises(ValueError):
            module["decision"](row)


def test_sums_of_a_thousand_terms_compile():
    terms = tuple(scripts.Term(i, 0.1 * i + 0.1, f"f{i}") for i in range(1000))
    model = scripts.replace(YES, n_features=1000, prototypes=(scripts.Prototype(1, -1.0, terms),))
    row = np.random.default_rng(0).normal(size=1000).tolist()
    module = load(to_python(model))
    assert module["scores"](row) == model.scores([row])[0].tolist()
    assert module["predict"](row) == model.predict_one(row)


def test_the_text_says_where_it_comes_from_and_what_it_does():
    text = to_python(CARD, inputs="used")
    assert text.startswith(f"# {flatten(CARD).stamp}\n# Predict 'yes' if the score is above 0, otherwise 'no'.\n")
    assert "X_COLOUR = 1" in text
    assert "# colour = 'red'" in text


def test_a_prediction_takes_no_longer_than_ten_empty_calls(trained):
    model, X = trained["breast cancer"]
    assert len(model.prototypes) == 2
    assert [len(prototype.terms) for prototype in model.prototypes] == [3, 3]
    scope = {"predict": load(to_python(model))["predict"], "empty": _empty}
    rows = {label: X[model.predict(X) == label][0].tolist() for label in model.classes}
    tracer = sys.gettrace()
    sys.settrace(None)  # coverage would make the empty call slow
    try:
        ratios = [_ratio(scope, row) for row in rows.values()]
    finally:
        sys.settrace(tracer)
    assert max(ratios) <= 10.0


def _ratio(scope, row):
    """The best time of ``predict(row)`` over that of ``empty(row)``, measured by turns."""
    best = {"predict": math.inf, "empty": math.inf}
    for _ in range(200):
        for name in best:
            timer = timeit.Timer(f"{name}(row)", globals={**scope, "row": row})
            best[name] = min(best[name], timer.timeit(1000))
    return best["predict"] / best["empty"]


def _empty(x):
    pass


# --- conformance -----------------------------------------------------------------------------------------------------


def test_conformance_rows_may_come_in_any_form_that_the_model_takes():
    table = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    texts = {to_python(YES, conformance=form) for form in (ROWS, ROWS.tolist(), sparse.csr_array(ROWS), table)}
    assert len(texts) == 1
    assert load(texts.pop())["test"]() == 0


def test_conformance_counts_the_rows_that_differ():
    text = to_python(YES, inputs="used", conformance=ROWS)
    assert load(text)["test"]() == 0
    assert load(text.replace("), 1),", "), 0),"))["test"]() == np.count_nonzero(YES.predict(ROWS) == "yes") > 0


@given(exportable())
def test_conformance_of_any_model_holds(case):
    model, rows = case
    for inputs in ("all", "used"):
        text = to_python(model, inputs=inputs, conformance=full_table(flatten(model), rows))
        assert load(text)["test"]() == 0
    assert load(to_python(model, conformance=full_table(flatten(model), [])))["test"]() == 0


def test_conformance_rows_without_an_answer_are_refused():
    with pytest.raises(ValueError, match="finite numbers for 'a'"):
        to_python(YES, conformance=[[math.nan, 0.0, 0.0]])
    dates = pd.DataFrame({"age": [1.0], "colour": [pd.Timestamp(0)], "member": [True]})
    with pytest.raises(ValueError, match="datetime64"):
        to_python(CARD, conformance=dates)
    with pytest.raises(ValueError, match="no float64"):
        to_python(CARD, conformance=np.array([[30.0, 10**400, 0.0, True]], dtype=object))


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="neither 'all'"):
        to_python(YES, inputs="some")


def test_the_text_runs_as_a_file(tmp_path):
    text = to_python(MIXED, conformance=full_table(flatten(MIXED), scripts.edge_rows(flatten(MIXED), 20)))
    (tmp_path / "model.py").write_text(text, encoding="ascii")
    command = [sys.executable, "-S", "-E", "-c", "import model; print(model.test(), len(model.ROWS))"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert found[0] == "0"
    assert int(found[1]) > 20
