"""More than three classes: a heat map of what terms add, with a column for each class."""

import numpy as np
import pytest

from smallearn import plot
from smallearn.model._decision import leads
from smallearn.plot._rows import additions
from tests.helpers.models import THREE
from tests.helpers.pictures import PAIRS, drawn
from tests.plot.cases import case

MODEL, X, Y = case("six classes")


def cells(ax):
    """The numbers behind the colours: lines × classes."""
    return np.ma.filled(ax.collections[0].get_array().astype(float), np.nan).reshape(-1, len(np.unique(Y)))


def test_cells_are_mean_contributions_relative_to_all_rows_and_then_mean_leads():
    shown = cells(plot.violins(MODEL, X, Y))
    expected = []
    for added in additions(MODEL, X):
        means = [added[label == Y].mean(axis=0) - added.mean(axis=0) for label in MODEL.classes]
        expected += [np.full((1, 6), np.nan), np.array(means).T]
    ahead = leads(MODEL.compared(MODEL.scores(X)))
    expected += [np.full((1, 6), np.nan), np.array([ahead[label == Y].mean(axis=0) for label in MODEL.classes]).T]
    np.testing.assert_allclose(shown, np.vstack(expected), atol=1e-12)


def test_columns_name_the_classes_the_target_and_the_numbers_of_rows():
    ax = drawn(plot.violins(MODEL, X, Y))
    assert ax.get_xlabel() == "cover_type (rows)"
    names = [text.get_text().replace("\n", " ") for text in ax.get_xticklabels()]
    assert names == [f"{label} ({(label == Y).sum()})" for label in MODEL.classes]


def test_each_cell_has_its_number_and_frames_mark_the_class_of_each_score():
    ax = drawn(plot.violins(MODEL, X, Y))
    numbers = [text.get_text() for text in ax.texts if text.get_ha() == "center"]
    assert len(numbers) == np.isfinite(cells(ax)).sum()
    assert sorted({frame.get_x() + 0.5 for frame in ax.patches}) == [0, 1, 2, 3, 4, 5]
    assert len(ax.patches) == 12  # six scores, six leads


def test_numbers_that_cannot_be_read_are_left_out(monkeypatch):
    monkeypatch.setattr("smallearn.plot._heat_map.LARGEST_NUMBER", 4.0)
    assert not [text for text in drawn(plot.violins(MODEL, X, Y)).texts if text.get_ha() == "center"]


@pytest.mark.parametrize("few", [3, 4])
def test_three_classes_in_the_rows_have_violins_and_four_a_heat_map(few):
    kept = np.isin(Y, MODEL.classes[:few])
    ax = drawn(plot.violins(MODEL, X[kept], Y[kept]))
    assert (ax.get_legend() is None) == (few == 4)
    assert plot.violins(THREE, PAIRS, THREE.predict(PAIRS)).get_legend() is not None
