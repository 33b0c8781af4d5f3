"""Models of thousands of terms are explained in seconds; larger ones are refused at once."""

import time

import numpy as np
import pytest

from smallearn import SMaLLModel, explain
from smallearn.model import Prototype, Term
from tests.helpers.models import model_of

WEIGHTS = np.random.default_rng(0).normal(size=20_000).tolist()


def literals(n_terms, kind="above"):
    """A model of so many literals of one feature."""
    value = float if kind == "above" else "category {}".format
    return model_of(*(Term(0, WEIGHTS[i], "x", kind, value(i)) for i in range(n_terms)))


def prototypes(count):
    """A model of so many prototypes of one term."""
    each = tuple(Prototype(1, WEIGHTS[i], (Term(0, WEIGHTS[i], "x", "above", float(i)),)) for i in range(count))
    return SMaLLModel(("no", "yes"), "<U3", 1, each)


@pytest.mark.parametrize("model", [literals(2000), literals(2000, "equals"), prototypes(700)], ids=["a", "b", "c"])
def test_thousands_of_terms_of_one_feature_take_seconds(model):
    begin = time.perf_counter()
    row = [[3.5 if model.terms[0].kind == "above" else "category 7"]]
    found = explain.case(model, row)
    assert len(found.alone) == 1
    assert explain.dnf(model).exact
    assert time.perf_counter() - begin < 30.0  # two seconds where nothing else runs


def test_a_model_that_is_too_large_to_explain_is_refused_with_what_is_allowed():
    model = literals(20_000)
    with pytest.raises(ValueError, match=r"20,000 terms in 1 prototype, too many for the smallest .* 7,071 terms"):
        explain.case(model, [[3.5]])
    with pytest.raises(ValueError, match=r"too many for an exact rule: that is for models of at most 7,071 terms"):
        explain.dnf(model)


def test_loading_and_printing_many_prototypes_takes_seconds():
    model = prototypes(4_000)
    begin = time.perf_counter()
    assert SMaLLModel.from_json(model.to_json()) == model
    assert str(model).count("Score 2") > 1000
    assert model._repr_html_()
    assert model.n_terms == 4_000
    assert time.perf_counter() - begin < 60.0  # one second where nothing else runs
