"""Groups of rows with many errors."""

import time

import numpy as np
import pandas as pd

from smallearn.evaluation import Group, evaluate
from smallearn.evaluation._groups import groups_of
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.model._arguments import read_rows


def test_groups_are_by_category_and_gap_too():
    term = Term(0, 1.0, "colour", "equals", "red")
    model = SMaLLModel((0, 1), "<i8", 1, (Prototype(1, -0.5, (term,)),))
    X = pd.DataFrame({"colour": ["red"] * 20 + ["blue"] * 20 + [None] * 20}, dtype=object)
    y = [1] * 20 + [0] * 20 + [1] * 15 + [0] * 5
    (group,) = evaluate(model, X, y).groups
    assert (group.text, group.n_rows, group.wrong) == ("colour is missing", 20, 0.75)


def test_text_with_pandas_own_gaps_is_grouped():
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -1.0, (Term(0, 2.0, "s", "equals", "a"),)),))
    X = pd.DataFrame({"s": pd.array(["a", "b", None] * 20, dtype=pd.StringDtype("python"))})
    found = evaluate(model, X, ["yes", "no", "yes"] * 20)
    assert found.groups == (Group("s is missing", 20, 1.0),)


def test_many_categories_take_no_longer_than_rows():
    terms = (Term(0, 2.0, "s", "equals", "v1"),)
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -1.0, terms),))
    X = pd.DataFrame({"s": [f"v{i % 20_000}" for i in range(60_000)]}, dtype=object)
    begin = time.perf_counter()
    assert groups_of(model, read_rows(model, X), np.zeros(60_000, dtype=bool)) == []
    assert time.perf_counter() - begin < 5.0


def test_rows_of_one_score_for_each_class_are_grouped_by_what_is_predicted():
    X = pd.DataFrame({"x": np.r_[np.full(30, -1.0), np.full(30, 1.0)]})
    each = tuple(Prototype(k, 0.0, (Term(0, 2.0 * k - 1.0, "x"),)) for k in (0, 1))
    wrong = np.r_[np.ones(30, dtype=bool), np.zeros(30, dtype=bool)]
    model = SMaLLModel(("no", "yes"), "<U3", 1, each)
    assert "predicted 'no'" in [group.text for group in groups_of(model, read_rows(model, X), wrong)]
    several = SMaLLModel(("no", "yes"), "<U3", 1, (each[1], Prototype(1, 0.5, (Term(0, -1.0, "x"),))))
    texts = [group.text for group in groups_of(several, read_rows(several, X), wrong)]
    assert "highest is the score 2 for class 'yes'" in texts
