"""Pictures: what is drawn is what the model says, whoever looks at it and whatever names it has."""

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from matplotlib.colors import to_rgb
from scipy import sparse

from smallearn import SMaLLClassifier, SMaLLClassifierCV, plot
from smallearn.devices import cost
from smallearn.evaluation import wilson
from smallearn.model import Prototype, Range, Selection, Step, Term
from smallearn.model._rule import leads
from smallearn.plot._colours import style_of
from smallearn.plot._rows import additions
from tests.helpers.models import CARD, NO, RANGED, ROWS, THREE, YES, models, small

mpl.use("agg")
import matplotlib.pyplot as plt

RNG = np.random.default_rng(0)
N = 60
ODD = pd.DataFrame(
    {
        "age": np.where(RNG.random(N) < 0.2, np.nan, RNG.integers(20, 80, N)),
        "colour": RNG.choice(["red", "blue", "green", None], N),
        "other": RNG.normal(size=N),
        "member": RNG.choice([True, False], N),
    }
)
ODD_LABELS = np.where(RNG.random(N) < 0.5, "yes", "no")
MANY = RNG.normal(size=(N, 3))
PAIRS = RNG.normal(size=(N, 2)) * 2.0
CHOSEN = replace(YES, selection=Selection("accuracy", (0.9, 0.8), 4, (Step(1, 1, 0.7, 0.05), Step(3, 2, 0.85, 0.02))))
NASTY = ("$\\frac{a$", "two\nlines and a $", "n" * 200, "_hidden", "100% {x}", "\\$ ^_")


def hostile(name, other="b"):
    """A model and its classes with names that mean something to matplotlib."""
    prototypes = (Prototype(1, -1.0, (Term(0, 2.0, name), Term(1, 1.0, other, "equals", name))),)
    return replace(YES, classes=("no", name), class_dtype="|O", n_features=2, prototypes=prototypes, ranges=())


@pytest.fixture(autouse=True)
def _close():
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before  # nobody changes the settings of others


def drawn(ax):
    """The Axes, once they have been rendered."""
    ax.get_figure().canvas.draw()
    return ax


def words(ax):
    legend = [] if ax.get_legend() is None else ax.get_legend().get_texts()
    texts = [*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels(), ax.title, ax._left_title, *legend]
    return [text.get_text() for text in [*texts, ax.xaxis.label, ax.yaxis.label]]


PICTURES = {
    "violins": lambda ax: plot.violins(YES, ROWS, ["no", "yes", "no", "no"], ax=ax),
    "violins, alone": lambda ax: plot.violins(RANGED, ax=ax),
    "violins, literals": lambda ax: plot.violins(CARD, ODD, ODD_LABELS, ax=ax),
    "violins, three classes": lambda ax: plot.violins(THREE, PAIRS, THREE.predict(PAIRS), ax=ax),
    "surface": lambda ax: plot.decision_surface(YES, MANY, YES.predict(MANY), ax=ax),
    "surface, alone": lambda ax: plot.decision_surface(RANGED, ax=ax),
    "surface, literals": lambda ax: plot.decision_surface(CARD, ODD, ODD_LABELS, features=("age", "colour"), ax=ax),
    "surface, three classes": lambda ax: plot.decision_surface(THREE, PAIRS, THREE.predict(PAIRS), ax=ax),
    "frontier": lambda ax: plot.frontier(CHOSEN, ax=ax),
    "card": lambda ax: plot.score_card(YES, ax=ax),
    "card, literals": lambda ax: plot.score_card(CARD, ax=ax),
    "card, three classes": lambda ax: plot.score_card(THREE, ax=ax),
    "case": lambda ax: plot.contributions(YES, ROWS[0], ax=ax),
    "case, literals": lambda ax: plot.contributions(CARD, ODD.iloc[0], ax=ax),
    "case, three classes": lambda ax: plot.contributions(THREE, [2.0, 1.0], ax=ax),
    "reliability": lambda ax: plot.reliability(YES, MANY, YES.predict(MANY), ax=ax),
    "reliability, three classes": lambda ax: plot.reliability(THREE, PAIRS, THREE.predict(PAIRS), label="c", ax=ax),
}


@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
def test_a_picture_goes_into_the_axes_given_or_into_a_new_figure(picture):
    _, (left, right) = plt.subplots(1, 2)
    assert picture(left) is left
    assert not right.has_data()
    drawn(left)
    number = len(plt.get_fignums())
    new = picture(None)
    assert len(plt.get_fignums()) == number + 1
    assert new.get_figure() is plt.gcf()
    drawn(new)


@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
def test_no_text_of_a_new_figure_is_cut_off(picture):
    ax = drawn(picture(None))
    figure = ax.get_figure()
    box = ax.get_tightbbox()
    assert box.x0 >= -1
    assert box.y0 >= -1
    assert box.x1 <= figure.bbox.width + 1
    assert box.y1 <= figure.bbox.height + 1


# --- colours ---------------------------------------------------------------------------------------------------------


def grey(colour):
    return float(np.dot(to_rgb(colour), [0.299, 0.587, 0.114]))


def test_the_classes_differ_in_grey_and_in_shape():
    shades = sorted(grey(style_of(number).colour) for number in range(4))
    assert min(np.diff(shades)) > 0.2
    styles = [style_of(number) for number in range(8)]
    for part in range(3):  # colour, marker, hatch
        assert len({style[part] for style in styles}) == 8
    assert len({style_of(number)[:2] for number in range(88)}) == 88


def test_classes_have_markers_and_hatches_of_their_own():
    ax = plot.decision_surface(THREE, PAIRS, THREE.predict(PAIRS))
    scattered = [found for found in ax.collections if hasattr(found, "get_offsets") and len(found.get_offsets()) > 1]
    shapes = {found.get_paths()[0].vertices.tobytes() for found in scattered}
    assert len(scattered) == len(shapes) == 3
    counts = [int((THREE.predict(PAIRS) == label).sum()) for label in "abc"]
    assert [len(found.get_offsets()) for found in scattered] == counts
    handles = plot.violins(THREE, PAIRS, THREE.predict(PAIRS)).get_legend().legend_handles
    assert len({handle.get_hatch() for handle in handles}) == 3


# --- violins ---------------------------------------------------------------------------------------------------------


def test_violins_name_every_term_and_the_score():
    ax = plot.violins(YES, MANY, YES.predict(MANY))
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "c", "a", "highest score"]
    assert [text.get_text() for text in ax.texts] == [
        "Score 1 for class yes: constant \u22121",
        "Score 2 for class yes: constant +0.5",
        "Decision: yes if the highest score is above 0",
    ]
    count = (YES.predict(MANY) == "yes").sum()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [f"no ({N - count})", f"yes ({count})"]


def test_what_terms_add_and_the_constant_make_the_scores():
    for model, X in ((YES, MANY), (THREE, PAIRS), (CARD, ODD)):
        parts = additions(model, X)
        sums = [part.sum(axis=1) + prototype.intercept for part, prototype in zip(parts, model.prototypes, strict=True)]
        np.testing.assert_allclose(np.column_stack(sums), model.scores(X))


def test_violins_reach_from_the_least_value_to_the_greatest():
    label = np.resize(["no", "yes"], N)
    ax = plot.violins(YES, MANY, label)
    first, second = ax.collections[:2]  # of the first term, 2a
    for body, name, side in ((first, "no", -1), (second, "yes", 1)):
        vertices = body.get_paths()[0].vertices
        mine = 2.0 * MANY[label == name, 0]
        assert vertices[:, 0].min() == pytest.approx(mine.min())
        assert vertices[:, 0].max() == pytest.approx(mine.max())
        assert ((vertices[:, 1] - 1.0) * side >= -1e-9).all()  # on its own side of the line, which is the second


def test_literals_are_bars_as_high_as_their_share():
    ax = plot.violins(CARD, ODD, ODD_LABELS)
    bars = [bar for bar in ax.patches if abs(bar.get_y() + bar.get_height() - 1.0) < 1e-9]  # class "no", on [age > 40]
    mine = ODD["age"][ODD_LABELS == "no"] > 40
    heights = {bar.get_x() + bar.get_width() / 2: bar.get_height() for bar in bars}
    assert sorted(heights) == pytest.approx([0.0, 2.0])
    low, high = (heights[key] for key in sorted(heights))
    assert high / low == pytest.approx(mine.sum() / (~mine).sum())


def test_a_single_row_is_a_marker_at_its_value():
    ax = drawn(plot.violins(YES, ROWS[:1], ["yes"]))
    dots = [line for line in ax.lines if line.get_marker() == style_of(1).marker]
    assert [line.get_xdata()[0] for line in dots] == [0.0, -0.0, -0.0, 0.5]
    assert not ax.collections


def test_alone_the_ends_are_those_of_the_training_ranges():
    ax = plot.violins(RANGED)  # a from -1 to 3, c always 0.5
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
    assert bars == [(-2.0, 6.0), (-3.0, 1.0), (-2.5, 4.5)]  # 2a, -a, and the greater of the two scores
    assert words(plot.violins(RANGED))[0].startswith("Score 1 for class yes")
    assert any("range unknown" in text for text in words(plot.violins(YES)))
    assert "highest score (range)" not in words(plot.violins(YES))


def test_alone_the_lead_of_each_class_is_within_its_limits():
    ranged = replace(THREE, ranges=(Range(0, -1.0, 1.0), Range(1, 0.0, 2.0)))
    ax = plot.violins(ranged)
    inside = np.column_stack([RNG.uniform(-1, 1, 200), RNG.uniform(0, 2, 200)])
    ahead = leads(ranged.decision_function(inside))
    for bar, lead in zip(ax.patches[-3:], ahead.T, strict=True):
        assert bar.get_x() <= lead.min()
        assert lead.max() <= bar.get_x() + bar.get_width()


def test_rows_whose_class_is_not_told_are_drawn_alike():
    ax = drawn(plot.violins(YES, MANY))
    assert ax.get_legend() is None
    assert len(ax.collections) == 4


def test_many_rows_and_skewed_values_have_a_density():
    X = np.zeros((5000, 3))
    X[:100] = RNG.normal(size=(100, 3))  # most rows are the same, so that quartiles are
    ax = drawn(plot.violins(YES, X, YES.predict(X)))
    assert all(np.isfinite(body.get_paths()[0].vertices).all() for body in ax.collections)


# --- decision surfaces -----------------------------------------------------------------------------------------------


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


# --- frontiers -------------------------------------------------------------------------------------------------------


def test_a_frontier_has_the_scores_and_marks_the_choice():
    ax = plot.frontier(CHOSEN)
    line = ax.lines[0]
    assert line.get_xdata().tolist() == [1, 3]
    assert line.get_ydata().tolist() == [0.7, 0.85]
    star = next(found for found in ax.lines if found.get_marker() == "*")
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (3, pytest.approx(0.85))
    assert ax.get_legend().get_texts()[0].get_text() == "chosen: 3 terms in 2 prototypes, 85.0%"
    ends = ax.collections[0].get_segments()
    assert [end[:, 1].tolist() for end in ends] == [pytest.approx([0.65, 0.75]), pytest.approx([0.83, 0.87])]


def test_points_without_a_choice_have_no_star_and_may_be_drawn_by_bytes():
    models = [replace(RANGED, prototypes=RANGED.prototypes[:1]), RANGED]
    points = [SimpleNamespace(n_terms=n, score=n / 5, spread=0.1, model=m) for n, m in enumerate(models, start=2)]
    ax = plot.frontier(points)
    assert all(line.get_marker() != "*" for line in ax.lines)
    ax = plot.frontier(points, by="bytes", chip="cortex-m0")
    sizes = ax.lines[0].get_xdata()
    assert 0 < sizes[0] < sizes[1]
    assert ax.get_xlabel().startswith("bytes of flash (")
    ax = plot.frontier(points, by="bytes", chip="cortex-m0", number="float32", layout="best")
    spent = [cost(model, "cortex-m0", "float32", layout="best").flash for model in models]
    assert ax.lines[0].get_xdata().tolist() == spent != sizes.tolist()
    assert ", float32" in ax.get_xlabel()


@pytest.mark.parametrize(
    ("points", "options", "problem"),
    [
        (YES, {}, "has no frontier"),
        (CHOSEN, {"by": "bytes"}, "by='bytes' needs the model of each point"),
        (CHOSEN, {"by": "weight"}, "by='weight' is not one of 'terms', 'bytes'"),
        ([], {}, "points is empty"),
        ([3], {}, "points has a int"),
        ("text", {}, "'text' is a path, not a model"),
        (SMaLLClassifierCV(), {}, "call fit first"),
    ],
)
def test_a_frontier_that_cannot_be_says_why(points, options, problem):
    with pytest.raises((ValueError, TypeError), match=problem):
        plot.frontier(points, **options)


# --- cards and cases -------------------------------------------------------------------------------------------------


def test_a_card_has_every_term_and_what_totals_mean():
    texts = words(plot.score_card(CARD))
    for text in ("+2", "× [age > 40]", "× [colour = 'red']", "× [age is missing]", "\u22122", "constant", "88.1%"):
        assert text in texts
    assert texts[0].startswith("Predict 'yes' if this score is above 0, otherwise 'no'.")
    assert "Points and probability of 'yes'" in texts
    turn = [line for line in plot.score_card(CARD).lines if line.get_linewidth() == 3.0]
    assert len(turn) == 1  # between 0 and +1
    assert turn[0].get_xdata()[0] == pytest.approx(4 / 8)


def test_a_card_of_weights_has_no_totals_and_long_ones_stand_in_columns():
    assert not any("probability" in text for text in words(plot.score_card(replace(YES, scale=0.3))))
    terms = tuple(Term(number, 1.5, f"feature {number}") for number in range(8))
    long = replace(YES, n_features=8, prototypes=tuple(Prototype(1, 0.5, terms) for _ in range(6)))
    ax = drawn(plot.score_card(long))
    assert len({text.get_position()[0] for text in ax.texts if text.get_text().startswith("Score")}) > 1
    points = tuple(replace(term, weight=3.0, unit=10.0) for term in terms)
    units = replace(long, prototypes=(Prototype(1, 2.0, points),))
    assert "per 10 × feature 3" in words(plot.score_card(units))


@pytest.mark.parametrize(("model", "row"), [(YES, ROWS[0]), (YES, ROWS[3]), (NO, ROWS[1]), (THREE, [3.0, -1.0])])
def test_the_bars_of_a_case_are_what_terms_add_and_end_at_the_score(model, row):
    ax = plot.contributions(model, row)
    scores = model.scores(np.array([row]))[0]
    number = int(scores.argmax())
    prototype = model.prototypes[number]
    *bars, score = ax.patches
    expected = [prototype.intercept, *(term.weight * row[term.feature] for term in prototype.terms)]
    assert [bar.get_width() for bar in bars] == pytest.approx(expected)
    assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(scores[number])
    assert (score.get_x(), score.get_width()) == (0.0, pytest.approx(scores[number]))
    for one, following in pairwise(bars):
        assert following.get_x() == pytest.approx(one.get_x() + one.get_width())
    title = ax.get_title(loc="left")
    assert title.startswith(f"{model.predict(np.array([row]))[0]}: score {number + 1} for class ")
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        "constant",
        *(f"{term.label} = {row[term.feature]:.5g}" for term in prototype.terms),
        "score",
    ]


def test_a_tie_goes_to_the_class_that_is_predicted():
    reversed_ = replace(THREE, prototypes=THREE.prototypes[::-1])
    assert plot.contributions(reversed_, [2.0, 2.0]).get_title(loc="left") == "a: score 4 for class a +2"


def test_a_case_says_which_class_comes_next():
    assert "(dotted: next class c, +1)" in plot.contributions(THREE, [3.0, -1.0]).get_xlabel()


def test_a_case_of_literals_says_the_values():
    ax = plot.contributions(CARD, {"age": None, "colour": "red", "member": np.bool_(True)})
    assert [text.get_text() for text in ax.get_yticklabels()][1:3] == [
        "[age > 40]: missing",
        "[age is missing]: missing",
    ]
    assert "[member = True]: True" in words(ax)
    assert ax.get_title(loc="left") == "yes: score for class yes +3"
    filled = replace(YES, prototypes=(Prototype(1, 0.0, (Term(0, 2.0, "a", mean=0.25),)),))
    ax = plot.contributions(filled, [np.nan, 0.0, 0.0])
    assert "a = missing, mean 0.25 used" in words(ax)
    assert ax.patches[-1].get_width() == 0.5


@pytest.mark.parametrize(
    "row",
    [
        {"a": 0.75, "c": 1.0},
        [0.75, 9.0, 1.0],
        np.array([[0.75, 9.0, 1.0]]),
        [[0.75, 9.0, 1.0]],
        sparse.csr_array([[0.75, 9.0, 1.0]]),
        pd.DataFrame({"c": [1.0], "a": [0.75]}),
        pd.Series({"c": 1.0, "a": 0.75}),
        pl.DataFrame({"c": [1.0], "a": [0.75]}),
    ],
)
def test_a_case_may_come_in_many_forms(row):
    assert [bar.get_width() for bar in plot.contributions(YES, row).patches] == pytest.approx([0.5, -0.75, -0.25])


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (ROWS, "A case is one row; this table has 4"),
        ([1.0], "The case has 1 values"),
        ({"a": 1.0}, "lacks 'c'"),
        ("text", "not the text 'text'"),
        ({"a": "text", "c": 1.0}, "is text"),
        ({"a": np.inf, "c": 1.0}, "finite"),
    ],
)
def test_a_case_that_cannot_be_says_why(row, problem):
    with pytest.raises(ValueError, match=problem):
        plot.contributions(YES, row)


# --- reliability -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_bins", [1, 5, 30])
def test_reliability_is_the_share_in_each_bin(n_bins):
    labels = np.where(RNG.random(N) < 0.5, "yes", "no")
    ax = plot.reliability(YES, MANY, labels, n_bins=n_bins)
    chance = YES.predict_proba(MANY)[:, 1]
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    bins = [(chance >= a) & ((chance < b) | (b == 1.0)) for a, b in pairwise(edges)]
    line = next(found for found in ax.lines if found.get_marker() == "o")
    assert line.get_xdata() == pytest.approx([chance[one].mean() for one in bins if one.any()])
    assert line.get_ydata() == pytest.approx([(labels[one] == "yes").mean() for one in bins if one.any()])
    intervals = [wilson(int((labels[one] == "yes").sum()), int(one.sum())) for one in bins if one.any()]
    (ends,) = (found.get_segments() for found in ax.collections if hasattr(found, "get_segments"))
    assert [end[:, 1].tolist() for end in ends] == [pytest.approx([one.low, one.high]) for one in intervals]
    heights = np.array([bar.get_height() for bar in ax.patches])
    assert heights / heights.max() == pytest.approx(np.array([one.sum() for one in bins]) / max(map(sum, bins)))


def test_reliability_is_of_the_class_asked_for():
    ax = plot.reliability(THREE, PAIRS, THREE.predict(PAIRS), label="c", n_bins=1)
    line = next(found for found in ax.lines if found.get_marker() == "o")
    assert line.get_ydata() == pytest.approx([(THREE.predict(PAIRS) == "c").mean()])
    assert ax.get_xlabel() == "predicted probability of c"
    drawn(plot.reliability(YES, ROWS[:1], ["no"]))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"n_bins": 0}, "n_bins=0 is not a positive integer"),
        ({"n_bins": True}, "n_bins=True"),
        ({"label": "maybe"}, "label='maybe' is not a class of the model; its classes are 'no', 'yes'"),
        ({"y": ["no"]}, "one label for each of the 4 rows"),
        ({"y": ["no", "yes", "off", "no"]}, "does not know: 'off'; its classes are 'no', 'yes'"),
        ({"X": ROWS[:0]}, "at least one row"),
        ({"X": ROWS[0]}, "rows × features"),
    ],
)
def test_bad_rows_and_options_are_named(given, problem):
    with pytest.raises(ValueError, match=problem):
        plot.reliability(**{"model": YES, "X": ROWS, "y": ["no", "yes", "no", "no"], **given})


# --- everything else -------------------------------------------------------------------------------------------------


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
        texts = words(drawn(ax))
        assert any(start in text for text in texts)
        assert max(map(len, texts)) < 140
        assert not any("\n" in text.removeprefix(ax.get_xlabel()) for text in texts)


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
    drawn(plot.score_card(model))
    drawn(plot.violins(model))
    plt.close("all")


@pytest.mark.parametrize("draw", [plot.violins, plot.score_card, plot.decision_surface])
def test_what_is_no_model_or_no_axes_is_refused(draw):
    with pytest.raises(TypeError, match="A dict is not a model; pass a SMaLLModel or a fitted SMaLLClassifier"):
        draw({})
    with pytest.raises(ValueError, match="This SMaLLClassifier is not fitted yet"):
        draw(SMaLLClassifier())
    with pytest.raises(TypeError, match="ax is a str; pass a matplotlib Axes"):
        draw(RANGED, ax="here")


def test_violins_refuse_labels_without_rows():
    with pytest.raises(ValueError, match="y is given without X"):
        plot.violins(YES, y=["no"])


def test_displays_draw_from_a_fitted_classifier_and_draw_again(iris):
    X, y = iris
    clf = SMaLLClassifierCV(2, literals="raw", n_prototypes=1, alphas=[0.01], cv=3, n_init=1, random_state=0)
    clf.fit(X[:, 2:], y)
    _, ax = plt.subplots()
    shown = plot.FrontierDisplay.from_estimator(clf, ax=ax)
    assert shown.ax_ is ax
    assert shown.figure_ is ax.figure
    assert shown.ax_.lines[0].get_ydata().tolist() == [step.score for step in clf.model_.selection.frontier]
    for display in (plot.ViolinDisplay, plot.DecisionSurfaceDisplay):
        shown = display.from_estimator(clf, X[:, 2:], y)
        before = shown.ax_
        assert shown.plot() is shown
        assert shown.ax_ is not before
        assert shown.figure_ is shown.ax_.figure
        _, ax = plt.subplots()
        assert shown.plot(ax).ax_ is ax


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
