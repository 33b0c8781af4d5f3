"""Tables that are written: every format, encodings, decimal commas and categories."""

import csv
import io
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from smallearn import cli
from tests.helpers.models import CARD


@pytest.fixture
def folder(tmp_path):
    CARD.save(tmp_path / "model.json")
    return tmp_path


def predict(folder, *arguments):
    return cli.main(["predict", str(folder / "model.json"), *map(str, arguments)])


@pytest.mark.parametrize(
    "name", ["out.csv", "out.tsv", "out.csv.gz", "out.parquet", "out.pq", "out.arrow", "out.feather"]
)
@pytest.mark.parametrize("given_as", ["in.csv", "in.parquet", "in.feather"])
def test_every_format_is_written_as_every_other(name, given_as, folder):
    table = pd.DataFrame({"age": [41, 3], "colour": ["red", "x"], "member": [True, None], "n": [2**60 + 1, 5]})
    getattr(table, {"in.csv": "to_csv", "in.parquet": "to_parquet"}.get(given_as, "to_feather"))(
        folder / given_as, **({"index": False} if given_as == "in.csv" else {})
    )
    assert predict(folder, folder / given_as, "-o", folder / name) == 0
    if ".csv" in name or ".tsv" in name:
        found = pd.read_csv(folder / name, sep="\t" if "tsv" in name else ",")
    else:
        found = pd.read_feather(folder / name) if name[-1] in "wr" else pd.read_parquet(folder / name)
    assert found["prediction"].tolist() == ["yes", "no"]
    assert [int(n) for n in found["n"]] == [2**60 + 1, 5]
    assert found["prototype"].tolist() == [1, 1]
    assert list(folder.glob(".smallearn-*")) == []


def test_a_class_that_the_encoding_cannot_write_is_an_error(folder, capsys):
    replace(CARD, classes=("no", "Ω")).save(folder / "model.json")
    (folder / "in.csv").write_bytes("age,colour,member\n50,grün,true\n".encode("cp1252"))
    assert predict(folder, folder / "in.csv", "--encoding", "cp1252", "-o", folder / "out.csv") == 1
    assert "has no 'Ω': write Parquet, or save the table as UTF-8" in capsys.readouterr().err
    assert not (folder / "out.csv").exists()


def test_a_title_that_the_encoding_cannot_write_is_an_error(folder, capsys):
    (folder / "in.csv").write_bytes("age,colour,member\n50,grün,true\n".encode("cp1252"))
    arguments = ["--encoding", "cp1252", "--suffix", "_Ω", "-o", folder / "out.csv"]
    assert predict(folder, folder / "in.csv", *arguments) == 1
    assert "has no 'Ω': write Parquet, or save the table as UTF-8" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("age;colour;member;w\n41,5;red;1;1.234,5\n", ","),
        ("age;colour;member;w\n41.5;red;1;2.5\n", "."),
        ("age;colour;member;w\n41;red;1;2\n", "."),
        ('age,colour,member,w\n41,red,1,"2,5"\n', "."),
    ],
)
@pytest.mark.parametrize("name", ["out.csv", "out.tsv", None])
def test_the_decimal_sign_is_that_of_the_file(text, mark, name, folder, capsys):
    (folder / "in.csv").write_text(text)
    assert predict(folder, folder / "in.csv", *([] if name is None else ["-o", folder / name])) == 0
    written = capsys.readouterr().out if name is None else (folder / name).read_text()
    separator = "\t" if name == "out.tsv" else text[3]
    probability = next(csv.DictReader(io.StringIO(written), delimiter=separator))["probability"]
    assert probability.startswith(f"0{mark}88079707797788")


KEPT = {"age": [41, 3], "colour": ["red", "x"], "member": [True, None]}


def test_carriage_returns_are_quoted_in_categories_and_titles(folder):
    cells = pa.array(["a\rb", "c"])
    more = {"note": cells.dictionary_encode(), "view": cells.cast(pa.string_view()), "ti\rtle": [1, 2]}
    pq.write_table(pa.table(KEPT | more), folder / "in.parquet")
    assert predict(folder, folder / "in.parquet", "-o", folder / "out.csv") == 0
    with (folder / "out.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    assert [(row["note"], row["view"], row["ti\rtle"]) for row in found] == [("a\rb", "a\rb", "1"), ("c", "c", "2")]
    assert len(pd.read_csv(folder / "out.csv")) == 2


NOTES = [["b", "a"], ["c", "b"], ["b", "b"], [None, "a"]]


def stream(path, columns):
    """A stream of Arrow, with a piece for each of these columns ``note``."""
    pieces = [pa.table(KEPT | {"note": column}) for column in columns]
    with pa.ipc.new_stream(str(path), pieces[0].schema) as file:
        for piece in pieces:
            file.write_table(piece)
    return path


@pytest.mark.parametrize("name", ["out.arrow", "out.parquet", "out.csv"])
def test_categories_may_differ_from_chunk_to_chunk(name, folder):
    source = stream(folder / "in.arrow", [pa.array(cells).dictionary_encode() for cells in NOTES])
    assert predict(folder, source, "-o", folder / name) == 0
    read = {"out.arrow": pd.read_feather, "out.parquet": pd.read_parquet, "out.csv": pd.read_csv}[name]
    found = read(folder / name)["note"].astype(object)
    assert found.where(found.notna(), None).tolist() == [note for cells in NOTES for note in cells]


@pytest.mark.parametrize(
    ("given_as", "name", "kept"),
    [("in.feather", "out.feather", True), ("in.parquet", "out.parquet", True), ("in.parquet", "out.feather", False)],
)
def test_categories_of_a_table_stay_categories_where_they_are_the_same_throughout(given_as, name, kept, folder):
    table = pd.DataFrame(KEPT | {"note": pd.Categorical(["b", "a"])})
    getattr(table, "to_parquet" if given_as == "in.parquet" else "to_feather")(folder / given_as)
    assert predict(folder, folder / given_as, "-o", folder / name) == 0
    found = (pd.read_parquet if name == "out.parquet" else pd.read_feather)(folder / name)["note"]
    assert found.tolist() == ["b", "a"]
    assert (found.dtype == "category") == kept


def test_a_table_that_the_format_cannot_hold_is_an_error(folder, capsys):
    kind = pa.list_(pa.dictionary(pa.int8(), pa.string()))
    source = stream(folder / "in.arrow", [pa.array([[cell] for cell in cells], kind) for cells in NOTES])
    before = set(folder.iterdir())
    assert predict(folder, source, "-o", folder / "out.arrow") == 1
    assert "Arrow cannot hold the table: Dictionary replacement detected" in capsys.readouterr().err
    assert set(folder.iterdir()) == before
