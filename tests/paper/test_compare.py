"""Comparisons go on where they stopped, keep what succeeded, and are the same in any number of processes."""

import pandas as pd
import pytest

from smallearn.paper import compare, data, methods
from smallearn.paper.compare import IncompleteError
from tests.helpers.paper_sets import settings_for, write_set

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_a_second_run_trains_nothing_again_and_another_seed_does(folder):
    compare.compare([data.TABLE1[0]], ["LR", "DT"], settings_for(folder, splits=2))
    path = folder.parent / "out" / "scores.csv"
    first = path.read_text()
    path.write_bytes(first.encode() + "0,bankruptcy,smallearn 2×3".encode()[:-2])  # torn off within a letter
    again = compare.compare([data.TABLE1[0]], ["LR", "DT"], settings_for(folder, splits=2))
    assert path.read_text() == first
    assert len(again) == 4
    compare.compare([data.TABLE1[0]], ["LR"], settings_for(folder, seed=1))
    assert len(path.read_text().splitlines()) == len(first.splitlines()) + 1


def test_two_processes_give_the_scores_of_one(folder, monkeypatch):
    monkeypatch.setattr(methods, "FOLDS", 5)  # as in processes of their own
    one = compare.compare([data.TABLE1[0]], ["LR", "kNN"], settings_for(folder, splits=2))
    two = compare.compare(
        [data.TABLE1[0]], ["LR", "kNN"], settings_for(folder, splits=2, jobs=2, output=folder.parent / "b")
    )
    pd.testing.assert_frame_equal(one.drop(columns="seconds"), two.drop(columns="seconds"))


def test_a_fit_that_fails_leaves_no_score_and_is_tried_again(folder, monkeypatch, capsys):
    broken = methods.Method(name="LR", description="", make=lambda *_: 1 / 0, count_features=lambda *_: 0)
    with monkeypatch.context() as patch:
        patch.setitem(methods.BY_NAME, "LR", broken)
        with pytest.raises(IncompleteError, match=r"1 of 2 fits failed; the first: LR on bankruptcy, split 0: ZeroDiv"):
            compare.compare([data.TABLE1[0]], ["LR", "DT"], settings_for(folder))
    assert "Failed: LR on bankruptcy" in capsys.readouterr().err
    results = compare.compare([data.TABLE1[0]], ["LR", "DT"], settings_for(folder))
    assert results["method"].tolist() == ["LR", "DT"]


def test_other_data_are_measured_again(folder):
    compare.compare([data.TABLE1[0]], ["LR"], settings_for(folder))
    write_set(folder, data.TABLE1[0].stem, 40, 3, seed=9)
    data.load.cache_clear()
    data.split.cache_clear()
    compare.compare([data.TABLE1[0]], ["LR"], settings_for(folder))
    assert len(pd.read_csv(folder.parent / "out" / "scores.csv")) == 2
