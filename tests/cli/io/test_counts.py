"""The file that says what a device reads."""

import pytest

from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError
from smallearn.cli.io.counts import note_unused, read_counts

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
            "must have the columns feature, scale, offset, low, high; its first line lacks offset, low, high: it has "
            "'feature', 'scale'",
        ),
        (HEAD + "a,1,0,0\n", "must have the columns"),
        (HEAD + "a,1,0,0\n", "line 2 lacks high"),
        (HEAD + "a,1,0,0,9,9\n", "line 2 has more cells"),
        (HEAD.replace("low,high", "min,max") + "a,1,0,0,9\n", "its first line lacks low, high: it has 'feature',"),
        (HEAD + 'a,"0,5",0,0,9\n', "'0,5', of 'a', is not a number: commas separate the columns, so write decimals"),
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


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_the_separator_is_the_one_of_the_first_line_and_beside_it_commas_may_be_decimal(tmp_path, separator):
    path = tmp_path / "counts.csv"
    lines = [HEAD.strip(), "light [lx],0.4887,-5e-1,0,1023", "soil.2,1,0,0,1023"]
    path.write_text("\r\n".join(lines).replace(",", separator).replace(".", ","), encoding="utf-8")
    assert read_counts(path) == {"light [lx]": (0.4887, -0.5, 0, 1023), "soil,2": (1.0, 0.0, 0, 1023)}


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ("ab", None),
        ("abc", None),
        ("a", "a line for 'b', which is not among the numbers that the model is trained on: not used."),
    ],
)
def test_a_line_that_is_not_used_is_told(tmp_path, features, words, capsys):
    note_unused(tmp_path / "counts.csv", "ab", set(features), Console())
    assert capsys.readouterr().err == ("" if words is None else f"counts.csv has {words}\n")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CommandError, match=r"none\.csv: No such file"):
        read_counts(tmp_path / "none.csv")
