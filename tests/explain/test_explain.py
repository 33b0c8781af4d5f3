"""A model in words, a case in words, and what matters: each held against a slow and obvious way to find the same."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.inspection import permutation_importance

from smallearn import SMaLLClassifier, SMaLLClassifierCV, explain
from smallearn.explain._case import search
from smallearn.model import Prototype, Range, SMaLLModel, Term
from tests.helpers.models import CARD, THREE

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


@pytest.mark.parametrize("most_combinations", [search.MOST_COMBINATIONS, 0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_smallest_change_is_that_of_trying_every_row(n_classes, most_combinations, monkeypatch):
    monkeypatch.setattr(search, "MOST_COMBINATIONS", most_combinations)
    rng = np.random.default_rng(n_classes)
    found, none = 0, 0
    for _ in range(40):
        model = whole_model(rng, n_classes)
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


@pytest.fixture(scope="module")
def tumours():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, y.map({0: "malignant", 1: "benign"})


@pytest.fixture(scope="module", params=["raw", "thresholds"])
def tumour_model(request, tumours):
    return SMaLLClassifier(2, 3, literals=request.param, random_state=3, positive_class="benign").fit(*tumours).model_


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


# --- the model in words ----------------------------------------------------------------------------------------------


def numbers_of(model):
    """Where numbers stand in a model that `rounded` rounds."""
    for j, prototype in enumerate(model.prototypes):
        if not model.is_score_card:
            yield j, None, "intercept"
        for t, term in enumerate(prototype.terms):
            if not model.is_score_card:
                yield j, t, "weight"
            if term.kind in ("at_most", "above"):
                yield j, t, "value"


def with_fewer_digits(model, place):
    """The model with one of its numbers rounded to fewer digits than it has, in every way."""
    j, t, field = place
    prototype = model.prototypes[j]
    owner = prototype if t is None else prototype.terms[t]
    value = getattr(owner, field)
    digits = next(d for d in range(1, 18) if float(f"{value:.{d - 1}e}") == value)
    for fewer in range(1, digits):
        other = replace(owner, **{field: float(f"{value:.{fewer - 1}e}")})
        if t is not None:
            other = replace(prototype, terms=(*prototype.terms[:t], other, *prototype.terms[t + 1 :]))
        yield replace(model, prototypes=(*model.prototypes[:j], other, *model.prototypes[j + 1 :]))


def check_rounding(model, X):
    before = model.predict(X)
    short = explain.rounded(model, X)
    assert np.array_equal(short.predict(X), before)
    shorter = [other for place in numbers_of(short) for other in with_fewer_digits(short, place)]
    assert shorter
    assert all(not np.array_equal(other.predict(X), before) for other in shorter)


def test_numbers_are_rounded_as_far_as_no_decision_changes_and_not_further(tumour_model, tumours):
    check_rounding(tumour_model, tumours[0])


@pytest.mark.parametrize("seed", [10, 65, 75, 139])
def test_no_number_that_is_shown_could_have_fewer_digits(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)).round(2)
    intercept = float(rng.normal() * 0.1)
    terms = tuple(Term(i, float(rng.normal()), f"f{i}") for i in range(3))
    check_rounding(SMaLLModel((0, 1), "<i8", 3, (Prototype(1, intercept, terms),)), X)


def test_a_model_of_literals_gets_whole_points_with_probabilities_near_those_before(tumours):
    X, y = tumours
    model = SMaLLClassifier(1, 3, literals="thresholds", random_state=0).fit(X, y).model_
    card = explain.rounded(model, X)
    assert card.is_score_card
    assert not model.is_score_card
    assert np.abs(card.predict_proba(X) - model.predict_proba(X)).mean() < 0.1
    assert "Whole points; every decision on the 569 rows" in str(explain.describe(model, X))


def test_a_cut_point_is_rounded_to_where_it_parts_the_rows_as_before():
    model = SMaLLModel((0, 1), "<i8", 1, (Prototype(1, -1.0, (Term(0, 2.0, "age", "at_most", 45.5),)),))
    short = explain.rounded(model, np.array([[18.0], [45.0], [46.0], [90.0]]))
    assert short.terms[0].value == 45.0
    said = explain.describe(model, np.array([[18.0], [45.0], [46.0], [90.0]]))
    assert said.sentences == ("Start from −1 point; add 2 if age is at most 45.",)


def test_a_description_has_names_units_and_the_rule():
    text = str(explain.describe(CARD))
    for term in CARD.features:
        assert term.label in text
    with pytest.raises(ValueError, match="There are units for 'nothing'; the model uses"):
        explain.describe(CARD, units={"nothing": "cm"})
    terms = (Term(0, -0.25, "size"), Term(1, 1.0, "age", "at_most", 40.0), Term(2, 1.0, "colour", "equals", "red"))
    model = SMaLLModel(("no", "yes"), "<U3", 3, (Prototype(1, 1.5, terms),))
    said = explain.describe(model, units={"size": "mm", "age": "years"})
    assert said.rule == "Predict 'yes' if this score is above 0, otherwise 'no'."
    assert said.sentences == (
        "Start from 1.5; subtract 0.25 times size (in mm), add 1 if age is at most 40 years and add 1 if "
        "colour is 'red'.",
    )
    assert [line.number for line in said.cards[0]] == ["-0.25", "+1", "+1", "+1.5"]
    more = str(explain.describe(THREE))
    assert "Predict the class with the highest score" in more
    assert all(f"for class {label!r}" in more for label in THREE.classes)


# --- what matters ----------------------------------------------------------------------------------------------------


def test_importance_counts_wins_and_losses(tumours):
    X, y = tumours
    model = SMaLLClassifier(2, 3, random_state=3, positive_class="benign").fit(X, y).model_
    found = explain.importance(model, X, y)
    assert found.accuracy == pytest.approx(np.mean(model.predict(X) == y))
    winner = model.scores(X).argmax(axis=1)
    assert [one.wins for one in found.prototypes] == [int((winner == j).sum()) for j in range(2)]
    for one in found.terms:
        prototype = model.prototypes[one.prototype - 1]
        kept = tuple(term for term in prototype.terms if term != one.term)
        shifted = prototype.intercept + one.term.weight * X[one.term.label].mean()
        without = replace(
            model,
            prototypes=tuple(Prototype(p.owner, shifted, kept) if p is prototype else p for p in model.prototypes),
            ranges=(),
        )
        assert one.loss == pytest.approx(found.accuracy - np.mean(without.predict(X) == y), abs=1e-12)
    assert found.agreement > 0.7
    assert "Rank correlation" in str(found)


def test_permutation_importance_is_that_of_scikit_learn():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = SMaLLClassifier(1, 2, random_state=3).fit(X, y)
    mine = explain.importance(clf.model_, X, y, n_repeats=60)
    theirs = permutation_importance(clf, X, y, n_repeats=60, random_state=1)
    for one in mine.features:
        position = list(X.columns).index(one.label)
        assert one.permuted == pytest.approx(theirs.importances_mean[position], abs=0.02)


def test_importance_needs_a_known_label_for_each_row():
    model = SMaLLModel((0, 1), "<i8", 1, (Prototype(1, -0.5, (Term(0, 1.0, "a"),)),))
    X, y = np.array([[0.0], [1.0], [1.0], [1.0]]), np.array([0, 1, 1, 0])
    assert explain.importance(model, X, y).accuracy == 0.75
    for wrong in (y[:3], y.reshape(-1, 1)):
        with pytest.raises(ValueError, match="one label for each of the 4 rows of X"):
            explain.importance(model, X, wrong)
    with pytest.raises(ValueError, match="labels that the model does not know: 7; its classes are 0, 1"):
        explain.importance(model, X, [0, 1, 7, 7])
    with pytest.raises(ValueError, match="no rows"):
        explain.importance(model, X[:0], y[:0])


# --- cases that once went wrong --------------------------------------------------------------------------------------


def model_of(*terms, intercept=-1.0, ranges=()):
    n_features = 1 + max(term.feature for term in terms)
    return SMaLLModel(("no", "yes"), "<U3", n_features, (Prototype(1, intercept, terms),), ranges=tuple(ranges))


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


def test_no_rows_say_nothing_of_digits():
    model = model_of(Term(0, 2.13, "a", "at_most", 1.234))
    assert explain.describe(model, np.zeros((0, 1))).n_rows is None
    with pytest.raises(ValueError, match="no rows"):
        explain.rounded(model, np.zeros((0, 1)))


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


def test_a_description_has_every_digit_that_a_decision_needs():
    model = model_of(Term(0, 1.0 / 3.0, "x"))
    said = explain.describe(model, np.array([[3.0], [3.0 + 1e-15]]))
    assert said.model.terms[0].weight == 1.0 / 3.0
    assert [line.number for line in said.cards[0]] == ["+0.3333333333333333", "-1"]
    assert "add 0.3333333333333333 times x" in said.sentences[0]
    cut = explain.describe(model_of(Term(0, 2.0, "x", "at_most", 0.1 + 0.2)))
    assert cut.cards[0][0].text == "if x is at most 0.30000000000000004"


def test_literals_too_unlike_for_whole_points_are_rounded_like_others():
    model = model_of(Term(0, 1.0, "a", "above", 0.0), Term(1, 0.00123, "b", "above", 0.0), intercept=-1.0)
    short = explain.rounded(model, np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]))
    assert [term.weight for term in short.terms] == [1.0, 0.001]


def test_scores_that_overflow_are_refused_in_the_words_of_the_model():
    model = model_of(Term(0, 10.0, "a"), Term(1, -10.0, "b"))
    X = np.array([[1e308, 1e308], [0.0, 1.0]])
    with pytest.raises(ValueError, match="The scores overflow") as refused:
        model.predict(X)
    for ask in (explain.describe, explain.rounded, lambda model, X: explain.importance(model, X, ["no", "yes"])):
        with pytest.raises(ValueError, match="The scores overflow") as also:
            ask(model, X)
        assert str(also.value) == str(refused.value)


def test_a_number_is_not_rounded_up_to_infinity():
    model = model_of(Term(0, 1.74e308, "a"))
    short = explain.rounded(model, np.array([[0.0], [1.0]]))
    assert short.terms[0].weight == 1.7e308


def test_a_card_tells_what_stands_in_for_a_missing_number_in_as_few_digits_as_will_do():
    term = Term(0, 1.0, "age", mean=41.23456)
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -40.0, (term,)),))
    described = explain.describe(model, [[np.nan], [39.0], [41.0]], units={"age": "years"})
    assert described.cards[0][0].text.startswith("× age (in years; ")
    shown = float(described.cards[0][0].text.split("; ")[1].removesuffix(" if missing)"))
    assert (described.model.terms[0].mean, described.model.predict([[np.nan]])[0]) == (shown, "yes")
    complete = explain.describe(model, [[39.0], [41.0]])
    assert "missing" not in str(complete)
    assert complete.model.terms[0].mean == 41.23456


def test_a_term_that_does_not_hold_adds_0_and_not_minus_0():
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, 1.0, (Term(0, -2.0, "age", "above", 40.0),)),))
    assert "+0  [age > 40] is false" in str(explain.case(model, [30.0]))


def test_conditions_that_imitate_say_so_even_where_they_agree_on_every_row():
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -40.5, (Term(0, 1.0, "age"),)),))
    found = explain.dnf(model, [[30.0], [50.0]])
    assert found.imitates
    assert "on all 2 rows given; on others it may differ." in str(found)
    assert not explain.dnf(CARD).imitates
