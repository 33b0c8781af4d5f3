"""The column of classes, for a model and for training."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from smallearn.cli.errors import CommandError
from smallearn.cli.io.model_rows import Labels
from smallearn.model import DataFacts
from tests.helpers.models import WHOLE, YES
from tests.helpers.table_files import csv_file, for_model, rows, training_of


def test_classes_have_the_types_of_the_model(tmp_path):
    path = csv_file(tmp_path, "a,c,y\n1,2, 1\n3,4,0.0\n5,6,?\n7,8,2\n")
    X, y = for_model(WHOLE, path, target="y", labels=Labels.REQUIRED)
    assert y.tolist() == [1, 0]
    assert y.dtype == np.int64
    assert X.index.tolist() == [0, 1]
    other = csv_file(tmp_path, "a,c,y\n1,2,?\n7,8,2\n")
    with pytest.raises(CommandError, match="line 3, column 'y': class '2' is not a class of the model \\(0, 1\\)"):
        for_model(WHOLE, other, target="y", labels=Labels.REQUIRED)
    truths = replace(WHOLE, classes=(False, True), class_dtype="|b1")
    assert for_model(truths, csv_file(tmp_path, "a,c,y\n1,2,TRUE\n1,2,false\n"), target="y", labels=Labels.REQUIRED)[
        1
    ].tolist() == [
        True,
        False,
    ]


def test_rows_without_a_known_class_are_ignored_with_a_note(tmp_path, capsys):
    X, y = for_model(YES, csv_file(tmp_path, "a,c,y\n1,2,yes\n3,4,\n7,8,maybe\n"), target="y", labels=Labels.REQUIRED)
    assert (len(X), y.tolist()) == (1, ["yes"])
    output = capsys.readouterr().err
    assert "1 row ignored: the model does not know the class ('maybe'; first in line 4)." in output
    assert "1 row without a class ignored." in output


def test_an_empty_class_column_counts_as_none_unless_classes_are_required(tmp_path):
    known = replace(YES, data=DataFacts("f" * 64, (1, 1), target="y"))
    path = csv_file(tmp_path, "a,c,y\n1,2,\n3,4,NA\n")
    X, y = for_model(known, path, labels=Labels.OPTIONAL)
    assert len(X) == 2
    assert y is None
    with pytest.raises(CommandError, match="no row has a class"):
        for_model(known, path, labels=Labels.REQUIRED)
    with pytest.raises(CommandError, match="nosuch"):
        for_model(known, path, labels=Labels.OPTIONAL, target="nosuch")


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["1", "0"], {0, 1}),
        (["1.0", "2.0"], {1, 2}),
        (["True", "False"], {True, False}),
        (["true", "TRUE", "false"], {True, False}),
        (["TRUE", "FALSE"], {"TRUE", "FALSE"}),
        (["01", "02"], {"01", "02"}),
        (["+1", "-1"], {"+1", "-1"}),
        (["01", "1", "2"], {1, 2}),
        (["a", "1"], {"a", "1"}),
    ],
)
def test_classes_are_read_as_the_simplest_type(labels, classes, tmp_path):
    table = rows()
    table["y"] = labels * (30 // len(labels))
    found = training_of(table, tmp_path)
    assert set(found.y.tolist()) == classes
    assert {type(label) for label in found.y.tolist()} == {type(label) for label in classes}
    assert np.unique(found.y, return_counts=True)[1].max() == (15 if len(labels) == 2 else 20)


@pytest.mark.parametrize(
    ("labels", "kind"), [([True, False], bool), ([3, 4], int), ([3.0, 4.0], int), (["3", "4"], str)]
)
def test_classes_of_parquet_keep_their_type_and_whole_numbers_are_whole(labels, kind, tmp_path):
    table = rows()
    table["y"] = labels * 15
    found = training_of(table, tmp_path, "t.parquet")
    assert found.y.tolist() == [kind(label) for label in labels * 15]
    assert {type(label) for label in found.y.tolist()} == {kind}


def test_dates_cannot_be_classes(tmp_path):
    table = rows()
    table["y"] = pd.to_datetime(["2020-01-01", "2020-01-02"] * 15)
    with pytest.raises(CommandError, match="column 'y' holds values of type timestamp"):
        training_of(table, tmp_path, "t.parquet")


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.random.default_rng(0).normal(size=30), "column 'y' has 30 different values in 30 rows"),
        (np.arange(30), "a measurement or a name, not a class"),
        ([f"n{i}" for i in range(30)], "a measurement or a name, not a class"),
        (["a"] * 30, "has only one class, 'a'"),
        ([None] * 30, "no row has a class in column 'y'"),
        (["a"] * 27 + ["b"] * 3, "at least two classes need 5 rows, for cross-validation"),
    ],
)
def test_a_column_that_cannot_be_classes_is_refused(labels, words, tmp_path):
    table = rows()
    table["y"] = labels
    with pytest.raises(CommandError, match=words):
        training_of(table, tmp_path)
