"""One decision explained, and the smallest change, compared with trying every row."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from smallearn import SMaLLClassifier, SMaLLClassifierCV, explain
from smallearn.explain._case import search
from smallearn.model import Prototype, Range, SMaLLModel, Term
from tests.helpers.models import model_of, with_costs, with_decision

SQUARE = 6  # values 0 to 5 of each feature in models that are tried on every row


EVERY = pd.DataFrame(list(itertools.product(range(SQUARE), repeat=3)), columns=["f0", "f1", "f2"])


def whole_model(rng, n_classes=2, n_features=3, n_prototypes=2):
    """A model on whole numbers from 0 to 5, of all kinds of terms, with weights that meet in ties."""
    prototypes = []
    owners = [int(rng.integers(2))] * n_prototypes if n_classes == 2 else [*range(n_classes), 0]
    for owner in owners:
        terms = {}
        for feature in rng.choice(n_features, 2, replace=False):
            kind = str(rng.choice(["raw", "at_most", "above", "equals"]))
            value = None if kind == "raw" else int(rng.integers(SQUARE)) if kind == "equals" else float(rng.integers(5))
            terms[int(feature)] = Term(int(feature), float(rng.integers(-4, 5)), f"f{feature}", kind, value)
        one = SMaLLModel(("a", "b"), "<U1", n_features, (Prototype(1, 0.0, tuple(terms.values())),))
        middle = -np.round(np.quantile(one.scores(EVERY), 0.7 if n_classes == 2 else 0.5))
        prototypes.append(Prototype(owner, float(middle), tuple(terms.values())))
    used = sorted({term.feature for prototype in prototypes for term in prototype.terms})
    ranges = tuple(Range(feature, 0.0, SQUARE - 1.0) for feature in used)
    names = tuple(f"c{i}" for i in range(n_classes))
    return SMaLLModel(names, "<U2", n_features, tuple(prototypes), ranges=ranges)


def nearest_by_hand(model, row, free, answers):
    """The least change over the whole square: in ranges, added up; a feature that is only asked for equality is a
    category, and another one counts 1."""
    numbers = {term.feature for term in model.terms if term.kind != "equals"}
    sizes = []
    for other, answer in zip(EVERY.to_numpy(), answers, strict=True):
        moved = [i for i in range(3) if other[i] != row[i]]
        if answer != answers[tuple_index(row)] and set(moved) <= set(free):
            sizes.append(sum(abs(other[i] - row[i]) / (SQUARE - 1.0) if i in numbers else 1.0 for i in moved))
    return min(sizes, default=None)


def tuple_index(row):
    return int(row[0] * SQUARE * SQUARE + row[1] * SQUARE + row[2])


@pytest.mark.parametrize("decided", [False, True])
@pytest.mark.parametrize("most_combinations", [search.MOST_COMBINATIONS, 0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_smallest_change_is_that_of_trying_every_row(n_classes, most_combinations, decided, monkeypatch):
    monkeypatch.setattr(search, "MOST_COMBINATIONS", most_combinations)
    rng = np.random.default_rng(n_classes)
    found, none = 0, 0
    for _ in range(40):
        model = whole_model(rng, n_classes)
        model = with_decision(model, rng) if decided else model
        answers = model.predict(EVERY)
        row = EVERY.iloc[int(rng.integers(len(EVERY)))]
        case = explain.case(model, row, X=EVERY)
        assert case.prediction == answers[tuple_index(row.to_numpy())]
        used = [term.feature for term in model.features]
        for flip, free in [(case.smallest, used), *((case.alone[f"f{i}"], [i]) for i in used)]:
            least = nearest_by_hand(model, row.to_numpy(), free, answers)
            if least is None:
                assert flip is None
                none += 1
                continue
            assert flip.size == pytest.approx(least)
            changed = {**row.to_dict(), **{change.label: change.after for change in flip.changes}}
            assert model.predict_one(changed) == flip.label != case.prediction
            found += 1
    assert found > 50
    assert none > 10


def test_by_expected_costs_a_change_is_found_and_told():
    rng = np.random.default_rng(0)
    found, possible = 0, 0
    for _ in range(25):
        model = with_costs(whole_model(rng, 3), rng)
        answers = model.predict(EVERY)
        row = EVERY.iloc[int(rng.integers(len(EVERY)))]
        case = explain.case(model, row, X=EVERY)
        assert case.prediction == answers[tuple_index(row.to_numpy())]
        assert case.expected_costs[model.classes.index(case.prediction)] == pytest.approx(min(case.expected_costs))
        assert "least expected cost" in case.reason
        possible += len(set(answers)) > 1
        if case.smallest is not None:
            changed = {**row.to_dict(), **{change.label: change.after for change in case.smallest.changes}}
            assert model.predict_one(changed) == case.smallest.label != case.prediction
            found += 1
    assert found >= 0.8 * possible > 0


def test_a_case_tells_the_threshold_and_the_probability_of_what_is_predicted():
    model = replace(model_of(Term(0, 1.0, "age"), intercept=0.0), decision_threshold=0.2)
    low, high = (explain.case(model, {"age": age}) for age in (-2.0, -1.0))
    assert low.reason == "Below the threshold of -1.386: score -2."
    assert high.reason == "Above the threshold of -1.386: score -1."
    assert [case.prediction for case in (low, high)] == [model.classes[0], model.classes[1]]
    assert low.probability == pytest.approx(1.0 / (1.0 + math.exp(-2.0)))
    assert high.probability == pytest.approx(1.0 / (1.0 + math.exp(1.0)))
    assert high.margin == pytest.approx(-1.0 + math.log(4.0))


def test_a_change_of_a_number_flips_the_decision_and_half_of_it_does_not(tumour_model, tumours):
    X, _ = tumours
    for i in range(0, 60, 5):
        case = explain.case(tumour_model, X.iloc[i])
        assert case.smallest is not None
        for flip in [case.smallest, *case.alone.values()]:
            if flip is None:
                continue
            row = X.iloc[i].to_dict()
            assert tumour_model.predict_one({**row, **{c.label: c.after for c in flip.changes}}) == flip.label
            if len(flip.changes) == 1:  # nearer by 3% it is no flip
                (change,) = flip.changes
                nearer = change.before + 0.97 * (change.after - change.before)
                assert tumour_model.predict_one({**row, change.label: nearer}) == case.prediction
        sizes = [flip.size for flip in case.alone.values() if flip is not None]
        assert case.smallest.size <= min(sizes, default=math.inf) * 1.021


def test_a_case_adds_up(tumour_model, tumours):
    X, _ = tumours
    for i in (0, 20, 77):
        case = explain.case(tumour_model, X.iloc[i])
        assert case.scores == pytest.approx(tumour_model.scores(X.iloc[[i]])[0])
        parts = tumour_model.prototypes[case.prototype].intercept + sum(part.points for part in case.contributions)
        assert parts == pytest.approx(max(case.scores))
        assert case.probability == pytest.approx(tumour_model.predict_proba(X.iloc[[i]]).max())
        assert case.prediction == tumour_model.predict(X.iloc[[i]])[0]
        assert case.fired == (case.prediction == "benign")
        text = str(case)
        assert repr(case.prediction) in text
        assert ("Above the threshold of 0: best score +" in text) == case.fired


def test_units_and_the_next_class_are_told():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = SMaLLClassifier(1, 2, random_state=3).fit(X, y).model_
    label = model.features[-1].label
    case = explain.case(model, X.iloc[100], units={label: "inches"})
    text = str(case)
    assert f"{label} = {X[label][100]:.6g} inches" in text
    assert f" inches makes it {case.alone[label].label}" in text
    assert case.rival is not None
    owner = model.classes[model.prototypes[case.rival].owner]
    assert owner != case.prediction
    assert f"The next class, {owner}:" in text
    assert case.margin == pytest.approx(case.scores[case.prototype] - case.scores[case.rival])
    with pytest.raises(ValueError, match="There are units for 'z'"):
        explain.case(model, X.iloc[100], units={"z": "cm"})


def test_what_cannot_be_changed_stays(tumour_model, tumours):
    X, _ = tumours
    labels = [term.label for term in tumour_model.features]
    case = explain.case(tumour_model, X.iloc[0], changeable=labels[:1])
    assert list(case.alone) == labels[:1]
    assert case.smallest is None or [change.label for change in case.smallest.changes] == labels[:1]
    assert "None of the features in use may change." in str(explain.case(tumour_model, X.iloc[0], changeable=[]))
    with pytest.raises(ValueError, match="changeable: 'colour' is not among the features in use"):
        explain.case(tumour_model, X.iloc[0], changeable=["colour"])


def test_a_case_may_be_any_kind_of_row(tumour_model, tumours):
    X, _ = tumours
    cases = [
        explain.case(tumour_model, row)
        for row in (X.iloc[3], X.iloc[3].to_dict(), X.iloc[3].tolist(), X.iloc[[3]], X.iloc[[3]].to_numpy())
    ]
    assert len({case.scores for case in cases}) == 1
    for row, words in ((X.iloc[:2], "one row"), ("text", "not the text"), ([1.0], "has 1 values"), ({}, "lacks")):
        with pytest.raises(ValueError, match=words):
            explain.case(tumour_model, row)


def test_gaps_and_categories_are_told_and_changed():
    terms = (
        Term(0, 2.0, "colour", "equals", "red"),
        Term(1, 1.0, "size", "raw", None, 4.0),
        Term(1, -3.0, "size", "missing"),
    )
    model = SMaLLModel((0, 1), "<i8", 2, (Prototype(1, -3.0, terms),), ranges=(Range(1, 0.0, 10.0),))
    case = explain.case(model, {"colour": "blue", "size": None})
    assert case.scores == (-2.0,)
    text = str(case)
    assert "size = missing, mean 4 used" in text
    assert "[colour = 'red'] is false: colour = 'blue'" in text
    assert "colour from 'blue' to 'red'" not in text  # 0 is not above 0
    assert case.alone["colour"] is None
    assert case.alone["size"].changes[0].after > 3.0
    both = explain.case(model, {"colour": "red", "size": 2.0}, X=pd.DataFrame({"colour": ["green"], "size": [1.5]}))
    assert both.prediction == 1
    assert both.alone["colour"].text == "colour from 'red' to 'green' makes it 0"
    assert explain.case(model, {"colour": "red", "size": 2.0}).alone["colour"].changes[0].after == "any other value"
    assert both.smallest.changes[0].label == "size"  # a tenth of its range is nearer than another colour


@pytest.mark.parametrize("cut", [2.5, 3.5, 3.7])
def test_a_whole_number_that_is_missing_can_be_given(cut):
    model = model_of(Term(0, 2.0, "k", "at_most", cut), ranges=[Range(0, 0.0, 10.0)])
    case = explain.case(model, {"k": None}, X=pd.DataFrame({"k": [0.0, 1.0, 2.0, 5.0, 10.0]}))
    assert case.alone["k"].label == "yes"
    assert case.alone["k"].changes[0].after <= cut


@pytest.mark.parametrize("high", [10**3, 10**6, 10**9, 10**12])
def test_large_whole_numbers_change_by_as_little_as_needed(high):
    model = model_of(Term(0, 1.0 / high, "income"), intercept=-0.5, ranges=[Range(0, 0.0, float(high))])
    case = explain.case(model, {"income": high // 10}, X=pd.DataFrame({"income": [0, high, high // 3]}))
    after = case.alone["income"].changes[0].after
    assert model.predict_one({"income": after}) == "yes"
    assert model.predict_one({"income": after - 1.0}) == "no"


def test_a_change_that_is_not_needed_is_not_told():
    terms = (Term(0, 1.0, "x", "above", 1.0), Term(1, 2.0, "z"))
    model = model_of(*terms, ranges=[Range(0, 0.0, 1e6), Range(1, -1.0, 1.0)])
    case = explain.case(model, {"x": 3.0, "z": -0.5})
    assert [change.label for change in case.smallest.changes] == ["z"]
    assert case.smallest == case.alone["z"]


def test_truths_and_categories_become_others_of_their_kind():
    flag = explain.case(model_of(Term(0, 2.0, "flag", "equals", True)), {"flag": True})
    assert flag.alone["flag"].text == "flag from True to False makes it 'no'"
    code = explain.case(model_of(Term(0, 2.0, "c", "equals", 3)), {"c": 3}, X=pd.DataFrame({"c": [3, 4]}))
    assert code.alone["c"].text == "c from 3 to 4 makes it 'no'"
    weighed = explain.case(model_of(Term(0, 2.0, "flag")), {"flag": True})
    assert weighed.alone["flag"].text == "flag from True to False makes it 'no'"
    mixed = model_of(Term(0, 2.0, "c", "equals", 1), Term(0, 2.0, "c", "equals", "a"))
    X = pd.DataFrame({"c": pd.Series([1, "a", "b"], dtype=object)})
    assert explain.case(mixed, {"c": 1}, X=X).alone["c"].text == "c from 1 to 'b' makes it 'no'"


def test_a_table_of_one_row_is_read_by_position_where_the_model_has_no_names():
    case = explain.case(model_of(Term(0, 2.0, None, "at_most", 2.5)), pd.DataFrame({"k": [1.0]}))
    assert case.prediction == "yes"


def test_a_score_of_exactly_0_is_not_said_to_miss_0():
    prototypes = (Prototype(1, -1.0, (Term(0, 1.0, "x", "at_most", 3.0),)), Prototype(1, -5.0, ()))
    model = SMaLLModel(("no", "yes"), "<U3", 1, prototypes)
    assert explain.case(model, {"x": 1.0}).reason == "At the threshold of 0: best score +0 (number 1 of 2)."


def test_a_category_that_is_a_float_is_no_number_to_move_along():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, 80), rng.normal(size=80)])
    y = (X[:, 0] == 2.0).astype(int)
    model = SMaLLClassifierCV(max_terms=2, categorical_features=[0], random_state=0).fit(X, y).model_
    case = explain.case(model, X[y == 1][0], X=X)
    assert case.alone["x0"].size == 1.0
    assert case.alone["x0"].changes[0].after in (0.0, 1.0, 3.0)
    assert case.alone["x0"].text.startswith("x0 from 2 to ")
    code = explain.case(model_of(Term(0, 2.0, "c", "equals", 3.5)), {"c": 9.0}).alone["c"]
    assert (code.text, code.size) == ("c from 9 to 3.5 makes it 'yes'", 1.0)
    mixed = model_of(Term(0, 2.0, "c", "equals", 2.5))
    assert explain.case(mixed, {"c": True}).alone["c"].text == "c from True to 2.5 makes it 'yes'"


def test_a_change_stays_within_the_range_in_training():
    prototypes = (Prototype(0, -10.0 - 1e-7, (Term(0, 1.0, "a"),)),)
    model = SMaLLModel(("no", "yes"), "<U3", 1, prototypes, ranges=(Range(0, 0.0, 10.0),))
    assert explain.case(model, {"a": 3.0}).smallest is None
    whole = model_of(Term(0, 2.0, "k", "above", 20000.2), ranges=[Range(0, 0.0, 20000.5)])
    assert 20000.2 < explain.case(whole, {"k": 3}).smallest.changes[0].after <= 20000.5
    assert explain.case(whole, {"k": 3}, X=pd.DataFrame({"k": [0, 7]})).smallest is None


@pytest.mark.parametrize("heavy", [1e2, 1e5, 1e7, 1e12])
def test_light_literals_are_not_lost_beside_a_heavy_one(heavy):
    terms = [Term(i, weight, "abc"[i], "above", 1.0) for i, weight in enumerate((heavy, 1.0, 1.0))]
    model = model_of(*terms, intercept=-heavy - 1.0, ranges=[Range(i, 0.0, 10.0) for i in range(3)])
    case = explain.case(model, {"a": 3.0, "b": 0.0, "c": 0.0})
    assert set(case.alone.values()) == {None}
    assert [change.label for change in case.smallest.changes] == ["b", "c"]
    assert case.smallest.label == "yes"


def test_a_term_that_does_not_hold_adds_0_and_not_minus_0():
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, 1.0, (Term(0, -2.0, "age", "above", 40.0),)),))
    assert "+0  [age > 40] is false" in str(explain.case(model, [30.0]))


def test_what_would_change_a_decision_comes_as_fields_and_as_lines():
    terms = (Term(0, 1.0, "a", "above", 1.0), Term(1, 1.0, "b", "above", 1.0), Term(2, 0.5, "c", "above", 1.0))
    model = model_of(*terms, intercept=-1.5, ranges=[Range(i, 0.0, 10.0) for i in range(3)])
    case = explain.case(model, {"a": 0.0, "b": 3.0, "c": 0.0})
    summary = case.change_summary
    assert summary.heading.startswith("What would change the decision")
    assert summary.lines == ("a from 0 to 1.01 makes it 'yes'", "b, c: no value changes it alone")
    assert summary.conclusion is None
    assert list(case.changes()) == [summary.heading, *(f"    {line}" for line in summary.lines)]
    stuck = explain.case(model, {"a": 0.0, "b": 0.0, "c": 0.0})
    assert stuck.change_summary.conclusion.startswith("Several features together: a from 0 to 1.")
    assert explain.case(model, {"a": 0.0, "b": 0.0, "c": 0.0}, changeable=["b", "c"]).change_summary.conclusion == (
        "No combination of changes does either."
    )
