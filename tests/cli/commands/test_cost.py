"""``smallearn cost``: bytes and cycles on a chip."""

from dataclasses import replace

import pytest

from smallearn import cli, load_model
from smallearn.cli.commands.cost import _as_text as text_of_costs
from smallearn.devices import cost
from smallearn.model import Deployment, Prototype, SMaLLModel, Term
from tests.helpers.models import CARD
from tests.helpers.tools import need


def test_a_file_that_is_not_a_model_is_refused(tmp_path, capsys):
    (tmp_path / "model.json").write_text("{}")
    assert cli.main(["cost", str(tmp_path / "model.json")]) == 1
    assert "Not a smallearn model" in capsys.readouterr().err
    assert cli.main(["cost", str(tmp_path / "none.json")]) == 1
    assert "there is no file" in capsys.readouterr().err


@pytest.mark.tools
def test_cost_prints_every_format_or_the_one_asked_for(saved, capsys):
    need("avr-gcc")
    assert cli.main(["cost", str(saved), "--chip", "atmega328p"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("bytes of flash") == 4
    assert printed.count(" decisions") == 4
    assert cli.main(["cost", str(saved), "--chip", "atmega328p", "--number", "int8"]) == 0
    assert capsys.readouterr().out.count("int8 from floats: ") == 1
    assert cli.main(["cost", str(saved), "--number", "float64"]) == 1
    assert "--number is float32, int8, int8x16, int16 or int32" in capsys.readouterr().err
    assert cli.main(["cost", str(saved), "--chip", "8051"]) == 1
    assert "--chip 8051 is not one of" in capsys.readouterr().err


@pytest.mark.tools
def test_what_the_chip_reads_is_part_of_the_question(saved, tmp_path, capsys):
    need("avr-gcc")
    counts = tmp_path / "counts.csv"
    lines = [f'"{term.label}",0.01,0,0,1023' for term in load_model(saved).features]
    counts.write_text("\n".join(["feature,scale,offset,low,high", *lines, "another,1,0,0,9"]))
    assert cli.main(["cost", str(saved), "--readings", "counts", "--counts", str(counts)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("from counts: ") == 3  # there is no float32 of counts
    assert (
        cli.main(
            ["export", str(saved), "--to", "c", "--number", "int8", "--readings", "counts", "--counts", str(counts)]
        )
        == 0
    )
    assert "model_predict_readings(const int16_t *x)" in capsys.readouterr().out
    assert cli.main(["export", str(saved), "--to", "c", "--number", "int8", "--readings", "float"]) == 0
    assert "model_predict_readings(const float *x)" in capsys.readouterr().out
    assert cli.main(["cost", str(saved), "--readings", "counts", "--number", "int8"]) == 1
    assert "--readings counts needs --counts FILE" in capsys.readouterr().err
    assert cli.main(["cost", str(saved), "--readings", "volts", "--number", "int8"]) == 1
    assert "--readings volts is not one of" in capsys.readouterr().err


@pytest.mark.tools
def test_a_model_chosen_for_a_chip_is_measured_as_it_was_chosen(tmp_path, capsys):
    need("avr-gcc")
    chosen = Deployment("atmega328p", "int16", "code", "counts", (("a", 0.1, 0.0, 0, 1023),))
    model = SMaLLModel(
        classes=("no", "yes"),
        class_dtype="<U3",
        n_features=1,
        prototypes=(Prototype(1, -5.0, (Term(0, 1.0, "a"),)),),
        deployment=chosen,
    )
    model.save(tmp_path / "chosen.json")
    (tmp_path / "rows.csv").write_text("a\n5000\n3\n")
    after_options = ["cost", str(tmp_path / "chosen.json"), "--layout", "code", str(tmp_path / "rows.csv")]
    assert cli.main(after_options) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("ATmega328P (Arduino Uno) at 16 MHz, int16 from counts: ")
    assert "rows are beyond the declared counts" in captured.err


def test_costs_found_in_the_same_way_say_so_once():
    one = replace(cost(CARD, "atmega328p", "int8", method="estimate"), how="so")
    lines = text_of_costs([one, one, replace(one, how="otherwise")]).splitlines()
    assert [lines[2], lines[4]] == ["(so)", "(otherwise)"]
    assert len(lines) == 5


@pytest.mark.tools
def test_cost_on_the_rows_of_a_table(people, capsys):
    need("avr-gcc")
    n_rows = len((people / "test.csv").read_text().splitlines()) - 1
    table = [str(people / "model.json"), str(people / "test.csv")]
    assert cli.main(["cost", *table, "--number", "float32", "--layout", "code"]) == 0
    assert f" {n_rows} rows " in capsys.readouterr().out
    assert cli.main(["cost", str(people / "model.json"), str(people / "none.csv")]) == 1
    assert "there is no file" in capsys.readouterr().err
