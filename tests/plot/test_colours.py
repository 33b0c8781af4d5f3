"""How classes are drawn: they differ in grey and in shape."""

import numpy as np
from matplotlib.colors import to_rgb

from smallearn import plot
from smallearn.plot._colours import style_of
from tests.helpers.models import THREE
from tests.helpers.pictures import PAIRS


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
