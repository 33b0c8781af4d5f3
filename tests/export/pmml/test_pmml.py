"""Exports to PMML, evaluated by PMML4S: many models in one process."""

import json
import math
import subprocess
import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from smallearn.explain import reason_codes
from smallearn.export import to_pmml
from smallearn.export._flat import flatten
from smallearn.export._pmml.writer import NOT_XML
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.model._columns import factor_of_one
from tests.helpers import scripts
from tests.helpers.exports import MIXED, MODELS, edge_rows, full_table, trained_models
from tests.helpers.models import CARD, YES
from tests.helpers.scripts import few
from tests.helpers.tools import need, need_module

HOST = """
import json
from pypmml import Model
answers = []
for text, names, rows in json.load(open("tasks.json")):
    model = Model.fromString(text)
    answers.append([dict(model.predict(dict(zip(names, row)))) for row in rows])
json.dump(answers, open("answers.json", "w"))
Model.close()  # the Java process
"""


@pytest.fixture
def run(tmp_path_factory):
    """From models and rows of their inputs to what the evaluator makes of them: the outputs by name."""
    need("java")
    need_module("pypmml")

    def evaluate(cases, **options):
        folder = tmp_path_factory.mktemp("pmml")
        tasks = [
            (to_pmml(model, **options), [one.label for one in flatten(model).inputs], rows) for model, rows in cases
        ]
        (folder / "tasks.json").write_text(json.dumps(tasks))
        done = subprocess.run([sys.executable, "-c", HOST], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads((folder / "answers.json").read_text())

    return evaluate


def assert_all_agree(run, cases):
    """Classes and scores exactly, probabilities to rounding."""
    for (model, rows), answers in zip(cases, run(cases), strict=True):
        table = full_table(flatten(model), rows)
        texts = [label if isinstance(label, str) else json.dumps(label) for label in model.classes]
        expected = [texts[model.classes.index(label)] for label in model.predict(table).tolist()]
        assert [str(answer["label"]) for answer in answers] == expected
        scores = [[answer[f"score({j})"] for j in range(len(model.prototypes))] for answer in answers]
        assert scores == model.scores(table).tolist()
        found = [[answer[f"probability({text})"] for text in texts] for answer in answers]
        np.testing.assert_allclose(found, model.predict_proba(table), rtol=1e-12, atol=1e-15)


@pytest.mark.tools
def test_every_row_of_real_data_and_every_edge_is_predicted_as_by_the_model(run):
    assert_all_agree(run, [*scripts.with_rows(trained_models()), *scripts.by_hand()])


@pytest.mark.tools
def test_any_model_is_predicted_as_by_the_model(run):
    @few
    @given(scripts.batches)
    def check(cases):
        assert_all_agree(run, [case for case in cases if can_be_written(case[0])])

    check()


def can_be_written(model):
    """Whether PMML can hold a model; what it refuses is tested below."""
    try:
        to_pmml(model)
    except ValueError:
        return False
    return True


@pytest.mark.tools
def test_names_can_do_no_harm(run):
    names = [name[:1000] for name in scripts.HOSTILE if name and not NOT_XML.search(name)]
    assert len(names) > 40
    assert_all_agree(run, [(scripts.hostile_model(names), scripts.hostile_rows(names))])


@pytest.mark.tools
def test_a_row_without_an_answer_has_none(run):
    used = [[row[0], *row[2:]] for row in scripts.REFUSED.values() if None in row or any(one != one for one in row)]
    assert len(used) == 6
    (answers,) = run([(scripts.NEEDY, [*used, [1.0, 2.0, 1.0]])])
    *refused, full = answers
    assert all(set(answer.values()) == {None} for answer in refused)
    assert full["label"] == scripts.NEEDY.predict_one(scripts.FULL)


@pytest.mark.tools
@pytest.mark.parametrize("kind", sorted(scripts.LABELS.keys() - {"mixed"}))
def test_classes_are_whole_numbers_or_text(run, kind):
    labels = scripts.LABELS[kind]
    (answers,) = run([(scripts.labelled(labels), [[i] for i in range(len(labels))])])
    expected = list(labels) if kind == "small" else [json.dumps(label) for label in labels]
    assert [answer["label"] for answer in answers] == expected


@pytest.mark.tools
def test_features_may_have_the_names_of_outputs(run):
    terms = (Term(0, 1.0, "label"), Term(1, 2.0, "score(0)"), Term(2, 4.0, "probability(yes)", "above", 0.0))
    model = replace(YES, prototypes=(Prototype(1, 0.5, terms),))
    ((answer,),) = run([(model, [[1.0, 10.0, 1.0]])])
    assert answer["label_"] == "yes"
    assert answer["score(0)_"] == 25.5
    assert answer["probability(yes)_"] == pytest.approx(1 / (1 + math.exp(-25.5)), rel=1e-12)


# --- score cards -----------------------------------------------------------------------------------------------------


def cards():
    """Each prototype of each model as a model of its own, of literals, for either class, also with whole points."""
    found = []
    for model in MODELS.values():
        for prototype in model.prototypes:
            literals = tuple(term for term in prototype.terms if term.kind != "raw")
            whole = tuple(replace(term, weight=float(round(3.0 * term.weight) or 1)) for term in literals)
            for owner, (constant, points) in product((0, 1), ((prototype.intercept + 0.1, literals), (-2.0, whole))):
                own = Prototype(owner, constant, points)
                decided = {"decision_threshold": model.decision_threshold, "scale": model.scale}
                one = SMaLLModel(("no", "yes"), "<U3", model.n_features, (own,), **decided)
                found += [one] if points and can_be_written(one) else []
    return found


@pytest.mark.tools
def test_a_card_is_evaluated_as_by_the_model(run):
    models = cards()
    assert len(models) > 20
    assert all("<Scorecard" in to_pmml(model) for model in models)
    assert {model.decision_threshold == 0.5 for model in models} == {True, False}
    assert_all_agree(run, [(model, edge_rows(flatten(model), 40)) for model in models])


@pytest.mark.tools
def test_reason_codes_of_cards_are_those_of_python(run):
    """PMML4S repeats the last reason where fewer terms fall short, and has another order of equal terms."""
    cases = [(model, edge_rows(flatten(model), 40)) for model in cards()]
    for label in ("yes", "no"):
        for (model, rows), answers in zip(cases, run(cases, reason_codes=3, favourable=label), strict=True):
            flat = flatten(model)
            table = full_table(flat, rows)
            expected = reason_codes(model, table, 3, favourable=label)
            for row, codes, answer in zip(table, expected, answers, strict=True):
                found = [answer[f"reason_{place}"] for place in (1, 2, 3)][: sum(code is not None for code in codes)]
                short = shortfalls_of(model, row, label)
                assert len(set(found)) == len(found)
                assert [short[code] for code in found] == [short[code] for code in codes if code is not None]


def shortfalls_of(model, row, label):
    """By the words for a term, by how much it falls short."""
    sign = 1.0 if model.classes.index(label) == model.prototypes[0].owner else -1.0
    short = {}
    for term in model.terms:
        words = f"not {term.text}" if sign * term.weight > 0.0 else term.text
        short[words] = max(sign * term.weight, 0.0) - sign * term.weight * factor_of_one(term, row[term.feature])
    return short


def test_the_text_says_where_it_comes_from():
    text = to_pmml(CARD)
    assert f'description="{flatten(CARD).stamp}"' in text
    assert "name=\"colour = 'red'\"" in text
    assert "<Scorecard" in text
    assert "<TreeModel" in to_pmml(MIXED)


def test_reason_codes_need_a_card_and_different_words():
    with pytest.raises(ValueError, match="reason_codes=2 needs a score card in PMML"):
        to_pmml(MIXED, reason_codes=2)
    with pytest.raises(ValueError, match="wording: PMML adds up terms of the same words: 'no luck'"):
        to_pmml(CARD, reason_codes=2, wording=dict.fromkeys([term.label for term in CARD.features], "no luck"))


def test_what_pmml_cannot_hold_is_refused():
    with pytest.raises(ValueError, match=r"XML cannot hold the sign U\+0000"):
        to_pmml(scripts.hostile_model(["a", "b\x00", "c"]))
    with pytest.raises(ValueError, match="two classes of the model have the same text"):
        to_pmml(scripts.labelled(scripts.LABELS["mixed"]))
    with pytest.raises(ValueError, match="one is empty"):
        to_pmml(scripts.labelled(("", "a")))
    terms = (Term(0, 1.0, "a", "equals", "b"), Term(0, 2.0, "a", "equals", 3.0))
    with pytest.raises(ValueError, match="PMML cannot compare 'a' with text and numbers"):
        to_pmml(replace(YES, prototypes=(Prototype(1, 0.5, terms),)))
