"""A model knows its training rows again, in any order and from any kind of table, and takes no others for them."""

from dataclasses import replace
from hashlib import sha256

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from smallearn import SMaLLClassifier, SMaLLClassifierCV, load_model
from smallearn._learn import assemble
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.model._fingerprint import combined, hash_rows, sum_hashes


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    size = rng.normal(5.0, 2.0, 90).round(2)
    colour = rng.choice(["red", "grün"], 90)
    size[::11] = np.nan
    return pd.DataFrame({"size": size, "colour": colour, "y": np.where((size > 5.5) | (colour == "red"), "yes", "no")})


@pytest.fixture
def model(table):
    fit = SMaLLClassifier(1, 2, literals="both", categorical_features="from_dtype", random_state=0)
    found = fit.fit(table[["size", "colour"]], table["y"]).model_
    assert {term.label for term in found.features} == {"size", "colour"}
    return found


def test_the_training_rows_are_known_again(model, table, tmp_path):
    assert model.was_trained_on(table, table["y"])
    shuffled = table.sample(frac=1.0, random_state=3)
    assert model.was_trained_on(shuffled, shuffled["y"])
    assert model.was_trained_on(pl.from_pandas(table), table["y"].tolist())
    assert model.data.class_counts == ((table["y"] == "no").sum(), (table["y"] == "yes").sum())
    model.save(tmp_path / "model.json")
    table.to_csv(tmp_path / "data.csv", index=False)
    again = pd.read_csv(tmp_path / "data.csv")
    assert load_model(tmp_path / "model.json").was_trained_on(again, again["y"])


def test_a_fingerprint_of_an_older_file_is_recognised(model, table):
    hashes = hash_rows(model.features, model.n_features, table, model.codes(table["y"]))
    older = replace(model, data=replace(model.data, fingerprint=sha256(np.sort(hashes).tobytes()).hexdigest()))
    assert older.was_trained_on(table, table["y"])
    assert not older.was_trained_on(table.assign(colour="red"), table["y"])


def test_the_sums_of_parts_add_up(model, table):
    hashes = hash_rows(model.features, model.n_features, table, model.codes(table["y"]))
    assert combined(sum_hashes(hashes[:13]) + sum_hashes(hashes[13:])) == model.data.fingerprint


@pytest.mark.parametrize("change", ["a value", "a gap", "a category", "a label", "one row fewer", "one row twice"])
def test_other_rows_are_not_taken_for_them(change, model, table):
    place = {
        "a value": ("size", 3.14),
        "a gap": ("size", np.nan),
        "a category": ("colour", "blue"),
        "a label": ("y", "?"),
    }
    other = table.copy()
    if change in place:
        column, value = place[change]
        other.loc[5, column] = value
    else:
        other = table.iloc[1:] if change == "one row fewer" else table.iloc[[0, 0, *range(2, len(table))]]
    assert not model.was_trained_on(other, other["y"])


def test_a_column_that_the_model_does_not_read_makes_no_difference(model, table):
    assert model.was_trained_on(table.assign(size2=1.0)[["size2", "colour", "size"]], table["y"])


def test_kinds_of_numbers_are_the_same_numbers():
    X = np.arange(40.0).reshape(20, 2)
    y = np.arange(20) > 9
    model = SMaLLClassifier(1, 2, alpha=0.1, random_state=0).fit(X, y).model_
    for same in (X.astype(np.int32), X.astype(np.float32), sparse.csr_matrix(X), X.tolist(), X.astype(object)):
        assert model.was_trained_on(same, y)
    assert model.was_trained_on(X, y.tolist())
    assert not model.was_trained_on(X + 1e-9, y)


def test_minus_zero_is_zero():
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    model = SMaLLClassifier(1, 1, random_state=0).fit(X, [0, 1, 0, 1]).model_
    assert model.was_trained_on(np.array([[-0.0], [1.0], [0.0], [1.0]]), [0, 1, 0, 1])


def test_a_selection_is_remembered():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4))
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    found = SMaLLClassifierCV(3, min_terms=1, n_prototypes=1, literals="raw", random_state=0).fit(X, y)
    kept = found.model_.selection
    assert (kept.metric, kept.max_terms) == ("accuracy", 3)
    assert kept.score == pytest.approx(found.best_score_)
    assert [step.n_terms for step in kept.frontier] == [1, 2, 3]
    chosen = {step.n_terms: step for step in kept.frontier}[found.best_params_["n_terms"]]
    assert chosen.score >= kept.score - 3 * kept.spread
    assert found.model_.was_trained_on(X, y)


@pytest.mark.parametrize(("least", "words"), [(0, "positive integer"), (4, "more than max_terms=3"), (1.5, "integer")])
def test_a_least_number_of_terms_that_makes_no_sense_is_refused(least, words):
    with pytest.raises(ValueError, match=words):
        SMaLLClassifierCV(3, min_terms=least).fit(np.eye(4), [0, 1, 0, 1])


def test_whole_numbers_that_no_float_tells_apart_are_told_apart():
    term = Term(0, 1.0, "a", "equals", 2**53 + 1)
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -0.5, (term,)),))
    one, other = pd.DataFrame({"a": [2**53, 2**53]}), pd.DataFrame({"a": [2**53, 2**53 + 1]})
    trained = model.trained_on(one, ["no", "no"])
    assert trained.was_trained_on(one.astype(object), ["no", "no"])
    assert trained.was_trained_on(one.astype(float), ["no", "no"])
    assert not trained.was_trained_on(other, ["no", "no"])
    huge = pd.DataFrame({"a": pd.Series([10**400, 3], dtype=object)})
    assert model.trained_on(huge, ["no", "no"]).was_trained_on(huge, ["no", "no"])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_compiled_sums_of_hashes_are_those_of_numpy(dtype):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1000, 5)).astype(dtype)
    X[::7, 1], X[::5, 3] = -0.0, np.nan
    terms = tuple(Term(feature=feature, weight=1.0) for feature in (3, 0, 1))
    other = SMaLLModel(classes=(0, 1), class_dtype="<i8", n_features=5, prototypes=(Prototype(1, 0.0, terms),))
    code = rng.integers(-1, 2, 1000)
    expected = sum_hashes(hash_rows(other.features, 5, X, code))
    assert np.array_equal(assemble._sum_hashes(other, X, code), expected)
    X[17, 0] = np.inf
    assert assemble._sum_hashes(other, X, code) is None
    assert assemble._sum_hashes(other, X.T.copy().T, code) is None
