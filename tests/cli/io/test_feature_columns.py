"""Which columns are features, of which type, and what is noted about the others."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from smallearn.cli.console import SILENT, Console
from smallearn.cli.errors import CommandError
from smallearn.cli.io.feature_columns import FeatureReader
from smallearn.cli.io.missing_texts import note_of
from smallearn.cli.io.tables import open_table
from tests.helpers.table_files import csv_file, for_training, rows, rows_of, training_of, write


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("id", np.arange(30) * 7 + 3, "looks like an ID"),
        ("PassengerId", np.arange(30)[::-1] ** 2, "looks like an ID"),
        ("patient_id", np.arange(30) ** 2, "looks like an ID"),
        ("case", np.random.default_rng(0).permutation(30), "looks like an ID"),
        ("name", [f"n{i}" for i in range(30)], "looks like an ID"),
        ("Unnamed: 0", np.arange(30), "has no title"),
        ("when", ["2020-01-02", "3.4.2021"] * 15, "holds dates"),
    ],
)
def test_columns_that_look_like_an_id_are_ignored_unless_kept(name, values, why, tmp_path, capsys):
    table = rows(**{name: values})
    found = training_of(table, tmp_path)
    assert found.ignored == {name: why}
    assert list(found.X.columns) == ["size"]
    quoted = f"'{name}'" if " " in name else name
    assert f"Column '{name}' {why}: ignored; --keep {quoted} to use it." in capsys.readouterr().err
    assert list(training_of(table, tmp_path, keep=[name]).X.columns) == [name, "size"]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([7] * 30, "has only one value"),
        (["a"] * 30, "has only one value"),
        ([None] * 30, "is empty"),
    ],
)
def test_columns_of_one_value_are_ignored(values, why, tmp_path):
    assert training_of(rows(c=values), tmp_path).ignored == {"c": why}


def test_different_numbers_are_not_an_id_by_that_alone(tmp_path):
    assert "income" in training_of(rows(income=np.arange(30) ** 2), tmp_path).X.columns


def test_a_column_without_a_title_is_ignored(tmp_path):
    rows().to_csv(tmp_path / "t.csv")
    assert list(training_of(None, tmp_path).X.columns) == ["size"]


def test_the_types_of_parquet_are_respected(tmp_path, capsys):
    table = rows(
        when=pd.date_range("2020-01-01", periods=30),
        member=[True, False, None] * 10,
        code=pd.Categorical(["1", "2"] * 15),
        many=[[1, 2]] * 30,
    )
    found = training_of(table, tmp_path, "t.parquet")
    assert found.categorical == ["member", "code"]
    assert set(found.X["member"]) == {True, False, None}
    assert set(found.X["code"]) == {"1", "2"}
    assert set(found.ignored) == {"when", "many"}
    assert "Column 'when' holds dates or times: ignored." in capsys.readouterr().err


def test_categories_of_arrow_may_differ_from_chunk_to_chunk(tmp_path):
    texts = ["a", "b", "c"] * 10
    pieces = [pa.array(texts[at : at + 10]).dictionary_encode() for at in (0, 10, 20)]
    labels = ["yes", "no"] * 5
    schema = pa.schema({"c": pieces[0].type, "y": pa.string()})
    with pa.ipc.new_stream(str(tmp_path / "t.arrow"), schema) as file:
        for piece in pieces:
            file.write_batch(pa.record_batch([piece, pa.array(labels)], schema=schema))
    assert training_of(None, tmp_path, "t.arrow").X["c"].tolist() == texts


def test_infinity_is_refused_with_its_place(tmp_path):
    with pytest.raises(CommandError, match="row 1, column 'c': infinity"):
        training_of(rows(c=[np.inf, *range(29)]), tmp_path, "t.parquet")


def test_text_among_numbers_is_noted_with_its_line(tmp_path, capsys):
    table = rows(c=[*range(28), "many", 7])
    training_of(table, tmp_path)
    assert (
        "Column 'c' is read as text: 97% of its values are numbers, but 'many' in line 30 is not."
        in capsys.readouterr().err
    )


def test_the_note_on_text_among_numbers_says_what_to_do(tmp_path, capsys):
    path = csv_file(tmp_path, rows_of(["1", "2", "3", "4", "none of it", "6", "7", "8", "9", "9"]))
    for_training(path, "y")
    assert "If it means a missing value, use --missing TEXT." in capsys.readouterr().err
    assert for_training(path, "y", missing=["none of it"]).X["x"].isna().sum() == 1


def test_words_that_are_missing_values_are_named_with_their_columns(tmp_path, capsys):
    lines = ["age,calls,job,note,tall,left,y"]
    lines += [f"{i * 37 % 50},{i % 7},cook,x{i % 3},true,{i % 4},{'ab'[i % 2]}" for i in range(40)]
    lines += ["-,?,-,none,NA,unknown,a", " n/a ,?,none,NULL,FALSE,3,b", ",,,, ,9,a"]
    table = for_training(csv_file(tmp_path, "\n".join(lines)), "y", missing=["unknown", "9"])
    numbers = {"age": ("-", "n/a"), "calls": ("?",)}
    assert table.missing == {**numbers, "note": ("NULL",), "tall": ("NA",)}  # a dash and none are categories of job
    assert set(table.X["job"].dropna()) == {"cook", "-", "none"}
    assert (
        "Read as missing values: '-' and 'n/a' in 'age'; '?' in 'calls'; 'NULL' in 'note'; 'NA' in 'tall'. "
        "In a database they have to be NULL.\n"
    ) in capsys.readouterr().err


def test_words_that_are_missing_values_in_the_parts_of_a_table_are_put_together(tmp_path):
    names, readers = ["colour", "size"], []
    for part, words in enumerate((["red", "?"], ["n/a", "blue"])):
        table = pd.DataFrame({"colour": words * 8, "size": np.arange(16) % 5, "y": ["a", "b"] * 8})
        file = open_table(write(table, tmp_path / f"{part}.parquet"))
        readers.append(FeatureReader(file, names, (), Console()))
        readers[-1].look(file.load(SILENT).columns.select(names), np.arange(16))
    readers[0].add(readers[1])
    readers[0].decide()
    assert readers[0].missing == {"colour": ("?", "n/a")}


def test_a_note_on_words_that_are_missing_in_many_columns_names_the_first():
    columns = [(name, ("?",)) for name in "abcde"]
    assert note_of(columns).startswith("Read as missing values: '?' in 'a', 'b', 'c' and 2 more. In a database")
    assert note_of([]) is None


def test_text_that_looks_like_numbers_is_not_called_an_id(tmp_path, capsys):
    read = [f"{i}'{i}00.5" for i in range(11, 23)]
    text = rows_of(read).replace("x,y", "x,z,y").replace(",a\n", ",1,a\n").replace(",b\n", ",2,b\n")
    assert "x" in for_training(csv_file(tmp_path, text), "y").ignored
    assert (
        "Column 'x' looks like numbers, but '11'1100.5' in line 2 cannot be read as one: ignored; --keep x"
        in capsys.readouterr().err
    )


def test_categories_and_classes_that_differ_only_in_case_are_noted(tmp_path, capsys):
    text = "x,c,y\n" + "1,yes,a\n2, Yes ,A\n3,no,a\n4,no,A\n" * 5
    found = for_training(csv_file(tmp_path, text), "y")
    assert set(found.X["c"]) == {"yes", "Yes", "no"}
    output = capsys.readouterr().err
    assert "'Yes' and 'yes' in column 'c' differ only in case: they are 2 categories." in output
    assert "'A' and 'a' in column 'y' differ only in case: they are 2 classes." in output
    for number, last in (
        (5, "'E' and 'e' in column 'x' differ only in case: they are 2 categories."),
        (12, "So do 2 more in that column."),
    ):
        many = [text for letter in "abcdefghijkl"[:number] for text in (letter, letter.upper())] * 2
        for_training(csv_file(tmp_path, rows_of(many)), "y")
        notes = capsys.readouterr().err.splitlines()
        assert len(notes) == min(number, 11)
        assert notes[-1] == last


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_blanks_around_categories_are_noted_as_databases_count_them(kind, tmp_path, capsys):
    table = rows(job=["none ", "clerk", " clerk"] * 10, town=["A", "B", "NA "] * 10, code=["1 ", "2", "3"] * 10)
    training_of(table.drop(columns=[] if kind == "csv" else "code"), tmp_path, f"t.{kind}")
    notes = [note for note in capsys.readouterr().err.splitlines() if "blanks" in note]
    assert notes == [
        "20 cells of column 'job' have blanks around them; they are read without. A database compares with the blanks: "
        "TRIM the column there."
    ]


def test_row_numbers_are_used_if_there_is_no_other_column(tmp_path, capsys):
    text = "dose,one,y\n" + "".join(f"{i},7,{'ab'[i > 10]}\n" for i in range(1, 21))
    found = for_training(csv_file(tmp_path, text), "y")
    assert list(found.X.columns) == ["dose"]
    assert list(found.ignored) == ["one"]
    output = capsys.readouterr().err
    assert "Column 'dose' looks like row numbers, but there is no other: used." in output
    with pytest.raises(CommandError, match="no column is left to learn from"):
        for_training(csv_file(tmp_path, text.replace("dose", "case_id")), "y")
    assert "Column 'case_id' looks like an ID: ignored; --keep case_id to use it." in capsys.readouterr().err


def test_text_that_is_mostly_none_is_not_called_numbers(tmp_path, capsys):
    for_training(csv_file(tmp_path, rows_of([*["none"] * 9, "guarantor", "guarantor"])), "y")
    assert "is no number" not in capsys.readouterr().err
