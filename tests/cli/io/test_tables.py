"""Table files: encodings, damage, and names of columns."""

import gzip

import pandas as pd
import pytest

from smallearn.cli.console import SILENT
from smallearn.cli.errors import CommandError
from smallearn.cli.io.tables import open_table
from tests.helpers.models import CARD
from tests.helpers.table_files import HEAD, TABLE, csv_file, for_model, for_training, write


def test_a_file_in_another_encoding_says_which_to_try(tmp_path):
    for encoding in ("cp1252", "utf-16"):
        path = csv_file(tmp_path, HEAD + "41,grün,1\n", encoding)
        with pytest.raises(CommandError, match=f"is not UTF-8 text: save it as UTF-8, or try --encoding {encoding}"):
            for_model(CARD, path)
        assert for_model(CARD, path, encoding=encoding)[0]["colour"].tolist() == ["grün"]
    with pytest.raises(CommandError, match="is not ascii text: try another --encoding, or none"):
        for_model(CARD, csv_file(tmp_path, HEAD + "41,grün,1\n"), encoding="ascii")
    with pytest.raises(CommandError, match="there is no encoding 'klingon'"):
        for_model(CARD, path, encoding="klingon")


def test_a_wrong_byte_late_in_a_file_is_noticed_too(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_bytes(HEAD.encode() + b"41,red,1\n" * 50_000 + b"41,gr\xfcn,1\n")
    with pytest.raises(CommandError, match="is not UTF-8 text"):
        for_model(CARD, path)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.csv.gz"])
def test_a_damaged_file_is_an_error(name, tmp_path):
    whole = write(TABLE, tmp_path / name).read_bytes()
    if name.endswith("gz"):
        whole = gzip.compress(HEAD.encode() + b"41,red,1\n")
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CommandError, match="cannot be read"):
        for_model(CARD, tmp_path / name)


def test_a_file_that_loses_columns_while_it_is_read_is_an_error(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(HEAD + "41,red,1\n")
    file = open_table(path)
    path.write_text("age\n1\n")
    with pytest.raises(CommandError, match="was changed while it was read; run the command again"):
        file.load(SILENT)


def test_a_damaged_byte_of_a_compressed_file_is_an_error(tmp_path):
    path = tmp_path / "t.csv.gz"
    damaged = bytearray(gzip.compress(HEAD.encode() + b"41,red,1\n42,blue,0\n"))
    damaged[10] = 0x07  # no kind of block: zlib notices, not gzip
    path.write_bytes(damaged)
    with pytest.raises(CommandError, match="cannot be read: Error -3"):
        for_model(CARD, path)


@pytest.mark.parametrize(
    ("name", "words"), [("t.ods", "save it as .xlsx or CSV"), ("none.csv", "there is no file"), (".", "folder")]
)
def test_a_file_that_is_not_a_table_is_refused(name, words, tmp_path):
    (tmp_path / "t.ods").write_bytes(b"PK")
    with pytest.raises(CommandError, match=words):
        for_model(CARD, tmp_path / name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Readmitted", "has no column 'Readmitted'; did you mean 'readmitted'? It has 'age', 'readmitted', 'a column'"),
        ("readmited", "did you mean 'readmitted'? It has"),
        ("acolumn", "did you mean 'a column'? It has"),
        ("zebra", "has no column 'zebra'; it has 'age'"),
    ],
)
def test_the_error_about_a_missing_column_suggests_the_closest_names(name, words, tmp_path):
    with pytest.raises(CommandError) as output:
        for_training(csv_file(tmp_path, "age,readmitted,a column\n1,2,3\n"), name)
    assert words in str(output.value)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_bytes(b"SQLite format 3\0\x10\0\1\1\0@ \0\0" * 100)
    with pytest.raises(CommandError, match="is not a text file; a table in Parquet or Arrow"):
        for_model(CARD, path)
    path.write_bytes((HEAD + "41,red,1\n").encode("utf-16-le"))
    with pytest.raises(CommandError, match="is not UTF-8 text: save it as UTF-8, or try --encoding utf-16-le"):
        for_model(CARD, path)
    assert len(for_model(CARD, path, encoding="utf-16-le")[0]) == 1


def test_an_interrupted_read_is_not_taken_for_a_broken_table(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise pd.errors.ParserError("Error tokenizing data. C error: Calling read(nbytes) on source failed.")

    path = csv_file(tmp_path, HEAD + "1,2,3\n")
    monkeypatch.setattr(pd, "read_csv", interrupted)
    with pytest.raises(KeyboardInterrupt):
        open_table(path).load(SILENT)
