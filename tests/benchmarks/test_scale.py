"""The benchmark of growth can be resumed, leaves out what would take too long, and finds exponents."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("resource")  # Windows has none

from benchmarks.scale import data
from benchmarks.scale.cells import AXES, Cell
from benchmarks.scale.report import Measured, Results
from benchmarks.scale.run import COLUMNS, scores
from benchmarks.scale.verdicts import within

ROOT = Path(__file__).parents[2]


def results(folder, *lines):
    """A file of results with these lines."""
    path = folder / "results.csv"
    path.write_text("\n".join([",".join(COLUMNS), *lines]) + "\n")
    return path


def run(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", "--quick", "--output", str(folder), *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_cells_that_are_missing_are_run_and_the_others_kept(tmp_path):
    path = results(tmp_path, "made,500,10,2,6,tree grid,1.5,1.25,7.0,5.0")
    shown = run(tmp_path, "--methods", "tree grid", "--cores", "1")
    lines = path.read_text().splitlines()
    sizes = {tuple(line.split(",")[1:5]) for line in lines[1:]}
    assert sizes == {
        ("500", "10", "2", "6"),
        ("1000", "10", "2", "6"),
        ("2000", "10", "2", "6"),
        ("500", "30", "2", "6"),
        ("500", "10", "2", "3"),
        ("500", "10", "3", "6"),
    }
    assert len(lines) == 7
    assert "1.50    1.25      7" in shown
    assert (tmp_path / "scale.svg").read_text().startswith("<?xml")


def test_a_fit_that_takes_too_long_is_stopped_and_larger_ones_are_left_out(tmp_path):
    shown = run(tmp_path, "--methods", "HGB", "--cores", "1", "--limit", "0.001").splitlines()
    (line,) = (tmp_path / "results.csv").read_text().splitlines()[1:]
    assert line == "made,500,10,2,0,HGB,,,,0.001000"
    assert [line.split() for line in shown[3:6]] == [["500", ">", "0"], ["1,000", "-"], ["2,000", "-"]]


def test_growth_is_the_exponent_from_the_first_size_that_counts(tmp_path):
    rows = next(axis for axis in AXES if axis.name == "rows")
    seconds = {size: 1e-5 * size**1.2 for size in rows.sizes} | {1_000: 50.0}
    results(tmp_path, *(f"made,{size},30,2,6,smallearn,1.0,{took},1.0,600.0" for size, took in seconds.items()))
    assert Results(scores(tmp_path).read()).growth(rows, "smallearn") == pytest.approx(1.2)


@pytest.mark.parametrize(
    ("ours", "theirs", "met"),
    [(3.0, 2.0, True), (5.0, 2.0, False), (3.0, None, True), (25.0, None, None), (None, 2.0, False), (None, 9.0, None)],
)
def test_a_verdict_is_open_if_a_fit_was_stopped_too_early_to_tell(ours, theirs, met):
    mine, other = (Measured(1.0, np.nan if cpu is None else cpu, 1.0, limit=10.0) for cpu in (ours, theirs))
    assert within(mine, other, most=2.0) is met


def test_a_cell_is_larger_only_if_no_size_is_smaller():
    base = Cell("made", 100, 10, 2, 6, "abess")
    assert Cell("made", 100, 20, 2, 6, "abess").at_least(base)
    assert not Cell("made", 1000, 10, 2, 3, "abess").at_least(base)
    assert not Cell("made", 1000, 10, 2, 6, "HGB").at_least(base)


def test_made_data_have_a_signal_in_few_columns():
    X, y = data.make(2_000, 30, 4)
    assert sorted(np.unique(y)) == [0, 1, 2, 3]
    means = np.array([X[y == label].mean(axis=0) for label in range(4)])
    spread = means.std(axis=0)
    assert spread[:10].max() > 4 * spread[10:].max()
