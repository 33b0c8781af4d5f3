"""A cost matrix as a CSV file."""

import pytest

from smallearn.cli.errors import CommandError
from smallearn.cli.io.costs import read_costs


def written(folder, text, encoding="utf-8"):
    path = folder / "costs.csv"
    path.write_text(text, encoding=encoding)
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_costs_are_read_by_name_in_any_order(tmp_path, encoding):
    path = written(tmp_path, "true,yes, no\nyes,0,10.5\n\nno,1,-2\n", encoding)
    assert read_costs(path, ["no", "yes"]) == [[-2.0, 1.0], [10.5, 0.0]]


def test_classes_may_be_numbers(tmp_path):
    assert read_costs(written(tmp_path, ",0,1\n0,0,1\n1,9,0\n"), [0, 1]) == [[0.0, 1.0], [9.0, 0.0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must name each of the classes 'no', 'yes' once"),
        (",no\nno,0\nyes,1\n", "it has 'no' and 'no', 'yes'"),
        (",no,yes\nno,0,1\nno,1,0\n", "it has 'no', 'yes' and 'no', 'no'"),
        (",no,yes\nno,0,1\nyes,1\n", "the line of 'yes' has 1 costs for 2 classes"),
        (",no,yes\nno,0,much\nyes,1,0\n", "the cost 'much' is not a number"),
    ],
)
def test_a_file_that_is_no_cost_matrix_is_refused(tmp_path, text, message):
    with pytest.raises(CommandError, match=message):
        read_costs(written(tmp_path, text), ["no", "yes"])


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CommandError, match=r"costs.csv: No such file"):
        read_costs(tmp_path / "costs.csv", ["no", "yes"])
