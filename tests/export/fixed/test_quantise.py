"""Whole numbers: codes, literals on codes, and sums that cannot overflow."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smallearn.export._fixed.codes import Count, Linear, Steps
from smallearn.export._fixed.quantise import BITS, CODE_BITS, bits_for, quantise
from smallearn.export._fixed.scaling import sketch
from smallearn.export._flat import flatten
from smallearn.model import Prototype, Range, SMaLLModel, Term
from tests.helpers.exports import CARD, MIXED, MODELS, edge_rows, exportable, full_table, trained_models

Q = {"int8": 127, "int8x16": 32767, "int16": 32767, "int32": 2**30 - 1}
ranged = replace(MODELS["yes"], ranges=(Range(0, -1.0, 3.0), Range(2, 0.0, 2.0)))


def one_feature(*terms, intercept=0.0, owner=1):
    return SMaLLModel((0, 1), "<i8", 1, (Prototype(owner, intercept, terms),))


@pytest.fixture(scope="module")
def trained():
    return trained_models()


# --- codes -----------------------------------------------------------------------------------------------------------


@given(st.floats(-1e3, 1e3), st.floats(1e-2, 1e3), st.floats(-0.5, 1.5), st.sampled_from(["int8", "int8x16", "int16"]))
def test_codes_round_the_place_in_the_range_and_are_clamped(low, width, place, number):
    coder = Linear(low, low + width, Q[number])
    x = np.float32(low + place * width)
    code = int(coder.encode(np.array([x], dtype=float))[0])
    exact = (Fraction(float(x)) - Fraction(coder.low)) / (Fraction(coder.high) - Fraction(coder.low)) * 2 * Q[number]
    exact = min(max(exact - Q[number], Fraction(-Q[number])), Fraction(Q[number]))
    resolution = 4 * 2.0**-24 * (abs(low) + width) / float(coder.slope)  # of float32 at such numbers, in codes
    assert abs(code - exact) <= 0.5 + resolution


@pytest.mark.parametrize("number", BITS)
def test_the_ends_of_a_range_have_the_extreme_codes_and_a_missing_value_the_one_below(number):
    model = one_feature(Term(0, 1.0, "a", mean=0.5))
    target = quantise(model, number, ranges={"a": (-2.0, 6.0)})
    codes = target.codes([[-2.0], [-5.0], [6.0], [1e30], [2.0], [math.nan]])[:, 0]
    assert codes[[0, 1]].tolist() == [-Q[number]] * 2
    assert codes[[2, 3]].tolist() == [Q[number]] * 2 or number == "int32"  # beyond the digits of float32
    assert abs(codes[4]) <= 1
    assert codes[5] == target.missing == -(2 ** (CODE_BITS[number] - 1))


def test_a_range_of_one_value_has_one_code_whatever_is_read():
    coder = Linear(5.0, 5.0, 127)
    assert set(coder.encode(np.array([5.0, -1e30, 1e300, 0.0])).tolist()) == {-127}


def test_a_missing_value_without_a_mean_has_no_code():
    with pytest.raises(ValueError, match="lacks 'a'; the model cannot predict"):
        quantise(ranged, "int8").codes([[math.nan, 0.0, 0.0]])


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=5), st.lists(st.floats(-100, 100), min_size=1, max_size=5))
def test_codes_by_cut_points_decide_every_literal_exactly(cuts, equal):
    literals = [(kind, cut) for cut in cuts for kind in ("at_most", "above")] + [("equals", value) for value in equal]
    coder = Steps.of(literals)
    numbers = [*cuts, *equal]
    values = [math.nextafter(x, x + side) for x in numbers for side in (-1, 0, 1)]
    for value, code in zip(values, coder.encode(np.array(values)), strict=True):
        for kind, number in literals:
            low, high = coder.interval(kind, number)
            holds = {"at_most": value <= number, "above": value > number, "equals": value == number}[kind]
            assert (low <= code <= high) == holds


@given(
    st.sampled_from([1.0, 0.1, -0.1, 3.3e-3, -7.0, 1e-18]),
    st.floats(-10, 10),
    st.integers(-50, 50),
    st.integers(0, 300),
    st.floats(-40, 40),
    st.integers(-60, 360),
)
def test_counts_decide_every_literal_as_the_float_does(scale, offset, least, width, cut, on):
    coder = Count(scale, offset, least, least + width)
    for value in (cut, scale * on + offset):
        for kind in ("at_most", "above", "equals"):
            interval = coder.interval(kind, value)
            for count in range(coder.least, coder.greatest + 1):
                x = scale * count + offset
                holds = {"at_most": x <= value, "above": x > value, "equals": x == value}[kind]
                assert (interval is not None and interval[0] <= count <= interval[1]) == holds


def test_models_of_counts_decide_as_the_model_for_every_count():
    terms = (Term(0, 1.5, "a", "at_most", 0.7), Term(0, 2.0, "a", "above", 3.3), Term(0, -1.0, "a", "equals", 4.0))
    model = one_feature(*terms, intercept=-1.25)
    counts = np.arange(1024)
    for scale in (5.0 / 1023.0, -5.0 / 1023.0):
        target = quantise(model, "int8", counts={"a": (scale, 0.0, -3, 1023)})
        assert target.input_bits == 16
        wanted = model.predict((scale * counts + 0.0)[:, None])
        np.testing.assert_array_equal(target.predict(counts[:, None]), wanted)
        np.testing.assert_array_equal(target.codes((scale * counts)[:, None])[:, 0], counts)


def test_a_range_of_whole_steps_decides_as_the_model_at_every_step():
    model = one_feature(*(Term(0, 1.0, "a", "at_most", t + 0.0) for t in (3, 77, 253)), intercept=-1.5)
    target = quantise(model, "int8", ranges={"a": (0.0, 254.0)})
    X = np.arange(255.0)[:, None]
    np.testing.assert_array_equal(target.predict_rows(X), model.predict(X))


# --- sums ------------------------------------------------------------------------------------------------------------


@st.composite
def quantised(draw):
    """A random model in whole numbers, with counts that go beyond its type or ranges."""
    model, _ = draw(exportable())
    flat = flatten(model)
    ranges, counts = {}, {}
    for one in flat.inputs:
        if not one.is_text and draw(st.booleans()):
            counts[one.label] = (draw(st.sampled_from([0.5, -2.0])), 1.0, *draw(st.sampled_from([(0, 1023), (-9, 9)])))
        elif not one.is_text:
            ranges[one.label] = draw(st.sampled_from([(-1.0, 1.0), (0.0, 1e6), (5.0, 5.0)]))
    return quantise(model, draw(st.sampled_from(sorted(BITS))), ranges, counts)


def extremes(target):
    """Every combination of the ends of what the inputs can be."""
    most = 2 ** (CODE_BITS[target.number] - 1)
    columns = []
    for one, coder in zip(target.flat.inputs, target.coders, strict=True):
        ends = [coder.least, coder.greatest] if isinstance(coder, Count) else [-most, 1 - most, most - 1]
        columns.append(ends + [target.missing] * one.may_be_missing)
    return list(itertools.islice(itertools.product(*columns), 300))


@settings(max_examples=60)
@given(quantised())
def test_no_product_and_no_partial_sum_leaves_its_type_for_any_codes(target):
    assert all(bits_for(interval) <= target.sum_bits for interval in target.intervals)
    for row in extremes(target):
        for j, (least, greatest) in enumerate(target.intervals):
            z = target.intercepts[j]
            for term in target.of(j):
                code = row[term.input]
                if term.kind == "raw":
                    added = term.instead if code == target.missing and term.instead is not None else term.weight * code
                else:
                    added = term.weight  # at worst
                assert least <= added <= greatest or term.kind != "raw"
                z += added if term.kind == "raw" or (added < 0) == (z < 0) else 0
                assert least <= z <= greatest


@pytest.mark.parametrize(("number", "bits"), [("int8", 16), ("int8x16", 32), ("int16", 32), ("int32", 64)])
def test_sums_have_twice_the_bits_of_the_inputs(trained, number, bits):
    target = quantise(trained["breast cancer"][0], number)
    assert (target.input_bits, target.sum_bits) == (CODE_BITS[number], bits)
    assert max(abs(term.weight) for term in target.terms) < 2 ** (BITS[number] - 1)


@pytest.mark.parametrize("number", BITS)
def test_literals_alone_are_summed_in_the_type_of_the_number(trained, number):
    target = quantise(trained["breast cancer literals"][0], number)
    assert target.sum_bits <= CODE_BITS[number]


def test_the_points_of_a_score_card_are_kept():
    target = quantise(CARD, "int8")
    assert target.factor == 1
    assert target.intercepts == (-2,)
    assert [term.weight for term in target.terms] == [2, 1, 3, -1, 1]
    rows = full_table(flatten(CARD), edge_rows(flatten(CARD), 50))
    np.testing.assert_array_equal(target.scores(target.codes(rows)), CARD.scores(rows))


def test_literals_with_weights_are_decided_as_in_floats_for_all_rows():
    rng = np.random.default_rng(0)
    for _ in range(20):
        weights = rng.normal(size=5)
        model = one_feature(
            *(Term(0, w, "a", "above", float(t)) for t, w in enumerate(weights)), intercept=rng.normal()
        )
        X = np.arange(-1.0, 6.0, 0.5)[:, None]
        np.testing.assert_array_equal(quantise(model, "int8").predict_rows(X), model.predict(X))


@settings(max_examples=60)
@given(quantised())
def test_scores_are_those_of_the_values_that_codes_stand_for_but_for_the_rounding_of_weights(target):
    flat, bits = target.flat, BITS[target.number]
    before = sketch(flat, target.coders, bits)
    step = before.step(target.factor, 2 ** (bits - 1) - 1)  # of the weights of literals
    for row in extremes(target)[:20]:
        row = [
            coder.greatest if code == target.missing else code for code, coder in zip(row, target.coders, strict=True)
        ]
        row = [int(np.clip(code, c.least, c.greatest)) for code, c in zip(row, target.coders, strict=True)]
        exact = [Fraction(intercept) for intercept in flat.intercepts]
        unit = math.gcd(*target.intercepts) if before.shares else 1  # of constants in a card
        slack = [Fraction(1 + (unit & -unit)) for _ in flat.intercepts]
        for term in flat.terms:
            coder = target.coders[term.input]
            if term.kind == "raw":
                exact[term.prototype] += Fraction(term.weight) * (coder.slope * row[term.input] + coder.offset)
                slack[term.prototype] += max(abs(coder.least), abs(coder.greatest), 2 ** (CODE_BITS[target.number] - 1))
            else:
                interval = None if term.kind == "missing" else coder.interval(term.kind, term.value)
                if interval is not None and interval[0] <= row[term.input] <= interval[1]:
                    exact[term.prototype] += Fraction(term.weight)
                slack[term.prototype] += step
        for j, z in enumerate(target.scores([row])[0]):
            assert abs(int(z) - target.factor * exact[j]) <= slack[j]


@pytest.mark.parametrize(("number", "least"), [("int8", 0.99), ("int8x16", 0.99), ("int16", 0.998), ("int32", 0.998)])
def test_trained_models_answer_as_in_floats(trained, number, least):
    for model, X in trained.values():
        target = quantise(model, number)
        answers = np.array(model.classes)[target.predict_rows(X)]
        assert (answers == model.predict(X)).mean() >= least


def test_what_rounds_to_nothing_falls_away_and_a_model_of_extremes_still_fits():
    model = one_feature(Term(0, 1e-300, "a"), intercept=1e300)
    target = quantise(model, "int8", ranges={"a": (-1.0, 1.0)})
    assert target.terms == ()
    assert target.predict_rows([[0.5]]).tolist() == [1]


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"number": "int64"}, "number='int64' is not one of 'int8', 'int8x16', 'int16', 'int32'"),
        ({}, "The range of 'a' is not known: give it in ranges"),
        ({"ranges": {"z": (0, 1)}}, r"numbers that the model uses \('a', 'c'\), not 'z'"),
        ({"ranges": {"a": (0, 1)}, "counts": {"a": (1, 0, 0, 9)}}, "'a' is in both ranges and counts"),
        ({"ranges": {"a": (1, 0)}}, "must be two finite numbers in order"),
        ({"ranges": {"a": (0, math.inf)}}, r"ranges\['a'\] must be \(low, high\), finite numbers"),
        ({"ranges": {"a": 3}}, r"ranges\['a'\] must be \(low, high\)"),
        ({"ranges": {"a": (0.0, 1e300)}}, "too wide, too narrow or too far from 0 for float32"),
        ({"counts": {"a": (1, 0, 5)}}, r"must be \(scale, offset, least, greatest\)"),
        ({"counts": {"a": (1, 0, 5, 4)}}, "whole numbers in order"),
        ({"counts": {"a": (1, 0, 0.5, 4)}}, "whole numbers in order"),
        ({"counts": {"a": (0, 0, 0, 4)}}, "scale not 0"),
        ({"counts": {"a": (1, 0, 0, 2**40)}, "ranges": {"c": (0, 1)}}, "does not fit 32 bits"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        quantise(MODELS["yes"], **options)


def test_more_cut_points_than_codes_are_refused():
    terms = tuple(Term(0, 1.0, "a", "above", float(t)) for t in range(200))
    with pytest.raises(ValueError, match="'a' has 200 cut points, more than 127: use a wider number"):
        quantise(one_feature(*terms), "int8")
    assert quantise(one_feature(*terms), "int16").codes([[150.5]])[0, 0] == 151


def test_text_has_the_number_of_its_category():
    target = quantise(MIXED, "int8")
    rows = full_table(flatten(MIXED), [[50.0, 1.0, ward, 0.0, 0.0] for ward in ("A", "other", None)])
    assert target.codes(rows)[:, 2].tolist() == [1, 0, -128]
