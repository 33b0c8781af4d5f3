"""Percentages, amounts of money and special codes: what is read, what is told, and what is not read."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from smallearn import cli
from smallearn.cli.console import SILENT
from smallearn.cli.errors import CommandError
from smallearn.cli.io.model_rows import ModelReader
from smallearn.cli.io.tables import open_table
from smallearn.tables import open_table as open_large_table
from tests.helpers.commands import run
from tests.helpers.table_files import ONE, csv_file, for_model, for_training, rows_of


def read(path):
    """The column x as training reads it; models read the same, however the file is cut into pieces."""
    trained = for_training(path, "y").X["x"]
    assert for_model(ONE, path)[0]["x"].tolist() == trained.tolist()
    for rows in (1, 2, 3):
        pieces = ModelReader(ONE, open_table(path)).chunks(SILENT, rows)
        assert [x for _, piece in pieces for x in piece["x"]] == trained.tolist()
    return trained.tolist()


@pytest.mark.parametrize(
    ("cells", "separator", "numbers"),
    [
        (["13.2%", "7%", "100 %", "-3.5%", "0"], ",", [13.2, 7, 100, -3.5, 0]),
        (["13,2%", "7%", "100 %", "-3,5%", "0,25%"], ";", [13.2, 7, 100, -3.5, 0.25]),
        (["$3,371.00", "$5", "-$7.50", "$-2", "12"], ",", [3371, 5, -7.5, -2, 12]),
        (["$3,371.00", "$5", "-$7.50", "$ 1,000", "12"], ";", [3371, 5, -7.5, 1000, 12]),
        (["€ 1.234,50", "€ 7", "€ 0,5", "€ 1.000", "€ 3"], ";", [1234.5, 7, 0.5, 1000, 3]),
        (["€ 1.234,50", "€ 7", "€ 0,5", "€ 1.000", "€ 3"], ",", [1234.5, 7, 0.5, 1000, 3]),
        (["1,234 USD", "99 USD", "1,000,000 USD", "5 USD", "7"], ",", [1234, 99, 1e6, 5, 7]),
        (["1,234 USD", "99 USD", "1,000,000 USD", "5 USD", "7"], "\t", [1234, 99, 1e6, 5, 7]),
        (["1 234,50 zł", "99 zł", "1\u00a0000 zł", "5 zł", "7 zł"], ";", [1234.5, 99, 1000, 5, 7]),
        (["CHF 1'234.50", "CHF 99", "CHF 1'000", "CHF 5", "CHF 7"], ",", [1234.5, 99, 1000, 5, 7]),
        (["US$1.5", "US$2", "US$3", "US$4", "US$5"], ",", [1.5, 2, 3, 4, 5]),
        (["1,234.50", "3.5", "1,000", "7", "12"], ";", [1234.5, 3.5, 1000, 7, 12]),
        (["1,5", "2,25", "7", "1.000,5", "1.000"], ",", [1.5, 2.25, 7, 1000.5, 1000]),
    ],
)
def test_numbers_are_read_as_people_write_them(cells, separator, numbers, tmp_path):
    path = csv_file(tmp_path, rows_of(cells * 3, separator))
    if separator == "\t":
        path = path.rename(tmp_path / "cases.tsv")
    assert read(path) == numbers * 3


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (["13.2%", "7%", "8%"], "Column 'x': '13.2%' in line 2 is read as the number 13.2, and the others likewise."),
        (["$3,371.00", "$7"], "Column 'x': '$3,371.00' in line 2 is read as the number 3371, and the others likewise."),
        (["2", "1.000,5"], "Column 'x': '1.000,5' in line 3 is read as the number 1000.5, as the column as a whole"),
    ],
)
def test_what_is_not_read_as_it_stands_is_noted(cells, note, tmp_path, capsys):
    for_training(csv_file(tmp_path, rows_of(cells * 8)), "y")
    assert note in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (
            ["$5", "€7"],
            "its numbers have different units, '$5' in line 2 and '€7' in line 3. Convert them to one unit.",
        ),
        (["5%", "0.07"], "its numbers have different units, '5%' in line 2 and '0.07' in line 3."),
        (["$5", "$6", "$7", "free"], "is read as text: 75% of its values are numbers, but 'free' in line 5 is not."),
    ],
)
def test_a_column_in_several_units_is_text_with_a_note(cells, note, tmp_path, capsys):
    path = csv_file(tmp_path, rows_of(cells * 8))
    assert for_training(path, "y").X["x"].tolist() == cells * 8
    assert note in capsys.readouterr().err
    with pytest.raises(CommandError, match=r"column 'x': .* is (in another unit|not a number)"):
        for_model(ONE, path)


def test_words_and_codes_are_no_amounts_of_money(tmp_path):
    for cells in (["A1", "B2", "C3"], ["5 kg", "7 kg", "9 kg"], ["100 ABC", "7 ABC"], ["12-13", "13-14"], ["%", "$"]):
        found = for_training(csv_file(tmp_path, rows_of(cells * 8)), "y").X["x"]
        assert found.dtype == object


def test_prediction_tells_how_it_reads(tmp_path, capsys):
    for_model(ONE, csv_file(tmp_path, rows_of(["5%", "7.5%"] * 4)), console=None)
    assert capsys.readouterr().err == "Column 'x': '5%' is read as the number 5, and the others likewise.\n"


def test_classes_keep_their_units(tmp_path):
    path = csv_file(tmp_path, "x,y\n" + "".join(f"{i * i},{'5%' if i % 2 else '10%'}\n" for i in range(30)))
    assert set(for_training(path, "y").y) == {"5%", "10%"}


def test_text_of_a_typed_table_stays_text_with_a_note(tmp_path, capsys):
    table = pd.DataFrame({"x": ["$1,200.50", "$7"] * 10, "n": ["1", "2"] * 10, "z": range(20), "y": ["a", "b"] * 10})
    table.to_parquet(tmp_path / "t.parquet")
    found = for_training(tmp_path / "t.parquet", "y").X
    assert (found["x"].dtype, found["n"].dtype) == (object, object)
    output = capsys.readouterr().err
    assert (
        "Columns 'x' and 'n' are text in the file, although their values are numbers, such as '$1,200.50': each"
        in output
    )
    for_training(tmp_path / "t.parquet", "y", drop=("n",))
    assert "Column 'x' is text in the file, although its values are numbers, such as" in capsys.readouterr().err
    with pytest.warns(UserWarning, match="Column 'x' is text, although its values are numbers with a unit"):
        open_large_table(tmp_path / "t.parquet", "y", ignore=["n"], cache=tmp_path / "c")


def test_a_converted_table_reads_the_same_and_says_so_each_time(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rate = rng.uniform(0, 30, 80).round(1)
    table = pd.DataFrame({"rate": [f"{x}%" for x in rate], "y": np.where(rate > 12, "yes", "no")})
    table.to_csv(tmp_path / "t.csv", index=False)
    models = []
    for where in ("--in-memory", "--on-disk", "--on-disk"):
        arguments = ["--target", "y", "--max-terms", "1", "--prototypes", "1", "-o", str(tmp_path / "m.json")]
        output = run(capsys, "fit", str(tmp_path / "t.csv"), *arguments, where)
        assert f"Column 'rate': '{rate[0]}%' in line 2 is read as the number {rate[0]}" in output.err
        models.append(output.out)
    assert models[0] == models[1] == models[2]


# --- infinity --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["1e400", "inf", "-Infinity", "∞"])
def test_a_number_that_is_too_large_is_an_error_that_names_its_line(cell, tmp_path):
    path = csv_file(tmp_path, rows_of([*map(str, range(20)), cell, "7"]))
    with pytest.raises(CommandError, match=f"line 22, column 'x': '{cell}' is infinite or too .*--missing={cell}"):
        for_training(path, "y")
    assert for_training(path, "y", missing=[cell]).X["x"].isna().sum() == 1


def test_infinity_among_words_is_a_word(tmp_path):
    cells = ["inf", "sup", "7"] * 8
    assert for_training(csv_file(tmp_path, rows_of(cells)), "y").X["x"].tolist() == cells


# --- special codes ---------------------------------------------------------------------------------------------------


def coded(tmp_path, capsys, values, name="t.csv"):
    table = pd.DataFrame({"x": values, "y": np.where(np.arange(len(values)) % 2, "a", "b")})
    path = tmp_path / name
    table.to_parquet(path) if name.endswith("parquet") else table.to_csv(path, index=False)
    for_training(path, "y")
    return capsys.readouterr().err


AGES = np.random.default_rng(0).integers(18, 90, 300).tolist()


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_frequent_number_far_from_the_others_is_hinted_at(name, tmp_path, capsys):
    output = coded(tmp_path, capsys, AGES + [999] * 20, name)
    assert "Column 'x': 999 occurs in 6% of the rows, away from all other values (18 to 89)." in output
    assert "If it means a missing value, use --missing 999." in output


def test_negative_codes_among_positive_numbers_are_hinted_at(tmp_path, capsys):
    output = coded(tmp_path, capsys, AGES + [-7, -9] * 20)
    assert "-9 and -7 occur in" in output
    assert "use --missing=-9 --missing=-7." in output


@pytest.mark.parametrize(
    "values",
    [
        [*AGES, 999],  # once
        AGES + [99] * 20,  # not far
        (np.arange(200) - 100).tolist() * 2,  # negative numbers as any
        [-1, 0, 1] * 100,
        AGES + [1000] * 20,  # no code
        AGES,
    ],
)
def test_other_numbers_are_no_codes(values, tmp_path, capsys):
    assert "missing value" not in coded(tmp_path, capsys, values)


def test_columns_with_the_same_codes_share_a_note(tmp_path, capsys):
    table = pd.DataFrame({name: np.roll(AGES + [-9] * 20, i) for i, name in enumerate("abcde")})
    table["y"] = np.where(np.arange(320) % 2, "a", "b")
    table.to_csv(tmp_path / "t.csv", index=False)
    for_training(tmp_path / "t.csv", "y")
    output = capsys.readouterr().err
    assert "Columns 'a', 'b', 'c' and 2 more: -9 occurs often, away from all other values." in output
    assert output.count("--missing=-9") == 1
    for_training(tmp_path / "t.csv", "y", missing=["-9"])
    assert "occurs" not in capsys.readouterr().err


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_short_last_line_is_told_once(tmp_path, capsys):
    path = csv_file(tmp_path, "a,b,y\n" + "1,2,u\n3,4,v\n" * 20 + "5,")
    for_training(path, "y")
    output = capsys.readouterr().err
    assert "line 42, the last, has 2 cells where the header has 3: the file may be incomplete." in output
    assert cli.main(["evaluate", str(tmp_path / "none.json"), str(path)]) == 1


@pytest.mark.parametrize("end", ["3,4,v\n", '3,4,"v\nw"', "3,4,v", "3,,\n\n"])
def test_a_whole_last_line_is_not_told(end, tmp_path, capsys):
    for_training(csv_file(tmp_path, "a,b,y\n" + "1,2,u\n3,4,v\n" * 20 + end), "y")
    assert "last" not in capsys.readouterr().err


def test_a_nul_byte_anywhere_is_refused_with_its_line(tmp_path):
    path = csv_file(tmp_path, "x,y\n" + "1,a\n" * 60_000 + "1,\0\n")
    with pytest.raises(CommandError, match="line 60002: a NUL byte"):
        for_training(path, "y")


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-le", "utf-32-be", "utf-16", "utf-16-be"])
def test_wide_encodings_get_the_right_hint(encoding, tmp_path):
    path = csv_file(tmp_path, rows_of(["1", "2"] * 10), encoding)
    with pytest.raises(CommandError, match=f"save it as UTF-8, or try --encoding {encoding}$"):
        for_model(ONE, path)
    assert len(for_model(replace(ONE), path, encoding=encoding)[0]) == 20
