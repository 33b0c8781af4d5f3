"""Probabilities in whole numbers: the table keeps the bound that is stated, whatever the scores."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn.export._fixed.probability import HALF, ONE, WEIGHT, probability_table
from smallearn.export._fixed.quantise import BITS, class_scores, quantise
from smallearn.export._flat import flatten
from tests.helpers.c_programs import rows_of, with_ranges
from tests.helpers.exports import MODELS, trained_models

rates = st.floats(-30.0, 4.0).map(lambda power: Fraction(10.0**power))
reaches = st.integers(0, 62).flatmap(lambda bits: st.integers(2**bits - 1, 2 ** (bits + 1) - 1))


def exact(scores, rate):
    """The softmax of scores times the rate."""
    z = (scores - scores.max(axis=1, keepdims=True)) * float(rate)
    weights = np.exp(np.maximum(z, -745.0))
    return weights / weights.sum(axis=1, keepdims=True)


def scores_within(reach, n_classes, rate, seed, count=400):
    """Scores between 0 and ``reach``: everywhere, near one another, and on a scale where probabilities change."""
    rng = np.random.default_rng(seed)
    near = min(reach, math.ceil(12 / rate))
    ends = rng.choice([0, 1, near, reach], (count // 4, n_classes))
    tops = [rng.integers(0, most, (count // 4, n_classes), endpoint=True) for most in (reach, near, near // 8)]
    return np.minimum(np.concatenate([ends, *tops]), reach).astype(np.int64)


@given(rates, reaches, st.sampled_from([2, 3, 4, 10, 50]), st.integers(0, 2**31))
def test_no_probability_is_farther_from_the_exact_one_than_stated(rate, reach, n_classes, seed):
    table = probability_table(rate, reach, n_classes)
    scores = scores_within(reach, n_classes, rate, seed)
    found = table.probabilities(scores)
    assert np.abs(found / ONE - exact(scores, rate)).max() <= table.error + 1e-12
    assert found.min() >= 0
    assert found.max() <= ONE
    assert np.abs(found.sum(axis=1) - ONE).max() <= (0 if n_classes == 2 else n_classes / 2)


@given(rates, st.integers(0, 3000), st.sampled_from([2, 3]))
def test_the_bound_holds_at_every_distance_and_values_never_rise(rate, reach, n_classes):
    table = probability_table(rate, reach, n_classes)
    distance = np.arange(reach + 1)
    scores = np.zeros((reach + 1, n_classes), dtype=np.int64)
    scores[:, 0] = distance
    found = table.probabilities(scores)
    assert np.abs(found / ONE - exact(scores, rate)).max() <= table.error + 1e-12
    values = table.values(distance)
    assert (np.diff(values) <= 0).all()
    assert values[0] == (HALF if n_classes == 2 else WEIGHT)


@given(rates, reaches, st.sampled_from([2, 3, 10]))
def test_tables_are_small_and_fit_16_bits(rate, reach, n_classes):
    table = probability_table(rate, reach, n_classes)
    assert len(table.entries) <= (64 if n_classes == 2 else 128)
    assert list(table.entries) == sorted(table.entries, reverse=True)
    assert 0 <= table.entries[-1] <= table.entries[0] < 2**16
    assert table.bits <= 8
    assert table.error <= 0.0015


@given(rates, reaches, st.integers(0, 2**31))
def test_the_second_of_two_classes_has_more_than_one_half_exactly_where_its_score_is_greater(rate, reach, seed):
    scores = scores_within(reach, 2, rate, seed)
    found = probability_table(rate, reach, 2).probabilities(scores)
    np.testing.assert_array_equal(2 * found[:, 1] > ONE, scores[:, 1] > scores[:, 0])


def test_a_distance_of_64_bits_is_not_mistaken_for_a_negative_one():
    most = 2**63 - 1
    table = probability_table(Fraction(1, 2**60), 2 * most, 3)
    scores = np.array([[-most, most, most], [-most, most, most - 2**59]])
    expected = exact(scores.astype(float), 1 / 2**60)
    assert np.abs(table.probabilities(scores) / ONE - expected).max() <= table.error


def test_points_have_the_probabilities_that_the_score_card_prints():
    whole = quantise(MODELS["card"], "int8")
    table = whole.probability_table
    assert (table.bits, table.drop) == (0, 0)
    for points, probability in MODELS["card"].totals():
        second = table.probabilities(np.array([[0, points]]))[0, 1]
        assert abs(second / ONE - probability) <= table.error


@pytest.mark.parametrize("number", BITS)
def test_probabilities_are_those_of_the_model_at_the_scores_in_whole_numbers(number):
    cases = [(with_ranges(model), rows_of(model)) for model in MODELS.values() if flatten(model).decision.costs is None]
    for model, rows in [*cases, *trained_models().values()]:
        whole = quantise(model, number)
        codes = whole.codes(rows)
        z = whole.scores(codes)
        expected = model.chances(z / float(whole.factor))
        found = whole.predict_proba(codes)
        assert np.abs(found / ONE - expected).max() <= whole.probability_table.error + 1e-9
        best = class_scores(whole, z)
        assert (np.take_along_axis(found, best.argmax(axis=1)[:, None], axis=1)[:, 0] == found.max(axis=1)).all()


def test_trained_models_in_16_bits_keep_their_probabilities():
    for model, X in trained_models().values():
        whole = quantise(model, "int16")
        assert np.abs(whole.predict_proba(whole.codes(X)) / ONE - model.predict_proba(X)).mean() < 0.002
