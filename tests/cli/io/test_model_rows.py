"""Rows as a model reads them: every format alike, and every error with its place."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from smallearn import SMaLLClassifierCV, explain
from smallearn.cli.console import SILENT
from smallearn.cli.errors import CommandError
from smallearn.cli.io import tables
from smallearn.cli.io.model_rows import Labels, ModelReader
from smallearn.cli.io.tables import open_table
from smallearn.model import DataFacts, Prototype, Range, Term
from tests.helpers.models import CARD, THREE, WHOLE, YES
from tests.helpers.table_files import HEAD, ONE, TABLE, csv_file, for_model, for_training, rows_of, write


def pieces_of(model, path, rows):
    return ModelReader(model, open_table(path)).chunks(SILENT, rows)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.csv.gz", "t.parquet", "t.arrow", "t.feather"])
def test_every_format_gives_the_model_the_same_rows(name, tmp_path):
    X, y = for_model(CARD, write(TABLE, tmp_path / name), target="y", labels=Labels.REQUIRED)
    assert X["age"].tolist()[0] == 41.5
    assert X["colour"].isna().tolist() == [False, True, False, False]
    assert X["colour"].tolist()[2:] == TABLE["colour"].tolist()[2:]
    assert X["member"].tolist() == [True, False, None, True]
    assert "note" not in X.columns
    assert y.tolist() == TABLE["y"].tolist()
    assert CARD.predict(X).tolist() == CARD.predict(TABLE).tolist()
    pieces = list(pieces_of(CARD, tmp_path / name, 1))
    assert [row for _, piece in pieces for row in piece.index] == [0, 1, 2, 3]
    assert pieces[0][0].column_names == list(TABLE.columns)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            HEAD + '41,"re\nd",1\n\n\nabc,red,true\n',
            "cases.csv, line 6, column 'age': 'abc' is not a number, but the model",
        ),
        (HEAD + "41,red,1\n1e999,red,1\n", "line 3, column 'age': '1e999' is not a number"),
        (HEAD + "41,red,1\n4,red,maybe\n", "line 3, column 'member': 'maybe' is not a number"),
        (HEAD + '"4\n1",red,1\n', "line 2, column 'age': '4\\n1' is not a number"),
        (HEAD + '41,"re\nd",1\n\n4,red,true,7\n', "cases.csv, line 5 has 4 cells, the header 3"),
        (HEAD + '41,"re\nd",1\n4,"red,true\n', "a quotation mark that opens in line 4 is never closed"),
        ("age,member\n41,1\n", "has no column 'colour'; it has 'age', 'member'"),
        ("x\n41\n", "has no columns 'age', 'colour', 'member', which the model needs; it has 'x'"),
        ("age,age,b,b\n41,1,1,1\n", "has more than one column called 'age', 'b'"),
        ("1,2.5\n3,4\n", "it has '1', '2.5': the first line has to name the columns"),
        (HEAD, "has no rows"),
        ("", "is empty"),
    ],
)
def test_a_cell_that_the_model_cannot_read_is_named_with_its_place(text, words, tmp_path):
    with pytest.raises(CommandError) as output:
        for_model(CARD, csv_file(tmp_path, text))
    assert words in str(output.value)


def test_the_target_is_that_of_the_training_data_unless_named(tmp_path):
    known = replace(YES, data=DataFacts("0" * 64, (1, 1), target="y"))
    path = csv_file(tmp_path, "a,c,y,z\n1,2,yes,no\n")
    assert for_model(known, path, labels=Labels.REQUIRED)[1].tolist() == ["yes"]
    assert for_model(known, path, labels=Labels.REQUIRED, target="z")[1].tolist() == ["no"]
    assert for_model(known, path)[1] is None
    bare = csv_file(tmp_path, "a,c\n1,2\n")
    assert for_model(known, bare, labels=Labels.OPTIONAL)[1] is None
    with pytest.raises(CommandError, match="has no column 'y'"):
        for_model(known, bare, labels=Labels.REQUIRED)
    with pytest.raises(CommandError, match="name it with --target"):
        for_model(YES, bare, labels=Labels.REQUIRED)
    with pytest.raises(CommandError, match="is not a class of the model"):
        for_model(YES, path, labels=Labels.REQUIRED, target="a")


def test_a_model_without_names_reads_by_position(tmp_path):
    X, _ = for_model(THREE, csv_file(tmp_path, "p,q\n1,2\n3,0\n"))
    assert THREE.predict(X).tolist() == THREE.predict(np.array([[1.0, 2.0], [3.0, 0.0]])).tolist()
    with pytest.raises(CommandError, match="has no columns 'x0', 'x1'"):
        for_model(THREE, csv_file(tmp_path, "p,q,r\n1,2,3\n"))


def test_a_missing_value_that_the_model_needs_is_an_error(tmp_path):
    with pytest.raises(CommandError, match="line 3, column 'c': the value is missing, but the model needs one here"):
        for_model(YES, csv_file(tmp_path, "a,c\n1,2\n1,?\n"))


def test_categories_that_look_like_missing_values_are_categories_if_the_model_has_them(tmp_path):
    model = replace(YES, prototypes=(Prototype(1, -1.0, (Term(0, 2.0, "a", "equals", "None"),)),))
    X, _ = for_model(model, csv_file(tmp_path, "a,c\nNone,1\nNA,1\n"))
    assert model.predict(X).tolist() == ["yes", "no"]
    numbers = pd.DataFrame({"a": [1.0, 2.5]})
    numbers.to_parquet(tmp_path / "n.parquet")
    coded = replace(YES, prototypes=(Prototype(1, -1.0, (Term(0, 2.0, "a", "equals", "1"),)),))
    assert coded.predict(for_model(coded, tmp_path / "n.parquet")[0]).tolist() == ["yes", "no"]


def test_a_type_that_is_not_a_number_is_refused(tmp_path):
    pd.DataFrame({"a": pd.to_datetime(["2020-01-01"]), "c": [1]}).to_parquet(tmp_path / "d.parquet")
    with pytest.raises(CommandError, match="column 'a' holds values of type timestamp"):
        for_model(YES, tmp_path / "d.parquet")


def test_a_feature_of_which_only_presence_counts_is_read_as_in_training(tmp_path):
    term = Term(0, 1.0, "x", "missing")
    model = replace(WHOLE, n_features=1, prototypes=(Prototype(1, 0.0, (term,)),), ranges=())
    path = csv_file(tmp_path, rows_of(["-", "3"]))
    assert for_model(model, path)[0]["x"].tolist() == ["-", "3"]
    numbers = for_model(replace(model, ranges=(Range(0, 1.0, 3.0),)), path)[0]["x"].tolist()
    assert numbers == pytest.approx([np.nan, 3.0], nan_ok=True)
    path = csv_file(tmp_path, rows_of(["-", "TRUE"]))
    assert for_model(model, path)[0]["x"].tolist() == [None, True]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@pytest.mark.parametrize("values", [[0.5, 1.5, 2.5], [True, False, True], ["p", "q", "q"]])
def test_a_model_for_which_only_presence_counts_recognises_its_training_rows(values, name, tmp_path):
    table = pd.DataFrame({"v": pd.Series([*values, None] * 20, dtype=object), "y": ["no", "no", "no", "yes"] * 20})
    table = table if name == "t.csv" else table.convert_dtypes()
    path = write(table, tmp_path / name)
    found = for_training(path, "y")
    fitted = SMaLLClassifierCV(max_terms=1, categorical_features=found.categorical or None, random_state=0).fit(
        found.X, found.y
    )
    assert [term.kind for term in fitted.model_.terms] == ["missing"]
    X, y = for_model(fitted.model_, path, target="y", labels=Labels.REQUIRED)
    assert fitted.model_.was_trained_on(X, y)
    assert str(explain.case(fitted.model_, X.iloc[[3]], X=X))


def test_a_boolean_is_neither_2_nor_text(tmp_path):
    flag = replace(YES, n_features=1, prototypes=(Prototype(1, 0.0, (Term(0, 1.0, "x", "equals", True),)),))
    assert for_model(flag, csv_file(tmp_path, rows_of(["1", "FALSE", "", "0"])))[0]["x"].tolist() == [
        *(True, False, None, False)
    ]
    with pytest.raises(CommandError, match=r"line 3, column 'x': '2' is neither true nor false"):
        for_model(flag, csv_file(tmp_path, rows_of(["1", "2"])))


# --- chunks ----------------------------------------------------------------------------------------------------------


def in_chunks(monkeypatch, *arguments, **options):
    """The rows of a file that is read in chunks of 100."""
    with monkeypatch.context() as patched:
        patched.setattr(tables, "CHUNK_CELLS", 1)
        return for_model(*arguments, **options)


@pytest.mark.parametrize("name", ["t.csv", "t.txt", "t.parquet", "t.arrow"])
def test_a_file_in_chunks_gives_the_same_rows_classes_and_notes(name, tmp_path, monkeypatch, capsys):
    table = pd.concat([TABLE] * 80, ignore_index=True)
    table.loc[[3, 150, 260], "y"] = ["maybe", None, "perhaps"]
    path = write(table, tmp_path / name)
    X, y = for_model(CARD, path, target="y", labels=Labels.REQUIRED)
    notes = capsys.readouterr().err
    chunked, labels = in_chunks(monkeypatch, CARD, path, target="y", labels=Labels.REQUIRED)
    assert capsys.readouterr().err == notes
    assert "2 rows ignored: the model does not know the class ('maybe', 'perhaps'; first in " in notes
    pd.testing.assert_frame_equal(chunked, X)
    assert labels.tolist() == y.tolist()
    assert len(X) == 317


@pytest.mark.parametrize(
    ("early", "late", "read"), [("1,5", "0.25", 1.5), ("1.234", "0,5", 1234.0), ("1.234", "0.5", 1.234)]
)
def test_thousands_are_grouped_as_the_whole_column_says_in_chunks_too(early, late, read, tmp_path, monkeypatch):
    path = csv_file(tmp_path, "x;z\n" + f"{early};1\n" * 150 + f"{late};1\n{early};1\n" * 50)
    X, _ = for_model(ONE, path)
    chunked, _ = in_chunks(monkeypatch, ONE, path)
    assert X["x"].tolist()[0] == read
    assert chunked["x"].tolist() == X["x"].tolist()


def test_booleans_in_the_first_chunk_alone_are_text(tmp_path, monkeypatch):
    term = Term(0, 1.0, "x", "missing")
    model = replace(WHOLE, n_features=1, prototypes=(Prototype(1, 0.0, (term,)),))
    path = csv_file(tmp_path, "x,z\n" + "TRUE,1\n" * 150 + "maybe,1\n,1\n")
    chunked, _ = in_chunks(monkeypatch, model, path)
    assert chunked["x"].tolist() == ["TRUE"] * 150 + ["maybe", None]
    only = csv_file(tmp_path, "x,z\n" + "-,1\n" * 150 + "false,1\n,1\n")
    chunked, _ = in_chunks(monkeypatch, model, only)
    assert chunked["x"].tolist() == [None] * 150 + [False, None]
