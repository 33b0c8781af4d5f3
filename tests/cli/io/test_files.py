"""Files are checked before any work, replaced whole, and written in the encoding that the output has."""

import io
import os
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import replace

import pytest

from smallearn import cli, load_model
from smallearn.cli.io.files import write_file
from smallearn.export import to_c
from tests.helpers.models import CARD

# --- checks before any work -----------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A model, a table, and links to both."""
    monkeypatch.chdir(tmp_path)
    CARD.save("model.json")
    (tmp_path / "data.csv").write_text("age,colour,member,y\n41,red,1,yes\n")
    (tmp_path / "hard.json").hardlink_to("model.json")
    (tmp_path / "soft.csv").symlink_to("data.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("predict model.json data.csv -o soft.csv", "'soft.csv' is also the input: name another file"),
        ("predict model.json soft.csv -o ./data.csv", "'data.csv' is also the input"),
        ("report model.json data.csv -o hard.json", "'hard.json' is also the input"),
        ("report model.json model.json --train data.csv -o data.csv", "'data.csv' is also the input"),
        ("frontier data.csv --target y -o soft.csv", "'soft.csv' is also the input"),
        ("export model.json --to c -o hard.json", "'hard.json' is also the input"),
        ("fit data.csv --target y -o soft.csv", "'soft.csv' ends like a table, but a model is JSON"),
        ("fit data.csv --target y -o new.parquet", "'new.parquet' ends like a table"),
        ("fit data.csv --target y -o new.json.gz", "'new.json.gz' ends like a table"),
        ("predict data.csv model.json", "comes first: smallearn predict model.json data.csv."),
        ("evaluate data.csv model.json", "data.csv is a table, not a model; the model comes first: smallearn evaluate"),
        ("explain soft.csv model.json", "soft.csv is a table, not a model; the model comes first: smallearn explain"),
        ("report data.csv model.json -o x.html", "the model comes first: smallearn report model.json data.csv."),
        ("explain data.csv", "data.csv is a table, not a model; train one: smallearn fit."),
        ("cost data.csv", "data.csv is a table, not a model; train one: smallearn fit."),
        ("export data.csv --to c", "data.csv is a table, not a model; train one: smallearn fit."),
        ("evaluate model.json data.csv --compare --train none.csv", "there is no file 'none.csv'"),
    ],
)
def test_files_in_the_wrong_place_are_refused_and_left_alone(line, words, files, capsys):
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    assert cli.main(line.split()) == 1
    assert words in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


def test_a_model_may_be_called_anything(files):
    (files / "model.txt").write_bytes((files / "model.json").read_bytes())
    assert cli.main(["predict", "model.txt", "data.csv", "-o", "scored.csv"]) == 0


LINES = [
    "fit none.csv --target y -o m.json",
    "frontier none.csv --target y",
    "evaluate model.json none.csv",
    "evaluate none.json data.csv",
    "explain model.json none.csv --row 2000000",
    "predict model.json none.csv",
    "report model.json none.csv -o r.html",
    "cost none.json",
    "export none.json --to c",
]


def test_a_missing_file_is_an_error_before_anything_heavy_is_imported(files):
    code = f"""
import sys
from smallearn import cli
heavy = ("sklearn", "pandas", "numba", "scipy", "pyarrow", "matplotlib")
for line in {LINES!r}:
    print(line, cli.main(line.split()), [name for name in heavy if name in sys.modules])
"""
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=files, timeout=120)
    assert output.stdout.splitlines() == [f"{line} 1 []" for line in LINES]
    assert output.stderr.count("there is no file 'none.") == len(LINES)


# --- files that are replaced, and what is no file -------------------------------------------------------------------


TO_C = ["export", "model.json", "--to", "c", "-o"]


posix_only = pytest.mark.skipif(os.name == "nt", reason="pipes, modes and symbolic links of POSIX")


@posix_only
def test_a_file_that_is_replaced_keeps_its_mode_and_its_links(files):
    (files / "real.h").write_text("old")
    (files / "real.h").chmod(0o600)
    (files / "link.h").symlink_to("real.h")
    assert cli.main([*TO_C, "link.h"]) == 0
    assert (files / "link.h").is_symlink()
    assert (files / "real.h").read_text() == to_c(CARD)
    assert (files / "real.h").stat().st_mode & 0o777 == 0o600


@posix_only
@pytest.mark.parametrize("write", [lambda path: cli.main([*TO_C, path]), CARD.save], ids=["export", "save"])
def test_a_pipe_is_written_into(write, files):
    os.mkfifo("pipe")
    before, read = set(files.iterdir()), []
    reader = threading.Thread(target=lambda: read.append((files / "pipe").read_text()), daemon=True)
    reader.start()
    write("pipe")
    reader.join(60)
    assert read in ([to_c(CARD)], [CARD.to_json()])
    assert (files / "pipe").is_fifo()
    assert set(files.iterdir()) == before


@posix_only
@pytest.mark.parametrize("into", ["| cat", "> out.h", ">> out.h"])
def test_stdout_is_written_into_by_its_name(into, files):
    (files / "stdout").symlink_to("/dev/fd/1")  # as /dev/stdout is, which no test should put at risk
    (files / "out.h").write_text("before\n")
    program = f"(echo first; {sys.executable} -m smallearn {' '.join(TO_C)} stdout; echo last) {into}"
    output = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=120)
    found = output.stdout or (files / "out.h").read_text()
    assert found == f"{'before' + chr(10) if '>>' in into else ''}first\n{to_c(CARD)}last\n"


def test_a_file_that_cannot_be_written_is_an_error_in_one_sentence(files, capsys):
    (files / "lost.h").symlink_to("nowhere/real.h")
    assert cli.main([*TO_C, "lost.h"]) == 1
    assert "'lost.h' cannot be written: No such file or directory" in capsys.readouterr().err


# --- characters that an encoding lacks ------------------------------------------------------------------------------


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
@pytest.mark.parametrize("line", ["explain model.json data.csv", "fit --help"])
def test_characters_that_stdout_lacks_are_escaped(line, encoding, monkeypatch):
    replace(CARD, classes=("no", "≤ 5")).save("model.json")
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding=encoding))
    with suppress(SystemExit):
        assert cli.main(line.split()) == 0
    sys.stdout.flush()
    assert b"\\u2264" in printed.getvalue()


def test_source_is_printed_as_it_is_or_not_at_all(files):
    replace(CARD, classes=("no", "Ω")).save("model.json")
    environment = os.environ | {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "smallearn", "export", "model.json", "--to", "sql"]
    output = subprocess.run(command, capture_output=True, env=environment, cwd=files, timeout=120)
    assert (output.returncode, output.stdout) == (1, b"")
    assert b"the output's encoding, cp1252, has no '" in output.stderr


def test_bytes_that_are_not_text_become_question_marks(files, table):
    write_file("a\udcffb≤", files / "page.html")
    assert (files / "page.html").read_text(encoding="utf-8") == "a?b≤"
    source = files / "x\udcff.csv"
    try:
        table.drop(columns="id").to_csv(source, index=False)
    except OSError:
        pytest.skip("names of files are text here")
    quick = ["--target", "result", "--max-terms", "1", "--prototypes", "1", "--save", "models"]
    assert cli.main(["frontier", str(source), *quick]) == 0
    assert load_model("models/model-1.json").data.source == "x?.csv"
    assert cli.main(["report", "model.json", "data.csv", "--title", "\udcff!", "-o", "page.html"]) == 0
    assert "?!" in (files / "page.html").read_text(encoding="utf-8")
