"""Exports to JavaScript, run by node: many models in one process. The types are in test_typescript.py."""

import json
import subprocess

import numpy as np
import pytest
from hypothesis import given

from smallearn.export._flat import flatten
from smallearn.export._scripts.javascript import to_javascript
from tests.helpers import scripts
from tests.helpers.exports import MIXED, full_table, trained_models
from tests.helpers.models import CARD, ROWS, THREE, YES
from tests.helpers.scripts import Answer, all_features, assert_agrees, few
from tests.helpers.tools import need

# The expression of each task is evaluated for each row x, with the module as m. With labels, x is an object. An error
# is reported by its name.
HOST = """
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
const tasks = JSON.parse(readFileSync("tasks.json", "utf-8"));
const found = [];
for (const task of tasks) {
  const m = task.file.endsWith(".cjs") ? require(task.file) : await import(task.file);
  const evaluate = new Function("m", "x", `return ${task.expression};`);
  for (const cells of task.rows) {
    const row = task.labels ? Object.fromEntries(task.labels.map((label, l) => [label, cells[l]])) : cells;
    let answer;
    try {
      answer = { value: evaluate(m, row) };
    } catch (error) {
      answer = { error: error.name };
    }
    found.push(answer);
  }
}
process.stdout.write(JSON.stringify(found));
"""
ANSWER = """(() => {
  const reason = m.reason(x), decision = m.decision(x);
  if (reason.class !== m.predict(x) || reason.score !== m.scores(x)[reason.prototype]) throw new Error("reason");
  return [
    m.CLASSES.indexOf(m.predict(x)), m.scores(x), [decision].flat(), reason.prototype,
    reason.terms.map((term) => [term.feature, term.contribution]), m.probabilities(x),
  ];
})()"""


@pytest.fixture
def run(tmp_path_factory):
    """From texts of modules, expressions and rows to what node makes of them, each a value or an error."""

    def run_node(tasks):
        folder = tmp_path_factory.mktemp("node")
        keys = ("expression", "rows", "labels")
        lines = []
        for i, (text, *task) in enumerate(tasks):
            file = f"./m{i}.{'cjs' if 'module.exports' in text else 'mjs'}"
            (folder / file).write_text(text, encoding="ascii")
            lines.append({"file": file, **dict(zip(keys, task, strict=False))})
        (folder / "tasks.json").write_text(json.dumps(lines))
        (folder / "host.mjs").write_text(HOST)
        done = subprocess.run([need("node"), "host.mjs"], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
        found = iter(json.loads(done.stdout))
        return [[next(found) for _ in rows] for _, _, rows, *_ in tasks]

    return run_node


def assert_all_agree(run, cases, expression=ANSWER):
    """By position of all features and of those in use, and by label; as an ES module and as CommonJS."""
    tasks = []
    for model, rows in cases:
        flat = flatten(model)
        labels = [input_.label for input_ in flat.inputs]
        tasks.append((to_javascript(model), expression, [all_features(flat, row) for row in rows]))
        tasks.append((to_javascript(model, inputs="used"), expression, rows))
        tasks.append((to_javascript(model), expression, rows, labels))
        tasks.append((to_javascript(model, form="commonjs"), expression, rows, labels))
    found = run(tasks)
    for position, (model, rows) in enumerate(cases):
        module, commonjs = found[4 * position + 2 : 4 * position + 4]
        assert module == commonjs
        for results in found[4 * position : 4 * position + 3]:
            assert_agrees(model, rows, [_answer(result) for result in results])


def _answer(result):
    """Numbers as floats: JavaScript writes 2⁵⁵ and more without a point, rounded to as many digits as tell it."""
    label, scores, decision, prototype, terms, probabilities = result["value"]
    parts = [(words, float(points)) for words, points in terms]
    return Answer(label, [*map(float, scores)], [*map(float, decision)], prototype, parts, probabilities)


@pytest.mark.tools
def test_every_row_of_real_data_and_every_edge_is_predicted_as_by_the_model(run):
    assert_all_agree(run, [*scripts.with_rows(trained_models()), *scripts.by_hand()])


@pytest.mark.tools
def test_any_model_is_predicted_as_by_the_model(run):
    @few
    @given(scripts.batches)
    def check(cases):
        assert_all_agree(run, cases)

    check()


@pytest.mark.tools
def test_names_can_do_no_harm(run):
    model = scripts.hostile_model()
    assert_all_agree(run, [(model, scripts.hostile_rows())])
    text = to_javascript(model, conformance=[scripts.HOSTILE])
    assert "</" not in text
    assert "<!" not in text


@pytest.mark.tools
def test_a_row_may_be_a_typed_array(run):
    (found,) = run([(to_javascript(YES), "m.scores(new Float64Array(x))", ROWS.tolist())])
    assert [result["value"] for result in found] == YES.scores(ROWS).tolist()


@pytest.mark.tools
@pytest.mark.parametrize("labels", scripts.LABELS.values(), ids=scripts.LABELS)
def test_classes_are_returned_with_their_type(run, labels):
    expression = "[typeof m.predict(x), Object.is(m.predict(x), -0) ? '-0' : String(m.predict(x))]"
    (found,) = run([(to_javascript(scripts.labelled(labels)), expression, [[i] for i in range(len(labels))])])
    beyond = any(type(label) is int and abs(label) > 2**53 for label in labels)
    kinds = {str: "string", bool: "boolean", float: "number", int: "bigint" if beyond else "number"}
    for label, result in zip(labels, found, strict=True):
        kind, text = result["value"]
        assert kind == kinds[type(label)]
        if kind == "number":
            assert repr(float(text)) == repr(float(label))
        else:
            assert text == (json.dumps(label) if type(label) is bool else str(label))


@pytest.mark.tools
def test_undefined_and_nan_are_missing_as_null_is(run):
    rows = [[None] * 5, [None, 150.0, "A", 1.0, 3], [50, 0.1, None, None, True]]
    kinds = ["null", "undefined", "NaN"]
    text = to_javascript(MIXED)
    tasks = [(text, f"m.scores(x.map((value) => value ?? {kind}))", rows) for kind in kinds]
    by_label = "m.scores({age: x[0] ?? undefined, 'blood pressure': x[1], ward: x[2], dose: x[3] ?? NaN, count: x[4]})"
    expected = MIXED.scores(np.array(rows, dtype=object)).tolist()
    for found in run([*tasks, (text, by_label, rows)]):
        assert [result["value"] for result in found] == expected


@pytest.mark.tools
def test_a_number_is_not_its_text_and_true_is_one(run):
    rows = [[50.0, 100.0, "A", 0.0, count] for count in (1, 1.0, True, "1", 3, "3", 3.0, False, 0)]
    (found,) = run([(to_javascript(MIXED), "m.scores(x)", rows)])
    assert [result["value"] for result in found] == MIXED.scores(np.array(rows, dtype=object)).tolist()


@pytest.mark.tools
def test_a_row_without_an_answer_is_an_error(run):
    names = ("predict", "scores", "decision", "probabilities", "reason")
    rows = [[None if value != value else value for value in row] for row in scripts.REFUSED.values()]
    text = to_javascript(scripts.NEEDY)
    found = run([(text, f"m.{name}(x)", [*rows, scripts.FULL]) for name in names])
    for results in found:
        *refused, full = results
        assert "value" in full
        expected = ["TypeError" if "7" in row else "RangeError" for row in rows]
        assert [result.get("error") for result in refused] == expected


@pytest.mark.tools
def test_what_is_no_row_is_refused(run):
    wrong = {
        "[1, 2]": "RangeError",
        "[1, 2, 3, 4]": "RangeError",
        "new DataView(new ArrayBuffer(3))": "RangeError",
        "{a: 1}": "RangeError",
        "Object.create({a: 1, c: 1})": "RangeError",
        "[1, 2, NaN]": "RangeError",
        "[1, 2, undefined]": "RangeError",
        "[1, 2, -Infinity]": "RangeError",
        "[1, 2, 3n]": "TypeError",
        "[1, 2, {}]": "TypeError",
        "[1, 2, [3]]": "TypeError",
        "'123'": "TypeError",
        "null": "TypeError",
        "undefined": "TypeError",
    }
    text = to_javascript(YES)
    good, *bad = run([(text, f"m.predict({row})", [0]) for row in ("{a: 1, c: 0}", *wrong)])
    assert good == [{"value": "yes"}]
    assert dict(zip(wrong, [result.get("error") for (result,) in bad], strict=True)) == wrong


@pytest.mark.tools
def test_infinity_is_refused_even_where_no_score_would_be_infinite(run):
    text = to_javascript(CARD)
    rows = ["[Infinity, 'red', 0, true]", "[1, -Infinity, 0, true]", "[1, 'red', 0, Infinity]"]
    for (result,) in run([(text, f"m.predict({row})", [0]) for row in rows]):
        assert result == {"error": "RangeError"}


@pytest.mark.tools
def test_log_odds_that_overflow_are_refused_and_the_class_is_not(run):
    for model in (scripts.replace(YES, scale=1e300), scripts.replace(THREE, scale=1e300)):
        row = [1e10] * model.n_features
        text = to_javascript(model)
        predicted, decided = run([(text, "m.predict(x)", [row]), (text, "m.decision(x)", [row])])
        assert predicted == [{"value": model.predict_one(row)}]
        assert decided == [{"error": "RangeError"}]


@pytest.mark.tools
def test_conformance_counts_the_rows_that_differ(run):
    text = to_javascript(YES, inputs="used", conformance=ROWS)
    wrong = text.replace("], 1],", "], 0],")
    mixed = to_javascript(MIXED, conformance=full_table(flatten(MIXED), scripts.edge_rows(flatten(MIXED), 20)))
    huge = to_javascript(scripts.labelled(scripts.LABELS["huge"]), conformance=[[0], [1], [2]])
    required = to_javascript(YES, form="commonjs", inputs="used", conformance=ROWS)
    found = run([(one, "m.test()", [0]) for one in (text, wrong, mixed, huge, required)])
    differ = np.count_nonzero(YES.predict(ROWS) == "yes")
    assert [result["value"] for (result,) in found] == [0, differ, 0, 0, 0]
    assert differ > 0


def test_the_text_says_where_it_comes_from_and_what_it_does():
    text = to_javascript(CARD, inputs="used")
    assert text.startswith(f"// {flatten(CARD).stamp}\n// Predict 'yes' if the score is above 0, otherwise 'no'.\n")
    assert "export const X_COLOUR = 1;" in text
    assert "// colour = 'red'" in text


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="neither 'all'"):
        to_javascript(YES, inputs="some")
    with pytest.raises(ValueError, match=r"form='esm' is not one of 'module', 'commonjs', 'types'"):
        to_javascript(YES, form="esm")
