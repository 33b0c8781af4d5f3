"""The comparison with rivals can be resumed, and its tables, metrics and verdicts follow from the results."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.quality import chip, data, diagrams, metrics, report, run, tables, trees
from benchmarks.quality.linear import L1Multinomial
from benchmarks.quality.methods import FITTING, OURS, TREE
from benchmarks.quality.ours import AtTreesBytes, SMaLL
from benchmarks.quality.trees import Tree
from benchmarks.quality.verdicts import verdicts
from sklearn.tree import DecisionTreeClassifier

from smallearn import datasets
from tests.helpers.tools import need

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path):
    """Two small data sets with missing values, and one with three classes."""
    lines = ["file,n_samples,n_features,n_positive"]
    for name, seed in (("one", 0), ("two", 1)):
        X, y = datasets.friedman(120, 6, random_state=seed, return_X_y=True)
        X[::7, 2] = np.nan
        write_table(tmp_path / f"{name}.csv", X, y)
        lines.append(f"{name}.csv,120,6,{y.sum()}")
    (tmp_path / "MANIFEST.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "classes").mkdir()
    X, y = three_classes()
    write_table(tmp_path / "classes" / "one.csv", X, y)
    smallest = np.bincount(y).min()
    manifest = f"file,n_samples,n_features,n_classes,smallest_class\none.csv,{len(y)},6,3,{smallest}\n"
    (tmp_path / "classes" / "MANIFEST.csv").write_text(manifest)
    return tmp_path


def write_table(path, X, y):
    rows = [",".join(["" if np.isnan(v) else f"{v:.4f}" for v in x] + [str(c)]) for x, c in zip(X, y, strict=True)]
    path.write_text("\n".join(["a,b,c,d,e,f,target", *rows]) + "\n")


def three_classes(n=150):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    return X, np.digitize(X[:, 0] + 0.3 * rng.normal(size=n), [-0.5, 0.5])


def bench(folder, *arguments):
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
    done = "one,tree,2,0,0.123456,0.5,0.5,0.5,0.1,0.9,2,2,0.1,"
    results.write_text(f"{','.join(run.COLUMNS)}\n{done}\none,tree,4,0,0.9")
    arguments = ("--sets", "one,two,classes/one", "--methods", "tree", "--budgets", "2,4", "--splits", "2")
    first = bench(folder, *arguments)
    assert first.returncode == 0, first.stderr
    lines = results.read_text().splitlines()
    cells = [tuple(line.split(",")[:4]) for line in lines[1:]]
    wanted = [(name, "tree", T, split) for name in ("one", "two", "classes/one") for T in "24" for split in "01"]
    assert sorted(cells) == sorted(wanted)
    assert done in lines
    rows = run.COLUMNS.index("rows")
    assert all(int(line.split(",")[rows]) <= int(line.split(",")[2]) for line in lines[1:])
    table = (folder / "out" / "table.md").read_text()
    assert "Two classes: data sets, at most 2 terms" in table
    assert "More than two classes: data sets, at most 4 terms" in table
    assert "| two |" in table
    assert bench(folder, *arguments).returncode == 0
    assert results.read_text().splitlines() == lines


def test_an_unknown_data_set_is_refused_with_the_known_ones(folder):
    refused = bench(folder, "--sets", "three")
    assert refused.returncode != 0
    assert "Unknown data set three; choose from one, two, classes/one, iris" in refused.stderr


def test_sampling_keeps_rows_of_rare_classes():
    y = np.repeat([0, 1, 2], [8_000, 4_000, 6])
    kept = data._sample(y)
    assert np.bincount(y[kept])[2] == 6
    assert data.MAX_ROWS <= len(kept) <= data.MAX_ROWS + data.FEWEST


def test_trials_without_bytes_run_again_when_bytes_are_asked_for():
    entry = data.Entry("x", "x.csv", 100, 5, 3, 20)
    lines = [("x", OURS, T, 0, np.nan) for T in (8, 12, 20)] + [("x", TREE, 8, 0, 50.0)]
    results = pd.DataFrame(lines, columns=["set", "method", "terms", "split", "bytes"])
    left = {
        flash: {
            task.method: task.terms for task in run.Plan(Path(), (entry,), (OURS, TREE), None, 1, flash).tasks(results)
        }
        for flash in (False, True)
    }
    assert left == {False: {TREE: (12, 20)}, True: {OURS: (8, 12, 20), TREE: (12, 20)}}


def test_the_calibration_error_is_the_gap_between_confidence_and_accuracy():
    y = np.array([0, 0, 0, 1])
    sure = np.tile([0.75, 0.25], (4, 1))
    assert metrics.calibration_error(y, sure) == pytest.approx(0.0)
    assert metrics.calibration_error(1 - y, sure) == pytest.approx(0.5)


def test_the_metrics_of_perfect_answers_are_perfect_with_three_classes():
    y = np.array([0, 1, 2, 1, 0, 2])
    found = metrics.metrics(y, y, np.eye(3)[y])
    assert found == pytest.approx(
        {"accuracy": 1.0, "balanced_accuracy": 1.0, "auc": 1.0, "log_loss": 0.0, "calibration_error": 0.0}, abs=1e-5
    )


def test_balanced_accuracy_weighs_classes_equally():
    y = np.array([0] * 8 + [1] * 2)
    found = metrics.metrics(y, np.zeros(10, dtype=int), np.tile([0.8, 0.2], (10, 1)))
    assert found["accuracy"] == pytest.approx(0.8)
    assert found["balanced_accuracy"] == pytest.approx(0.5)


@pytest.mark.parametrize("method", [SMaLL("shared"), SMaLL("total"), Tree(), L1Multinomial()])
def test_a_bounded_method_keeps_its_budget_with_three_classes(method):
    X, y = three_classes()
    for found in method.fits(X, y, (2, 5), seed=0):
        assert getattr(found.model, method.count) <= found.terms
        assert found.model.rows <= found.model.weights
        assert found.model.probability(X).shape == (len(y), 3)
        assert np.mean(found.model.labels(X) == y) > 0.6


def test_the_pruned_trees_are_those_of_scikit_learn():
    X, y = three_classes()
    pruned = Tree._pruned(X, y, 10, {"random_state": 0})
    assert len(pruned) > 2
    for splits, tree in pruned.items():
        theirs = DecisionTreeClassifier(random_state=0, ccp_alpha=tree.ccp_alpha).fit(X, y)
        assert np.sum(theirs.tree_.feature >= 0) == splits
        assert np.array_equal(theirs.predict(X), tree.predict(X))


@pytest.mark.parametrize("whole", [False, True])
def test_a_tree_on_the_columns_it_uses_is_the_same_tree(whole):
    X, y = three_classes()
    tree = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X, y)
    used = np.unique(tree.tree_.feature[tree.tree_.feature >= 0])
    small = chip.on_columns(tree, used, codes=X if whole else None)
    rows = X[:, used]
    if whole:
        rows = np.round((rows - rows.min(axis=0)) / np.ptp(rows, axis=0) * chip.LARGEST)
    assert np.array_equal(small.predict(rows), tree.predict(X))


def test_groups_join_methods_within_the_critical_difference():
    mean_ranks = pd.Series({"a": 1.0, "b": 1.8, "c": 2.5, "d": 4.0})
    assert diagrams.groups(mean_ranks, 1.0) == [(1.0, 1.8), (1.8, 2.5)]
    assert diagrams.critical_difference(5, 30) == pytest.approx(2.728 * np.sqrt(5 * 6 / (6 * 30)), abs=1e-3)


def results_of(accuracy, sets=("a", "b"), T=8, **more):
    """Results on two splits, the same accuracy on every set; ``more`` gives other columns by method."""
    columns = dict.fromkeys(run.COLUMNS)
    lines = []
    for name in sets:
        for method, value in accuracy.items():
            for number in (0, 1):
                line = columns | dict.fromkeys(metrics.METRICS, value)
                line |= {"set": name, "method": method, "terms": T, "split": number}
                lines.append(line | {column: values.get(method) for column, values in more.items()})
    return pd.DataFrame(lines)


def test_at_equal_bytes_the_model_within_the_trees_bytes_counts():
    bytes_ = {TREE: 100.0, OURS: 300.0, FITTING: 90.0}
    table = tables.equal_bytes(results_of({TREE: 0.8, OURS: 0.9, FITTING: 0.75}, bytes=bytes_), [8])
    assert table[TREE].tolist() == pytest.approx([0.8, 0.8])
    assert table[FITTING].tolist() == pytest.approx([0.75, 0.75])
    assert table[tables.OUR_BYTES].tolist() == [90.0, 90.0]


@pytest.mark.tools
def test_our_model_takes_no_more_bytes_than_the_tree_and_answers_as_the_chip(monkeypatch):
    need("arm-none-eabi-gcc")
    monkeypatch.setattr(trees, "flash_of_tree", lambda *_: 90)  # what emlearn's code would take, or so
    X, y = three_classes()
    (found,) = AtTreesBytes().fits(X, y, [4], seed=0)
    assert found.model.flash() <= 90
    assert np.mean(found.model.labels(X) == y) > 0.5


@pytest.mark.parametrize(("ours", "met"), [(0.9, True), (0.7, False)])
def test_the_verdict_compares_with_the_best_bounded_rival(ours, met):
    entries = tuple(data.Entry(name, f"{name}.csv", 1_000, 5, 2, 400) for name in ("a", "b"))
    plan = run.Plan(Path(), entries, (OURS, TREE), (8,), 2)
    (section,) = report.sections(plan, results_of({OURS: ours, TREE: 0.8}))
    assert [answer for _, answer in verdicts(section)] == [met, met, met]
    assert len(section.cells()) == (0 if met else 2)


def test_generated_sets_count_in_no_mean():
    entries = tuple(data.Entry(name, "", 1_000, 5, 3, 300) for name in ("wine", "boxes"))
    plan = run.Plan(Path(), entries, (OURS, TREE), (8,), 2)
    (section,) = report.sections(plan, results_of({OURS: 0.9, TREE: 0.8}, sets=("wine", "boxes")))
    assert section.sets == ["wine"]
    assert section.generated["set"].unique().tolist() == ["boxes"]
