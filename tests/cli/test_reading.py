"""Reading tables for a model and for training: every format alike, and every complaint with its place."""

import gzip
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from smallearn import SMaLLClassifierCV, explain
from smallearn.cli.common import CommandError
from smallearn.cli.io.sources import open_source
from smallearn.cli.io.tables import ModelReader, read_for
from smallearn.cli.io.training import read_like, read_training
from smallearn.model import DataFacts, Prototype, Range, Term
from tests.helpers.models import CARD, THREE, WHOLE, YES

TABLE = pd.DataFrame(
    {
        "age": [41.5, np.nan, 3.0, 60.0],
        "colour": ["red", None, 'so-called "blue"', "grün; hell"],
        "member": [True, False, None, True],
        "note": ["a", "b\nc", None, "d,e"],
        "y": ["yes", "no", "no", "yes"],
    }
)


def write(table, path):
    if path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix in (".arrow", ".feather"):
        table.to_feather(path)
    else:
        separator = {".tsv": "\t", ".txt": ";"}.get(path.suffix, ",")
        table.to_csv(path, index=False, sep=separator, decimal="," if separator == ";" else ".", encoding="utf-8-sig")
    return path


def pieces_of(model, path, rows):
    return ModelReader(model, open_source(path)).pieces(rows)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.csv.gz", "t.parquet", "t.arrow", "t.feather"])
def test_every_format_gives_the_model_the_same_rows(name, tmp_path):
    X, y = read_for(CARD, write(TABLE, tmp_path / name), target="y", labels=True)
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


def csv_file(folder, text, encoding="utf-8"):
    path = folder / "cases.csv"
    path.write_bytes(text.encode(encoding))
    return path


HEAD = "age,colour,member\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            HEAD + '41,"re\nd",1\n\n\nabc,red,true\n',
            "cases.csv, line 6, column 'age': 'abc' is no number, and the model",
        ),
        (HEAD + "41,red,1\n1e999,red,1\n", "line 3, column 'age': '1e999' is no number"),
        (HEAD + "41,red,1\n4,red,maybe\n", "line 3, column 'member': 'maybe' is no number"),
        (HEAD + '"4\n1",red,1\n', "line 2, column 'age': '4\\n1' is no number"),
        (HEAD + '41,"re\nd",1\n\n4,red,true,7\n', "cases.csv, line 5 has 4 cells, the header 3"),
        (HEAD + '41,"re\nd",1\n4,"red,true\n', "a quotation mark that opens in line 4 is never closed"),
        ("age,member\n41,1\n", "has no column 'colour'; it has 'age', 'member'"),
        ("x\n41\n", "has no columns 'age', 'colour', 'member', which the model reads; it has 'x'"),
        ("age,age,b,b\n41,1,1,1\n", "has more than one column called 'age', 'b'"),
        ("1,2.5\n3,4\n", "it has '1', '2.5': the first line has to name the columns"),
        (HEAD, "has no rows"),
        ("", "is empty"),
    ],
)
def test_what_a_model_cannot_read_is_told_with_its_place(text, words, tmp_path):
    with pytest.raises(CommandError) as told:
        read_for(CARD, csv_file(tmp_path, text))
    assert words in str(told.value)


def test_a_file_in_another_encoding_says_which_to_try(tmp_path):
    for encoding in ("cp1252", "utf-16"):
        path = csv_file(tmp_path, HEAD + "41,grün,1\n", encoding)
        with pytest.raises(CommandError, match=f"is not UTF-8 text: save it as UTF-8, or try --encoding {encoding}"):
            read_for(CARD, path)
        assert read_for(CARD, path, encoding=encoding)[0]["colour"].tolist() == ["grün"]
    with pytest.raises(CommandError, match="is not ascii text: try another --encoding, or none"):
        read_for(CARD, csv_file(tmp_path, HEAD + "41,grün,1\n"), encoding="ascii")
    with pytest.raises(CommandError, match="there is no encoding 'klingon'"):
        read_for(CARD, path, encoding="klingon")


def test_a_file_late_in_which_the_encoding_breaks_is_told_too(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_bytes(HEAD.encode() + b"41,red,1\n" * 50_000 + b"41,gr\xfcn,1\n")
    with pytest.raises(CommandError, match="is not UTF-8 text"):
        read_for(CARD, path)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.csv.gz"])
def test_a_damaged_file_is_told(name, tmp_path):
    whole = write(TABLE, tmp_path / name).read_bytes()
    if name.endswith("gz"):
        whole = gzip.compress(HEAD.encode() + b"41,red,1\n")
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CommandError, match="cannot be read"):
        read_for(CARD, tmp_path / name)


@pytest.mark.parametrize(
    ("name", "words"), [("t.xlsx", "save it as CSV"), ("none.csv", "there is no file"), (".", "folder")]
)
def test_what_is_no_table_is_told(name, words, tmp_path):
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    with pytest.raises(CommandError, match=words):
        read_for(CARD, tmp_path / name)


def test_classes_have_the_types_of_the_model(tmp_path):
    path = csv_file(tmp_path, "a,c,y\n1,2, 1\n3,4,0.0\n5,6,?\n7,8,2\n")
    X, y = read_for(WHOLE, path, target="y", labels=True)
    assert y.tolist() == [1, 0]
    assert y.dtype == np.int64
    assert X.index.tolist() == [0, 1]
    with pytest.raises(CommandError, match="line 5, column 'y': class '2' is none of the model's \\(0, 1\\)"):
        read_for(WHOLE, path, target="y", labels=True, unknown="refuse")
    truths = replace(WHOLE, classes=(False, True), class_dtype="|b1")
    assert read_for(truths, csv_file(tmp_path, "a,c,y\n1,2,TRUE\n1,2,false\n"), target="y", labels=True)[
        1
    ].tolist() == [
        True,
        False,
    ]


def test_rows_that_have_no_class_or_one_unknown_are_left_out_with_a_word(tmp_path, capsys):
    X, y = read_for(YES, csv_file(tmp_path, "a,c,y\n1,2,yes\n3,4,\n7,8,maybe\n"), target="y", labels=True)
    assert (len(X), y.tolist()) == (1, ["yes"])
    told = capsys.readouterr().err
    assert "1 row of a class that the model does not know ('maybe'; first in line 4) left out." in told
    assert "1 row without a class left out." in told


def test_the_column_of_classes_is_the_models_own_unless_named(tmp_path):
    known = replace(YES, data=DataFacts("0" * 64, (1, 1), target="y"))
    path = csv_file(tmp_path, "a,c,y,z\n1,2,yes,no\n")
    assert read_for(known, path, labels=True)[1].tolist() == ["yes"]
    assert read_for(known, path, labels=True, target="z")[1].tolist() == ["no"]
    assert read_for(known, path)[1] is None
    bare = csv_file(tmp_path, "a,c\n1,2\n")
    assert read_for(known, bare, labels=None)[1] is None
    with pytest.raises(CommandError, match="has no column 'y'"):
        read_for(known, bare, labels=True)
    with pytest.raises(CommandError, match="name it with --target"):
        read_for(YES, bare, labels=True)
    with pytest.raises(CommandError, match="is none of the model's"):
        read_for(YES, path, labels=True, target="a")


def test_a_model_without_names_reads_by_place(tmp_path):
    X, _ = read_for(THREE, csv_file(tmp_path, "p,q\n1,2\n3,0\n"))
    assert THREE.predict(X).tolist() == THREE.predict(np.array([[1.0, 2.0], [3.0, 0.0]])).tolist()
    with pytest.raises(CommandError, match="has no columns 'x0', 'x1'"):
        read_for(THREE, csv_file(tmp_path, "p,q,r\n1,2,3\n"))


def test_a_gap_where_the_model_needs_a_value_is_told(tmp_path):
    with pytest.raises(CommandError, match="line 3, column 'c': there is no value, and the model needs one here"):
        read_for(YES, csv_file(tmp_path, "a,c\n1,2\n1,?\n"))


def test_categories_that_look_like_gaps_are_categories_if_the_model_has_them(tmp_path):
    model = replace(YES, prototypes=(Prototype(1, -1.0, (Term(0, 2.0, "a", "equals", "None"),)),))
    X, _ = read_for(model, csv_file(tmp_path, "a,c\nNone,1\nNA,1\n"))
    assert model.predict(X).tolist() == ["yes", "no"]
    numbers = pd.DataFrame({"a": [1.0, 2.5]})
    numbers.to_parquet(tmp_path / "n.parquet")
    coded = replace(YES, prototypes=(Prototype(1, -1.0, (Term(0, 2.0, "a", "equals", "1"),)),))
    assert coded.predict(read_for(coded, tmp_path / "n.parquet")[0]).tolist() == ["yes", "no"]


def test_a_type_that_is_no_number_is_told(tmp_path):
    pd.DataFrame({"a": pd.to_datetime(["2020-01-01"]), "c": [1]}).to_parquet(tmp_path / "d.parquet")
    with pytest.raises(CommandError, match="column 'a' holds values of type timestamp"):
        read_for(YES, tmp_path / "d.parquet")


# --- training --------------------------------------------------------------------------------------------------------


def rows(n=30, **columns):
    rng = np.random.default_rng(1)
    return pd.DataFrame({**columns, "size": rng.normal(size=n).round(3), "y": np.where(np.arange(n) % 2, "no", "yes")})


def learnt(table, folder, name="t.csv", **options):
    if not (folder / name).exists():
        write(table, folder / name)
    return read_training(folder / name, "y", **options)


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("id", np.arange(30) * 7 + 3, "names the rows"),
        ("PassengerId", np.arange(30)[::-1] ** 2, "names the rows"),
        ("patient_id", np.arange(30) ** 2, "names the rows"),
        ("case", np.random.default_rng(0).permutation(30), "names the rows"),
        ("name", [f"n{i}" for i in range(30)], "names the rows"),
        ("Unnamed: 0", np.arange(30), "has no title"),
        ("when", ["2020-01-02", "3.4.2021"] * 15, "holds dates"),
    ],
)
def test_columns_that_name_rows_are_left_out_unless_kept(name, values, why, tmp_path, capsys):
    table = rows(**{name: values})
    found = learnt(table, tmp_path)
    assert found.left_out == {name: why}
    assert list(found.X.columns) == ["size"]
    quoted = f"'{name}'" if " " in name else name
    assert f"Column '{name}' {why}: left out; --keep {quoted} to keep it." in capsys.readouterr().err
    assert list(learnt(table, tmp_path, keep=[name]).X.columns) == [name, "size"]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([7] * 30, "has one value only"),
        (["a"] * 30, "has one value only"),
        ([None] * 30, "is empty"),
    ],
)
def test_columns_that_tell_nothing_are_left_out(values, why, tmp_path):
    assert learnt(rows(c=values), tmp_path).left_out == {"c": why}


def test_numbers_that_differ_are_no_ids_by_that_alone(tmp_path):
    assert "income" in learnt(rows(income=np.arange(30) ** 2), tmp_path).X.columns


def test_a_column_without_a_title_numbers_the_rows(tmp_path):
    rows().to_csv(tmp_path / "t.csv")
    assert list(learnt(None, tmp_path).X.columns) == ["size"]


def test_types_of_parquet_are_as_told(tmp_path, capsys):
    table = rows(
        when=pd.date_range("2020-01-01", periods=30),
        member=[True, False, None] * 10,
        code=pd.Categorical(["1", "2"] * 15),
        many=[[1, 2]] * 30,
    )
    found = learnt(table, tmp_path, "t.parquet")
    assert found.text == ["member", "code"]
    assert set(found.X["member"]) == {True, False, None}
    assert set(found.X["code"]) == {"1", "2"}
    assert set(found.left_out) == {"when", "many"}
    assert "Column 'when' holds dates or times: left out." in capsys.readouterr().err


def test_categories_of_arrow_may_differ_from_piece_to_piece(tmp_path):
    texts = ["a", "b", "c"] * 10
    pieces = [pa.array(texts[at : at + 10]).dictionary_encode() for at in (0, 10, 20)]
    labels = ["yes", "no"] * 5
    schema = pa.schema({"c": pieces[0].type, "y": pa.string()})
    with pa.ipc.new_stream(str(tmp_path / "t.arrow"), schema) as file:
        for piece in pieces:
            file.write_batch(pa.record_batch([piece, pa.array(labels)], schema=schema))
    assert learnt(None, tmp_path, "t.arrow").X["c"].tolist() == texts


def test_infinity_is_refused_with_its_place(tmp_path):
    with pytest.raises(CommandError, match="row 1, column 'c': infinity"):
        learnt(rows(c=[np.inf, *range(29)]), tmp_path, "t.parquet")


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["1", "0"], {0, 1}),
        (["1.0", "2.0"], {1, 2}),
        (["True", "False"], {True, False}),
        (["true", "TRUE", "false"], {True, False}),
        (["TRUE", "FALSE"], {"TRUE", "FALSE"}),
        (["01", "02"], {"01", "02"}),
        (["+1", "-1"], {"+1", "-1"}),
        (["01", "1", "2"], {1, 2}),
        (["a", "1"], {"a", "1"}),
    ],
)
def test_classes_are_read_as_the_plainest_type(labels, classes, tmp_path):
    table = rows()
    table["y"] = labels * (30 // len(labels))
    found = learnt(table, tmp_path)
    assert set(found.y.tolist()) == classes
    assert {type(label) for label in found.y.tolist()} == {type(label) for label in classes}
    assert found.most_frequent[1] == (0.5 if len(labels) == 2 else 2 / 3)


@pytest.mark.parametrize(
    ("labels", "kind"), [([True, False], bool), ([3, 4], int), ([3.0, 4.0], int), (["3", "4"], str)]
)
def test_classes_of_parquet_keep_their_type_and_whole_numbers_are_whole(labels, kind, tmp_path):
    table = rows()
    table["y"] = labels * 15
    found = learnt(table, tmp_path, "t.parquet")
    assert found.y.tolist() == [kind(label) for label in labels * 15]
    assert {type(label) for label in found.y.tolist()} == {kind}


def test_dates_are_no_classes(tmp_path):
    table = rows()
    table["y"] = pd.to_datetime(["2020-01-01", "2020-01-02"] * 15)
    with pytest.raises(CommandError, match="column 'y' holds values of type timestamp"):
        learnt(table, tmp_path, "t.parquet")


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.random.default_rng(0).normal(size=30), "column 'y' has 30 different values in 30 rows"),
        (np.arange(30), "a quantity or a name, not a class"),
        ([f"n{i}" for i in range(30)], "a quantity or a name, not a class"),
        (["a"] * 30, "has one class only, 'a'"),
        ([None] * 30, "no row has a class in column 'y'"),
        (["a"] * 27 + ["b"] * 3, "two classes need 5 rows each at least"),
    ],
)
def test_what_is_no_class_is_told(labels, words, tmp_path):
    table = rows()
    table["y"] = labels
    with pytest.raises(CommandError, match=words):
        learnt(table, tmp_path)


def test_rare_classes_are_left_out_with_a_word(tmp_path, capsys):
    table = rows()
    table["y"] = ["a", "b"] * 13 + ["c"] * 3 + [None]
    found = learnt(table, tmp_path)
    assert set(found.y.tolist()) == {"a", "b"}
    assert len(found.X) == 26
    told = capsys.readouterr().err
    assert "Class 'c' has 3 rows, too few to hold any out: left out." in told
    assert "1 row without a class left out." in told


def test_names_of_columns_that_are_not_there_are_told(tmp_path):
    for options in ({"drop": ["no"]}, {"keep": ["no"]}):
        with pytest.raises(CommandError, match="has no column 'no'; it has 'size', 'y'"):
            learnt(rows(), tmp_path, **options)
    with pytest.raises(CommandError, match="column 'y' is to be dropped, but also to be the target"):
        learnt(rows(), tmp_path, drop=["y"])


def test_text_among_numbers_is_told_with_its_line(tmp_path, capsys):
    table = rows(c=[*range(28), "many", 7])
    learnt(table, tmp_path)
    assert "Column 'c' is text, for 'many' in line 30 is no number; 97% of its values are." in capsys.readouterr().err


# --- what stands for a missing value, and thousands ------------------------------------------------------------------


def rows_of(cells, separator=","):
    """A table of a column x and classes that take turns."""
    quoted = [f'"{cell}"' if separator in cell else cell for cell in cells]
    return f"x{separator}y\n" + "".join(f"{cell}{separator}{'ab'[i % 2]}\n" for i, cell in enumerate(quoted))


ONE = replace(WHOLE, n_features=1, prototypes=(Prototype(1, 0.0, (Term(0, 1.0, "x", mean=0.0),)),))
DASHES = ["1.5", "-", "--", ".", "n/a", "N/A", "#N/A", "none", " - ", "–", "2", "7"]


def test_dashes_among_numbers_are_missing_values_for_training_and_models_alike(tmp_path, capsys):
    path = csv_file(tmp_path, rows_of(DASHES))
    values = read_training(path, "y").X["x"].to_numpy()
    assert np.isnan(values).tolist() == [False, *[True] * 9, False, False]
    assert read_for(ONE, path)[0]["x"].fillna(-1).tolist() == [1.5, *[-1] * 9, 2, 7]
    assert capsys.readouterr().err == ""


def test_dashes_among_words_or_alone_are_text(tmp_path):
    for cells in (["-", "low", "-", "high"] * 3, ["-", "", "-", ""] * 3):
        found = read_training(csv_file(tmp_path, rows_of(cells)), "y")
        assert found.X["x"].tolist() == [cell or None for cell in cells]
    truths = read_training(csv_file(tmp_path, rows_of(["true", "-", "false", "true"] * 3)), "y")
    assert truths.X["x"].tolist()[:4] == [True, None, False, True]


def test_a_feature_of_which_a_model_asks_only_whether_it_is_missing_is_read_alike(tmp_path):
    term = Term(0, 1.0, "x", "missing")
    model = replace(WHOLE, n_features=1, prototypes=(Prototype(1, 0.0, (term,)),), ranges=())
    path = csv_file(tmp_path, rows_of(["-", "3"]))
    assert read_for(model, path)[0]["x"].tolist() == ["-", "3"]
    numbers = read_for(replace(model, ranges=(Range(0, 1.0, 3.0),)), path)[0]["x"].tolist()
    assert numbers == pytest.approx([np.nan, 3.0], nan_ok=True)
    path = csv_file(tmp_path, rows_of(["-", "TRUE"]))
    assert read_for(model, path)[0]["x"].tolist() == [None, True]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_the_user_may_call_any_text_missing(name, tmp_path):
    table = pd.DataFrame(
        {"x": [-9.0, 1, 2, 3, 4, 5] * 3, "c": ["kA", "p", "q", "kA", "p", "q"] * 3, "y": ["a", "b", "kA"] * 6}
    )
    path = write(table.astype({"x": int}), tmp_path / name)
    found = read_training(path, "y", missing=["-9", " kA"]).X
    assert (len(found), found["x"].isna().sum(), found["c"].isna().sum()) == (12, 3, 6)
    red = replace(CARD, prototypes=(Prototype(1, 0.0, (Term(0, 1.0, "c", "equals", "kA"),)),), ranges=())
    assert read_for(red, path)[0]["c"].isna().sum() == 0
    X, y = read_for(replace(red, classes=("a", "b")), path, target="y", labels=True, missing=["kA"])
    assert (len(y), X["c"].isna().sum()) == (12, 6)


def test_the_word_on_text_among_numbers_names_the_cure(tmp_path, capsys):
    path = csv_file(tmp_path, rows_of(["1", "2", "3", "4", "none of it", "6", "7", "8", "9", "9"]))
    read_training(path, "y")
    assert "of its values are. --missing TEXT if that means no value." in capsys.readouterr().err
    assert read_training(path, "y", missing=["none of it"]).X["x"].isna().sum() == 1


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
def test_thousands_may_be_set_off(cells, separator, numbers, tmp_path):
    path = csv_file(tmp_path, rows_of(cells, separator))
    if separator == "\t":
        path = path.rename(tmp_path / "cases.tsv")
    assert read_training(path, "y").X["x"].fillna(-1).tolist() == numbers
    assert read_for(ONE, path)[0]["x"].fillna(-1).tolist() == numbers
    for rows in (1, 2, 3):  # however the file is cut into pieces
        assert [x for _, piece in pieces_of(ONE, path, rows) for x in piece["x"].fillna(-1)] == numbers


def test_decimal_commas_in_other_columns_tell_what_points_mean(tmp_path, capsys):
    rows = [("1.234", "0,5"), ("800", "1,25"), ("-2.500", "3")] * 4
    text = "x;w;y\n" + "".join(f"{x};{w};{'ab'[i % 2]}\n" for i, (x, w) in enumerate(rows))
    path = csv_file(tmp_path, text)
    numbers = [1234, 800, -2500] * 4
    assert read_training(path, "y").X["x"].tolist() == numbers
    assert "Column 'x': points set off thousands, for the table has decimal commas." in capsys.readouterr().err
    assert [x for _, piece in pieces_of(ONE, path, 1) for x in piece["x"]] == numbers
    path = csv_file(tmp_path, text.replace("0,5", "0.5").replace("1,25", "1.25"))
    assert read_training(path, "y").X["x"].tolist() == [1.234, 800, -2.5] * 4
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
def test_a_column_that_is_not_alike_throughout_stays_text(cells, separator, tmp_path):
    path = csv_file(tmp_path, rows_of(cells * 4, separator))
    assert read_training(path, "y").X["x"].tolist() == cells * 4
    with pytest.raises(CommandError, match="is no number"):
        read_for(ONE, path)


def test_what_looks_like_numbers_is_not_called_an_id_only(tmp_path, capsys):
    read = [f"{i}'{i}00.5" for i in range(11, 23)]
    text = rows_of(read).replace("x,y", "x,z,y").replace(",a\n", ",1,a\n").replace(",b\n", ",2,b\n")
    assert "x" in read_training(csv_file(tmp_path, text), "y").left_out
    assert (
        "Column 'x' looks like numbers, but '11'1100.5' in line 2 cannot be read as one: left out; --keep x"
        in capsys.readouterr().err
    )


# --- names and bytes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Readmitted", "has no column 'Readmitted'; did you mean 'readmitted'? It has 'age', 'readmitted', 'a column'"),
        ("readmited", "did you mean 'readmitted'? It has"),
        ("acolumn", "did you mean 'a column'? It has"),
        ("zebra", "has no column 'zebra'; it has 'age'"),
    ],
)
def test_a_column_that_is_not_there_brings_the_closest_names(name, words, tmp_path):
    with pytest.raises(CommandError) as told:
        read_training(csv_file(tmp_path, "age,readmitted,a column\n1,2,3\n"), name)
    assert words in str(told.value)


def test_a_file_that_is_no_text_is_told(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_bytes(b"SQLite format 3\0\x10\0\1\1\0@ \0\0" * 100)
    with pytest.raises(CommandError, match="is not a text file: tables are CSV"):
        read_for(CARD, path)
    path.write_bytes((HEAD + "41,red,1\n").encode("utf-16-le"))
    with pytest.raises(CommandError, match="is not UTF-8 text: save it as UTF-8, or try --encoding utf-16-le"):
        read_for(CARD, path)
    assert len(read_for(CARD, path, encoding="utf-16-le")[0]) == 1


# --- words on columns ------------------------------------------------------------------------------------------------


def test_categories_and_classes_that_differ_only_in_case_are_told(tmp_path, capsys):
    text = "x,c,y\n" + "1,yes,a\n2, Yes ,A\n3,no,a\n4,no,A\n" * 5
    found = read_training(csv_file(tmp_path, text), "y")
    assert set(found.X["c"]) == {"yes", "Yes", "no"}
    told = capsys.readouterr().err
    assert "'Yes' and 'yes' in column 'c' differ only in case: they are 2 categories." in told
    assert "'A' and 'a' in column 'y' differ only in case: they are 2 classes." in told
    many = ["a", "A", "b", "B", "c", "C", "d", "D", "e", "E"] * 2
    read_training(csv_file(tmp_path, rows_of(many)), "y")
    assert capsys.readouterr().err.splitlines()[3:] == ["So do 2 more in that column."]


def test_running_numbers_are_kept_if_there_is_nothing_else(tmp_path, capsys):
    text = "dose,one,y\n" + "".join(f"{i},7,{'ab'[i > 10]}\n" for i in range(1, 21))
    found = read_training(csv_file(tmp_path, text), "y")
    assert list(found.X.columns) == ["dose"]
    assert list(found.left_out) == ["one"]
    told = capsys.readouterr().err
    assert "Column 'dose' looks like running numbers, but is the only one to learn from: kept." in told
    with pytest.raises(CommandError, match="no column is left to learn from"):
        read_training(csv_file(tmp_path, text.replace("dose", "case_id")), "y")
    assert "Column 'case_id' names the rows: left out; --keep case_id to keep it." in capsys.readouterr().err


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@pytest.mark.parametrize("values", [[0.5, 1.5, 2.5], [True, False, True], ["p", "q", "q"]])
def test_a_model_that_asks_only_whether_a_value_is_there_knows_its_training_rows_again(values, name, tmp_path):
    table = pd.DataFrame({"v": pd.Series([*values, None] * 20, dtype=object), "y": ["no", "no", "no", "yes"] * 20})
    table = table if name == "t.csv" else table.convert_dtypes()
    path = write(table, tmp_path / name)
    found = read_training(path, "y")
    fitted = SMaLLClassifierCV(max_terms=1, categorical_features=found.text or None, random_state=0).fit(
        found.X, found.y
    )
    assert [term.kind for term in fitted.model_.terms] == ["missing"]
    X, y = read_for(fitted.model_, path, target="y", labels=True)
    assert fitted.model_.was_trained_on(X, y)
    assert str(explain.case(fitted.model_, X.iloc[[3]], X=X))


def test_what_a_model_takes_for_true_or_false_is_neither_2_nor_text(tmp_path):
    flag = replace(YES, n_features=1, prototypes=(Prototype(1, 0.0, (Term(0, 1.0, "x", "equals", True),)),))
    assert read_for(flag, csv_file(tmp_path, rows_of(["1", "FALSE", "", "0"])))[0]["x"].tolist() == [
        *(True, False, None, False)
    ]
    with pytest.raises(CommandError, match=r"line 3, column 'x': '2' is neither true nor false"):
        read_for(flag, csv_file(tmp_path, rows_of(["1", "2"])))


def test_a_class_column_without_classes_is_as_good_as_none_unless_classes_are_needed(tmp_path):
    known = replace(YES, data=DataFacts("f" * 64, (1, 1), target="y"))
    path = csv_file(tmp_path, "a,c,y\n1,2,\n3,4,NA\n")
    X, y = read_for(known, path, labels=None)
    assert len(X) == 2
    assert y is None
    with pytest.raises(CommandError, match="no row has a class"):
        read_for(known, path, labels=True)
    with pytest.raises(CommandError, match="nosuch"):
        read_for(known, path, labels=None, target="nosuch")


def test_rows_are_read_with_the_columns_and_types_of_another_table(tmp_path):
    there = pd.DataFrame({"n": [0.5, 1.5] * 10, "c": ["1", "b"] * 10, "t": [True, False] * 10, "gone": [1.5, 2.5] * 10})
    table = learnt(there.assign(y=["yes", "no"] * 10), tmp_path)
    path = csv_file(tmp_path, "t,c,n,y\nTRUE,1,7,yes\n,2,odd,\nfalse,1,7,yes\n")
    found = read_like(table, path, np.array([0, 1, 2]), "utf-8", ())
    assert list(found.columns) == ["n", "c", "t", "gone"]  # though constant here, and one is missing
    assert found["n"].tolist() == pytest.approx([7.0, np.nan, 7.0], nan_ok=True)
    assert found["c"].tolist() == ["1", "2", "1"]
    assert found["t"].tolist() == [True, None, False]
    assert found["gone"].isna().all()


def test_text_of_which_most_is_none_is_not_called_numbers(tmp_path, capsys):
    read_training(csv_file(tmp_path, rows_of([*["none"] * 9, "guarantor", "guarantor"])), "y")
    assert "is no number" not in capsys.readouterr().err
    percents = pd.DataFrame({"x": [f"{i}%" for i in range(12)], "z": [1.5, 2.5] * 6, "y": ["a", "b"] * 6})
    assert "x" in learnt(percents, tmp_path).left_out
    assert "'0%' in line 2 cannot be read as one" in capsys.readouterr().err


def test_a_read_that_was_interrupted_is_not_called_a_broken_table(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise pd.errors.ParserError("Error tokenizing data. C error: Calling read(nbytes) on source failed.")

    path = csv_file(tmp_path, HEAD + "1,2,3\n")
    monkeypatch.setattr(pd, "read_csv", interrupted)
    with pytest.raises(KeyboardInterrupt):
        open_source(path).read()
