"""Exports to plain Python, run by MicroPython (with floats of 64 bits) on node: many models in one interpreter."""

import json
import struct
import subprocess

import pytest
from hypothesis import given

from smallearn.export._flat import flatten
from smallearn.export._scripts.python import to_python
from tests.helpers import scripts
from tests.helpers.exports import full_table, trained_models
from tests.helpers.scripts import Answer, all_features, assert_agrees, few
from tests.helpers.tools import need, need_package

pytestmark = pytest.mark.tools
MICROPYTHON = "@micropython/micropython-webassembly-pyscript@1.27.0"


@pytest.fixture(scope="session")
def micropython():
    """The path of MicroPython for node, installed once in a folder of its own."""
    return need_package(MICROPYTHON) / "micropython.mjs"


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


def test_micropython_predicts_every_row_as_the_model_does(micropython, tmp_path):
    run_micropython(micropython, tmp_path, [*scripts.with_rows(trained_models()), *scripts.by_hand()])


def test_micropython_predicts_any_model_as_the_model_does(micropython, tmp_path_factory):
    @few
    @given(scripts.batches)
    def check(cases):
        run_micropython(micropython, tmp_path_factory.mktemp("micropython"), cases)

    check()


def test_names_can_do_no_harm_in_micropython(micropython, tmp_path):
    names = [name[:1000] for name in scripts.HOSTILE]  # it would read a million signs for minutes
    run_micropython(micropython, tmp_path, [(scripts.hostile_model(names), scripts.hostile_rows(names))])
