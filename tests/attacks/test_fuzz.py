"""Short versions of the attacks with hostile input; the long ones are ``make fuzz``."""

import json
import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attacks.fuzz import models, names, problems, tables
from attacks.fuzz.loaded import check_model
from attacks.fuzz.models import judge
from attacks.fuzz.mutation import mutant
from attacks.fuzz.seeds import everything, seeds
from attacks.pool import attempt_all, dice
from smallearn import SMaLLModel
from smallearn.model._json import VERSION
from tests.helpers.models import YES
from tests.helpers.tools import need


def run(attack, count, first=0):
    findings = attack.attack(count, 0, first, 0)
    assert not findings.found, findings.found
    return findings.tried


def test_damaged_model_files_are_refused_or_work():
    tried = run(models, 300)
    assert tried["files"] == 300
    assert tried["refused"] > 100
    assert tried["loaded"] > 30


@given(st.integers(0, 2**64))
def test_any_damaged_model_file_is_refused_or_works(seed):
    text = mutant(random.Random(seed)).decode("utf-8", "surrogatepass" if seed % 2 else "replace")
    assert judge(text).findings == ()


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_any_value_in_any_field_is_refused_or_works(value):
    tree = json.loads(everything().to_json())
    for field in tree:
        text = json.dumps(tree | {field: value})
        assert judge(text).findings == (), field


@pytest.mark.parametrize("version", [VERSION + 1, 99, 10**30])
def test_a_format_of_the_future_is_refused_by_its_number(version):
    text = json.dumps(json.loads(YES.to_json()) | {"version": version})
    with pytest.raises(ValueError, match=f"has format {version}; smallearn .* reads formats 1 to {VERSION}"):
        SMaLLModel.from_json(text)


def test_every_file_to_begin_with_loads_and_works():
    for text in (text for some in seeds() for text in some):
        check_model(SMaLLModel.from_json(text))


def test_random_problems_are_fitted_as_promised():
    tried = run(problems, 8)
    assert tried == {"problems": 8, "fitted": 8}


def test_damaged_tables_end_in_an_exit_code():
    assert run(tables, 40)["tables"] == 40


def test_hostile_names_in_text_and_in_python_answer_as_the_model(monkeypatch):
    quick = {target: names.TARGETS[target] for target in ("python", "sql", "pmml", "html")}
    monkeypatch.setattr(names, "TARGETS", quick)
    tried = run(names, 200)
    for target in quick:
        assert tried[f"{target}: names"] + tried.get(f"{target}: names refused", 0) == 200
    assert tried["html: names"] == 200
    assert min(tried["python: names"], tried["sql: names"]) > 150


@pytest.mark.tools
@pytest.mark.parametrize("target", ["c", "c++", "javascript", "lua", "rust"])
def test_hostile_names_in_languages_answer_as_the_model(target, monkeypatch):
    need({"c": "gcc", "c++": "g++", "javascript": "node", "lua": "lua5.4", "rust": "rustc"}[target])
    monkeypatch.setattr(names, "TARGETS", {target: names.TARGETS[target]})
    tried = run(names, 100)
    assert sum(tried.values()) == 100
    assert tried[f"{target}: names"] > 70


@pytest.mark.browser
def test_hostile_names_do_not_run_in_a_browser(monkeypatch):
    need("chromium")
    monkeypatch.setattr(names, "TARGETS", {"browser": names.TARGETS["browser"]})
    tried = run(names, 100)
    assert sum(tried.values()) == 100
    assert tried["browser: names"] > 70


# --- the attacks themselves ------------------------------------------------------------------------------------------


def test_an_input_follows_from_the_seed_and_its_number():
    assert [mutant(dice(0, i)) for i in range(5)] == [mutant(dice(0, i)) for i in range(5)]
    assert len({mutant(dice(seed, 7)) for seed in range(5)}) == 5


def _exits(_, number):
    if number == 3:
        os._exit(7)
    return models.Outcome(("here",))


def _prepare():
    return _exits


def test_a_process_that_dies_is_a_finding_and_the_others_are_tried():
    tally = attempt_all(_prepare, 0, range(8), 1, memory=0)
    assert tally.tried == 8 - 3  # what was not yet told when it died
    assert [(number, what) for number, what, _ in tally.findings] == [(3, "the process ended with 7")]


def test_a_model_that_answers_otherwise_is_found(monkeypatch):
    monkeypatch.setattr(SMaLLModel, "predict_one", lambda *_: "else")
    assert judge(YES.to_json()).findings


def test_a_name_that_runs_is_found(monkeypatch):
    wrong = {"python": lambda _models, rows, _folder: [[0] * len(some) for some in rows]}
    monkeypatch.setattr(names, "TARGETS", wrong)
    findings = names.attack(100, 0, 0, 0)
    assert list(findings.found) == ["python: another answer than the model's"]
