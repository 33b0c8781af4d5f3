"""The examples in the help of every command run as they are printed."""

import shlex
import shutil

import numpy as np
import pandas as pd
import pytest

from smallearn import cli

# Parsed only: commands whose examples need data that are not here or do not end, and those that test_documents.py runs.
PARSED = ("paper", "demo", "app")


def parsers():
    """The parser of each command, by name."""
    commands = next(action for action in cli.make_parser()._actions if action.dest == "command")
    return commands.choices


def examples():
    lines = {name: parser.epilog or "" for name, parser in parsers().items()}
    return [
        (name, line.strip()) for name, text in lines.items() for line in text.splitlines() if "  smallearn " in line
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the examples find: a table with the class in ``y``, also as Parquet, in parts and in Excel, two models of
    it, one of conditions alone; a table with dates, one of visits, files of options, and small tables for options."""
    path = tmp_path_factory.mktemp("help")
    rng = np.random.default_rng(0)
    age, size = 5 * rng.integers(4, 18, 30), rng.normal(5.0, 2.0, 30).round()
    colour = rng.choice(["red", "green", "blue"], 30)
    table = pd.DataFrame({"age": age, "size": size, "colour": colour})
    table["y"] = np.where((age > 50) | (size > 6.5), "yes", "no")
    table.to_csv(path / "data.csv", index=False)
    table.assign(when="2024-03-31").to_csv(path / "new.csv", index=False)
    table.to_parquet(path / "data.parquet")
    (path / "parts").mkdir()
    for number, part in enumerate((table[:16], table[16:])):
        part.to_parquet(path / "parts" / f"{number}.parquet")
    model = path / "model.json"
    assert cli.main(["fit", str(path / "data.csv"), "--target", "y", "--max-terms", "3", "-o", str(model)]) == 0
    card = ["--literals", "thresholds", "--points", "5", "--max-terms", "3", "-o", str(path / "card.json")]
    assert cli.main(["fit", str(path / "data.csv"), "--target", "y", *card]) == 0
    visits = table[["age", "size"]].iloc[np.arange(120) % 30].reset_index(drop=True)
    visits["patient"], visits["times"] = [f"p{i}" for i in range(120)], np.arange(120) % 3 + 1
    visits["ill"], visits["ward"] = (visits["age"] > 50).astype(int), np.arange(120) % 16
    visits.to_csv(path / "visits.csv", index=False)
    options = {"data": "data.csv", "target": "y", "output": "model.json", "metric": "f1"}
    (path / "fit.toml").write_text("".join(f'{key} = "{value}"\n' for key, value in options.items()))
    (path / "features.csv").write_text("name,words,unit\nage,age of the patient,years\n")
    options = {"data": "data.csv", "target": "y", "max-terms": 3}
    (path / "frontier.toml").write_text("".join(f"{key} = {value!r}\n" for key, value in options.items()))
    table.to_excel(path / "data.xlsx", sheet_name="May", index=False)
    (path / "costs.csv").write_text("true,no,yes\nno,0,1\nyes,5,0\n")
    (path / "counts.csv").write_text("feature,scale,offset,low,high\nage,1,0,0,120\nsize,0.1,0,0,200\n")
    (path / "wording.csv").write_text("term,words\nage,Too young\n")
    return path


def test_every_command_shows_examples_of_itself():
    for name, parser in parsers().items():
        mine = [line for command, line in examples() if command == name]
        assert mine, name
        assert all(line.startswith(f"smallearn {name}") for line in mine)
        assert parser.format_help()


def test_every_option_occurs_in_an_example():
    for name, parser in parsers().items():
        words = {word for command, line in examples() if command == name for word in shlex.split(line)}
        options = [action.option_strings for action in parser._actions if action.dest != "help"]
        lacking = [names[-1] for names in options if names and words.isdisjoint(names)]
        assert lacking == [], name


@pytest.mark.usefixtures("few_standard_models")
@pytest.mark.parametrize(("command", "line"), examples(), ids=[line for _, line in examples()])
def test_an_example_runs_as_printed(command, line, folder, tmp_path, monkeypatch, capsys):
    arguments = shlex.split(line.partition("|")[0])[1:]
    if command in PARSED:
        assert cli.make_parser().parse_args(arguments).command == command
        return
    shutil.copytree(folder, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    assert cli.main(arguments) == 0, capsys.readouterr().err
    for flag in ("-o", "--plot", "--save"):
        if flag in arguments:
            assert (tmp_path / "here" / arguments[arguments.index(flag) + 1]).exists()
