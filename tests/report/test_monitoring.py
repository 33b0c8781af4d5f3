"""The section of a report on rows that have moved, and that of a score card: plain tables and one picture."""

import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from smallearn.evaluation import monitor
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.report._monitoring import monitor_section
from smallearn.report._score_card import score_card_section
from tests.helpers.models import CARD


@pytest.fixture
def monitored():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age <years>": rng.normal(40.0, 10.0, 900)})
    terms = (Term(0, 0.1, "age <years>"),)
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -4.0, terms),)).with_reference(X)
    new = X + np.linspace(0.0, 12.0, 900)[:, None]
    y = np.where(new["age <years>"] > 42.0, "yes", "no")
    return monitor(model, new, y, periods=np.repeat(["2024-01", "2024-02", "2024-03"], 300))


def test_the_section_has_the_lines_of_the_result(monitored):
    section = monitor_section(monitored)
    tables = {table.name: table for table in section["tables"]}
    assert list(tables) == [
        "Stability since training",
        "What moved most",
        "Classes in training and now",
        "Performance now",
        "Period by period",
    ]
    assert [tuple(tables["Stability since training"].head), *tables["Stability since training"].lines] == (
        monitored.stability_lines()
    )
    for table in tables.values():
        assert {len(line) for line in table.lines} == {len(table.head)}
        assert max(table.numbers, default=0) < len(table.head)
    assert section["text"][0].startswith("900 rows, compared with 900 training rows: ")


def test_the_picture_has_a_point_for_each_period_of_the_score_and_the_feature(monitored):
    (picture,) = monitor_section(monitored)["pictures"]
    svg = ET.fromstring(picture["svg"])
    titles = [title.text for title in svg.iter("title")]
    expected = [f"age <years>, {one.name}: PSI {one.features[0].psi:.3f}" for one in monitored.periods]
    expected += [f"score, {one.name}: PSI {one.scores[0].psi:.3f}" for one in monitored.periods]
    assert titles == expected
    heights = [float(circle.get("cy")) for circle in svg.iter("circle")][:3]
    order = np.argsort([one.features[0].psi for one in monitored.periods])
    assert np.argsort(heights)[::-1].tolist() == order.tolist()  # a higher index is higher up


def test_without_periods_and_labels_there_is_less():
    rows = np.array([[50.0, "red", 0, True], [30.0, "blue", 0, False]] * 20, dtype=object)
    section = monitor_section(monitor(CARD.with_reference(rows), rows))
    assert section["pictures"] == []
    assert [table.name for table in section["tables"]] == ["Stability since training", "Classes in training and now"]


def test_a_score_card_is_tables_of_text():
    section = score_card_section(CARD.score_card("pdo", digits=0))
    (table,) = section["tables"]
    assert table.lines[0] == ("", "to start with", "444")
    assert ("age", "> 40", "29") in table.lines
    assert section["strip"].lines[0] == ("444", "18.3%")
    assert any("Predict 'yes' above" in text for text in section["text"])
