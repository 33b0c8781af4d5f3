"""The pictures of the page as text: nothing overlaps, and names and numbers are whole."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from smallearn.model import Prototype, Selection, SMaLLModel, Step, Term
from smallearn.report._charts import chances_picture, found_picture, frontier_picture
from smallearn.report._features import features_of, spread_out
from smallearn.report._importance import heat_map_of
from smallearn.report._svg import WIDTH, percent_text, shortened, ticks, width_of
from tests.helpers.browser import subject_of
from tests.helpers.report_models import given as report_model

TEXT = re.compile(r'<text x="([\d.]+)" y="([\d.]+)" class="([^"]*)"[^>]*>(.*?)</text>')
places = st.floats(-1e3, 1e3)


@given(st.lists(places, min_size=1, max_size=12), places, st.floats(1.0, 500.0))
def test_labels_are_spread_out_and_stay_inside(wanted, low, extent):
    gap = extent / 12
    wanted = sorted(wanted)
    found = spread_out(wanted, gap, low, low + extent)
    assert all(after - before >= gap * (1 - 1e-9) - 1e-9 for before, after in itertools.pairwise(found))
    assert min(found) >= low - 1e-6
    assert max(found) <= low + extent + 1e-6
    if min(wanted) >= low and max(wanted) <= low + extent and all(np.diff(wanted) >= gap):
        assert found == pytest.approx(wanted, abs=1e-6)


def test_labels_that_are_too_close_are_centred_on_what_they_want():
    assert spread_out([50.0, 50.0, 50.0], 10.0, 0.0, 100.0) == [40.0, 50.0, 60.0]


@given(st.text(st.characters(categories=("Lu", "Ll", "Lo")), max_size=80), st.floats(40.0, 400.0))
def test_a_name_is_whole_or_keeps_both_ends_and_fits(name, width):
    short = shortened(name, width)
    assert width_of(short) <= width
    if short != name:
        left, right = short.split("…")
        assert name.startswith(left)
        assert name.endswith(right)
        assert width_of(name) > width


def test_japanese_letters_are_twice_as_wide():
    assert width_of("半径") > 1.7 * width_of("ra")
    assert shortened("半" * 40, 282) != "半" * 40
    assert shortened("r" * 40, 282) == "r" * 40


@given(st.floats(0.0, 1.0), st.floats(0.001, 1.0))
def test_percentages_on_an_axis_are_as_far_apart_as_they_say(low, extent):
    values = ticks(low, min(low + extent, 1.0), most=4)
    assume(len(values) > 1)
    told = [float(percent_text(value).removesuffix("%")) for value in values]
    assert np.diff(told) == pytest.approx(np.full(len(told) - 1, told[1] - told[0]), rel=0.02)


def test_the_curves_of_ten_classes_have_labels_that_do_not_overlap():
    one = report_model("ten classes")
    subject = subject_of(one.model, one.X, one.y)
    features = features_of(subject, subject.model)
    assert len(features) == 6
    for feature in features:
        labels = [
            (float(y), text) for _, y, kind, text in TEXT.findall(feature.picture.svg) if kind.startswith("label")
        ]
        assert {text.split("<")[0] for _, text in labels} == set(map(str, range(10)))
        heights = sorted(y for y, _ in labels)
        assert min(np.diff(heights)) >= 10.0


def test_of_many_classes_the_curves_farthest_from_0_have_names():
    weights = np.linspace(-1.0, 1.0, 30)
    prototypes = tuple(Prototype(k, 0.0, (Term(0, float(w), "x"),)) for k, w in enumerate(weights))
    model = SMaLLModel(tuple(range(30)), "<i8", 1, prototypes)
    X = pd.DataFrame({"x": np.linspace(-1.0, 1.0, 60)})
    subject = subject_of(model, X, np.repeat(np.arange(30), 2))
    (feature,) = features_of(subject, subject.model)
    named = {
        int(text.split("<")[0]) for *_, kind, text in TEXT.findall(feature.picture.svg) if kind.startswith("label")
    }
    assert {0, 29} <= named
    assert not {14, 15} & named


def test_the_number_of_rows_stays_beside_a_long_name():
    one = report_model("long names")
    subject = subject_of(one.model, one.X, one.y)
    svg = chances_picture(subject, np.linspace(0.0, 1.0, len(one.X)), 0.5).svg
    told = [text for _, _, kind, text in TEXT.findall(svg) if "strong" in kind]
    for k, text in zip((1, 0), told, strict=True):
        assert text.endswith(f": {int(np.sum(subject.code == k))} rows")
        assert width_of(text) <= 300
    assert svg.index('class="cut"') < svg.index('class="end strong')  # names lie over the line


def test_bars_of_many_classes_are_narrower_and_none_lies_on_another():
    for n in (4, 10):
        names = [f"c{k}" for k in range(n)]
        prototypes = tuple(Prototype(k, float(k), (Term(0, float(k), "x"),)) for k in range(n))
        model = SMaLLModel(tuple(names), "<U3", 1, prototypes)
        subject = subject_of(model, np.arange(2.0 * n)[:, None], names * 2)
        svg = found_picture(subject, np.diag(np.full(n, 2))).svg
        bars = [(float(y), float(h)) for y, h in re.findall(r'<rect [^>]*y="([\d.]+)"[^>]*height="([\d.]+)"', svg)]
        assert len(bars) == n
        assert all(above + height < below for (above, height), (below, _) in itertools.pairwise(bars))


def test_score_against_size_is_in_percent_and_counts_what_the_budget_counts():
    steps = tuple(Step(n, 1, 0.9 + n / 200, 0.005) for n in range(1, 4))
    plain = SMaLLModel(("no", "yes"), "<U3", 2, (Prototype(1, 0.0, (Term(0, 1.0, "x"),)),))
    model = replace(plain, selection=Selection("accuracy", (0.9,), 3, steps))
    svg = frontier_picture(model, [1]).svg
    assert "%</text>" in svg
    assert ">terms</text>" in svg
    twice = tuple(Prototype(1, float(-k), (Term(0, 1.0 + k, "x"), Term(1, 2.0, "z"))) for k in range(2))
    svg = frontier_picture(replace(model, prototypes=twice), [1]).svg
    assert ">weights</text>" in svg
    assert ">terms</text>" not in svg


def test_names_in_japanese_are_in_the_pictures_and_within_them():
    name = "最大のきめの粗さの平均値と標準偏差の組み合わせによる非常に長い特徴量の名前"
    model = SMaLLModel(("悪性", "良性"), "<U2", 1, (Prototype(1, 0.0, (Term(0, 1.0, name),)),))
    X = pd.DataFrame({name: np.linspace(-1.0, 1.0, 40)})
    subject = subject_of(model, X, np.where(X[name] > 0.1, "良性", "悪性"))
    (feature,) = features_of(subject, subject.model)
    (axis,) = [text for _, _, kind, text in TEXT.findall(feature.picture.svg) if kind == "middle name"]
    assert axis.startswith("最大のきめ")
    assert axis.endswith("特徴量の名前")
    assert width_of(axis) <= WIDTH
    assert name in feature.picture.svg  # in words, for a screen reader
    assert "truly 良性: " in chances_picture(subject, np.linspace(0.0, 1.0, 40), 0.5).svg


def test_the_cells_of_a_map_have_the_same_number_of_digits():
    one = report_model("ten classes")
    subject = subject_of(one.model, one.X, one.y)
    drawn = heat_map_of(subject, subject.model)
    cells = [cell.text for _, cells in drawn.lines for cell in cells]
    assert len(cells) == 60
    assert len({len(text.partition(".")[2]) for text in cells}) == 1
    assert not {"+0.0", "−0.0", "+0", "−0"} & set(cells)
