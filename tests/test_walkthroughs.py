"""The two walkthroughs of docs/exports.md, to a chip and to a database, followed to the letter."""

import csv
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pandas as pd
import pytest

from smallearn import cli, load_model
from smallearn.explain import reason_codes
from tests.helpers import mariadb
from tests.helpers.tools import need, need_chip

PAGE = (Path(__file__).parents[1] / "docs" / "exports.md").read_text(encoding="utf-8")


def section(title):
    """What stands below a title, up to the next."""
    return re.search(rf"^##+ {title}\n(.*?)(?=^##)", PAGE, flags=re.DOTALL | re.MULTILINE).group(1)


def fenced(text, language):
    """The blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def indented(text, first):
    """The indented block that begins with these words."""
    block = re.search(rf"^    {re.escape(first)}.*\n(?:(?:    .*)?\n)*", text, flags=re.MULTILINE)
    return textwrap.dedent(block.group(0))


def commands(text, program):
    """The arguments of each line that calls a program."""
    return [shlex.split(line) for line in re.findall(rf"^    {program} (.*?)(?: +# .*)?$", text, flags=re.MULTILINE)]


def smallearn(text, *names):
    """Run the commands of these names; fits are kept short."""
    for name, *arguments in commands(text, "smallearn"):
        if name in names:
            assert cli.main([name, *arguments, *(["--max-terms", "3"] if "--device" in arguments else [])]) == 0


@pytest.mark.tools
def test_the_way_from_a_sensor_to_firmware_ends_in_the_decisions_of_predict(tmp_path, monkeypatch, capsys):
    for program in ("gcc", "avr-gcc", "avr-size"):
        need(program)
    need_chip("atmega328p")
    monkeypatch.chdir(tmp_path)
    text = section("From a sensor to firmware")
    exec(indented(text, "import csv\n    import random"), {})
    Path("counts.csv").write_text(indented(text, "feature,scale"), encoding="utf-8")
    for path, source in zip(("main.c", "run.c"), fenced(text, "c"), strict=True):
        Path(path).write_text(source, encoding="utf-8")
    smallearn(text, "fit", "export", "predict")
    changed = re.search(r"int16 changes \d+ of 500 decisions \(0\.\d%\) on the rows\s+given", text).group(0)
    assert " ".join(changed.split()) in capsys.readouterr().out
    for program in ("avr-gcc", "gcc"):
        (arguments,) = commands(text, program)
        subprocess.run([program, *arguments, "-Wall", "-Wextra", "-Werror"], check=True)
    done = subprocess.run(
        [sys.executable, "-c", indented(text, "import csv\n    import subprocess")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"It prints `{done.stdout.strip()}`" in text
    sizes = subprocess.run(["avr-size", "main.elf"], capture_output=True, text=True, check=True).stdout
    assert int(sizes.split()[6]) < 400, "the page says 298 bytes"


@pytest.mark.tools
def test_the_way_from_a_table_to_mariadb_ends_in_the_answers_of_predict_and_explain(tmp_path, monkeypatch):
    program = need("mariadb")
    monkeypatch.chdir(tmp_path)
    text = section("From a table to scores in MariaDB")
    exec(indented(text, "import csv\n    import random"), {})
    (load,) = fenced(text, "sql")
    smallearn(text, "fit", "export")
    with mariadb.server() as socket:
        client = [program, "--no-defaults", f"--socket={socket}", "--user=root"]
        subprocess.run([*client, "--local-infile=1"], input=load.encode(), check=True)
        options = ["--default-character-set=utf8mb4", "--batch", "bank"]
        done = subprocess.run(
            [*client, *options], input=Path("score.sql").read_bytes(), capture_output=True, check=True
        )
    answers = list(csv.DictReader(done.stdout.decode().splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert cli.main(["predict", "model.json", "loans.csv", "-o", "scored.csv"]) == 0
    with open("scored.csv", encoding="utf-8", newline="") as file:
        expected = list(csv.DictReader(file))
    assert len(answers) == len(expected) == 1000
    assert "NULL" in {row["income"] for row in answers}
    assert {row["housing"] for row in answers} == {"own", "rent", "free", "NULL"}
    table = pd.DataFrame(answers).replace("NULL", None).astype({"income": float, "late payments": float})
    codes = reason_codes(load_model("model.json"), table, n=2, favourable="grant")
    for answer, row, code in zip(answers, expected, codes, strict=True):
        assert answer["loan"] == row["loan"]
        assert answer["prediction"] == row["prediction"]
        assert float(answer["probability"]) == pytest.approx(float(row["probability"]), rel=1e-12)
        assert [answer["reason_1"], answer["reason_2"]] == ["NULL" if one is None else one for one in code]
