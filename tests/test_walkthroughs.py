"""The two walkthroughs of docs/exports.md, to a chip and to a database, followed to the letter."""

import csv
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from smallearn import SMaLLModel, cli, load_model
from smallearn.cli.io import cells
from smallearn.explain import reason_codes
from smallearn.export import quantise, to_c
from smallearn.model import Prototype, Term
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
    (sketch,) = Path("FanModel").glob("examples/*/*.ino")
    pins = dict(re.findall(r"const uint8_t (pin_\w+) = (A\d);", sketch.read_text(encoding="ascii")))
    assert all(f"`{pin} = {place}`" in text for pin, place in pins.items())
    assert list(pins) == ["pin_temperature", "pin_humidity"], "the page says that the model does not use light"
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
def test_the_simulated_chip_waits_for_as_many_conversions_as_there_are_inputs(tmp_path, monkeypatch):
    for program in ("gcc", "avr-gcc"):
        need(program)
    need_chip("atmega328p")
    monkeypatch.chdir(tmp_path)
    text = section("From a sensor to firmware")
    main, run = fenced(text, "c")
    names = [f"s{place}" for place in range(7)]
    weights = [3.0, -2.0, 1.0, -1.0, 2.0, -3.0, 1.0]
    terms = tuple(Term(l, weight, names[l], mean=0.0) for l, weight in enumerate(weights))
    model = SMaLLModel(("off", "on"), "<U3", 7, (Prototype(1, -500.0, terms),)).for_complete_rows()
    options = {"counts": dict.fromkeys(names, (1.0, 0.0, 0, 1023)), "readings": "counts"}
    Path("model.h").write_text(to_c(model, "int16", **options), encoding="ascii")
    line = r" +x\[MODEL_X_\w+\] = \(model_input_t\)adc\(\d\);.*\n"
    assert len(re.findall(line, main)) == 2
    reads = "".join(f"x[MODEL_X_S{place}] = (model_input_t)adc({place});\n" for place in range(7))
    Path("main.c").write_text(re.sub(f"({line})+", reads, main), encoding="utf-8")
    Path("run.c").write_text(run, encoding="utf-8")
    for program in ("avr-gcc", "gcc"):
        (arguments,) = commands(text, program)
        subprocess.run([program, *arguments, "-Wall", "-Wextra", "-Werror"], check=True)
    rows = np.random.default_rng(0).integers(0, 1024, size=(60, 7))
    lines = "\n".join(",".join(map(str, row)) for row in rows.tolist())
    done = subprocess.run("./run", input=lines, capture_output=True, text=True, check=True)
    expected = quantise(model, "int16", **options).predict(rows)
    assert 20 < expected.sum() < 40
    assert [int(pin) for pin in done.stdout.split()] == expected.tolist()


@pytest.mark.tools
def test_the_way_from_a_table_to_mariadb_ends_in_the_answers_of_predict_and_explain(tmp_path, monkeypatch, capsys):
    program = need("mariadb")
    monkeypatch.chdir(tmp_path)
    text = section("From a table to scores in MariaDB")
    exec(indented(text, "import csv\n    import random"), {})
    (load,) = fenced(text, "sql")
    Path("load.sql").write_text(load, encoding="utf-8")
    smallearn(text, "fit", "export", "predict")
    told = capsys.readouterr().err
    assert "Read as missing values: '-' in 'income (€)'; '?' in 'housing'; 'n/a' in 'late payments'." in told
    calls = [call[: call.index("<") + 2] for call in commands(text, "mariadb")]
    plain = [call for call in calls if "--no-defaults" not in call]
    own_server = ["--no-defaults", "--socket=$folder/socket", "--user=root"]
    assert [call for call in calls if call not in plain] == [own_server + call for call in plain]
    with mariadb.server() as socket:
        printed = []
        for *options, _, path in plain:
            client = [program, "--no-defaults", f"--socket={socket}", "--user=root", *options]
            plain_locale = {**os.environ, "LC_ALL": "C"}  # as in a scheduled job: the client would not expect UTF-8
            text = Path(path).read_bytes()
            done = subprocess.run(client, input=text, capture_output=True, check=True, env=plain_locale)
            printed.append(done.stdout.decode())
    assert printed[0] == "", "SHOW WARNINGS has something to show"
    answers = list(csv.DictReader(printed[1].splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    with open("scored.csv", encoding="utf-8", newline="") as file:
        expected = list(csv.DictReader(file))
    assert len(answers) == len(expected) == 1000
    assert "NULL" in {row["income (€)"] for row in answers}
    assert {row["purpose"] for row in answers} == {"car", "café", "it's for a friend", "none"}
    assert {row["housing"] for row in answers} == {"own", "rent", "free", "NULL"}
    table = pd.DataFrame(answers).replace("NULL", None).astype({"income (€)": float, "late payments": float})
    codes = reason_codes(load_model("model.json"), table, n=2, favourable="grant")
    for answer, row, code in zip(answers, expected, codes, strict=True):
        assert answer["loan"] == row["loan"]
        assert answer["prediction"] == row["prediction"]
        assert float(answer["score"]) == pytest.approx(float(row["score"]), rel=1e-9, abs=1e-12)
        assert float(answer["probability"]) == pytest.approx(float(row["probability"]), rel=1e-12)
        assert [answer["reason_1"], answer["reason_2"]] == ["NULL" if one is None else one for one in code]


def test_the_page_on_mariadb_lists_all_that_is_read_as_missing():
    (load,) = fenced(section("From a table to scores in MariaDB"), "sql")
    text = re.search(r"^SET @text = '(.*)';$", load, flags=re.MULTILINE).group(1)
    number = re.search(r"^SET @number = CONCAT\(@text, ',(.*)'\);$", load, flags=re.MULTILINE).group(1)
    assert sorted(text.split(",")) == sorted(cells.MISSING)
    assert sorted(number.split(",")) == sorted(cells.MISSING_NUMBER)
