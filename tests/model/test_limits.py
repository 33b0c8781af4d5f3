"""What loads works everywhere, without a warning; what cannot is refused by the name of its field."""

import copy
import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from smallearn import SMaLLModel, explain
from smallearn.evaluation import evaluate
from smallearn.model import Prototype, Selection, Term
from smallearn.model._limits import LARGEST
from smallearn.report import report_html
from tests.helpers.models import CARD, THREE, TRAINING, YES, model_of

FORMAT_10 = SMaLLModel.from_json((Path(__file__).parent / "files" / "format-10.json").read_text())
CHOSEN = replace(YES, training=TRAINING, selection=Selection("accuracy", (0.9, 0.8), 2, ()))
MODELS = {"literals": CARD, "numbers": CHOSEN, "three classes": THREE, "all fields": FORMAT_10}


def places(tree, path=()):
    """Every place of a model's file."""
    for key in tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ():
        yield (*path, key)
        yield from places(tree[key], (*path, key))


def damaged(model, path, value):
    """A model's file with another value in one place."""
    tree = copy.deepcopy(json.loads(model.to_json()))
    at = tree
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return json.dumps(tree)


def spelt(path):
    """A place as errors name it, which say first in which model of several it is."""
    nested = path[0] in ("frontier_models", "alternatives") and len(path) > 2
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path[2 * nested :]).lstrip(".")
    return f"{path[0]}[{path[1]}]: {text}" if nested else text


def value_at(model, path):
    tree = json.loads(model.to_json())
    for key in path:
        tree = tree[key]
    return tree


# --- what loads ------------------------------------------------------------------------------------------------------


def rows_of(model):
    """Rows in which the literals of the model are true, or false; with columns of any type."""
    some = {term.feature: term for term in model.terms}
    rows = [[0.0] * model.n_features for _ in range(2)]
    for feature, term in some.items():
        rows[0][feature] = term.value if term.kind in ("equals", "at_most", "above") else 1.0
        rows[1][feature] = "other" if isinstance(term.value, str) else -1.0
    names = [some[l].label if l in some else f"x{l}" for l in range(model.n_features)]
    return pd.DataFrame(rows, columns=names).astype(object)


def use(model):
    """Everything that one does with a model; a row may be refused, for its scores overflow, but in no other words."""
    assert str(model)
    assert model._repr_html_()
    assert SMaLLModel.from_json(model.to_json()) == model
    assert explain.describe(model)
    rows = rows_of(model)
    for ask in (model.predict, model.predict_proba, lambda X: str(explain.case(model, X.iloc[0]))):
        try:
            ask(rows)
        except ValueError as error:
            assert "overflow" in str(error) or "accept" in str(error) or "does not" in str(error)  # noqa: PT017


NASTY = (1e308, -1e305, 9e304, 1e155, 5e-324, 2**53, 10**300, True, None, "q", "\n", "a\0b", [], [1])


@pytest.mark.parametrize("name", MODELS)
def test_what_loads_works_everywhere_without_a_warning(name):
    model, n_loaded = MODELS[name], 0
    every = list(places(json.loads(model.to_json())))
    for number, path in enumerate(every):
        for value in NASTY[number % 7 :: 7] if len(every) < 150 else NASTY[number % 14 :: 14]:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    changed = SMaLLModel.from_json(damaged(model, path, value))
                except ValueError:
                    continue
                if changed.n_features < 10:
                    n_loaded += 1
                    use(changed)
    assert n_loaded > 10


def test_pages_of_a_model_at_the_limits_work():
    terms = (
        Term(0, 0.5 * LARGEST, "a", "above", LARGEST),
        Term(1, -0.4 * LARGEST, "b", "at_most", -LARGEST),
        Term(2, 1e-300, "c"),
    )
    model = replace(model_of(*terms), selection=Selection("r", (LARGEST, -LARGEST, 0.0), 3, ()))
    X = pd.DataFrame({"a": [0.0, 1e307] * 10, "b": [-1e307, 0.0, 1.0, 5.0] * 5, "c": [1.0, 2.0] * 10})
    y = model.predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        use(model)
        assert str(evaluate(model, X, y))
        assert report_html(model, X, y)


# --- what does not ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_half_of_a_surrogate_pair_is_refused_in_every_field_of_text(name):
    model = MODELS[name]
    every = [path for path in places(json.loads(model.to_json())) if path != ("format",)]
    texts = [path for path in every if isinstance(value_at(model, path), str)]
    assert len(texts) > 3
    for path in texts:
        with pytest.raises(ValueError, match=r"\\ud800|Every|must have") as refused:
            SMaLLModel.from_json(damaged(model, path, "a\ud800"))
        assert not isinstance(refused.value, UnicodeError)
        assert "surrogate" not in str(refused.value) or spelt(path) in str(refused.value)


@pytest.mark.parametrize("name", MODELS)
def test_a_whole_number_of_thousands_of_digits_is_refused_by_its_field(name):
    model = MODELS[name]
    for path in places(json.loads(model.to_json())):
        value = value_at(model, path)
        if isinstance(value, int | float) and not isinstance(value, bool) and path != ("version",):
            text = damaged(model, path, "HERE").replace('"HERE"', "9" * 5000)
            with pytest.raises(
                ValueError, match=r"found a whole number of 5,000 digits|of 5,000 digits does not fit"
            ) as refused:
                SMaLLModel.from_json(text)
            assert spelt(path) in str(refused.value)
    with pytest.raises(ValueError, match="has format a whole number of 5,000 digits; smallearn"):
        SMaLLModel.from_json(damaged(model, ("version",), "HERE").replace('"HERE"', "9" * 5000))


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("numbers", "selection.scores[0]", 1e308),
        ("numbers", "prototypes[1].intercept", -1e308),
        ("numbers", "prototypes[0].terms[1].weight", 1e308),
        ("numbers", "training.objective", 1e308),
        ("literals", "prototypes[0].terms[0].value", -1e306),
        ("all fields", "reference.features[1].edges[2]", 1e306),
        ("all fields", "reference.features[0].counts[0]", 1e308),
        ("all fields", "frontier_models[0]: prototypes[0].intercept", 1e308),
    ],
)
def test_numbers_too_large_to_compute_with_are_refused_by_their_field(name, path, value):
    model = MODELS[name]
    known = {spelt(place): place for place in places(json.loads(model.to_json()))}
    with pytest.raises(ValueError, match=r"at most 1e\+305") as refused:
        SMaLLModel.from_json(damaged(model, known[path], value))
    assert path.rpartition(".edges")[0] in str(refused.value)
    assert path.rpartition("prototypes")[2].rpartition(".")[2].partition("[")[0] in str(refused.value)


def test_weights_that_only_overflow_together_are_refused():
    terms = tuple(Term(l, 0.4 * LARGEST, f"x{l}", "above", 0.0) for l in range(3))
    assert model_of(*terms[:2]).prototypes
    with pytest.raises(ValueError, match=r"^prototypes\[0\]: the scores overflow"):
        model_of(*terms)
    with pytest.raises(ValueError, match=r"^prototypes\[0\]: the scores overflow"):
        replace(model_of(terms[0]), scale=100.0)


@pytest.mark.parametrize("kind", ["at_most", "above", "raw"])
def test_a_feature_that_is_text_and_a_number_is_refused(kind):
    text = Term(0, 1.0, "x", "equals", "q")
    number = Term(0, 1.0, "x", kind, None if kind == "raw" else 0.5)
    for terms, needs in (((text, number), "numbers"), ((number, text), "text")):
        with pytest.raises(ValueError, match=rf"^prototypes\[0\]\.terms\[1\]: .* needs {needs}, and prototypes\[0\]"):
            model_of(*terms)
    other = replace(model_of(number), prototypes=(Prototype(1, 0.0, (number,)),))
    with pytest.raises(ValueError, match=r"^alternatives\[0\]\.prototypes\[0\]\.terms\[0\]: .* needs numbers"):
        replace(model_of(text), alternatives=(other,))
    both = model_of(text, Term(0, 1.0, "x", "equals", 2), Term(0, 1.0, "x", "missing"))
    assert both.scores(np.array([["q"], [2], [None]], dtype=object))[:, 0].tolist() == [0.0, 0.0, 0.0]


def test_a_name_that_no_file_can_hold_is_refused_when_it_is_saved(tmp_path):
    model = model_of(Term(0, 1.0, "a\ud800"))
    with pytest.raises(
        ValueError, match=r"No file can hold the text .*\\ud800.*: it has half of a surrogate pair"
    ) as error:
        model.save(tmp_path / "model.json")
    assert not isinstance(error.value, UnicodeError)
    assert list(tmp_path.iterdir()) == []
