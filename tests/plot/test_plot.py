"""What holds for every picture, whatever names the model has."""

import subprocess
import sys
from dataclasses import replace
from inspect import isfunction
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from smallearn import SMaLLClassifier, plot
from smallearn.model import Prototype, Term, read_rows
from tests.helpers.models import CARD, RANGED, ROWS, THREE, YES, models, small
from tests.helpers.pictures import CHOSEN, MANY, ODD, ODD_LABELS, PAIRS, N, drawn, words

NASTY = ("$\\frac{a$", "two\nlines and a $", "n" * 200, "_hidden", "100% {x}", "\\$ ^_")


def hostile(name, other="b"):
    """A model and its classes with names that mean something to matplotlib."""
    prototypes = (Prototype(1, -1.0, (Term(0, 2.0, name), Term(1, 1.0, other, "equals", name))),)
    return replace(YES, classes=("no", name), class_dtype="|O", n_features=2, prototypes=prototypes, ranges=())


LOW = replace(YES, decision_threshold=0.2)
COSTLY = replace(THREE, cost_matrix=((0.0, 1.0, 2.0), (5.0, 0.0, 1.5), (9.0, 3.0, 0.0)))
PICTURES = {  # by the name of their function
    "violins": lambda ax: plot.violins(YES, ROWS, ["no", "yes", "no", "no"], ax=ax),
    "violins, alone": lambda ax: plot.violins(RANGED, ax=ax),
    "violins, literals": lambda ax: plot.violins(CARD, ODD, ODD_LABELS, ax=ax),
    "violins, three classes": lambda ax: plot.violins(THREE, PAIRS, THREE.predict(PAIRS), ax=ax),
    "decision_surface": lambda ax: plot.decision_surface(YES, MANY, YES.predict(MANY), ax=ax),
    "decision_surface, alone": lambda ax: plot.decision_surface(RANGED, ax=ax),
    "decision_surface, literals": lambda ax: plot.decision_surface(
        CARD, ODD, ODD_LABELS, features=("age", "colour"), ax=ax
    ),
    "decision_surface, three classes": lambda ax: plot.decision_surface(THREE, PAIRS, THREE.predict(PAIRS), ax=ax),
    "frontier": lambda ax: plot.frontier(CHOSEN, ax=ax),
    "score_card": lambda ax: plot.score_card(YES, ax=ax),
    "score_card, literals": lambda ax: plot.score_card(CARD, ax=ax),
    "score_card, three classes": lambda ax: plot.score_card(THREE, ax=ax),
    "contributions": lambda ax: plot.contributions(YES, ROWS[0], ax=ax),
    "contributions, literals": lambda ax: plot.contributions(CARD, ODD.iloc[0], ax=ax),
    "contributions, three classes": lambda ax: plot.contributions(THREE, [2.0, 1.0], ax=ax),
    "violins, threshold": lambda ax: plot.violins(LOW, ROWS, LOW.predict(ROWS), ax=ax),
    "violins, costs": lambda ax: plot.violins(COSTLY, PAIRS, THREE.predict(PAIRS), ax=ax),
    "decision_surface, threshold": lambda ax: plot.decision_surface(LOW, MANY, YES.predict(MANY), ax=ax),
    "decision_surface, costs": lambda ax: plot.decision_surface(COSTLY, PAIRS, THREE.predict(PAIRS), ax=ax),
    "score_card, threshold": lambda ax: plot.score_card(replace(CARD, decision_threshold=0.2), ax=ax),
    "contributions, threshold": lambda ax: plot.contributions(LOW, ROWS[0], ax=ax),
    "contributions, costs": lambda ax: plot.contributions(COSTLY, [2.0, 1.0], ax=ax),
    "reliability": lambda ax: plot.reliability(YES, MANY, YES.predict(MANY), ax=ax),
    "reliability, three classes": lambda ax: plot.reliability(THREE, PAIRS, THREE.predict(PAIRS), label="c", ax=ax),
}
FUNCTIONS = {name for name in plot.__all__ if isfunction(getattr(plot, name))}


def test_every_picture_has_the_file_of_its_name_and_is_drawn_here():
    assert {name.split(",")[0] for name in PICTURES} == FUNCTIONS
    assert [name for name in FUNCTIONS if getattr(plot, name).__module__ != f"smallearn.plot._{name}"] == []


@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
def test_a_picture_goes_into_the_axes_given_or_into_a_new_figure_that_holds_all_its_text(picture):
    _, (left, right) = plt.subplots(1, 2)
    assert picture(left) is left
    assert not right.has_data()
    drawn(left)
    number = len(plt.get_fignums())
    new = drawn(picture(None))
    assert len(plt.get_fignums()) == number + 1
    figure = new.get_figure()
    assert figure is plt.gcf()
    box = new.get_tightbbox()
    assert box.x0 >= -1
    assert box.y0 >= -1
    assert box.x1 <= figure.bbox.width + 1
    assert box.y1 <= figure.bbox.height + 1


@pytest.mark.parametrize("draw", [plot.violins, plot.decision_surface, plot.reliability])
def test_a_picture_takes_a_fitted_estimator_and_rows_that_were_read_before(draw):
    y = np.resize(["no", "yes"], N)
    expected = words(draw(YES, MANY, y))
    assert words(draw(SimpleNamespace(model_=YES), read_rows(YES, MANY), y)) == expected


@pytest.mark.parametrize("name", NASTY)
def test_names_are_taken_as_they_are(name):
    model = hostile(name)
    X = pd.DataFrame({name: [0.0, 2.0, 3.0], "b": [name, "z", None]})
    pictures = [
        plot.violins(model, X, model.predict(X)),
        plot.violins(model),
        plot.decision_surface(model, X, model.predict(X)),
        plot.score_card(model),
        plot.contributions(model, X.iloc[[0]]),
        plot.reliability(model, X, model.predict(X)),
    ]
    start = name[:8].replace("\n", "\\n")
    for ax in pictures:
        texts = [text.replace("\n", "") for text in words(drawn(ax))]  # long names are wrapped
        assert any(start in text for text in texts)
        assert max(map(len, texts)) < 140


def test_a_model_without_terms_is_drawn():
    constant = replace(YES, prototypes=(Prototype(1, 0.5, ()),))
    for ax in (
        plot.violins(constant),
        plot.violins(constant, MANY, np.resize(["no", "yes"], N)),
        plot.decision_surface(constant, MANY, features=(0, 1)),
        plot.score_card(constant),
        plot.contributions(constant, MANY[0]),
        plot.reliability(constant, MANY, np.resize(["no", "yes"], N)),
    ):
        drawn(ax)


@pytest.mark.filterwarnings("ignore:Glyph")  # of names in letters that matplotlib's own font lacks
@given(models(weights=small))
@settings(max_examples=10)
def test_any_model_has_a_card_and_its_ends(model):
    plt.close("all")
    drawn(plot.score_card(model))
    drawn(plot.violins(model))
    plt.close("all")


@pytest.mark.parametrize("draw", [plot.violins, plot.score_card, plot.decision_surface])
def test_what_is_no_model_or_no_axes_is_refused(draw):
    with pytest.raises(TypeError, match="A dict is not a model; pass a SMaLLModel, a fitted SMaLLClassifier"):
        draw({})
    with pytest.raises(ValueError, match="This SMaLLClassifier is not fitted yet"):
        draw(SMaLLClassifier())
    with pytest.raises(TypeError, match="ax is a str; pass a matplotlib Axes"):
        draw(RANGED, ax="here")


def run(code):
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)


def test_importing_is_light_and_a_missing_matplotlib_is_named():
    assert run("import sys, smallearn.plot; assert 'matplotlib' not in sys.modules").returncode == 0
    code = """
import sys
sys.modules["matplotlib"] = None
import smallearn.plot
from smallearn.model import Prototype, SMaLLModel, Term
smallearn.plot.score_card(SMaLLModel((0, 1), "<i8", 1, (Prototype(1, 0.0, (Term(0, 1.0),)),)))
"""
    last = run(code).stderr.strip().splitlines()[-1]
    assert last == (
        "ImportError: smallearn.plot needs matplotlib, which is not installed: pip install 'smallearn[plot]'"
    )
