"""Names in any script are drawn without a warning, whatever fonts are installed."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from smallearn import plot
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.plot import _glyphs
from smallearn.plot._glyphs import readable
from tests.helpers.pictures import drawn, words

NAMES = ("年齢", "\U000f0000 private")  # Japanese; a sign that no font should have
RNG = np.random.default_rng(0)
X = pd.DataFrame({NAMES[0]: RNG.integers(0, 6, 200), NAMES[1]: RNG.normal(size=200)})
TERMS = (Term(0, 0.5, NAMES[0]), Term(1, 1.0, NAMES[1]))
MODEL = SMaLLModel(("いいえ", "はい"), "<U3", 2, (Prototype(1, 0.5, TERMS),))
Y = MODEL.predict(X)


@pytest.fixture(params=[True, False], ids=["fonts as installed", "no other font"])
def _fonts(request, monkeypatch):
    if not request.param:
        monkeypatch.setattr(_glyphs, "_font_with", lambda _: None)


@pytest.mark.usefixtures("_fonts")
def test_no_picture_warns_of_missing_glyphs():
    model = MODEL.trained_on(X, Y, target="診断")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ax in (
            plot.violins(model, X, Y),
            plot.violins(model),
            plot.decision_surface(model, X, Y),
            plot.score_card(model),
            plot.contributions(model, X.iloc[0]),
            plot.reliability(model, X, Y),
        ):
            drawn(ax)


def test_a_sign_that_no_font_has_is_escaped(monkeypatch):
    monkeypatch.setattr(_glyphs, "_font_with", lambda _: None)
    assert readable("age 年") == r"age \u5e74"
    assert readable("größe ≤ 3") == "größe ≤ 3"


def test_the_legend_names_the_target():
    model = MODEL.trained_on(X, Y, target="outcome")
    for draw in (plot.violins, plot.decision_surface):
        assert drawn(draw(model, X, Y)).get_legend().get_title().get_text() == "outcome"
        assert drawn(draw(MODEL, X, Y)).get_legend().get_title().get_text() == ""


def test_a_few_extreme_values_do_not_squash_the_others_and_the_axis_says_so():
    numbers = RNG.normal(size=(1000, 2))
    model = replace(MODEL, prototypes=(Prototype(1, 0.0, (Term(0, 1.0), Term(1, 1.0))),))
    y = model.predict(numbers)
    plain = plot.violins(model, numbers, y)
    assert "cut" not in plain.get_xlabel()
    assert plain.get_xlim()[1] > numbers.max()
    numbers[0, 0] = 1000.0
    violins, surface = plot.violins(model, numbers, y), plot.decision_surface(model, numbers, y)
    for ax in (violins, surface):
        assert ax.get_xlim()[1] < 20.0
        assert ax.get_xlabel().splitlines()[0].endswith("(axis cut to the middle 99% of rows)")
    assert "cut" not in surface.get_ylabel()


def test_whole_numbers_are_jittered():
    ax = plot.decision_surface(MODEL, X, Y)
    places = np.concatenate([np.asarray(points.get_offsets())[:, 0] for points in ax.collections[-2:]])
    assert len(np.unique(places)) > 100
    assert np.abs(places - np.rint(places)).max() <= 0.28
    assert any(NAMES[0] in text or r"\u5e74" in text for text in words(ax))
