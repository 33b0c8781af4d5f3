"""Histograms of the training rows: what they count, and what they do not depend on."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smallearn import SMaLLClassifier, SMaLLClassifierCV, SMaLLModel, fold_pipeline
from smallearn._learn.data import source
from smallearn.model import Histogram, Prototype, Term
from smallearn.model._reference import (
    bins_of_numbers,
    categories_histogram,
    hashes_of,
    log_odds,
    numbers_histogram,
    reference_of,
)
from smallearn.selection import frontier
from smallearn.tables import Table
from tests.helpers.models import CARD, COSTS, THREE, YES, models

values = st.lists(st.integers(-5, 5).map(float) | st.floats(-1e6, 1e6), min_size=1, max_size=60)


@given(values, st.randoms())
def test_a_histogram_counts_every_value_once_in_the_bin_that_new_rows_find_it_in(numbers, random):
    found = numbers_histogram(np.array(numbers))
    assert (found.edges[0], found.edges[-1]) == (min(numbers), max(numbers))
    bins = bins_of_numbers(found, np.array(numbers))
    assert np.bincount(bins, minlength=len(found.counts)).tolist() == list(found.counts)
    assert min(found.counts) > 0.0
    shuffled = random.sample(numbers, len(numbers))
    assert numbers_histogram(np.array(shuffled)) == found


@given(st.lists(st.tuples(st.floats(-10, 10), st.integers(0, 4)), min_size=1, max_size=60), st.randoms())
def test_whole_weights_are_repeated_values(pairs, random):
    pairs = [*pairs, (0.0, 1)]
    repeated = [value for value, times in pairs for _ in range(times)]
    pairs = random.sample(pairs, len(pairs))
    numbers, weights = np.array([value for value, _ in pairs]), np.array([float(times) for _, times in pairs])
    assert numbers_histogram(numbers, weights) == numbers_histogram(np.array(repeated))
    texts = [f"{value:.0f}" for value, _ in pairs]
    of_text = [text for text, times in zip(texts, weights, strict=True) for _ in range(int(times))]
    assert categories_histogram(texts, weights) == categories_histogram(of_text, None)


def test_few_values_have_a_bin_each_and_many_about_the_same_number_of_rows():
    assert numbers_histogram(np.array([3.0, 1.0, 1.0, 2.0])).counts == (2.0, 1.0, 1.0)
    many = numbers_histogram(np.random.default_rng(0).normal(size=1000))
    assert len(many.counts) == 10
    assert set(many.counts) == {100.0}
    mostly_zero = numbers_histogram(np.concatenate([np.zeros(900), np.arange(1.0, 101.0)]))
    assert mostly_zero.counts == (900.0, 100.0)
    assert 0.0 < mostly_zero.cuts[0] < 1.0


def test_rounding_a_value_does_not_move_it_to_another_bin():
    numbers = np.random.default_rng(0).integers(0, 30, 500) / 10
    found = numbers_histogram(numbers)
    again = numbers_histogram(numbers.astype(np.float32).astype(float))
    assert again.counts == found.counts
    assert (
        bins_of_numbers(found, numbers.astype(np.float32).astype(float)).tolist()
        == bins_of_numbers(found, numbers).tolist()
    )


def test_the_most_common_categories_have_bins_and_the_rest_is_counted_together():
    texts = [f"c{i}" for i in range(60) for _ in range(60 - i)] + ["x" * 1000, "\ud800"]
    found = categories_histogram(texts, None, known=["never"])
    assert found.categories[:2] == ("c0", "c1")
    assert len(found.categories) == 50
    assert found.total == len(texts)
    assert found.other == sum(60 - i for i in range(50, 60)) + 2
    few = categories_histogram(["a", "b", "a"], None, known=["never", "a"])
    assert dict(zip(few.categories, few.counts, strict=True)) == {"a": 2.0, "b": 1.0, "never": 0.0}


@pytest.mark.parametrize("make", [SMaLLClassifier, SMaLLClassifierCV])
def test_fit_keeps_histograms_of_the_features_in_use_and_of_the_score(make):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.assign(colour=np.where(y == 0, "red", "blue"))
    model = make(random_state=0, literals="both", categorical_features=["colour"]).fit(X, y).model_
    known = model.reference
    assert known.n_rows == 150
    assert [one.feature for one in known.features] == [term.feature for term in model.features]
    for one in known.features:
        column = X.iloc[:, one.feature]
        assert one.total == 150
        if one.categories is None:
            assert (one.edges[0], one.edges[-1]) == (column.min(), column.max())
        else:
            assert dict(zip(one.categories, one.counts, strict=True)) == column.value_counts().to_dict()
    assert known.predicted == tuple(np.bincount(model.predict(X), minlength=3))
    assert [one.total for one in known.scores] == [150, 150, 150]
    assert SMaLLModel.from_json(model.to_json()) == model


def test_missing_values_and_text_are_counted():
    X = pd.DataFrame({"age": [30.0, None, 50.0, 60.0], "ward": ["A", "B", None, "B"]})
    terms = (Term(0, 1.0, "age", "above", 40.0), Term(1, 1.0, "ward", "equals", "A"))
    known = reference_of(SMaLLModel(("n", "y"), "<U1", 2, (Prototype(1, -1.0, terms),)), X)
    assert known.features == (
        Histogram(counts=(1.0, 1.0, 1.0), edges=(30.0, 40.0, 55.0, 60.0), missing=1.0, feature=0),
        Histogram(counts=(2.0, 1.0), categories=("B", "A"), missing=1.0, feature=1),
    )


def blobs(n=600):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(n, 4)), 3)
    return X, (X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)


def test_of_many_rows_a_sample_is_counted_the_same_in_memory_and_in_mapped_files(monkeypatch):
    monkeypatch.setattr(source, "POOL_ROWS", 300)
    monkeypatch.setattr(source, "LEAST_POOL_ROWS", 1)
    X, y = blobs(4000)
    table = Table(X=X, code=y, classes=np.arange(2), feature_names=np.array(list("abcd"), dtype=object), target="y")
    in_memory = SMaLLClassifier(1, 2).fit(pd.DataFrame(X, columns=list("abcd")), y).model_
    mapped = SMaLLClassifier(1, 2).fit(table).model_
    assert mapped.reference.features == in_memory.reference.features
    assert mapped.reference.scores[0].counts == in_memory.reference.scores[0].counts
    assert 100 < in_memory.reference.n_rows < 1000
    everything = reference_of(in_memory, X)
    share = sum(in_memory.reference.predicted)
    assert share == pytest.approx(4000, rel=0.01)
    for sampled, whole in zip(in_memory.reference.features, everything.features, strict=True):
        assert (sampled.edges[0], sampled.edges[-1]) == (whole.edges[0], whole.edges[-1])
    order = np.random.default_rng(1).permutation(len(X))
    again = SMaLLClassifier(1, 2).fit(pd.DataFrame(X[order], columns=list("abcd")), y[order]).model_
    assert again.reference.features == in_memory.reference.features


def test_weights_count_as_repeated_rows_in_a_fit():
    X, y = blobs(200)
    times = np.random.default_rng(1).integers(0, 3, 200)
    weighted = SMaLLClassifier(1, 2).fit(X, y, sample_weight=times).model_.reference
    repeated = SMaLLClassifier(1, 2).fit(np.repeat(X, times, axis=0), np.repeat(y, times)).model_.reference
    assert (weighted.n_rows, weighted.features) == (repeated.n_rows, repeated.features)


def test_the_models_of_a_frontier_have_histograms():
    X, y = blobs(200)
    assert all(point.model.reference is not None for point in frontier(X, y, max_terms=2, cv=2))


def test_rows_of_no_weight_or_none_at_all_are_refused():
    with pytest.raises(ValueError, match="X has no rows"):
        YES.with_reference(np.empty((0, 3)))
    with pytest.raises(ValueError, match="sample_weight must have one finite number of at least 0 for each of the 2"):
        YES.with_reference(np.zeros((2, 3)), sample_weight=[0.0, 0.0])


# --- whose histograms they are ---------------------------------------------------------------------------------------


@given(models())
def test_the_hashes_of_a_model_survive_its_file_and_new_names(model):
    assert hashes_of(SMaLLModel.from_json(model.to_json())) == hashes_of(model)
    renamed = model.with_feature_names([f"name {i}" for i in range(model.n_features)])
    assert hashes_of(renamed) == hashes_of(model)


def test_a_changed_score_or_decision_has_another_hash():
    changed = replace(YES, prototypes=YES.prototypes[:1])
    assert hashes_of(changed)[0] != hashes_of(YES)[0]
    moved = replace(YES, decision_threshold=0.3)
    assert hashes_of(moved)[0] == hashes_of(YES)[0]
    assert hashes_of(moved)[1] != hashes_of(YES)[1]
    assert hashes_of(replace(THREE, cost_matrix=COSTS))[1] != hashes_of(THREE)[1]


def test_the_score_is_the_log_odds_of_the_second_class_or_of_each_against_the_others():
    z = np.array([[1.0, -0.5], [2.0, 3.0]])
    assert log_odds(YES, z)[:, 0].tolist() == [1.0, 3.0]
    z = np.array([[0.0, 1.0, 2.0, -1.0], [800.0, 0.0, 0.0, 0.0]])
    chance = np.exp([0.0, 1.0, 2.0])
    expected = np.log(chance / (chance.sum() - chance))
    found = log_odds(THREE, z)
    assert found[0] == pytest.approx(expected)
    assert np.isfinite(found).all()
    assert found[1, 0] > 690.0


def test_a_pipeline_that_scales_keeps_the_histograms_in_raw_units():
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler(), SMaLLClassifier(1, 2)).fit(X, y)
    model = fold_pipeline(pipeline)
    own = reference_of(model, X)
    for mapped, direct in zip(model.reference.features, own.features, strict=True):
        assert mapped.feature == direct.feature
        assert mapped.counts == direct.counts
        assert mapped.edges == pytest.approx(direct.edges, abs=0.06)
    assert model.reference.scored_by == own.scored_by
    bins = [
        bins_of_numbers(one, z)
        for one, z in zip(model.reference.scores, log_odds(model, model.scores(X)).T, strict=True)
    ]
    counted = [
        tuple(np.bincount(b, minlength=len(one.counts))) for b, one in zip(bins, model.reference.scores, strict=True)
    ]
    assert counted == [one.counts for one in model.reference.scores]


def test_a_model_for_complete_rows_keeps_the_histograms_of_what_it_still_uses():
    rows = [[50.0, "red", 0, True], [30.0, "blue", 0, False], [41.0, "green", 0, True]]
    model = CARD.with_reference(np.array(rows, dtype=object)).for_complete_rows()
    assert [one.feature for one in model.reference.features] == [0, 1, 3]
    assert hashes_of(model) == (model.reference.scored_by, model.reference.decided_by)
