"""The options of ``smallearn fit`` that say what is learned, from which rows, and how a model is chosen."""

import json
from dataclasses import replace
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score

from smallearn import SMaLLClassifierCV, cli, load_model
from smallearn.cli.metrics import find_scoring, metric_names, metric_of, score_of
from tests.helpers.commands import run

N = 400


@pytest.fixture
def buyers(tmp_path):
    """A table with a rare class, an ID, weights and a class in numbers."""
    rng = np.random.default_rng(0)
    age, calls, job = rng.integers(18, 80, N), rng.poisson(2.0, N), rng.choice(["cook", "smith", "clerk"], N)
    buys = rng.random(N) < np.where((age > 60) & (job != "cook"), 0.7, 0.03)
    table = pd.DataFrame({"key": [f"k{i}" for i in range(N)], "age": age, "calls": calls, "job": job})
    table["times"] = rng.integers(1, 4, N)
    table["buys"] = buys.astype(int)
    table.to_csv(tmp_path / "buyers.csv", index=False)
    return tmp_path / "buyers.csv"


@pytest.fixture
def parameters(monkeypatch):
    """The parameters and weights of each fit; the fits are small."""
    seen = []
    fit = SMaLLClassifierCV.fit

    def noted(self, X, y=None, sample_weight=None):
        seen.append({**self.get_params(deep=False), "sample_weight": sample_weight})
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(SMaLLClassifierCV, "fit", noted)
    return seen


def fit(path, *arguments, target="buys", max_terms=2):
    output = path.with_name("model.json")
    usual = ["--target", target, "--max-terms", str(max_terms), "--prototypes", "1", "-o", str(output)]
    return cli.main(["fit", str(path), *arguments, *usual]), output


def refused(capsys, path, *arguments, target="buys"):
    """The sentence with which a fit is refused."""
    assert fit(path, *arguments, target=target)[0] == 1
    return capsys.readouterr().err


# --- parameters of the library ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (["--class-weight", "balanced"], "class_weight", "balanced"),
        (["--one-standard-error"], "one_standard_error", True),
        (["--folds", "3"], "cv", 3),
        (["--monotone", "age=+1", "--monotone", "calls=-1"], "monotonic_cst", {"age": 1, "calls": -1}),
        (["--monotone", "age=+1", "--positive", "0"], "monotonic_cst", {"age": -1}),
        (["--always-in", "calls"], "always_in", ["calls"]),
        (["--cut-points", "5"], "cut_points", 5),
        (["--cut-points", "age=30,60.5", "--cut-points", "calls=1"], "cut_points", {"age": [30, 60.5], "calls": [1]}),
        (["--metric", "f1"], "scoring", "f1"),
        (["--metric", "balanced_accuracy"], "scoring", "balanced_accuracy"),
    ],
)
def test_an_option_sets_the_parameter_of_the_library(arguments, name, value, buyers, parameters):
    assert fit(buyers, *arguments)[0] == 0
    assert parameters[0][name] == value


def test_counts_are_looked_at_before_the_search(buyers, capsys, monkeypatch):
    monkeypatch.setattr(SMaLLClassifierCV, "_race", lambda *_, **__: pytest.fail("the search has begun"))
    counts = buyers.with_name("counts.csv")
    lines = ["feature;scale;offset;low;high", "age;0,1;0;0;1023", "Calls;1;0;0;255", "job;1;0;0;2"]
    counts.write_text("\n".join(lines), encoding="utf-8")
    chip = ["--device", "attiny85", "--readings", "counts", "--counts", str(counts), "--drop", "times"]
    said = refused(capsys, buyers, *chip)
    assert "counts.csv has lines for 'Calls', 'job', which are not among the numbers that the model is trained" in said
    assert "--counts lacks 'calls' (there is no feature 'Calls'): it has to say what the device reads" in said


def test_options_that_are_not_given_leave_the_library_s_defaults(buyers, parameters):
    assert fit(buyers)[0] == 0
    defaults = SMaLLClassifierCV().get_params()
    names = ("class_weight", "one_standard_error", "cv", "monotonic_cst", "always_in", "cut_points", "scoring")
    assert {name: parameters[0][name] for name in names} == {name: defaults[name] for name in names}


def test_a_column_that_is_always_in_is_in_the_model(buyers):
    assert "calls" not in {term.name for term in load_model(fit(buyers, max_terms=1)[1]).terms}
    assert "calls" in {term.name for term in load_model(fit(buyers, "--always-in", "calls")[1]).terms}


def test_cut_points_are_the_only_ones_of_their_column(buyers):
    model = load_model(fit(buyers, "--cut-points", "age=61", "--literals", "thresholds")[1])
    assert {term.value for term in model.terms if term.name == "age"} == {61.0}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--monotone", "age"], "--monotone 'age' is not of the form COLUMN=+1 or COLUMN=-1"),
        (["--monotone", "age=2"], "'2' is neither +1 (rising) nor -1 (falling)"),
        (["--monotone", "aeg=+1"], "--monotone 'aeg' is not a column to learn from; did you mean 'age'?"),
        (["--monotone", "job=+1"], "this column is text, and rises in no order"),
        (["--monotone", "age=+1", "--monotone", "age=-1"], "--monotone names 'age' twice"),
        (["--always-in", "key"], "--always-in 'key': this column is ignored, as it looks like an ID"),
        (["--always-in", "age", "--drop", "age"], "--always-in 'age': this column is ignored, as it is dropped"),
        (["--always-in", "job"], "--always-in 'job': this column is text"),
        (["--always-in", "age", "--literals", "thresholds"], "--always-in needs the numbers themselves as terms"),
        (["--cut-points", "age=high"], "--cut-points 'age=high': 'high' is not a number"),
        (["--cut-points", "job=1"], "this column is text"),
        (["--cut-points", "5", "--cut-points", "age=1"], "--cut-points is either a number"),
        (["--weights", "job"], "line 2, column 'job': "),
        (["--weights", "wait"], "has no column 'wait'"),
        (["--weights", "buys"], "--weights 'buys': this column is also the target"),
        (["--id", "age", "--keep", "age"], "--id 'age': this column is also the target or to be kept"),
        (["--metric", "f2"], "--metric 'f2' is none of scikit-learn's scores of classifiers; did you mean f1"),
        (["--metric", "auc"], "did you mean roc_auc"),
        (["--metric", "r2"], "is none of scikit-learn's scores of classifiers"),
        (["--labels", "no"], "--labels 'no' is not of the form CLASS=NAME"),
        (["--labels", "2=maybe"], "--labels names '2', which column 'buys' does not have: 0, 1"),
        (["--labels", "9..3=maybe"], "'9..3' is not a range such as 30..50"),
        (["--save-test", "test.csv"], "add --test-size 0.3"),
    ],
)
def test_a_wrong_value_is_refused_in_a_sentence(arguments, words, buyers, capsys):
    assert words in refused(capsys, buyers, *arguments)


def test_a_metric_and_costs_exclude_each_other(buyers, tmp_path, capsys):
    (tmp_path / "costs.csv").write_text("true,0,1\n0,0,1\n1,10,0\n")
    words = refused(capsys, buyers, "--metric", "f1", "--cost-matrix", str(tmp_path / "costs.csv"))
    assert "--metric and --cost-matrix are two scores to choose by" in words


def test_a_metric_of_two_classes_names_one_for_more(buyers, capsys):
    words = refused(capsys, buyers, "--metric", "f1", target="job")
    assert "--metric f1 is for two classes, and there are 3; use --metric f1_macro" in words


@pytest.mark.parametrize("name", metric_names())
def test_every_metric_scores_classes_that_are_text(name):
    truth = np.array(["no", "yes"] * 20)
    scorer = find_scoring(name, ["no", "yes"], "yes")
    X = pd.DataFrame({"x": np.where(truth == "yes", 1.0, 0.0) + np.arange(40) % 3})
    fitted = SMaLLClassifierCV(1, scoring=scorer, n_prototypes=1, cv=2, random_state=0).fit(X, truth)
    assert np.isfinite(fitted.best_score_)


# --- weights, IDs and names of classes -------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["--in-memory", "--on-disk"])
def test_weights_count_rows_and_are_not_learned_from(where, buyers, tmp_path):
    weighted = load_model(fit(buyers, "--weights", "times", where)[1])
    table = pd.read_csv(buyers)
    path = tmp_path / "repeated.csv"
    table.loc[np.repeat(np.arange(N), table.pop("times"))].drop(columns="key").to_csv(path, index=False)
    repeated = load_model(fit(path)[1])
    assert "times" not in {term.name for term in weighted.terms}
    assert [term.weight for term in weighted.terms] == pytest.approx([term.weight for term in repeated.terms], rel=1e-4)


def test_an_id_is_kept_out_and_remembered(buyers, capsys):
    code, output = fit(buyers, "--id", "key", "--id", "calls", "--json")
    assert code == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["left_out"] == {"key": "identifies a row", "calls": "identifies a row"}
    assert load_model(output).table.ids == ("key", "calls")


@pytest.mark.parametrize("where", ["--in-memory", "--on-disk"])
def test_named_classes_are_those_of_the_model_and_other_commands_know_them(where, buyers, capsys):
    code, output = fit(buyers, "--labels", "0=no,1=yes", where)
    assert code == 0
    assert load_model(output).classes == ("no", "yes")
    capsys.readouterr()
    facts = json.loads(run(capsys, "evaluate", str(output), str(buyers), "--json").out)
    assert facts["rows"] == N
    assert facts["is_training_data"]


def test_ranges_of_numbers_are_classes(buyers, capsys):
    code, output = fit(buyers, "--labels", "..40=young,40..60=middle", "--labels", "60..=old", "--json", target="age")
    assert code == 0
    facts = json.loads(capsys.readouterr().out)
    age = pd.read_csv(buyers)["age"]
    assert {one["label"]: one["rows"] for one in facts["classes"]} == {
        "young": (age < 40).sum(),
        "middle": ((age >= 40) & (age < 60)).sum(),
        "old": (age >= 60).sum(),
    }
    assert json.loads(run(capsys, "evaluate", str(output), str(buyers), "--json").out)["rows"] == N


def test_values_without_a_name_are_refused_if_there_are_ranges(buyers, capsys):
    assert "--labels has no name for" in refused(capsys, buyers, "--labels", "..40=young", target="age")


def test_numbers_that_look_like_a_measurement_are_refused_unless_the_user_insists(buyers, capsys):
    words = refused(capsys, buyers, target="age")
    assert "column 'age' has 62 different values in 400 rows" in words
    assert "that looks like a measurement or a name, not a class" in words
    assert "--labels ..30=low,30..50=middle,50..=high" in words
    assert "--many-classes" in words
    table = pd.read_csv(buyers)
    table["age"] = table["age"] // 3  # 21 different numbers
    table.to_csv(buyers, index=False)
    assert "21 different values" in refused(capsys, buyers, target="age")
    code, output = fit(buyers, "--many-classes", target="age")
    assert code == 0
    assert len(load_model(output).classes) > 15


# --- rows held out ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["--in-memory", "--on-disk"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_share_of_each_class_is_held_out_and_scored(where, ending, buyers, tmp_path, capsys):
    table = pd.read_csv(buyers)
    path = tmp_path / f"t.{ending}"
    table.to_parquet(path) if ending == "parquet" else table.to_csv(path, index=False)
    saved = tmp_path / f"test.{ending}"
    code, output = fit(path, "--test-size", "0.3", "--metric", "f1", where, "--save-test", str(saved), "--json")
    assert code == 0
    facts = json.loads(capsys.readouterr().out)
    held = np.array(facts["held_out"]["numbers"]) - 1
    shares = table["buys"].value_counts()
    assert table.iloc[held]["buys"].value_counts().to_dict() == {c: round(0.3 * n) for c, n in shares.items()}
    assert facts["rows"] + len(held) == N
    model = load_model(output)
    predicted = model.predict(table.iloc[held])
    assert facts["held_out"]["score"] == pytest.approx(f1_score(table.iloc[held]["buys"], predicted))
    assert facts["held_out"]["accuracy"]["value"] == np.mean(predicted == table.iloc[held]["buys"])
    trained = table.drop(index=held)
    assert model.was_trained_on(trained, trained["buys"].to_numpy())
    read = pd.read_parquet(saved) if ending == "parquet" else pd.read_csv(saved)
    pd.testing.assert_frame_equal(read, table.iloc[held].reset_index(drop=True))


def test_the_rows_held_out_are_the_same_wherever_the_table_is_read_and_others_with_another_seed(buyers, capsys):
    numbers = []
    for more in (["--in-memory"], ["--on-disk"], ["--on-disk"], ["--seed", "1"]):
        assert fit(buyers, "--test-size", "0.25", "--json", *more)[0] == 0
        numbers.append(json.loads(capsys.readouterr().out)["held_out"]["numbers"])
    assert numbers[0] == numbers[1] == numbers[2] != numbers[3]
    assert np.corrcoef(np.isin(np.arange(N), numbers[0]), np.isin(np.arange(N), numbers[3]))[0, 1] < 0.2


@pytest.mark.parametrize("compare", [[], ["--compare"]])
@pytest.mark.usefixtures("few_standard_models")
def test_evaluate_scores_only_the_rows_held_out_if_it_gets_the_table_that_was_trained_on(
    compare, buyers, tmp_path, capsys
):
    code, output = fit(buyers, "--test-size", "0.3", "--labels", "0=no,1=yes", "--json")
    assert code == 0
    held_out = json.loads(capsys.readouterr().out)["held_out"]
    facts = json.loads(run(capsys, "evaluate", str(output), str(buyers), "--json", *compare).out)
    assert facts["rows"] == held_out["rows"]
    assert facts["is_held_out"]
    assert facts["confusion"] == held_out["confusion"]
    assert {error["row"] for error in facts["mistakes"]} <= set(held_out["numbers"])
    printed = run(capsys, "evaluate", str(output), str(buyers), *compare).out
    assert "These are the rows of the table that were held out from training." in printed
    pd.read_csv(buyers)[::-1].to_csv(tmp_path / "turned.csv", index=False)  # another table
    facts = json.loads(run(capsys, "evaluate", str(output), str(tmp_path / "turned.csv"), "--json").out)
    assert (facts["rows"], facts["is_held_out"]) == (N, False)


def test_rows_held_out_do_not_change_what_is_trained_on_the_others(buyers, tmp_path, capsys):
    code, output = fit(buyers, "--test-size", "0.3", "--json")
    assert code == 0
    model = load_model(output)
    held = np.array(json.loads(capsys.readouterr().out)["held_out"]["numbers"]) - 1
    pd.read_csv(buyers).drop(index=held).to_csv(tmp_path / "rest.csv", index=False)
    alone = load_model(fit(tmp_path / "rest.csv")[1])
    assert alone.prototypes == model.prototypes
    assert alone.data.fingerprint == model.data.fingerprint


def test_several_tables_are_held_out_from_as_one(buyers, tmp_path, capsys):
    table = pd.read_csv(buyers)
    for number, part in enumerate((table[:100], table[100:])):
        part.to_parquet(tmp_path / f"part-{number}.parquet")
    table.to_parquet(tmp_path / "whole.parquet")
    numbers = []
    for paths in (["part-0.parquet", "part-1.parquet"], ["whole.parquet"]):
        arguments = [str(tmp_path / path) for path in paths]
        code, _ = fit(tmp_path / arguments[0], *arguments[1:], "--test-size", "0.2", "--json")
        assert code == 0
        numbers.append(json.loads(capsys.readouterr().out)["held_out"]["numbers"])
    assert numbers[0] == numbers[1]


def test_verbose_lists_the_rows_held_out_and_the_folds(buyers, capsys):
    assert fit(buyers, "--test-size", "0.02", "-v", "--folds", "3")[0] == 0
    printed = capsys.readouterr().out
    listed = next(
        line for line in printed.splitlines() if line.startswith("Rows held out, counted from 1 below the header: ")
    )
    assert "…" not in listed
    assert "Ignored: 'key', which looks like an ID" in printed
    folds = next(line for line in printed.splitlines() if line.startswith("Folds: "))
    assert len(folds.split(",")) % 3 == 0


def test_of_many_rows_held_out_verbose_lists_the_first(buyers, capsys):
    assert fit(buyers, "--test-size", "0.3", "-v", "--folds", "3")[0] == 0
    listed = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("Rows held out"))
    assert listed.count(",") < 21
    assert listed.endswith(" rows; all with --json)")


def test_too_few_rows_to_hold_out_and_a_cluster_are_refused(tmp_path, capsys):
    path = tmp_path / "few.csv"
    pd.DataFrame({"x": range(12), "buys": [0] * 6 + [1] * 6}).to_csv(path, index=False)
    assert "leaves no row of class 0 to test on" in refused(capsys, path, "--test-size", "0.05", "--keep", "x")
    pd.DataFrame({"x": range(12), "buys": [0] * 6 + [1] * 6}).to_parquet(tmp_path / "few.parquet")
    words = refused(capsys, tmp_path / "few.parquet", "--test-size", "0.3", "--dask", "local")
    assert "--test-size is not possible with --dask" in words


@pytest.mark.parametrize("value", ["0", "1", "30", "some"])
def test_a_test_size_that_is_no_share_is_refused(value, buyers, capsys):
    with pytest.raises(SystemExit):
        fit(buyers, "--test-size", value)
    assert "is not a number above 0 and below 1" in capsys.readouterr().err


# --- what is printed -------------------------------------------------------------------------------------------------


def test_a_rare_class_has_its_recall_and_precision_and_a_hint_if_few_are_found(tmp_path, capsys):
    rng = np.random.default_rng(1)
    x = rng.normal(size=1000)
    table = pd.DataFrame({"x": x, "buys": np.where(rng.random(1000) < 0.25 / (1 + np.exp(-2 * x)), "yes", "no")})
    path = tmp_path / "rare.csv"
    table.to_csv(path, index=False)
    assert fit(path, max_terms=1)[0] == 0
    printed = capsys.readouterr().out
    there = (table["buys"] == "yes").sum()
    assert f"On the training rows, so a little optimistic: finds 0 of the {there} rows of class 'yes'" in printed
    assert "To find more of them, at the price of more false alarms: --metric f1 or --class-weight balanced." in printed
    assert fit(path, "--metric", "f1", "--test-size", "0.3", max_terms=1)[0] == 0
    printed = capsys.readouterr().out
    assert "F1 of 'yes' on the 300 rows held out: 0." in printed
    assert "Accuracy there: " in printed
    assert "To find more" not in printed
    found = next(line for line in printed.splitlines() if line.startswith("Finds "))
    assert "rows of class 'yes' (recall " in found
    assert "rows that it predicts as 'yes' are right (precision " in found


def test_no_sentence_is_printed_twice(buyers, capsys):
    assert fit(buyers, "--test-size", "0.3", max_terms=6)[0] == 0
    printed = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert len(printed) == len(set(printed))


# --- a file of options -----------------------------------------------------------------------------------------------


def test_options_may_be_in_a_file_and_those_of_the_command_line_win(buyers, tmp_path, parameters, capsys):
    (tmp_path / "fit.toml").write_text(
        f"""
        data = "{buyers}"
        target = "buys"
        output = "{tmp_path / "model.json"}"
        max-terms = 3
        prototypes = 1
        drop = ["key", "times"]
        folds = 3
        one-standard-error = true
        on_disk = false
        monotone = {{ age = 1 }}
        cut-points = {{ age = [30, 60.5] }}
        labels = {{ 0 = "no", 1 = "yes" }}
        """
    )
    config = ["fit", "--config", str(tmp_path / "fit.toml")]
    assert cli.main([*config, "--max-terms", "2", "--drop", "calls", "--json"]) == 0
    assert parameters[0]["max_terms"] == 2
    assert parameters[0]["cv"] == 3
    assert parameters[0]["one_standard_error"] is True
    assert parameters[0]["monotonic_cst"] == {"age": 1}
    assert parameters[0]["cut_points"] == {"age": [30.0, 60.5]}
    facts = json.loads(capsys.readouterr().out)
    assert facts["left_out"] == {"calls": "as asked", "key": "looks like an ID"}
    assert [one["label"] for one in facts["classes"]] == ["no", "yes"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("max-term = 3", "has the key 'max-term', which is no option of this command; did you mean 'max-terms'"),
        ("max-terms = [1, 2]", "'max-terms' has several values, but the option takes one"),
        ("one-standard-error = 1", "'one-standard-error' is true or false, not 1"),
        ("max-terms = 2021-01-01", "'max-terms' has the value"),
        ("max-terms 3", "is not TOML"),
    ],
)
def test_a_file_of_options_that_is_wrong_is_refused_in_a_sentence(content, words, tmp_path, capsys):
    path = tmp_path / "fit.toml"
    path.write_text(content)
    assert cli.main(["fit", "--config", str(path), "data.csv"]) == 2
    assert words in capsys.readouterr().err
    assert cli.main(["fit", "--config", str(tmp_path / "none.toml"), "data.csv"]) == 2
    assert "No such file" in capsys.readouterr().err


def test_a_value_in_a_file_is_checked_like_one_on_the_command_line(tmp_path, capsys):
    (tmp_path / "fit.toml").write_text("max-terms = 'many'")
    with pytest.raises(SystemExit) as stopped:
        cli.main(["fit", "--config", str(tmp_path / "fit.toml"), "data.csv", "--target", "y", "-o", "m.json"])
    assert stopped.value.code == 2
    assert "argument --max-terms: 'many' is not a whole number" in capsys.readouterr().err


# --- frontier --------------------------------------------------------------------------------------------------------


def test_frontier_takes_the_same_options(buyers, tmp_path, capsys):
    arguments = ["--metric", "f1", "--labels", "0=no,1=yes", "--id", "key", "--weights", "times", "--folds", "3"]
    shared = ["frontier", str(buyers), "--target", "buys", "--max-terms", "2", "--prototypes", "1"]
    assert cli.main([*shared, *arguments, "--monotone", "age=+1", "--json", "--save", str(tmp_path / "models")]) == 0
    lines = json.loads(capsys.readouterr().out)
    assert set(lines[0]) == {"terms", "prototypes", "f1", "standard_error"}
    model = load_model(tmp_path / "models" / "model-1.json")
    assert model.classes == ("no", "yes")
    assert model.table.ids == ("key",)
    assert cli.main([*shared, *arguments]) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["terms", "prototypes", "f1"]
    with pytest.raises(SystemExit):
        cli.main([*shared, "--test-size", "0.3"])


# --- what is printed and remembered ----------------------------------------------------------------------------------


def test_what_meant_a_missing_value_is_remembered(buyers, capsys):
    table = pd.read_csv(buyers)
    table["calls"] = np.where(table["calls"] > 3, 999, table["calls"])
    table.to_csv(buyers, index=False)
    code, output = fit(buyers, "--missing", "999", "--always-in", "calls", "--literals", "both")
    assert code == 0
    model = load_model(output)
    assert model.table.missing == ("999",)
    capsys.readouterr()
    texts = [run(capsys, "predict", str(output), str(buyers), *more).out for more in ([], ["--missing", "999"])]
    assert texts[0] == texts[1]
    table["calls"] = table["calls"].replace(999, np.nan)
    scored = pd.read_csv(StringIO(texts[0]))["probability_1"]
    np.testing.assert_allclose(scored, model.predict_proba(table)[:, 1])
    cases = [
        run(capsys, "explain", str(output), "--set", f"calls={value}", "--set", "age=60").out for value in ("999", "")
    ]
    assert cases[0] == cases[1]
    for target in ("sql", "c", "python"):
        assert "999 meant a missing value in training" in run(capsys, "export", str(output), "--to", target).out


def test_rows_held_out_are_told_once_and_the_next_commands_rank(buyers, capsys):
    table = pd.read_csv(buyers).assign(buys=lambda rows: np.where((rows["buys"] == 1) & (rows.index > 99), "yes", "no"))
    table["price"], table["share"] = [f"${n}.50" for n in range(N)], [f"{n / 10}%" for n in range(N)]
    table.to_csv(buyers, index=False)
    assert fit(buyers, "--test-size", "0.25")[0] == 0
    out, err = capsys.readouterr()
    assert "\nHeld out: 100 of 400 rows, drawn class by class with --seed 0. On the same table, evaluate, " in out
    assert " --rank-by yes -o scored.csv\n" in out
    assert "High scores mean" not in out
    notes = [line for line in err.splitlines() if "plain number" in line]
    assert len(notes) == 1
    assert notes[0].startswith(
        "Read as plain numbers: '$0.50' in line 2 of column 'price' as 0.5 and '0.0%' in line 2 of"
    )


def test_the_metric_of_a_model_is_known_from_its_file(buyers):
    code, output = fit(buyers, "--metric", "f1")
    assert code == 0
    model = load_model(output)
    metric = metric_of(model)
    assert (metric.name, metric.about, metric.text) == ("f1", 1, "F1 of 1")
    table = pd.read_csv(buyers)
    assert score_of(model, metric.scoring, table, table["buys"]) == f1_score(table["buys"], model.predict(table))
    assert metric_of(replace(model, selection=None)) is None
    of_the_other = metric_of(replace(model, table=replace(model.table, positive="0")))
    assert (of_the_other.about, of_the_other.text) == (0, "F1 of 0")
    assert metric_of(replace(model, table=replace(model.table, positive="2"))) is None
