"""Decision surfaces: shades are probabilities, regions are predictions."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from smallearn import plot
from smallearn.model import Prototype, Range, Term
from tests.helpers.models import CARD, NO, ROWS, THREE, YES
from tests.helpers.pictures import MANY, ODD, ODD_LABELS, PAIRS, RNG, drawn


def grid_of(ax):
    mesh = ax.collections[0]
    cells = mesh.get_coordinates()
    middle = (cells[:-1, :-1] + cells[1:, 1:]) / 2
    return middle.reshape(-1, 2), np.asarray(mesh.get_array()).ravel()


@pytest.mark.parametrize("model", [YES, NO])
def test_shades_are_probabilities_and_the_boundary_is_where_the_decision_turns(model):
    ax = plot.decision_surface(model, MANY, model.predict(MANY))
    places, shade = grid_of(ax)
    sampled = RNG.choice(len(places), 500, replace=False)
    rows = np.zeros((500, 3))
    rows[:, [0, 2]] = places[sampled]
    np.testing.assert_allclose(shade[sampled], model.predict_proba(rows)[:, 1], atol=1e-9)
    assert ((shade[sampled] > 0.5) == (model.predict(rows) == "yes")).all()
    line = np.concatenate([path.vertices for path in ax.collections[2].get_paths()])
    rows = np.zeros((len(line), 3))
    rows[:, [0, 2]] = line
    assert np.abs(model.decision_function(rows)).max() < 0.05
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "c")


def test_regions_are_those_of_the_class_that_wins():
    places, number = grid_of(plot.decision_surface(THREE, PAIRS))
    sampled = RNG.choice(len(places), 500, replace=False)
    assert (np.array(THREE.classes)[number[sampled].astype(int)] == THREE.predict(places[sampled])).all()


def test_categories_have_an_axis_and_other_features_are_held():
    ax = drawn(plot.decision_surface(CARD, ODD, ODD_LABELS, features=["age", "colour"]))
    assert [text.get_text() for text in ax.get_yticklabels()] == ["red", "blue", "green"]
    usual = ODD["member"].mode()[0]
    assert f"fixed: member = {usual}" in ax.get_xlabel()
    places, shade = grid_of(ax)
    sampled = RNG.choice(len(places), 300, replace=False)
    colours = np.array(["red", "blue", "green"])[np.clip(np.rint(places[sampled, 1]), 0, 2).astype(int)]
    rows = pd.DataFrame({"age": places[sampled, 0], "colour": colours, "member": usual})
    np.testing.assert_allclose(shade[sampled], CARD.predict_proba(rows)[:, 1])


def test_alone_categories_are_those_of_the_model_and_numbers_lie_around_the_thresholds():
    ax = drawn(plot.decision_surface(CARD, features=("age", "colour")))
    assert [text.get_text() for text in ax.get_yticklabels()] == ["red", "blue"]
    low, high = ax.get_xlim()
    assert low < 40.0 < high
    assert "fixed: member = True" in ax.get_xlabel()


def test_features_are_named_or_counted_and_may_be_any_of_x():
    one = replace(YES, prototypes=YES.prototypes[1:], ranges=())  # uses a alone
    table = pd.DataFrame(MANY, columns=["a", "b", "c"])
    labels = [
        (ax.get_xlabel(), ax.get_ylabel())
        for ax in (
            plot.decision_surface(one, table, features=("a", "b")),
            plot.decision_surface(one, table[["c", "a", "b"]], features=("c", "a")),
            plot.decision_surface(one, MANY, features=(0, 2)),
            plot.decision_surface(one, pl.DataFrame(table.to_dict("list")), features=("b", "a")),
            plot.decision_surface(one, sparse.csr_array(MANY), features=("x1", "a")),
        )
    ]
    assert labels == [("a", "b"), ("c", "a"), ("a", "x2"), ("b", "a"), ("x1", "a")]
    points = plot.decision_surface(one, table[["c", "a", "b"]], features=("c", "a")).collections[-1].get_offsets()
    np.testing.assert_allclose(points, MANY[:, [2, 0]])


def test_a_model_of_one_feature_takes_the_other_of_two_columns():
    one = replace(THREE, classes=("p", "q"), prototypes=(Prototype(1, 0.0, (Term(0, 1.0),)),))
    assert plot.decision_surface(one, PAIRS).get_ylabel() == "x1"


def test_a_surface_of_a_single_row_or_without_a_boundary_is_drawn():
    drawn(plot.decision_surface(YES, ROWS[:1], ["yes"]))
    always = replace(YES, prototypes=tuple(replace(p, intercept=99.0) for p in YES.prototypes))
    ax = drawn(plot.decision_surface(always, MANY))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["predicted yes", "rows"]
    assert len(ax.collections) == 3  # shades, hatches and rows, but no line


@pytest.mark.parametrize(
    ("model", "options", "problem"),
    [
        (CARD, {}, "the model uses 3 .*'age', 'colour', 'member'.* choose two"),
        (YES, {}, "does not know the range of 'a'; pass X"),
        (YES, {"features": "ac"}, "features='ac' is not a pair"),
        (YES, {"features": ("a",)}, "not a pair"),
        (YES, {"features": ("a", "a")}, "names one feature twice"),
        (YES, {"features": ("a", "zzz")}, "no feature 'zzz'"),
        (YES, {"features": ("a", 7)}, "no feature 7"),
        (YES, {"features": ("a", 1)}, "does not use feature 1 .* pass X"),
        (YES, {"y": ["no"]}, "y is given without X"),
        (YES, {"X": np.full((2, 3), np.nan)}, "'a' in X are missing"),
    ],
)
def test_a_surface_that_cannot_be_says_why(model, options, problem):
    with pytest.raises(ValueError, match=problem):
        plot.decision_surface(model, **options)


def test_alone_other_features_are_fixed_at_their_mean_or_in_the_middle_of_their_range():
    terms = (
        Term(0, 1.0, "a"),
        Term(1, 1.0, "b"),
        Term(2, 1.0, "c", mean=0.25),
        Term(3, 1.0, "d"),
        Term(4, 1.0, "e", "missing"),
    )
    ranges = tuple(Range(feature, 0.0, 3.0) for feature in (0, 1, 3))
    model = replace(YES, n_features=5, prototypes=(Prototype(1, 0.0, terms),), ranges=ranges)
    ax = plot.decision_surface(model, features=("a", "b"))
    assert "fixed: c = 0.25, d = 1.5, e = 0" in ax.get_xlabel()


def test_a_feature_without_values_is_fixed_as_missing():
    terms = (Term(0, 1.0, "a"), Term(1, 1.0, "b"), Term(2, 1.0, "c", "missing"))
    model = replace(YES, prototypes=(Prototype(1, 0.0, terms),), ranges=())
    X = np.column_stack([PAIRS, np.full(len(PAIRS), np.nan)])
    assert "fixed: c = missing" in plot.decision_surface(model, X, features=("a", "b")).get_xlabel()
