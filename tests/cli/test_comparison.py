"""Standard models for comparison: each table is read once."""

from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from smallearn import cli


@pytest.fixture
def parsed(monkeypatch):
    """How often each file was parsed, by name."""
    counts = Counter()
    read_csv, iter_batches = pd.read_csv, pq.ParquetFile.iter_batches

    def counting_csv(file, **options):
        counts[Path(file.buffer.name).name] += 1
        return read_csv(file, **options)

    def counting_parquet(file, *arguments, **options):
        counts["parquet"] += 1
        return iter_batches(file, *arguments, **options)

    monkeypatch.setattr(pd, "read_csv", counting_csv)
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", counting_parquet)
    return counts


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("evaluate model.json test.csv", {"test.csv"}),
        ("evaluate model.json train.csv --compare", {"train.csv"}),
        ("evaluate model.json test.csv --train train.csv", {"test.csv", "train.csv"}),
        ("report model.json train.csv -o {out}", {"train.csv"}),
        ("report model.json test.csv --train train.csv -o {out}", {"test.csv", "train.csv"}),
        ("explain model.json test.csv", {"test.csv"}),
        ("explain model.json test.csv --row 3", {"test.csv"}),
        ("fit train.csv --target y --max-terms 1 --prototypes 1 -o {out}", {"train.csv"}),
        ("predict model.json test.csv -o {out}.csv", {"test.csv"}),
    ],
)
def test_every_command_parses_each_file_once(line, files, people, parsed, tmp_path, monkeypatch):
    monkeypatch.chdir(people)
    monkeypatch.setattr("smallearn.evaluation._comparison._classifiers", lambda *_: [])
    monkeypatch.setattr("smallearn.report._page.report_html", lambda *_, **__: "a page")
    assert cli.main([*line.format(out=tmp_path / "out").split(), "--quiet"]) == 0
    assert parsed == dict.fromkeys(files, 1)


def test_parquet_is_read_once_too(people, parsed, tmp_path, monkeypatch):
    monkeypatch.setattr("smallearn.evaluation._comparison._classifiers", lambda *_: [])
    path = tmp_path / "train.parquet"
    pq.write_table(csv.read_csv(people / "train.csv"), path)
    assert cli.main(["evaluate", str(people / "model.json"), str(path), "--compare", "--quiet"]) == 0
    assert parsed == {"parquet": 1}


def test_a_training_table_that_cannot_be_used_is_an_error(people, tmp_path, capsys):
    (tmp_path / "one.csv").write_text("age,size,colour,y\n" + "50,5.5,red,yes\n" * 9)
    line = ["evaluate", str(people / "model.json"), str(people / "test.csv"), "--train", str(tmp_path / "one.csv")]
    assert cli.main(line) == 1
    assert "column 'y' has only one class, 'yes'" in capsys.readouterr().err


@pytest.mark.usefixtures("few_standard_models")
def test_a_table_that_the_model_cannot_read_is_not_its_training_table(people, tmp_path, capsys):
    rows = "".join(f"{i % 7},{'yes' if i % 7 > 3 else 'no'}\n" for i in range(40))
    (tmp_path / "other.csv").write_text("other,y\n" + rows)
    line = ["evaluate", str(people / "model.json"), str(people / "test.csv"), "--train", str(tmp_path / "other.csv")]
    assert cli.main(line) == 0
    assert "trained on another table than this model" in capsys.readouterr().out


@pytest.mark.usefixtures("few_standard_models")
def test_more_rows_than_a_sample_are_compared_only_on_request(people, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("smallearn.evaluation._comparison.MOST_ROWS", 60)
    line = ["evaluate", str(people / "model.json"), str(people / "train.csv")]
    assert cli.main([*line, "--compare"]) == 0
    printed = capsys.readouterr().out
    assert "on a random sample of 60 of the 200 rows. With all rows they may do better." in printed
    assert "CPU seconds to train" in printed
    assert cli.main([*line, "--compare-all"]) == 0
    assert "cross-validation on these rows." in capsys.readouterr().out
    report = ["report", *line[1:], "--compare-all", "-o", str(tmp_path / "r.html")]
    assert cli.main(report) == 0
    assert "random sample of 60" not in (tmp_path / "r.html").read_text()
