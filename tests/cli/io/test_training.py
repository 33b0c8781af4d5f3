"""Rows to train on: names, rare classes, and the columns of another table."""

import numpy as np
import pandas as pd
import pytest

from smallearn.cli.console import SILENT
from smallearn.cli.errors import CommandError
from smallearn.cli.io.tables import open_table
from smallearn.cli.io.training import convert_like
from tests.helpers.table_files import csv_file, rows, training_of


def test_rare_classes_are_ignored_with_a_note(tmp_path, capsys):
    table = rows()
    table["y"] = ["a", "b"] * 13 + ["c"] * 3 + [None]
    found = training_of(table, tmp_path)
    assert set(found.y.tolist()) == {"a", "b"}
    assert len(found.X) == 26
    output = capsys.readouterr().err
    assert "Class 'c' has 3 rows, too few for cross-validation: ignored." in output
    assert "1 row without a class ignored." in output


def test_names_of_missing_columns_are_errors(tmp_path):
    for options in ({"drop": ["no"]}, {"keep": ["no"]}):
        with pytest.raises(CommandError, match="has no column 'no'; it has 'size', 'y'"):
            training_of(rows(), tmp_path, **options)
    with pytest.raises(CommandError, match="column 'y' is to be dropped, but is also the target"):
        training_of(rows(), tmp_path, drop=["y"])


def test_rows_are_read_with_the_columns_and_types_of_another_table(tmp_path):
    there = pd.DataFrame({"n": [0.5, 1.5] * 10, "c": ["1", "b"] * 10, "t": [True, False] * 10, "gone": [1.5, 2.5] * 10})
    table = training_of(there.assign(y=["yes", "no"] * 10), tmp_path)
    path = csv_file(tmp_path, "t,c,n,y\nTRUE,1,7,yes\n,2,odd,\nfalse,1,7,yes\n")
    found = convert_like(table, open_table(path).load(SILENT), np.array([0, 1, 2]))
    assert list(found.columns) == ["n", "c", "t", "gone"]  # though constant here, and one is missing
    assert found["n"].tolist() == pytest.approx([7.0, np.nan, 7.0], nan_ok=True)
    assert found["c"].tolist() == ["1", "2", "1"]
    assert found["t"].tolist() == [True, None, False]
    assert found["gone"].isna().all()


def test_of_many_columns_the_error_names_the_first_and_the_last(tmp_path):
    wide = rows().assign(**{f"c{i}": 1 for i in range(30)}, bought=0)
    with pytest.raises(CommandError, match=r"has no column 'zz'; it has 'size', .*'c1\d', …, 'bought'$"):
        training_of(wide, tmp_path, drop=["zz"])
