"""What number formats lose: counted row by row, told, and warned of."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from smallearn import SMaLLClassifier
from smallearn.export import FormatLoss, FormatLossWarning, format_loss, quantise, to_arduino, to_c, to_rust
from smallearn.export._fixed.loss import loss_of
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
