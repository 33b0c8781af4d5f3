"""What a cell means: missing values, thousands and decimal commas, for training and for models alike."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from smallearn.cli.console import SILENT
from smallearn.cli.errors import CommandError
from smallearn.cli.io.model_rows import Labels, ModelReader
from smallearn.cli.io.tables import open_table
from smallearn.model import Prototype, Term
from tests.helpers.models import CARD
from tests.helpers.table_files import ONE, csv_file, for_model, for_training, rows_of, write


def pieces_of(model, path, rows):
    return ModelReader(model, open_table(path)).chunks(SILENT, rows)


DASHES = ["1.5", "-", "--", ".", "n/a", "N/A", "#N/A", "none", " - ", "–", "2", "7"]


def test_dashes_among_numbers_are_missing_values_for_training_and_models_alike(tmp_path, capsys):
    path = csv_file(tmp_path, rows_of(DASHES))
    values = for_training(path, "y").X["x"].to_numpy()
    assert np.isnan(values).tolist() == [False, *[True] * 9, False, False]
    assert for_model(ONE, path)[0]["x"].fillna(-1).tolist() == [1.5, *[-1] * 9, 2, 7]
    words = "'#N/A', '-', '--', '.', 'N/A', 'n/a', 'none' and '–' in 'x'"
    assert capsys.readouterr().err == f"Read as missing values: {words}. In a database they have to be NULL.\n"


def test_dashes_among_words_or_alone_are_text(tmp_path):
    for cells in (["-", "low", "-", "high"] * 3, ["-", "", "-", ""] * 3):
        found = for_training(csv_file(tmp_path, rows_of(cells)), "y")
        assert found.X["x"].tolist() == [cell or None for cell in cells]
    truths = for_training(csv_file(tmp_path, rows_of(["true", "-", "false", "true"] * 3)), "y")
    assert truths.X["x"].tolist()[:4] == [True, None, False, True]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_the_user_may_name_further_missing_values(name, tmp_path):
    table = pd.DataFrame(
        {"x": [-9.0, 1, 2, 3, 4, 5] * 3, "c": ["kA", "p", "q", "kA", "p", "q"] * 3, "y": ["a", "b", "kA"] * 6}
    )
    path = write(table.astype({"x": int}), tmp_path / name)
    found = for_training(path, "y", missing=["-9", " kA"]).X
    assert (len(found), found["x"].isna().sum(), found["c"].isna().sum()) == (12, 3, 6)
    red = replace(CARD, prototypes=(Prototype(1, 0.0, (Term(0, 1.0, "c", "equals", "kA"),)),), ranges=())
    assert for_model(red, path)[0]["c"].isna().sum() == 0
    X, y = for_model(replace(red, classes=("a", "b")), path, target="y", labels=Labels.REQUIRED, missing=["kA"])
    assert (len(y), X["c"].isna().sum()) == (12, 6)


SPREAD = ["2.243,05", "1.234", "12,5", "800", "-1.234.567", "0,25", ",5", "", "3", "4"]


READ = [2243.05, 1234, 12.5, 800, -1234567, 0.25, 0.5, -1, 3, 4]


@pytest.mark.parametrize(
    ("cells", "separator", "numbers"),
    [
        (SPREAD, ";", READ),
        (SPREAD, "\t", READ),
        (["1,234.56", "12", "-1,234,567", "0.5", "1,000", ""] * 2, ",", [1234.56, 12, -1234567, 0.5, 1000, -1] * 2),
        (["1.234", "2.500", "3.750", "1"] * 3, ";", [1.234, 2.5, 3.75, 1] * 3),  # as ever: nothing says otherwise
        (["1.234", "2.5", "3,5", "1"] * 3, ";", [1.234, 2.5, 3.5, 1] * 3),
    ],
)
def test_thousands_may_be_grouped(cells, separator, numbers, tmp_path):
    path = csv_file(tmp_path, rows_of(cells, separator))
    if separator == "\t":
        path = path.rename(tmp_path / "cases.tsv")
    assert for_training(path, "y").X["x"].fillna(-1).tolist() == numbers
    assert for_model(ONE, path)[0]["x"].fillna(-1).tolist() == numbers
    for rows in (1, 2, 3):  # however the file is cut into pieces
        assert [x for _, piece in pieces_of(ONE, path, rows) for x in piece["x"].fillna(-1)] == numbers


def test_decimal_commas_in_other_columns_decide_what_points_mean(tmp_path, capsys):
    rows = [("1.234", "0,5"), ("800", "1,25"), ("-2.500", "3")] * 4
    text = "x;w;y\n" + "".join(f"{x};{w};{'ab'[i % 2]}\n" for i, (x, w) in enumerate(rows))
    path = csv_file(tmp_path, text)
    numbers = [1234, 800, -2500] * 4
    assert for_training(path, "y").X["x"].tolist() == numbers
    assert "Column 'x': points group thousands, as the table has decimal commas." in capsys.readouterr().err
    assert [x for _, piece in pieces_of(ONE, path, 1) for x in piece["x"]] == numbers
    path = csv_file(tmp_path, text.replace("0,5", "0.5").replace("1,25", "1.25"))
    assert for_training(path, "y").X["x"].tolist() == [1.234, 800, -2.5] * 4
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("cells", "separator"),
    [
        (["2.243,05", "12.34", "1"], ";"),
        (["2.243,05", "12.3456,1", "1"], ";"),
        (["1,234.56", "1,23", "1"], ","),
        (["0,512", "1,234", "1"], ","),
    ],
)
def test_a_column_of_mixed_number_formats_stays_text(cells, separator, tmp_path):
    path = csv_file(tmp_path, rows_of(cells * 4, separator))
    assert for_training(path, "y").X["x"].tolist() == cells * 4
    with pytest.raises(CommandError, match="is not a number"):
        for_model(ONE, path)
