"""The paper's data sets: the same from both sources, and errors that say what to do."""

import numpy as np
import pandas as pd
import pytest

from smallearn import datasets
from smallearn.paper import data, experiments


def test_nominal_columns_are_coded_and_identifiers_dropped_alike_from_both_sources(tmp_path, monkeypatch):
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
    with pytest.raises(data.DataError, match=r"vineyard could not be downloaded .* --data FOLDER, or SMALLEARN_DATA"):
        data.load(data.TABLE1[1], None)


def test_the_environment_names_the_folder_unless_one_is_given(tmp_path, monkeypatch):
    monkeypatch.delenv("SMALLEARN_DATA", raising=False)
    assert data.data_folder(None) is None
    monkeypatch.setenv("SMALLEARN_DATA", str(tmp_path))
    assert data.data_folder(None) == tmp_path
    with pytest.raises(data.DataError, match="is not a folder"):
        data.data_folder(tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "the last column is 'b'; it must be 'target', the labels"),
        ("a,target\n1,0\n2,1\n3,2\n", r"the labels have 3 values .* there must be two values"),
        ("a,target\n1,0\n2,1\n3,\n", "1 are missing; there must be two values and none missing"),
        (None, r"has no vineyard.csv \(or .csv.gz\)"),
    ],
)
def test_a_file_that_is_no_data_set_is_refused_with_the_reason(tmp_path, text, message):
    if text is not None:
        (tmp_path / "vineyard.csv").write_text(text)
    with pytest.raises(data.DataError, match=message):
        data.load(data.TABLE1[1], tmp_path)


def test_missing_values_become_the_median_of_the_training_rows_and_large_sets_are_sampled(tmp_path):
    X, y = datasets.friedman(5200, 5, random_state=0, return_X_y=True)
    X[::3, 1] = np.nan
    pd.DataFrame(X).assign(target=y).to_csv(tmp_path / "spambase.csv", index=False)
    source = next(source for source in data.WIDE if source.name == "spambase")
    table, split = data.load(source, tmp_path), data.split(source, tmp_path, 0, 0)
    assert len(table.y) == data.MAX_ROWS
    assert abs(table.y.mean() - y.mean()) < 0.001
    assert (len(split.y), len(split.y_test)) == (3500, 1500)
    values, count = np.unique(split.X_test[:, 1], return_counts=True)
    median = values[count.argmax()]
    assert count.max() > 400
    known = split.X[split.X[:, 1] != median, 1]
    assert (known < median).sum() == (known > median).sum()


def test_the_sparse_sets_are_mostly_real_and_there_are_ten_at_least():
    synthetic = [source for source in data.WIDE if source.name.startswith("fri_")]
    assert len(data.WIDE) >= 10
    assert len(synthetic) < len(data.WIDE) / 2


def test_every_set_has_its_number_at_openml():
    sources = {source for experiment in experiments.EXPERIMENTS.values() for source in experiment.sources}
    assert [source.name for source in sources if source.openml is None] == ["breast_cancer"]
    numbers = [source.openml for source in sources]
    assert len(set(numbers)) == len(numbers)
