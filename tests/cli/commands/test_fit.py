"""``smallearn fit``: from a file to a model."""

import json
import re
from dataclasses import replace
from unittest.mock import ANY

import numpy as np
import pandas as pd
import pytest

from smallearn import SMaLLClassifierCV, cli, load_model
from smallearn.cli.io import tables
from smallearn.model._sentences import alternatives_sentence, smaller_sentence
from tests.helpers.commands import quick_fit, run
from tests.helpers.table_files import write
from tests.helpers.tools import need


@pytest.mark.parametrize("ending", ["comma.csv", "semicolon.csv", "tab.tsv", "table.parquet"])
def test_fit_learns_from_a_messy_file(table, ending, tmp_path, capsys):
    path = tmp_path / ending
    separator = {"semicolon.csv": ";", "tab.tsv": "\t"}.get(ending, ",")
    if ending.endswith("parquet"):
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep=separator, encoding="utf-8-sig")
    output = tmp_path / "model.json"
    code = cli.main(
        ["fit", str(path), "--target", "result", "--max-terms", "3", "--prototypes", "1", "-o", str(output)]
    )
    printed = capsys.readouterr()
    assert code == 0
    assert "Column 'always' has only one value: ignored." in printed.err
    assert "Column 'id' looks like an ID: ignored; --keep id to use it." in printed.err
    assert "Accuracy by cross-validation: " in printed.out
    model = load_model(output)
    assert {term.label for term in model.features} <= {"Größe, cm", "colour"}
    assert len(model.terms) <= 3
    assert np.mean(model.predict(table) == table["result"]) > 0.9


def test_decimal_commas_are_numbers_and_question_marks_missing_values(table, tmp_path, capsys):
    path, output = tmp_path / "data.csv", tmp_path / "model.json"
    table[["Größe, cm", "result"]].to_csv(path, index=False, sep=";", decimal=",", na_rep="?")
    arguments = ["--target", "result", "--max-terms", "1", "--prototypes", "1", "-o", str(output)]
    assert cli.main(["fit", str(path), *arguments]) == 0
    assert load_model(output).terms[0].kind in ("raw", "at_most")
    path.write_text(path.read_text().replace("?", "unknown"))
    capsys.readouterr()
    cli.main(["fit", str(path), *arguments])
    assert "Column 'Größe, cm' is read as text: " in capsys.readouterr().err


@pytest.mark.tools
def test_fit_for_a_chip_names_the_command_that_exports_what_fits(table, tmp_path, capsys):
    need("avr-gcc")
    path, output = tmp_path / "data.csv", tmp_path / "model.json"
    table.drop(columns="colour").to_csv(path, index=False)
    limits = ["--device", "atmega328p", "--max-flash", "100", "--max-time-us", "10"]
    assert cli.main(["fit", str(path), "--target", "result", "--max-terms", "2", *limits, "-o", str(output)]) == 0
    printed = capsys.readouterr().out
    assert "bytes of flash" in printed
    assert re.search(r"\w+ changes \d+ of \d+ decisions .*on the rows given\.\n", printed)  # what the format loses
    command = printed.splitlines()[-1].split()[1:]
    assert cli.main([*command, "-o", str(tmp_path / "model.h")]) == 0
    assert "model_predict" in (tmp_path / "model.h").read_text()
    chosen = load_model(output).deployment  # exports use it without being told
    assert chosen.readings == "float"
    assert load_model(output).device_limits == (("max_flash", 100.0), ("max_time_us", 10.0))
    assert cli.main(["cost", str(output), "--number", chosen.number, "--layout", chosen.layout, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["flash"] <= 100


@pytest.mark.tools
def test_fit_says_which_limit_no_model_keeps_and_writes_nothing(table, tmp_path, capsys):
    need("avr-gcc")
    path, output = tmp_path / "data.csv", tmp_path / "model.json"
    table[["Größe, cm", "result"]].to_csv(path, index=False)
    limits = ["--device", "atmega328p", "--max-flash", "2"]
    assert cli.main(["fit", str(path), "--target", "result", "--max-terms", "1", *limits, "-o", str(output)]) == 1
    assert "smallearn fit: No model keeps --max-flash 2 on atmega328p" in capsys.readouterr().err
    assert not output.exists()


@pytest.mark.parametrize(
    ("content", "arguments", "words"),
    [
        ("a,b\n1,2\n3,4\n", ["--target", "c"], "has no column 'c'; it has 'a', 'b'"),
        ("a,b\n", ["--target", "b"], "has no rows"),
        ("a,b\n1,2\n4\n5,6,7,8\n", ["--target", "b"], "data.csv, line 4 has 4 cells, the header 2"),
        ("a,b\n1,x\n2,x\n", ["--target", "b"], "column 'b' has only one class, 'x'"),
        ("a,b\n1,x\n2,x\n3,y\n", ["--target", "b"], "at least two classes need 5 rows, for cross-validation"),
        ("a,b\n" + "1,x\n1,y\n" * 5, ["--target", "b"], "no column is left to learn from"),
        ("a,b\n\udcff,x\n2,y\n", ["--target", "b"], "is not UTF-8 text: save it as UTF-8, or try --encoding cp1252"),
        (None, ["--target", "b"], "there is no file"),
    ],
)
def test_fit_says_in_one_sentence_what_is_wrong_with_a_file(content, arguments, words, tmp_path, capsys):
    path = tmp_path / "data.csv"
    if content is not None:
        path.write_bytes(content.encode(errors="surrogateescape"))
    assert cli.main(["fit", str(path), *arguments, "-o", str(tmp_path / "model.json")]) == 1
    printed = capsys.readouterr()
    assert words in printed.err
    assert "Traceback" not in printed.err
    assert not (tmp_path / "model.json").exists()


def test_fit_prints_the_score_with_its_error_and_that_of_the_most_common_class(simple, table, capsys):
    code, output = quick_fit(simple, "--certificate", "yes")
    assert code == 0
    printed = capsys.readouterr().out
    chosen, share = load_model(output).selection, table["result"].value_counts(normalize=True)
    assert f"Accuracy by cross-validation: {chosen.score:.1%} ± {chosen.spread:.1%}." in printed
    assert f"Always guessing '{share.index[0]}', the most common class: {share.iloc[0]:.1%}." in printed
    assert "better is possible on the training data" in printed
    assert f"smallearn export {output} --to c" in printed


def test_fit_prints_everything_as_json(simple, capsys):
    simple.write_text(
        "\n".join(f"{'n' if i == 0 else i * i},{line}" for i, line in enumerate(simple.read_text().split("\n")))
    )
    code, output = quick_fit(simple, "--json", "--drop", "colour")
    assert code == 0
    facts = json.loads(capsys.readouterr().out)
    model = load_model(output)
    assert facts["model"] == str(output)
    assert facts["score"] == model.selection.score
    assert facts["n_terms"] == len(model.terms)
    assert facts["rows"] == sum(entry["rows"] for entry in facts["classes"]) == 200
    assert facts["left_out"] == {"colour": "as asked"}
    assert model.data.target == "result"
    assert model.data.source == "data.csv"


def test_the_models_of_other_sizes_are_in_the_file_unless_they_are_left_out(simple, tmp_path, capsys):
    output = tmp_path / "model.json"
    command = ["fit", str(simple), "--target", "result", "--max-terms", "3", "--prototypes", "1", "-o", str(output)]
    assert cli.main(command) == 0
    with_sizes = load_model(output)
    assert [model.n_terms for model in with_sizes.frontier_models] == [
        step.n_terms for step in with_sizes.selection.frontier
    ]
    smaller = smaller_sentence(with_sizes)
    printed = capsys.readouterr().out
    assert "would do as well" not in printed if smaller is None else smaller in printed
    assert cli.main([*command, "--no-frontier"]) == 0
    assert load_model(output) == replace(with_sizes, frontier_models=())


def test_a_model_uses_one_column_of_a_group(people, tmp_path):
    data, output = str(people / "train.csv"), tmp_path / "model.json"
    command = ["fit", data, "--target", "y", "--max-terms", "4", "--sample-rows", "100", "-o", str(output)]
    assert cli.main([*command, "--group", "body=age,size"]) == 0
    model = load_model(output)
    for one in (model, *model.frontier_models):
        assert len({term.label for term in one.terms} & {"age", "size"}) <= 1
    assert cli.main([*command, "--group", "body=age,size", "--max-per-group", "2"]) == 0
    assert {"age", "size"} <= {term.label for term in load_model(output).terms}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--group", "body"], "'body' is not of the form NAME=COLUMN,COLUMN"),
        (["--group", "body=age,,size"], "is not of the form"),
        (["--group", "a=age", "--group", "a=size"], "the group 'a' is there already"),
        (["--group", "body=age,weight"], "weight"),
    ],
)
def test_groups_that_make_no_sense_are_refused(options, words, people, tmp_path, capsys):
    command = ["fit", str(people / "train.csv"), "--target", "y", *options, "-o", str(tmp_path / "model.json")]
    try:
        code = cli.main(command)
    except SystemExit as error:
        code = error.code
    assert code not in (0, None)
    assert words in capsys.readouterr().err
    assert not (tmp_path / "model.json").exists()


def test_alternatives_are_printed_and_in_the_file(people, tmp_path, capsys):
    output = tmp_path / "model.json"
    command = ["fit", str(people / "train.csv"), "--target", "y", "--max-terms", "2", "--alternatives", "2"]
    assert cli.main([*command, "-o", str(output)]) == 0
    assert alternatives_sentence(load_model(output)) in capsys.readouterr().out


def test_fit_says_nothing_of_a_certificate_that_it_did_not_compute(simple, capsys):
    code, output = quick_fit(simple, "--certificate", "no")
    assert code == 0
    assert "ertificate" not in capsys.readouterr().out
    assert load_model(output).training.lower_bound is None
    assert quick_fit(simple, "--certificate", "no", "--json")[0] == 0
    assert json.loads(capsys.readouterr().out)["lower_bound"] is None
    assert quick_fit(simple, "--certificate", "yes", "--json")[0] == 0
    assert json.loads(capsys.readouterr().out)["lower_bound"] > 0.0


@pytest.mark.parametrize(("given", "taken"), [("all", None), ("auto", "auto"), ("120", 120)])
def test_sample_rows_are_passed_on(simple, given, taken, monkeypatch):
    seen = []
    monkeypatch.setattr(SMaLLClassifierCV, "fit", spy(SMaLLClassifierCV.fit, seen))
    assert quick_fit(simple, "--sample-rows", given)[0] == 0
    assert quick_fit(simple)[0] == 0
    assert seen == [taken, "auto"]


def spy(fit, seen):
    """A fit that notes ``sample_rows``."""

    def noted(self, *arguments, **options):
        seen.append(self.sample_rows)
        return fit(self, *arguments, **options)

    return noted


@pytest.mark.parametrize("given", ["0", "-3", "1.5", "some", "", "2000000"])
def test_sample_rows_that_are_no_number_of_rows_are_refused(simple, given, capsys):
    with pytest.raises(SystemExit) as refused:
        quick_fit(simple, f"--sample-rows={given}")
    assert refused.value.code == 2
    assert f"--sample-rows: {given!r} is not" in capsys.readouterr().err


def test_fit_notes_what_a_time_limit_cut_short(simple, capsys):
    code, output = quick_fit(simple, "--certificate", "yes", "--time-limit", "1e-9")
    assert code == 0
    noted = capsys.readouterr().err
    assert "\nTime was up after 1e-09 seconds. Cut short: " in f"\n{noted}"
    assert "Warning" not in noted
    assert load_model(output).training.lower_bound is None
    assert quick_fit(simple, "--certificate", "yes", "--time-limit", "1e-9", "--quiet")[0] == 0
    assert capsys.readouterr().err == ""


def test_quiet_silences_everything_but_errors(table, tmp_path, capsys):
    table.to_csv(tmp_path / "data.csv", index=False)
    assert quick_fit(tmp_path / "data.csv", "--quiet")[0] == 0
    assert capsys.readouterr().err == ""
    assert quick_fit(tmp_path / "data.csv", "--quiet", "--drop", "none")[0] == 1
    assert "has no column 'none'" in capsys.readouterr().err


def test_fit_makes_a_score_card_of_conditions_for_the_positive_class(simple):
    code, output = quick_fit(simple, "--points", "3", "--literals", "thresholds", "--positive", "no")
    assert code == 0
    model = load_model(output)
    assert model.is_score_card
    assert all(abs(term.points) <= 3 for term in model.terms)
    assert {term.kind for term in model.terms} <= {"at_most", "above", "equals", "missing"}
    assert model.classes[model.prototypes[0].owner] == "no"


@pytest.mark.parametrize("labels", [[True, False], [1, 0], [2.0, 1.0], ["b", "a"]])
def test_fit_takes_classes_of_every_kind(labels, simple, table, capsys):
    table["result"] = np.where(table["result"] == "yes", *map(np.array, labels))
    table[["Größe, cm", "colour", "result"]].to_csv(simple, index=False)
    code, output = quick_fit(simple, "--positive", str(labels[0]).removesuffix(".0"))
    assert code == 0, capsys.readouterr().err
    model = load_model(output)
    assert set(model.classes) == set(labels)
    assert model.classes[model.prototypes[0].owner] == labels[0]


def test_booleans_may_be_written_in_any_case(table, tmp_path):
    table["big"] = np.where(table["Größe, cm"].isna(), "", np.where(table["Größe, cm"] > 5.5, "TRUE", "false"))
    path = tmp_path / "data.csv"
    table[["big", "colour", "result"]].to_csv(path, index=False)
    code, output = quick_fit(path)
    assert code == 0
    term = next(term for term in load_model(output).terms if term.name == "big")
    assert (term.kind, type(term.value)) == ("equals", bool)
    scored = tmp_path / "scored.csv"
    assert cli.main(["predict", str(output), str(path), "-o", str(scored)]) == 0
    found = pd.read_csv(scored)
    assert np.mean(found["prediction"] == found["result"]) > 0.85


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--positive", "maybe"], "--positive 'maybe' is not one of the classes: 'no', 'yes'"),
        (["--literals", "raw"], "--literals raw has no term for these. Set --literals both"),
        (["--max-flash", "9"], "--max-flash 9 is a limit on a chip; name the chip with --device."),
        (["--device", "8051"], "--device 8051 is not one of"),
        (["--keep", "none"], "has no column 'none'"),
        (["-o", "nowhere/model.json"], "there is no folder 'nowhere' to write 'model.json' in"),
    ],
)
def test_errors_name_the_options_of_fit(arguments, words, simple, capsys):
    assert quick_fit(simple, *arguments)[0] == 1
    assert words in capsys.readouterr().err


def test_a_positive_class_is_for_two_classes(simple, table, capsys):
    table["result"] = np.where(table["Größe, cm"] < 4, "low", table["result"])
    table.to_csv(simple, index=False)
    assert quick_fit(simple, "--positive", "low")[0] == 1
    assert "--positive is for two classes" in capsys.readouterr().err


@pytest.mark.parametrize(("either", "neither"), [("a", "b"), ("b", "a")])
def test_fit_says_how_to_reverse_high_scores_that_mean_the_first_class(either, neither, tmp_path, capsys):
    path, output, line = tmp_path / "data.csv", tmp_path / "model.json", "High scores mean "
    X = np.random.default_rng(0).normal(size=(200, 2)).round(2)
    table = pd.DataFrame(X, columns=["x", "z"]).assign(result=np.where(X.max(axis=1) > 0.8, either, neither))
    table.to_csv(path, index=False)
    quick = ["--target", "result", "--max-terms", "2", "--prototypes", "2", "--literals", "thresholds", "--quiet"]
    fit = ["fit", str(path), *quick, "-o", str(output)]
    assert cli.main(fit) == 0
    assert load_model(output).sole_owner == "ab".index(either)
    said = f"\n{line}'a'. Use --positive b to reverse.\n"
    printed = capsys.readouterr().out
    assert (said in printed) == (line in printed) == (either == "a")
    assert cli.main([*fit, "--positive", neither]) == 0
    assert line not in capsys.readouterr().out
    assert load_model(output).sole_owner == "ab".index(neither)


def test_a_threshold_and_costs_move_the_decision(table, tmp_path, capsys):
    path, costs, output = tmp_path / "data.csv", tmp_path / "costs.csv", tmp_path / "model.json"
    table.to_csv(path, index=False)
    first, second = sorted(table["result"].unique())
    arguments = ["fit", str(path), "--target", "result", "--max-terms", "1", "--prototypes", "1", "-o", str(output)]
    assert cli.main([*arguments, "--decision-threshold", "0.2"]) == 0
    assert load_model(output).decision_threshold == 0.2
    assert "Accuracy by cross-validation" in capsys.readouterr().out
    costs.write_text(f"true,{first},{second}\n{first},0,1\n{second},3,0\n", encoding="utf-8")
    assert cli.main([*arguments, "--cost-matrix", str(costs)]) == 0
    assert load_model(output).decision_threshold == 0.25
    assert "Mean cost by cross-validation: 0." in capsys.readouterr().out
    costs.write_text(f"true,{first},{second}\n{first},0,0\n{second},0,0\n", encoding="utf-8")
    assert cli.main([*arguments, "--cost-matrix", str(costs)]) == 1
    assert "--cost-matrix" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["0", "1", "1.5", "half", "nan"])
def test_a_threshold_that_is_no_probability_is_refused(value, tmp_path, capsys):
    with pytest.raises(SystemExit):
        cli.main(["fit", "data.csv", "--target", "y", "-o", str(tmp_path / "m.json"), "--decision-threshold", value])
    assert "is not a number above 0 and below 1" in capsys.readouterr().err


# --- tables on disk --------------------------------------------------------------------------------------------------


def models_both_ways(path, monkeypatch, capsys, *arguments):
    """The model of a table read into memory, and of the same table converted to files in small chunks."""
    monkeypatch.setattr(tables, "CHUNK_CELLS", 1)
    code, output = quick_fit(path, "--in-memory", *arguments)
    assert code == 0
    here = json.loads(output.read_text(encoding="utf-8"))
    capsys.readouterr()
    code, output = quick_fit(path, "--on-disk", *arguments)
    assert code == 0
    assert "converting it once to files in" in capsys.readouterr().err
    return here, json.loads(output.read_text(encoding="utf-8"))


def approximately(document):
    """A JSON document whose numbers may differ by rounding, and so the hashes of weights."""
    if isinstance(document, dict):
        hashed = {"scored_by", "decided_by"} & set(document)
        return {key: ANY if key in hashed else approximately(value) for key, value in document.items()}
    if isinstance(document, list):
        return [approximately(value) for value in document]
    return pytest.approx(document, rel=1e-8, abs=1e-12) if isinstance(document, float) else document


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize(
    "arguments",
    [[], ["--points", "5", "--literals", "thresholds"], ["--positive", "no", "--decision-threshold", "0.2"]],
)
def test_a_table_on_disk_gives_the_same_model_file(ending, arguments, table, tmp_path, monkeypatch, capsys):
    path = write(table, tmp_path / f"data{ending}")
    here, there = models_both_ways(path, monkeypatch, capsys, *arguments)
    assert there == approximately(here)


def test_a_large_table_is_converted_unless_it_is_to_be_in_memory(simple, cache, monkeypatch, capsys):
    monkeypatch.setattr("smallearn.cli.io.stored.LARGE", 1000)
    assert quick_fit(simple, "--in-memory")[0] == 0
    assert not cache.exists()
    code, model = quick_fit(simple)
    assert code == 0
    assert "rows × 3 columns, would take 4." in capsys.readouterr().err
    assert len(list(cache.iterdir())) == 1
    assert quick_fit(simple, "--quiet")[0] == 0
    assert capsys.readouterr().err == ""
    assert json.loads(run(capsys, "evaluate", str(model), str(simple), "--json").out)["is_training_data"]


def test_float32_files_take_half_the_space(simple, capsys):
    sizes = []
    for more in ([], ["--float32"]):
        assert quick_fit(simple, "--on-disk", *more)[0] == 0
        capsys.readouterr()
        (found,) = json.loads(run(capsys, "cache", "--json").out)["tables"]
        run(capsys, "cache", "--clear")
        sizes.append(found["n_bytes"])
    assert sizes[0] - sizes[1] == pytest.approx(4 * 2 * 200, abs=10)


def test_costs_take_tables_on_disk_and_a_chip_does_not(simple, tmp_path, monkeypatch, capsys):
    costs = tmp_path / "costs.csv"
    costs.write_text("true,no,yes\nno,0,1\nyes,10,0\n")
    here, there = models_both_ways(simple, monkeypatch, capsys, "--cost-matrix", str(costs))
    assert there == approximately(here)
    assert quick_fit(simple, "--on-disk", "--device", "cortex-m0")[0] == 1
    assert "--device needs the table in memory: add --in-memory" in capsys.readouterr().err


def test_standard_models_are_trained_once_and_kept_with_the_model(simple, tmp_path, monkeypatch, capsys):
    output = tmp_path / "model.json"
    arguments = ["fit", str(simple), "--target", "result", "--max-terms", "1", "--prototypes", "1", "-o", str(output)]
    assert cli.main([*arguments, "--compare"]) == 0
    kept = load_model(output).standard_models
    assert f"logistic regression {kept.models[1].score:.1%}, " in capsys.readouterr().out
    monkeypatch.setattr("smallearn.evaluation.familiar", lambda *_, **__: pytest.fail("trained again"))
    assert cli.main(["evaluate", str(output), str(simple), "--compare", "--json"]) == 0
    compared = json.loads(capsys.readouterr().out)["familiar"]
    assert [one["name"] for one in compared] == [one.name for one in kept.models]
    assert cli.main([*arguments, "--compare", "--on-disk"]) == 1
    assert "--compare needs the table in memory" in capsys.readouterr().err
