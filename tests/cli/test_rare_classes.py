"""Which class accuracy says little of, and how many of its rows are found."""

from dataclasses import replace

import numpy as np
import pytest

from smallearn.cli.rare_classes import found_of, rare_class
from smallearn.model import DataFacts
from tests.helpers.models import THREE, YES


@pytest.mark.parametrize(
    ("model", "counts", "label"),
    [(YES, (81, 19), "yes"), (YES, (19, 81), "no"), (YES, (80, 20), None), (THREE, (60, 30, 10), THREE.classes[2])],
)
def test_a_class_is_rare_below_a_fifth_or_half_of_its_share(model, counts, label):
    assert rare_class(replace(model, data=DataFacts("", counts))) == label
    assert rare_class(replace(model, data=None)) is None


def test_recall_and_precision_are_shares_where_there_are_rows():
    found = found_of(YES, "yes", np.array([[80, 5], [10, 5]]))
    assert (found.there, found.flagged, found.found) == (15, 10, 5)
    assert (found.recall, found.precision) == (5 / 15, 0.5)
    none = found_of(YES, "yes", np.array([[80, 0], [0, 0]]))
    assert (none.recall, none.precision) == (None, None)
