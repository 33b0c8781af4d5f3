"""Excel files, in and out: cells are what they are."""

import datetime
import sys

import numpy as np
import openpyxl
import pandas as pd
import pytest
from openpyxl.cell import WriteOnlyCell

from smallearn import cli
from smallearn.cli.console import SILENT, Console
from smallearn.cli.errors import CommandError
from smallearn.cli.io.tables import ReadOptions, open_table
from tests.helpers.commands import run
from tests.helpers.models import CARD
from tests.helpers.table_files import for_training


def book(path, **sheets):
    """A workbook; each sheet is a list of rows."""
    found = openpyxl.Workbook()
    found.remove(found.active)
    for name, rows in sheets.items():
        sheet = found.create_sheet(name)
        for row in rows:
            sheet.append(row)
    found.save(path)
    return path


def loaded(path, **options):
    return open_table(path, ReadOptions(**options)).load(SILENT).columns


def test_cells_are_what_they_are(tmp_path):
    day = datetime.datetime(2024, 5, 1)
    rows = [
        ["n", "whole", "text", "flag", "when", "empty", "gaps"],
        [1.5, 7, "007", True, day, None, "n/a"],
        [None, 8, "x", None, None, None, 3],
        ["-", 2**40, None, False, day, None, None],
    ]
    rows[0][5] = "empty"
    table = loaded(book(tmp_path / "t.xlsx", one=rows))
    assert table.to_pydict() == {
        "n": [1.5, None, None],
        "whole": [7, 8, 2**40],
        "text": ["007", "x", None],
        "flag": [True, None, False],
        "when": [day, None, day],
        "empty": [None, None, None],
        "gaps": [None, 3, None],
    }
    assert str(table.schema.field("whole").type) == "int64"


def test_a_column_of_several_kinds_is_text_with_a_note(tmp_path, capsys):
    rows = [["x", "y"], *([i, "ab"[i % 2]] for i in range(20)), ["many", "a"], [True, "b"]]
    found = for_training(book(tmp_path / "t.xlsx", one=rows), "y", keep=["x"]).X
    assert found["x"].tolist() == [*map(str, range(20)), "many", "TRUE"]
    assert "Column 'x' has cells of several kinds, mostly numbers: it is read as text." in capsys.readouterr().err


def test_the_sheet_is_chosen_by_name(tmp_path, capsys):
    path = book(tmp_path / "t.xlsx", first=[["a"], [1]], second=[["b"], [2]])
    assert loaded(path).column_names == ["a"]
    assert loaded(path, sheet="second").column_names == ["b"]
    open_table(path).load(Console())
    assert "the sheet 'first' is read; --sheet names another: 'second'." in capsys.readouterr().err
    with pytest.raises(CommandError, match="has no sheet 'third'; it has 'first', 'second'"):
        loaded(path, sheet="third")
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(CommandError, match="--sheet is for Excel files"):
        loaded(tmp_path / "t.csv", sheet="one")


def test_blank_rows_and_columns_around_a_table_do_not_count(tmp_path):
    path = book(tmp_path / "t.xlsx", one=[[None], [None, None], ["a", "b"], [1, 2], [None, None], [3], [4, 5, None]])
    assert loaded(path).to_pydict() == {"a": [1, 3, 4], "b": [2, None, 5]}
    file = open_table(path)
    assert [file.place(row) for row in range(3)] == ["row 4 of the sheet", "row 6 of the sheet", "row 7 of the sheet"]


def test_cells_beside_the_titles_are_a_column_without_one(tmp_path, monkeypatch):
    monkeypatch.setattr("smallearn.cli.io.excel_tables.ROWS_TOGETHER", 1)
    table = loaded(book(tmp_path / "t.xlsx", one=[["a"], [1], [2, "x"], ["z"]]))
    assert table.to_pydict() == {"a": ["1", "2", "z"], "Unnamed: 1": [None, "x", None]}


def test_formats_of_percentages_are_told(tmp_path, capsys):
    path = book(tmp_path / "t.xlsx", one=[["rate", "y"], [0.132, "a"], [0.5, "b"]])
    changed = openpyxl.load_workbook(path)
    changed.active["A2"].number_format = "0.0%"
    changed.save(path)
    assert open_table(path).load(Console()).columns.column("rate").to_pylist() == [0.132, 0.5]
    assert "Percentages in 'rate' are read as the sheet stores them, 13.2% as 0.132" in capsys.readouterr().err


def test_errors_of_formulas_are_missing(tmp_path):
    table = loaded(book(tmp_path / "t.xlsx", one=[["a", "b"], ["#DIV/0!", 1], [3, 2]]))
    assert table["a"].to_pylist() == [None, 3]


@pytest.mark.parametrize("content", [b"", b"PK", b"no workbook at all"])
def test_what_is_no_workbook_is_an_error(content, tmp_path):
    (tmp_path / "t.xlsx").write_bytes(content)
    with pytest.raises(CommandError, match=r"t.xlsx cannot be read as an Excel file: "):
        loaded(tmp_path / "t.xlsx")


def test_an_empty_sheet_is_an_error(tmp_path):
    with pytest.raises(CommandError, match="the sheet 'one' is empty"):
        loaded(book(tmp_path / "t.xlsx", one=[]))
    with pytest.raises(CommandError, match="has no rows"):
        loaded(book(tmp_path / "u.xlsx", one=[["a"]]))


def test_without_openpyxl_the_extra_is_named(tmp_path, monkeypatch, capsys):
    CARD.save(tmp_path / "model.json")
    path = book(tmp_path / "t.xlsx", one=[["age", "colour", "member"], [50, "red", True]])
    (tmp_path / "t.csv").write_text("age,colour,member\n50,red,true\n")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    wanted = "needs openpyxl, which is not installed: pip install 'smallearn[excel]'"
    assert wanted in run(capsys, "predict", str(tmp_path / "model.json"), str(path), code=1).err
    scored = ["-o", str(tmp_path / "s.xlsx")]
    assert wanted in run(capsys, "predict", str(tmp_path / "model.json"), str(tmp_path / "t.csv"), *scored, code=1).err


def test_a_workbook_and_its_csv_make_the_same_model(tmp_path, capsys):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=80).round(2), "colour": rng.choice(["red", "blue"], 80)})
    table["member"] = rng.random(80) < 0.5
    table.loc[3:6, "size"] = np.nan
    table["y"] = np.where((table["size"] > 0.2) | (table["colour"] == "red"), "yes", "no")
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_excel(tmp_path / "t.xlsx", index=False)
    model, scored = str(tmp_path / "m.json"), tmp_path / "s.csv"
    printed, scores = [], []
    for name in ("t.csv", "t.xlsx"):
        arguments = ["--target", "y", "--max-terms", "2", "--prototypes", "1", "-o", model]
        printed.append(run(capsys, "fit", str(tmp_path / name), *arguments, "--quiet").out.partition("Wrote")[0])
    assert printed[0] == printed[1]
    for name in ("t.csv", "t.xlsx"):
        assert cli.main(["predict", model, str(tmp_path / name), "-o", str(scored)]) == 0
        scores.append(pd.read_csv(scored)["probability_yes"].tolist())
    assert scores[0] == scores[1]
    capsys.readouterr()
    told = run(capsys, "evaluate", model, str(tmp_path / "t.csv")).out.partition("\n")[2]
    assert run(capsys, "evaluate", model, str(tmp_path / "t.xlsx")).out.partition("\n")[2] == told


def written(path):
    rows = list(openpyxl.load_workbook(path).active.iter_rows())
    return [[(cell.value, cell.data_type) for cell in row] for row in rows]


def test_a_table_is_written_cell_by_cell(tmp_path, monkeypatch):
    monkeypatch.setattr("smallearn.cli.io.tables.CHUNK_CELLS", 1)
    CARD.save(tmp_path / "model.json")
    first = [50, "red", True, datetime.datetime(2024, 5, 1, 12, 30), "=1+1", "007", 1.5]
    rows = [["age", "colour", "member", "when", "=t", "code", "v"], first, *[[20, None, None, None, "x", "1", 2]] * 149]
    source = openpyxl.Workbook(write_only=True)
    sheet = source.create_sheet("s")
    for row in rows:
        cells = [WriteOnlyCell(sheet, value) for value in row]
        for cell in cells:
            cell.data_type = "s" if cell.data_type == "f" else cell.data_type
        sheet.append(cells)
    source.save(tmp_path / "in.xlsx")
    line = ["predict", str(tmp_path / "model.json"), str(tmp_path / "in.xlsx"), "-o", str(tmp_path / "out.xlsx")]
    assert cli.main(line) == 0
    found = written(tmp_path / "out.xlsx")
    assert len(found) == 151
    assert [value for value, _ in found[0]][:8] == [*rows[0], "prediction"]
    assert [value for value, _ in found[1]][:8] == [*first, "yes"]
    assert [kind for _, kind in found[1]][:8] == ["n", "s", "b", "d", "s", "s", "n", "s"]
    assert found[0][4] == ("=t", "s")
    assert [value for value, _ in found[150]][:4] == [20, None, None, None]
    assert isinstance(found[150][8][0], float)


def test_numbers_of_text_files_are_numbers_in_a_workbook(tmp_path):
    CARD.save(tmp_path / "model.json")
    head = "age;colour;member;code;big;text\n"
    (tmp_path / "in.csv").write_text(head + "41,5;red;true;007;12345678901234567890;=cmd()\n-3;x;;1,234;;\n")
    line = ["predict", str(tmp_path / "model.json"), str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.xlsx")]
    assert cli.main(line) == 0
    found = [[value for value, _ in row][:6] for row in written(tmp_path / "out.xlsx")]
    assert found[1:] == [
        [41.5, "red", "true", "007", "12345678901234567890", "=cmd()"],
        [-3, "x", None, 1.234, None, None],
    ]


def test_a_sheet_has_no_room_for_more_rows_than_excel_has(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("smallearn.cli.io.excel_output.MOST_ROWS", 3)
    CARD.save(tmp_path / "model.json")
    (tmp_path / "in.csv").write_text("age,colour,member\n" + "50,red,true\n" * 4)
    line = ["predict", str(tmp_path / "model.json"), str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.xlsx")]
    assert "holds at most 3 rows: write CSV or Parquet" in run(capsys, *line, code=1).err
    assert not (tmp_path / "out.xlsx").exists()
