"""The comparison with rivals can be resumed, and an incomplete line does not count as a result."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from smallearn import datasets

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path):
    """Two small data sets with missing values."""
    lines = ["file,n_samples,n_features,n_positive"]
    for name, seed in (("one", 0), ("two", 1)):
        X, y = datasets.friedman(120, 6, random_state=seed, return_X_y=True)
        X[::7, 2] = np.nan
        rows = [
            ",".join(["" if np.isnan(v) else f"{v:.4f}" for v in x] + [str(label)])
            for x, label in zip(X, y, strict=True)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,c,d,e,f,target", *rows]) + "\n")
        lines.append(f"{name}.csv,120,6,{y.sum()}")
    (tmp_path / "MANIFEST.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.quality", str(folder), "--output", str(folder / "out"), *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_it_resumes_where_it_stopped_and_reports(folder):
    results = folder / "out" / "results.csv"
    results.parent.mkdir()
    done = "one,tree,2,0,0.123456,0.5,2,0.1\n"
    results.write_text("set,method,terms,split,accuracy,log_loss,used,seconds\n" + done + "one,tree,4,0,0.9")
    arguments = ("--sets", "one,two", "--methods", "tree", "--terms", "2,4", "--splits", "2")
    first = run(folder, *arguments)
    assert first.returncode == 0, first.stderr
    lines = results.read_text().splitlines()
    cells = [tuple(line.split(",")[:4]) for line in lines[1:]]
    wanted = [(name, "tree", terms, split) for name in ("one", "two") for terms in "24" for split in "01"]
    assert sorted(cells) == sorted(wanted)
    assert done.strip() in lines
    assert all(int(line.split(",")[6]) <= int(line.split(",")[2]) for line in lines[1:])
    table = (folder / "out" / "table.md").read_text()
    assert "At most 2 terms" in table
    assert "| two |" in table
    assert run(folder, *arguments).returncode == 0
    assert results.read_text().splitlines() == lines


def test_an_unknown_data_set_is_refused_with_the_known_ones(folder):
    refused = run(folder, "--sets", "three")
    assert refused.returncode != 0
    assert "Unknown data set three; choose from one, two" in refused.stderr
