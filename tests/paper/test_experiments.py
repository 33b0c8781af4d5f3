"""The paper's experiments: small versions of each, the data they are fed with, and what a broken run leaves behind."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from smallearn import datasets
from smallearn.paper import big_picture, breast_cancer, compare, data, experiments, methods, published, sparse, surfaces
from smallearn.paper import table1 as table1_module
from smallearn.paper.compare import IncompleteError, Settings

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
PNG = b"\x89PNG"


def write(folder, stem, rows, columns, seed=0):
    X, y = datasets.friedman(rows, max(5, columns), random_state=seed, return_X_y=True)
    frame = pd.DataFrame(X[:, :columns], columns=[f"x{l}" for l in range(columns)])
    frame.assign(target=y).to_csv(folder / f"{stem}.csv", index=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(methods, "FOLDS", 2)
    made = tmp_path / "data"
    made.mkdir()
    for seed, source in enumerate(data.TABLE1[:3]):
        write(made, source.stem, 40, 3, seed)
    write(made, data.FUNDS.stem, 40, 2)
    write(made, data.WIDE[0].stem, 60, 12, 0)
    write(made, data.WIDE[1].stem, 60, 12, 1)
    return made


def settings(folder, **changes):
    return Settings(**{"output": folder.parent / "out", "folder": folder, "splits": 1, **changes})


def left_behind(folder, name, figure=True):
    """The page of an experiment, its files looked at."""
    place = folder.parent / "out" / name
    assert len((place / "scores.csv").read_text().splitlines()) > 1
    if figure:
        assert (place / "figure.png").read_bytes().startswith(PNG)
        assert "<svg" in (place / "figure.svg").read_text()
    assert not list(place.glob("*.new*"))
    return (place / "table.md").read_text()


# --- the experiments -------------------------------------------------------------------------------------------------


def documented(outcome):
    """What the experiment says; each of its claims has a line on the page about the paper."""
    page = (Path(__file__).parents[2] / "docs" / "paper.md").read_text(encoding="utf-8")
    assert outcome.claims
    for claim in outcome.claims:
        assert f"| {claim.claim} |" in page
    return outcome.summary


def test_table1_has_the_published_figure_the_rivals_ranks_and_a_test(folder):
    summary = documented(table1_module.run(settings(folder), data.TABLE1[:3]))
    page = left_behind(folder, "table1")
    lines = page.splitlines()
    header = next(line for line in lines if line.startswith("| set |"))
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
    assert re.search(r"Friedman's test: .* with p = \d", summary)
    assert "Fewer than 20 splits" in summary


def test_surfaces_shows_every_classifier(folder):
    summary = documented(surfaces.run(settings(folder)))
    page = left_behind(folder, "surfaces")
    assert all(f"| {name} |" in page for name in surfaces.NAMES)
    assert "SMaLL k=n" in summary


def test_breast_cancer_draws_a_model_of_two_prototypes(folder):
    summary = documented(breast_cancer.run(settings(folder)))
    page = left_behind(folder, "breast-cancer")
    assert "prototype 1" in page
    reached = float(re.search(r"smallearn 2×3 raw ([\d.]+)%", summary).group(1))
    scores = pd.read_csv(folder.parent / "out" / "breast-cancer" / "scores.csv")
    accuracy = scores[scores["method"] == breast_cancer.OURS.name]["accuracy"]
    assert reached == pytest.approx(100 * accuracy.mean(), abs=0.06)
    assert reached > 90.0


def test_sparse_and_the_big_picture_share_scores_and_count_features(folder):
    summary = documented(sparse.run(settings(folder), data.WIDE[:2]))
    page = left_behind(folder, "sparse")
    assert "| fri_c0_1000_50, 60 × 12 |" in page
    scores = pd.read_csv(folder.parent / "out" / "sparse" / "scores.csv")
    assert set(scores[scores["method"].isin(sparse.BASELINES)]["features"]) == {6}
    assert scores[scores["method"] == sparse.PAPER]["features"].max() <= 6
    assert scores[scores["method"] == sparse.OURS]["features"].max() <= 6
    assert f"of {2} sets" in summary
    before = pd.read_csv(folder.parent / "out" / "scores.csv")
    documented(big_picture.run(settings(folder)))
    page = left_behind(folder, "big-picture")
    assert all(f"| {name} |" in page for name in big_picture.NAMES)
    after = pd.read_csv(folder.parent / "out" / "scores.csv")
    assert len(after) == len(before) + len(big_picture.RIVALS)  # the others were there already


# --- going on, failing -----------------------------------------------------------------------------------------------


def test_a_second_run_trains_nothing_anew_and_another_seed_does(folder):
    compare.compare([data.TABLE1[0]], ["LR", "DT"], settings(folder, splits=2))
    path = folder.parent / "out" / "scores.csv"
    first = path.read_text()
    path.write_bytes(first.encode() + "0,bankruptcy,smallearn 2×3".encode()[:-2])  # torn off within a letter
    again = compare.compare([data.TABLE1[0]], ["LR", "DT"], settings(folder, splits=2))
    assert path.read_text() == first
    assert len(again) == 4
    compare.compare([data.TABLE1[0]], ["LR"], settings(folder, seed=1))
    assert len(path.read_text().splitlines()) == len(first.splitlines()) + 1


def test_two_processes_give_the_scores_of_one(folder, monkeypatch):
    monkeypatch.setattr(methods, "FOLDS", 5)  # as in processes of their own
    one = compare.compare([data.TABLE1[0]], ["LR", "kNN"], settings(folder, splits=2))
    two = compare.compare(
        [data.TABLE1[0]], ["LR", "kNN"], settings(folder, splits=2, jobs=2, output=folder.parent / "b")
    )
    pd.testing.assert_frame_equal(one.drop(columns="seconds"), two.drop(columns="seconds"))


def test_a_fit_that_fails_leaves_no_score_and_is_tried_again(folder, monkeypatch, capsys):
    broken = methods.Method("LR", "", lambda *_: 1 / 0, lambda *_: 0)
    with monkeypatch.context() as patch:
        patch.setitem(methods.BY_NAME, "LR", broken)
        with pytest.raises(IncompleteError, match=r"1 of 2 fits failed; the first: LR on bankruptcy, split 0: ZeroDiv"):
            compare.compare([data.TABLE1[0]], ["LR", "DT"], settings(folder))
    assert "Failed: LR on bankruptcy" in capsys.readouterr().err
    results = compare.compare([data.TABLE1[0]], ["LR", "DT"], settings(folder))
    assert results["method"].tolist() == ["LR", "DT"]


# --- data ------------------------------------------------------------------------------------------------------------


def test_nominal_columns_are_coded_and_names_of_rows_dropped_alike_from_both_sources(tmp_path, monkeypatch):
    raw = pd.DataFrame({"Company": list("dbca"), "size": [3.5, 1.0, 2.0, 2.5], "kind": ["u", "v", "u", "v"]})
    coded = pd.DataFrame({"Company": [3, 1, 2, 0], "size": raw["size"], "kind": [0, 1, 0, 1], "target": [1, 0, 1, 0]})
    coded.to_csv(tmp_path / "analcatdata_bankruptcy__intcoded.csv", index=False)

    class Bunch:
        data = raw.astype({"Company": "category", "kind": "category"})
        target = pd.Series(["1", "0", "1", "0"], dtype="category")

    asked = {}
    monkeypatch.setattr(data, "fetch_openml", lambda **which: asked.update(which) or Bunch)
    source = data.TABLE1[0]
    data.load.cache_clear()
    here, there = data.load(source, tmp_path), data.load(source, None)
    data.load.cache_clear()
    assert asked["data_id"] == 476
    assert here.names == there.names == ("size", "kind")
    assert here.X.tolist() == there.X.tolist() == [[3.5, 0], [1.0, 1], [2.0, 0], [2.5, 1]]
    assert here.y.tolist() == there.y.tolist() == [1, 0, 1, 0]


def test_without_a_network_the_message_says_what_to_do(monkeypatch):
    def fetch(**_):
        raise OSError("Name or service not known")

    monkeypatch.setattr(data, "fetch_openml", fetch)
    with pytest.raises(data.DataError, match=r"vineyard could not be fetched .* --data FOLDER, or SMALLEARN_DATA"):
        data.load(data.TABLE1[1], None)


def test_the_environment_names_the_folder_unless_one_is_given(tmp_path, monkeypatch):
    monkeypatch.delenv("SMALLEARN_DATA", raising=False)
    assert data.folder_given(None) is None
    monkeypatch.setenv("SMALLEARN_DATA", str(tmp_path))
    assert data.folder_given(None) == tmp_path
    with pytest.raises(data.DataError, match="is not a folder"):
        data.folder_given(tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "the last column is 'b'; labels must be there, as 'target'"),
        ("a,target\n1,0\n2,1\n3,2\n", "the labels .*3 values.* two are needed"),
        ("a,target\n1,0\n2,1\n3,\n", "none empty"),
        (None, r"has no vineyard.csv \(or .csv.gz\)"),
    ],
)
def test_a_file_that_is_no_data_set_is_told(tmp_path, text, words):
    if text is not None:
        (tmp_path / "vineyard.csv").write_text(text)
    with pytest.raises(data.DataError, match=words):
        data.load(data.TABLE1[1], tmp_path)


def test_gaps_get_the_median_of_the_training_rows_and_large_sets_are_sampled(tmp_path):
    X, y = datasets.friedman(5200, 5, random_state=0, return_X_y=True)
    X[::3, 1] = np.nan
    pd.DataFrame(X).assign(target=y).to_csv(tmp_path / "spambase.csv", index=False)
    source = next(source for source in data.WIDE if source.name == "spambase")
    table, given = data.load(source, tmp_path), data.split(source, tmp_path, 0, 0)
    assert len(table.y) == data.MOST_ROWS
    assert abs(table.y.mean() - y.mean()) < 0.001
    assert (len(given.y), len(given.y_test)) == (3500, 1500)
    values, count = np.unique(given.X_test[:, 1], return_counts=True)
    median = values[count.argmax()]
    assert count.max() > 400
    known = given.X[given.X[:, 1] != median, 1]
    assert (known < median).sum() == (known > median).sum()


# --- what is compared ------------------------------------------------------------------------------------------------


def test_the_published_table_has_17_sets_and_one_gap():
    assert list(published.TABLE1) == [source.name for source in data.TABLE1]
    assert sum(len(line) for line in published.TABLE1.values()) == 17 * 11 - 1
    assert "GP" not in published.TABLE1["pwLinear"]
    assert published.TABLE1["bankruptcy"]["SMaLL"] == (0.92, 0.06)
    assert published.TABLE1["election2000"]["QDA"] == (0.72, 0.06)


def test_the_sparse_sets_are_mostly_real_and_there_are_ten_at_least():
    synthetic = [source for source in data.WIDE if source.name.startswith("fri_")]
    assert len(data.WIDE) >= 10
    assert len(synthetic) < len(data.WIDE) / 2


def test_every_experiment_of_the_command_is_there():
    from smallearn.cli.commands.paper import PAPER

    assert [*experiments.EXPERIMENTS, "all"] == list(PAPER)


def test_every_set_has_its_number_at_openml():
    sources = {source for experiment in experiments.EXPERIMENTS.values() for source in experiment.sources}
    assert [source.name for source in sources if source.openml == 0] == ["breast_cancer"]
    numbers = [source.openml for source in sources]
    assert len(set(numbers)) == len(numbers)


def grid(method, n=10):
    found = method.make(n, 0)
    assert isinstance(found.cv, StratifiedKFold)
    assert found.cv.n_splits == 5
    return found.param_grid


def test_the_grids_are_those_of_the_paper():
    by_name = methods.BY_NAME
    assert grid(by_name["LSVM"]) == grid(by_name["LR"]) == {"classify__C": [0.1, 1.0, 10.0, 100.0]}
    kernels = [
        (one["classify__kernel"], one.get("classify__degree"), one["classify__C"]) for one in grid(by_name["RSVM"])
    ]
    assert kernels == [
        (["rbf", "sigmoid"], None, [0.01, 0.1, 1.0, 10.0, 100.0]),
        (["poly"], [2, 3], [0.01, 0.1, 1.0, 10.0, 100.0]),
    ]
    for name in ("RF", "AB", "GB"):
        assert grid(by_name[name])["classify__n_estimators"] == [10, 20, 50]
    assert grid(by_name["RF"], 50)["classify__max_features"] == ["sqrt", "log2"]
    assert len(grid(by_name["RF"], 10)["classify__max_features"]) == 1  # three features either way
    assert grid(by_name["DT"]) == {"classify__criterion": ["gini", "entropy"]}
    assert grid(by_name["kNN"]) == {"classify__n_neighbors": [1, 3, 5, 7]}
    steps = {
        name: [one["step_sizes"] for one in grid(by_name[name])["solver_options"]]
        for name in ("SMaLL k=n", "SMaLL k=3")
    }
    assert steps["SMaLL k=n"] == [(0.01, 0.01), (0.01, 0.001)]
    assert set(steps["SMaLL k=3"]) == {(a, b) for a in (0.1, 0.01, 0.001) for b in (0.001, 0.0001)}
    assert by_name["SMaLL k=3"].make(10, 0).estimator.alpha == 0.1
    for name, whole in (("L1Hi", 1.0), ("EnHu", 2.0)):  # half of the strength of an elastic net is l1
        assert [one["select__estimator__alpha"] for one in grid(by_name[name])] == [
            [whole * l1] for l1 in (0.1, 0.01, 0.001, 0.0001)
        ]
        assert by_name[name].make(11, 0).estimator["select"].max_features == 5


def test_the_label_that_is_1_in_the_numbers_of_openml_owns_the_prototypes_of_the_preset():
    """Most sets there have the values P and N, in this order; here P is 1 and N is 0."""
    small = methods.BY_NAME["SMaLL k=n"]
    assert [small.make(2, 0, owner).estimator.positive_class for owner in (0, 1)] == [0, 1]
    others = [source.name for source in {*data.TABLE1, *data.WIDE, data.FUNDS, data.BREAST_CANCER} if source.owner == 1]
    assert sorted(others) == ["bankruptcy", "breast_cancer", "ozone", "sonar", "spambase"]


def test_quadratic_discriminants_are_had_where_columns_follow_from_others_and_rows_are_few():
    X = np.random.default_rng(0).normal(size=(45, 14))
    X[:, -1] = X[:, :-1].sum(axis=1)
    y = (np.arange(45) % 4 == 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = methods.BY_NAME["QDA"].make(14, 0).fit(X, y)
    assert np.isfinite(fitted.best_score_)
    assert set(fitted.predict(X)) <= {0, 1}


def test_a_feature_in_two_prototypes_counts_twice_and_trees_count_what_they_split_on():
    X, y = datasets.friedman(120, 8, random_state=0, return_X_y=True)
    small = methods.BY_NAME["SMaLL k=n"].make(8, 0).fit(X, y)
    assert methods.terms_used(small, 8) == 16
    assert methods.terms_by_prototype(small) == "|".join(["0 1 2 3 4 5 6 7"] * 2)
    X[:, 3:] = 0.0  # nothing to split on
    tree = methods.BY_NAME["DT"]
    fitted = tree.make(8, 0).fit(X, y)
    assert tree.used(fitted, 8) == 3
    assert methods.terms_by_prototype(fitted) == ""


# --- files that are broken, runs that are interrupted ----------------------------------------------------------------


def test_other_data_are_measured_anew(folder):
    compare.compare([data.TABLE1[0]], ["LR"], settings(folder))
    write(folder, data.TABLE1[0].stem, 40, 3, seed=9)
    data.load.cache_clear()
    data.split.cache_clear()
    compare.compare([data.TABLE1[0]], ["LR"], settings(folder))
    assert len(pd.read_csv(folder.parent / "out" / "scores.csv")) == 2


def test_all_that_is_missing_is_told_at_once(tmp_path):
    with pytest.raises(data.DataError) as problem:
        experiments.check(["table1", "sparse"], settings(tmp_path))
    assert len(str(problem.value).splitlines()) == 17 + len(data.WIDE)
    experiments.check(["breast-cancer"], settings(tmp_path))  # comes with scikit-learn
