"""Exports to plain Python: run by CPython, as a text and as a file, and by MicroPython."""

import ast
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import timeit
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy import sparse

import scripts
from exports import MIXED, exportable, full_table, trained_models
from models import CARD, ROWS, THREE, YES
from scripts import Answer, all_features, assert_agrees, few
from smallearn.export.python import to_python
from smallearn.export.terms import flatten
from tools import missing, need

MICROPYTHON = "@micropython/micropython-webassembly-pyscript@1.27.0"


@pytest.fixture(scope="module")
def trained():
    return trained_models()


def load(text):
    """The module, which must be ASCII and in the syntax of Python 3.8."""
    text.encode("ascii")
    ast.parse(text, feature_version=(3, 8))
    module = {}
    exec(compile(text, "export", "exec"), module)
    return module


def answers(module, rows):
    return [_answer(module, row) for row in rows]


def _answer(module, row):
    reason, decision = module["reason"](row), module["decision"](row)
    assert reason["class"] == module["predict"](row)
    assert reason["score"] == module["scores"](row)[reason["prototype"]]
    return Answer(
        module["CLASSES"].index(module["predict"](row)),
        module["scores"](row),
        decision if isinstance(decision, list) else [decision],
        reason["prototype"],
        [(term["feature"], term["contribution"]) for term in reason["terms"]],
        module["probabilities"](row),
    )


def assert_all_agree(cases):
    for model, rows in cases:
        flat = flatten(model)
        everything = [all_features(flat, row) for row in rows]
        assert_agrees(model, rows, answers(load(to_python(model)), everything))
        assert_agrees(model, rows, answers(load(to_python(model, inputs="used")), rows))


# --- CPython ---------------------------------------------------------------------------------------------------------


def test_every_row_of_real_data_is_predicted_as_by_the_model(trained):
    assert_all_agree(scripts.with_rows(trained))


def test_every_edge_is_predicted_as_by_the_model():
    assert_all_agree(scripts.by_hand())


@given(exportable())
def test_any_model_is_predicted_as_by_the_model(case):
    assert_all_agree([case])


def test_names_can_do_no_harm():
    assert_all_agree([(scripts.hostile_model(), scripts.hostile_rows())])


@pytest.mark.parametrize("labels", scripts.LABELS.values(), ids=scripts.LABELS)
def test_classes_are_returned_with_their_type(labels):
    predict = load(to_python(scripts.labelled(labels)))["predict"]
    for i, label in enumerate(labels):
        found = predict([float(i)])
        assert type(found) is type(label)
        assert repr(found) == repr(label)


def test_nan_is_missing_as_none_is():
    module = load(to_python(MIXED))
    for row in ([None, None, None, None, None], [None, 150.0, "A", 1.0, 3], [50, 0.1, None, None, True]):
        with_nan = [math.nan if value is None else value for value in row]
        assert module["scores"](with_nan) == module["scores"](row)
        assert module["predict"](with_nan) == module["predict"](row) == MIXED.predict_one(row)


def test_a_number_is_not_its_text_and_true_is_one():
    module = load(to_python(MIXED))
    for count in (1, 1.0, True, "1", 3, "3", 3.0, False, 0):
        row = [50.0, 100.0, "A", 0.0, count]
        assert module["scores"](row) == MIXED.scores(np.array([row], dtype=object))[0].tolist()


def test_whole_numbers_beyond_floats_are_compared_as_the_model_does():
    threshold = 2.0**60
    prototype = scripts.Prototype(1, -0.5, (scripts.Term(0, 1.0, "a", "above", threshold),))
    model = scripts.replace(YES, n_features=1, prototypes=(prototype,))
    for number in (2**60, 2**60 + 1, 2**60 + 129, 2**60 + 1000):
        assert load(to_python(model))["predict"]([number]) == model.predict_one([number])


@pytest.mark.parametrize("row", scripts.REFUSED.values(), ids=scripts.REFUSED)
def test_a_row_without_an_answer_is_a_value_error(row):
    module = load(to_python(scripts.NEEDY))
    assert module["predict"](scripts.FULL) == scripts.NEEDY.predict_one(scripts.FULL)
    for function in ("predict", "scores", "decision", "probabilities", "reason"):
        with pytest.raises(ValueError, match="missing, too large or of a wrong type"):
            module[function](row)
    with pytest.raises(ValueError):
        scripts.NEEDY.predict_one(row)


@pytest.mark.parametrize("row", [[], [1.0, 2.0], [1.0, 2.0, 3.0, 4.0], {"a": 1, "b": 2, "c": 3}, 7])
def test_a_row_of_another_length_is_refused(row):
    module = load(to_python(YES))
    for function in ("predict", "scores"):
        with pytest.raises(ValueError, match="3 values"):
            module[function](row)


def test_text_that_the_model_refuses_is_refused():
    module = load(to_python(MIXED))
    for row in ([50, "7", "A", 0.0, 1], ["7", 7, "A", 0.0, 1]):
        for predict in (module["predict"], MIXED.predict_one):
            with pytest.raises(ValueError):
                predict(row)


def test_log_odds_that_overflow_are_refused_and_the_class_is_not():
    for model in (scripts.replace(YES, scale=1e300), scripts.replace(THREE, scale=1e300)):
        module = load(to_python(model))
        row = [1e10] * model.n_features
        assert module["predict"](row) == model.predict_one(row)
        with pytest.raises(ValueError):
            module["decision"](row)


def test_sums_of_a_thousand_terms_compile():
    terms = tuple(scripts.Term(i, 0.1 * i + 0.1, f"f{i}") for i in range(1000))
    model = scripts.replace(YES, n_features=1000, prototypes=(scripts.Prototype(1, -1.0, terms),))
    row = np.random.default_rng(0).normal(size=1000).tolist()
    module = load(to_python(model))
    assert module["scores"](row) == model.scores([row])[0].tolist()
    assert module["predict"](row) == model.predict_one(row)


def test_the_text_says_where_it_comes_from_and_what_it_does():
    text = to_python(CARD, inputs="used")
    assert text.startswith(f"# {flatten(CARD).stamp}\n# Predict 'yes' if this score is above 0, otherwise 'no'.\n")
    assert "X_COLOUR = 1" in text
    assert "# colour = 'red'" in text


def test_a_prediction_takes_no_longer_than_ten_empty_calls(trained):
    model, X = trained["breast cancer"]
    assert len(model.prototypes) == 2
    assert [len(prototype.terms) for prototype in model.prototypes] == [3, 3]
    scope = {"predict": load(to_python(model))["predict"], "empty": _empty}
    rows = {label: X[model.predict(X) == label][0].tolist() for label in model.classes}
    for row in rows.values():
        best = {"predict": math.inf, "empty": math.inf}
        for _ in range(100):
            for name in best:
                timer = timeit.Timer(f"{name}(row)", globals={**scope, "row": row})
                best[name] = min(best[name], timer.timeit(1000))
        assert best["predict"] <= 10.0 * best["empty"]


def _empty(x):
    pass


# --- conformance -----------------------------------------------------------------------------------------------------


def test_conformance_rows_may_come_in_any_form_that_the_model_takes():
    table = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    texts = {to_python(YES, conformance=form) for form in (ROWS, ROWS.tolist(), sparse.csr_array(ROWS), table)}
    assert len(texts) == 1
    assert load(texts.pop())["test"]() == 0


def test_conformance_counts_the_rows_that_differ():
    text = to_python(YES, inputs="used", conformance=ROWS)
    assert load(text)["test"]() == 0
    assert load(text.replace("), 1),", "), 0),"))["test"]() == np.count_nonzero(YES.predict(ROWS) == "yes") > 0


@given(exportable())
def test_conformance_of_any_model_holds(case):
    model, rows = case
    for inputs in ("all", "used"):
        text = to_python(model, inputs=inputs, conformance=full_table(flatten(model), rows))
        assert load(text)["test"]() == 0
    assert load(to_python(model, conformance=full_table(flatten(model), [])))["test"]() == 0


def test_conformance_rows_without_an_answer_are_refused():
    with pytest.raises(ValueError, match="a number for each of 'a', 'c'"):
        to_python(YES, conformance=[[math.nan, 0.0, 0.0]])
    dates = pd.DataFrame({"age": [1.0], "colour": [pd.Timestamp(0)], "member": [True]})
    with pytest.raises(ValueError, match="datetime64"):
        to_python(CARD, conformance=dates)
    with pytest.raises(ValueError, match="no float64"):
        to_python(CARD, conformance=np.array([[30.0, 10**400, 0.0, True]], dtype=object))


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="neither 'all'"):
        to_python(YES, inputs="some")
    with pytest.raises(TypeError, match="SMaLLModel"):
        to_python("model")


def test_the_text_runs_as_a_file(tmp_path):
    text = to_python(MIXED, conformance=full_table(flatten(MIXED), scripts.edge_rows(flatten(MIXED), 20)))
    (tmp_path / "model.py").write_text(text, encoding="ascii")
    command = [sys.executable, "-S", "-E", "-c", "import model; print(model.test(), len(model.ROWS))"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert found[0] == "0"
    assert int(found[1]) > 20


# --- MicroPython -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def micropython():
    """The path of MicroPython for node, installed once in a folder of its own."""
    need("node")
    npm = need("npm")
    cache = Path(os.environ.get("SMALLEARN_TOOLS") or Path.home() / ".cache" / "smallearn-tools")
    folder = cache / MICROPYTHON.replace("/", "_")
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        draft = tempfile.mkdtemp(dir=cache)  # and renamed when complete: several tests may want it at once
        command = [npm, "install", "--no-audit", "--no-fund", "--prefix", draft, MICROPYTHON]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            shutil.rmtree(draft)
            missing(f"npm cannot install {MICROPYTHON}: {done.stderr[-300:]}")
        try:
            os.rename(draft, folder)
        except OSError:  # another was faster
            shutil.rmtree(draft)
    return folder / "node_modules" / MICROPYTHON.rpartition("@")[0] / "micropython.mjs"


HOST = """
import { readFileSync } from "node:fs";
const [, , path, code, input] = process.argv;
const { loadMicroPython } = await import(path);
const heapsize = 256 * 1024 * 1024;
const mp = await loadMicroPython({ heapsize, linebuffer: true, stdout: (line) => console.log(line) });
mp.globals.set("TASKS", readFileSync(input, "utf-8"));
mp.runPython(readFileSync(code, "utf-8"));
"""
# Numbers go in and out as their eight bytes and text as UTF-8, so that nothing is lost on the way.
GUEST = """
import json, struct, sys

def pack(number):
    return struct.pack("<d", number).hex()

def unpack(cell):
    if cell is None:
        return None
    content = bytes.fromhex(cell[1:])
    return struct.unpack("<d", content)[0] if cell[0] == "#" else str(content, "utf-8")

for task in json.loads(TASKS):
    module = {}
    exec(task["text"], module)
    print(json.dumps(module["test"]()))
    labels = [unpack(cell) for cell in task["labels"]]
    for row in task["rows"]:
        x = [unpack(cell) for cell in row]
        reason = module["reason"](x)
        decision = module["decision"](x)
        print(json.dumps([
            module["CLASSES"].index(module["predict"](x)),
            [pack(z) for z in module["scores"](x)],
            [pack(z) for z in (decision if isinstance(decision, list) else [decision])],
            reason["prototype"],
            [[labels.index(term["feature"]), pack(term["contribution"])] for term in reason["terms"]],
            [pack(z) for z in module["probabilities"](x)],
        ]))
print(json.dumps(sys.implementation.name))
"""


def run_micropython(path, folder, cases):
    """Run the exports of all models in one interpreter and compare."""
    (folder / "host.mjs").write_text(HOST)
    (folder / "guest.py").write_text(GUEST)
    tasks = []
    for model, rows in cases:
        flat = flatten(model)
        text = to_python(model, conformance=full_table(flat, rows[:5]))
        everything = [all_features(flat, row) for row in rows]
        cells = [[_cell(value) for value in row] for row in everything]
        tasks.append({"text": text, "rows": cells, "labels": [_cell(given.label) for given in flat.inputs]})
    (folder / "tasks.json").write_text(json.dumps(tasks))
    command = [need("node"), "host.mjs", str(path), "guest.py", "tasks.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines.pop() == "micropython"
    for model, rows in cases:
        assert lines.pop(0) == 0
        labels = [given.label for given in flatten(model).inputs]
        found = [_unpacked(lines.pop(0), labels) for _ in rows]
        assert_agrees(model, rows, found)
    assert not lines


def _cell(value):
    """None, ``$`` and UTF-8 of a text, or ``#`` and the eight bytes of a number."""
    if value is None:
        return None
    if isinstance(value, str):
        return "$" + value.encode("utf-8", "surrogatepass").hex()
    return "#" + struct.pack("<d", value).hex()


def _unpacked(line, labels):
    label, scores, decision, prototype, terms, probabilities = line
    return Answer(
        label,
        [_number(z) for z in scores],
        [_number(z) for z in decision],
        prototype,
        [(labels[position], _number(part)) for position, part in terms],
        [_number(z) for z in probabilities],
    )


def _number(digits):
    return struct.unpack("<d", bytes.fromhex(digits))[0]


def test_micropython_predicts_every_row_as_the_model_does(micropython, tmp_path, trained):
    run_micropython(micropython, tmp_path, [*scripts.with_rows(trained), *scripts.by_hand()])


def test_micropython_predicts_any_model_as_the_model_does(micropython, tmp_path_factory):
    @few
    @given(scripts.batches)
    def check(cases):
        run_micropython(micropython, tmp_path_factory.mktemp("micropython"), cases)

    check()


def test_names_can_do_no_harm_in_micropython(micropython, tmp_path):
    names = [name[:1000] for name in scripts.HOSTILE]  # it would read a million signs for minutes
    run_micropython(micropython, tmp_path, [(scripts.hostile_model(names), scripts.hostile_rows(names))])
