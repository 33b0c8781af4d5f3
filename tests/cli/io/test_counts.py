"""The file that says what a device reads."""

import pytest

from smallearn.cli.errors import CommandError
from smallearn.cli.io.counts import read_counts

HEAD = "feature,scale,offset,low,high\n"


def test_each_line_is_a_feature(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("\ufeff" + HEAD + '"light, inside",0.1,-5,0,1023\ntemperature,0.25,0.0,-40,85\n', encoding="utf-8")
    assert read_counts(path) == {"light, inside": (0.1, -5.0, 0, 1023), "temperature": (0.25, 0.0, -40, 85)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no lines: its columns are 'feature', 'scale', 'offset', 'low', 'high'"),
        (HEAD, "has no lines"),
        (
            "feature,scale\na,1\n",
            "must have the columns feature, scale, offset, low, high; line 2 lacks offset, low, high",
        ),
        (HEAD + "a,1,0,0\n", "must have the columns"),
        (HEAD + "a,1,0,0,9,9\n", "must have the columns"),
        (HEAD + "a,1,0,0,9\na,1,0,0,9\n", "has 'a' twice"),
        (HEAD + "a,much,0,0,9\n", "'much', of 'a', is not a number"),
        (HEAD + "a,1,0,0,9.5\n", "'9.5', of 'a', is not a whole number"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, text, words):
    path = tmp_path / "counts.csv"
    path.write_text(text)
    with pytest.raises(CommandError, match=words):
        read_counts(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CommandError, match=r"none\.csv: No such file"):
        read_counts(tmp_path / "none.csv")
