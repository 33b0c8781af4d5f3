"""What number formats lose: counted row by row, told, and warned of."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from smallearn import SMaLLClassifier
from smallearn.export import FormatLoss, FormatLossWarning, format_loss, quantise, to_arduino, to_c, to_rust
from smallearn.export._fixed.form import Form, form_of
from smallearn.export._fixed.loss import beyond_counts, loss_of
from smallearn.export._fixed.numbers import NUMBERS
from smallearn.export._fixed.quantise import BITS, target_of
from smallearn.model import Deployment, Prototype, Range, SMaLLModel, Term
from tests.helpers.exports import MODELS

X, Y = load_breast_cancer(return_X_y=True)
MANY = SMaLLClassifier(2, 20, random_state=0).fit(X, Y).model_
# A weight of 1 for each unit of a beside points of 1000: eight bits have no room for it.
LOST = SMaLLModel(
    classes=(0, 1),
    class_dtype="int64",
    n_features=2,
    prototypes=(Prototype(1, -1000.3, (Term(0, 1.0, "a"), Term(1, 1000.0, "b", kind="above", value=0.0))),),
    ranges=(Range(0, 0.0, 1.0), Range(1, -1.0, 1.0)),
)


@pytest.mark.parametrize("number", BITS)
@pytest.mark.parametrize("readings", ["codes", "float"])
def test_the_rows_that_a_format_predicts_differently_are_counted(number, readings):
    whole = quantise(MANY, number, readings=readings)
    found = format_loss(MANY, number, X, readings=readings)
    differ = np.array(MANY.classes)[whole.predict_rows(X)] != MANY.predict(X)
    assert found == FormatLoss(number, changed=int(differ.sum()), rows=len(X), given=True)
    assert found.share == differ.mean()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("number", NUMBERS)
def test_every_model_has_a_loss_on_random_rows_within_its_ranges(name, number):
    try:
        target = target_of(MODELS[name], number)
    except ValueError:
        return  # a model that this format cannot have
    found = loss_of(target)
    assert found.rows == 2000
    assert 0 <= found.changed <= found.rows
    assert not found.given
    assert found == loss_of(target)  # always the same rows
    if number == "float64":
        assert found.changed <= loss_of(replace(target, number="float32")).changed


def test_float32_counts_the_rows_that_may_change():
    cut = SMaLLModel(
        classes=(0, 1), class_dtype="int64", n_features=1, prototypes=(Prototype(1, -0.1, (Term(0, 1.0, "a"),)),)
    )
    rows = np.array([[0.1], [np.nextafter(0.1, 1.0)], [0.2], [-3.0], [1e300]])
    assert format_loss(cut, "float32", rows) == FormatLoss("float32", changed=3, rows=5, given=True)
    assert format_loss(cut, "float32", rows[2:4]).changed == 0


def test_the_text_says_how_many_of_how_many_on_which_rows():
    assert str(FormatLoss("int8", 92, 2000, given=False)) == (
        "int8 changes 92 of 2,000 decisions (4.6%) on random rows within the training ranges"
    )
    assert str(FormatLoss("int16", 0, 569, given=True)) == "int16 changes 0 of 569 decisions on the rows given"
    assert FormatLoss("int8", 0, 0, given=True).share == 0.0


@pytest.mark.filterwarnings("default::smallearn.export.FormatLossWarning")
def test_exports_warn_where_a_format_loses_much(tmp_path):
    assert format_loss(LOST, "int8").share > 0.02 > format_loss(LOST, "int16").share
    with pytest.warns(FormatLossWarning, match=r"int8 changes .* of 2,000 decisions .*A wider number changes fewer"):
        to_c(LOST, "int8")
    with pytest.warns(FormatLossWarning, match="int8 changes"):
        to_rust(LOST, "int8")
    with pytest.warns(FormatLossWarning, match="int8 changes"):
        to_arduino(LOST, tmp_path / "Lost", "int8")


@pytest.mark.filterwarnings("error::smallearn.export.FormatLossWarning")
def test_exports_do_not_warn_of_small_losses_or_of_what_was_chosen_for_a_chip(tmp_path):
    to_c(LOST, "int16")
    to_c(LOST)
    chosen = replace(LOST, deployment=Deployment("atmega328p", "int8", "code", "float"))
    assert "int8_t" in to_c(chosen)
    assert "fn predict_readings" in to_rust(chosen)
    to_arduino(chosen, tmp_path / "Chosen")


# --- the form that was chosen for a chip -----------------------------------------------------------------------------

COUNTS = {"a": (0.01, 0.0, 0, 100), "b": (0.01, -1.0, 0, 200)}
CHOSEN = replace(
    LOST, deployment=Deployment("atmega328p", "int8", "table", "counts", (("a", *COUNTS["a"]), ("b", *COUNTS["b"])))
)


def test_another_number_format_keeps_what_the_device_reads():
    assert form_of(CHOSEN, "float32") == Form("int8", "table", "counts", COUNTS, is_chosen=True)
    assert form_of(CHOSEN, "float32", number="int16") == Form("int16", "auto", "counts", COUNTS, is_chosen=False)
    assert form_of(CHOSEN, "float32", number="int8", layout="code").is_chosen
    other = {**COUNTS, "b": (0.1, 0.0, 0, 9)}
    assert form_of(CHOSEN, "float32", counts=other) == Form("int8", "table", "counts", other, is_chosen=False)
    assert form_of(CHOSEN, "float32", readings="float") == Form("int8", "table", "float", None, is_chosen=False)
    assert form_of(CHOSEN, "float32", number="float64") == Form("float64", "auto", None, None, is_chosen=False)
    assert form_of(LOST, "int16", readings="codes") == Form("int16", "auto", "codes", None, is_chosen=False)
    assert "model_predict_readings(const uint8_t *x)" in to_c(CHOSEN, "int16").replace("int16_t *x", "uint8_t *x")


def test_random_rows_are_within_the_training_ranges_also_if_counts_cannot_reach_them():
    short = {**COUNTS, "a": (0.001, 0.0, 0, 100)}  # to 0.1, while the training rows go to 1
    target = quantise(LOST, "int32", counts=short, readings="counts")
    assert loss_of(target, None, short).share > 0.02
    (sentence,) = beyond_counts(target, np.array([[0.05, 0.0], [0.5, 0.0], [1.0, 0.5]]))
    assert sentence == (
        "'a': 2 of 3 rows are beyond the declared counts, which mean 0 to 0.1; the rows have 0.05 to 1. "
        "Such values are read as the nearest count."
    )
    assert beyond_counts(quantise(LOST, "int8"), np.array([[9.0, 9.0]])) == []
