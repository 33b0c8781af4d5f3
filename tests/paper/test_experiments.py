"""Small versions of the paper's experiments: their pages, figures and claims."""

import re
from pathlib import Path

import pandas as pd
import pytest

from smallearn.paper import big_picture, breast_cancer, data, experiments, published, sparse, surfaces
from smallearn.paper import table1 as table1_module
from tests.helpers.paper_sets import settings_for

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
PNG = b"\x89PNG"


def left_behind(folder, name, figure=True):
    """The page of an experiment, after a look at its files."""
    place = folder.parent / "out" / name
    assert len((place / "scores.csv").read_text().splitlines()) > 1
    if figure:
        assert (place / "figure.png").read_bytes().startswith(PNG)
        assert "<svg" in (place / "figure.svg").read_text()
    assert not list(place.glob(".smallearn-*"))
    return (place / "table.md").read_text()


def documented(outcome):
    """The summary of an experiment; each of its claims must have a line in docs/paper.md."""
    page = (Path(__file__).parents[2] / "docs" / "paper.md").read_text(encoding="utf-8")
    assert outcome.claims
    for claim in outcome.claims:
        assert f"| {claim.claim} |" in page
    return outcome.summary


def test_table1_has_the_published_numbers_the_rivals_the_ranks_and_a_test(folder):
    summary = documented(table1_module.run(settings_for(folder), data.TABLE1[:3]))
    page = left_behind(folder, "table1")
    lines = page.splitlines()
    header = next(line for line in lines if line.startswith("| data set |"))
    for name in ("published SMaLL", "SMaLL k=n", "smallearn k=n", *table1_module.RIVALS):
        assert f"| {name} " in header
    bankruptcy = next(line for line in lines if line.startswith("| bankruptcy |"))
    assert "| 0.92 ± 0.06 |" in bankruptcy
    scores = pd.read_csv(folder.parent / "out" / "table1" / "scores.csv")
    assert len(scores) == 3 * 12
    measured = scores[(scores["set"] == "bankruptcy") & (scores["method"] == "LR")]["accuracy"].item()
    assert f"{measured:.3f}" in bankruptcy
    accuracy = scores.pivot_table("accuracy", "set", "method")
    assert f"smallearn k=n {accuracy['smallearn k=n'].mean():.4f}" in summary
    assert re.search(r"Friedman's test .*: p = \d", summary)
    assert "With fewer than 20 splits" in summary


def test_surfaces_shows_every_classifier(folder):
    summary = documented(surfaces.run(settings_for(folder)))
    page = left_behind(folder, "surfaces")
    assert all(f"| {name} |" in page for name in surfaces.NAMES)
    assert "SMaLL k=n" in summary


def test_breast_cancer_draws_a_model_of_two_prototypes(folder):
    summary = documented(breast_cancer.run(settings_for(folder)))
    page = left_behind(folder, "breast-cancer")
    assert "Score 2 for class" in page
    reached = float(re.search(r"smallearn 2×3 raw ([\d.]+)%", summary).group(1))
    scores = pd.read_csv(folder.parent / "out" / "breast-cancer" / "scores.csv")
    accuracy = scores[scores["method"] == breast_cancer.OURS.name]["accuracy"]
    assert reached == pytest.approx(100 * accuracy.mean(), abs=0.06)
    assert reached > 90.0


def test_sparse_and_the_big_picture_share_scores_and_count_features(folder):
    summary = documented(sparse.run(settings_for(folder), data.WIDE[:2]))
    page = left_behind(folder, "sparse")
    assert "| fri_c0_1000_50, 60 × 12 |" in page
    scores = pd.read_csv(folder.parent / "out" / "sparse" / "scores.csv")
    assert set(scores[scores["method"].isin(sparse.BASELINES)]["features"]) == {6}
    assert scores[scores["method"] == sparse.PAPER]["features"].max() <= 6
    assert scores[scores["method"] == sparse.OURS]["features"].max() <= 6
    assert "of 2 data sets" in summary
    before = pd.read_csv(folder.parent / "out" / "scores.csv")
    documented(big_picture.run(settings_for(folder)))
    page = left_behind(folder, "big-picture")
    assert all(f"| {name} |" in page for name in big_picture.NAMES)
    after = pd.read_csv(folder.parent / "out" / "scores.csv")
    assert len(after) == len(before) + len(big_picture.RIVALS)  # the others were there already


def test_every_experiment_of_the_command_is_there():
    from smallearn.cli.commands.paper import EXPERIMENTS

    assert [*experiments.EXPERIMENTS, "all"] == list(EXPERIMENTS)


def test_the_published_table_has_17_sets_and_one_gap():
    assert list(published.TABLE1) == [source.name for source in data.TABLE1]
    assert sum(len(line) for line in published.TABLE1.values()) == 17 * 11 - 1
    assert "GP" not in published.TABLE1["pwLinear"]
    assert published.TABLE1["bankruptcy"]["SMaLL"] == (0.92, 0.06)
    assert published.TABLE1["election2000"]["QDA"] == (0.72, 0.06)


def test_all_data_sets_that_are_missing_are_listed_at_once(tmp_path):
    with pytest.raises(data.DataError) as error:
        experiments.check(["table1", "sparse"], settings_for(tmp_path))
    assert len(str(error.value).splitlines()) == 17 + len(data.WIDE)
    experiments.check(["breast-cancer"], settings_for(tmp_path))  # comes with scikit-learn
