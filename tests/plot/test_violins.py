"""What each term adds, drawn: what is drawn is what the model computes."""

from dataclasses import replace

import numpy as np
import pytest

from smallearn import plot
from smallearn.model import Range
from smallearn.model._decision import leads
from smallearn.plot._colours import style_of
from smallearn.plot._rows import additions
from tests.helpers.models import CARD, RANGED, ROWS, THREE, YES
from tests.helpers.pictures import MANY, ODD, ODD_LABELS, PAIRS, RNG, N, drawn, words


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


def test_violins_refuse_labels_without_rows():
    with pytest.raises(ValueError, match="y is given without X"):
        plot.violins(YES, y=["no"])
