"""Languages of `export/_scripts`, run by their interpreters: many models in one process.

An entry of `LANGUAGES` says how a program in that language, the host, runs the exported texts. The host is given the
name of a text file, whose fields are separated by tabs. It loads what each line ``model`` names, and for each line
``row`` prints what the exported functions say of that row, or ``error`` if they refuse it:

- a cell of a row is ``#`` and a number in decimal digits, ``$`` and the UTF-8 of a text in hexadecimal digits, or ``-``
  for a missing value;
- an answer is a line of six fields: the position of the class, the scores, the decision, the prototype, the terms of
  the reason and the probabilities. Positions begin with 0, entries are separated by commas, numbers have 17 digits, and
  a term is the UTF-8 of its feature in hexadecimal digits, a colon and what it adds.
"""

import subprocess
import sys
from dataclasses import dataclass

import pytest
from hypothesis import given

from smallearn.export import TARGETS
from smallearn.export._flat import flatten
from smallearn.export._scripts import languages
from tests.helpers import scripts
from tests.helpers.exports import full_table, trained_models
from tests.helpers.scripts import Answer, all_features, assert_agrees, few
from tests.helpers.tools import need


@dataclass(frozen=True)
class Language:
    """``host`` is the text of the host program, ``file`` its name, ``command`` what runs it."""

    command: tuple[str, ...]
    file: str
    host: str


PYTHON = """
import importlib, sys

def number(z):
    return format(z, ".17g")

def numbers(found):
    return ",".join(map(number, found if isinstance(found, (list, tuple)) else [found]))

def value(cell):
    return {"#": lambda: float(cell[1:]), "$": lambda: str(bytes.fromhex(cell[1:]), "utf-8", "surrogatepass"),
            "-": lambda: None}[cell[0]]()

for line in open(sys.argv[1], encoding="ascii"):
    kind, *cells = line.rstrip("\\n").split("\\t")
    if kind == "model":
        m = importlib.import_module(cells[0].partition(".")[0])
        print(m.test())
        continue
    x = [value(cell) for cell in cells]
    try:
        why = m.reason(x)
        terms = [(t["feature"].encode("utf-8", "surrogatepass").hex(), number(t["contribution"])) for t in why["terms"]]
        assert why["class"] == m.predict(x) and why["score"] == m.scores(x)[why["prototype"]]
        fields = [str(m.CLASSES.index(m.predict(x))), numbers(m.scores(x)), numbers(m.decision(x)),
                  str(why["prototype"]), ",".join(map(":".join, terms)), numbers(m.probabilities(x))]
        print("\\t".join(fields))
    except ValueError:
        print("error")
"""

LUA = """
local function hex(text)
  return (text:gsub(".", function(sign) return ("%02x"):format(sign:byte()) end))
end

local function numbers(found)
  local texts = {}
  for i, z in ipairs(type(found) == "table" and found or {found}) do texts[i] = ("%.17g"):format(z) end
  return table.concat(texts, ",")
end

local function value(cell)
  if cell == "-" then return nil end
  if cell:sub(1, 1) == "#" then return tonumber(cell:sub(2)) + 0.0 end
  return (cell:sub(2):gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end))
end

local function answer(m, x)
  local why, label, terms = m.reason(x), nil, {}
  assert(why.class == m.predict(x) and why.score == m.scores(x)[why.prototype], "reason")
  for k, one in ipairs(m.CLASSES) do
    if one == why.class and math.type(one) == math.type(why.class) then label = k - 1 end
  end
  for i, term in ipairs(why.terms) do terms[i] = hex(term.feature) .. ":" .. numbers(term.contribution) end
  return table.concat({label, numbers(m.scores(x)), numbers(m.decision(x)), why.prototype - 1,
                       table.concat(terms, ","), numbers(m.probabilities(x))}, "\\t")
end

local m
for line in io.lines(arg[1]) do
  local cells, count = {}, 0
  for cell in (line .. "\\t"):gmatch("([^\\t]*)\\t") do
    cells[count], count = cell, count + 1
  end
  if cells[0] == "model" then
    m = dofile(cells[1])
    print(m.test())
  else
    local x = {}
    for i = 1, count - 1 do x[i] = value(cells[i]) end
    local fine, found = pcall(answer, m, x)
    print(fine and found or "error")
    if not fine and found:find("reason") then error(found) end
  end
end
"""

LANGUAGES = {
    "python": Language(command=(sys.executable,), file="host.py", host=PYTHON),
    "lua": Language(command=("lua5.4",), file="host.lua", host=LUA),
}
ELSEWHERE = {"javascript": "test_javascript.py", "rust": "test_rust.py"}
QUICK = {"python"}  # those that need no tool


def entries(quick=()):
    """Each language, marked where it needs a program, and the others with the marks ``quick``."""
    return [pytest.param(name, id=name, marks=quick if name in QUICK else pytest.mark.tools) for name in LANGUAGES]


@pytest.fixture
def run(tmp_path_factory):
    """From a language and pairs of a model and rows to the lines that its host prints: for each, the number of test
    vectors that differ, then one for each row."""

    def run_host(name, cases, inputs, n_vectors=3):
        language, folder = LANGUAGES[name], tmp_path_factory.mktemp(name)
        ending = languages()[name].file.partition(".")[2]
        lines = []
        for number, (model, rows) in enumerate(cases):
            flat, file = flatten(model), f"m{number}.{ending}"
            text = TARGETS[name](model, inputs=inputs, conformance=full_table(flat, rows[:n_vectors]))
            (folder / file).write_text(text, encoding="ascii")
            lines.append(f"model\t{file}")
            given = rows if inputs == "used" else [all_features(flat, row) for row in rows]
            lines += ["\t".join(["row", *map(_cell, row)]) for row in given]
        (folder / "tasks.txt").write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
        (folder / language.file).write_text(language.host, encoding="ascii")
        command = [*language.command, language.file, "tasks.txt"]
        if name not in QUICK:
            need(command[0])
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
        found = iter(done.stdout.splitlines())
        return [(next(found), [next(found) for _ in rows]) for _, rows in cases]

    return run_host


def _cell(value):
    if value is None or value != value:
        return "-"
    if isinstance(value, str):
        return f"${value.encode('utf-8', 'surrogatepass').hex()}"
    return f"#{float(value)!r}"


def _answer(line):
    label, scores, decision, prototype, terms, probabilities = line.split("\t")
    parts = [term.split(":") for term in terms.split(",") if term]
    return Answer(
        label=int(label),
        scores=[float(z) for z in scores.split(",")],
        decision=[float(z) for z in decision.split(",")],
        prototype=int(prototype),
        terms=[(bytes.fromhex(name).decode("utf-8", "surrogatepass"), float(part)) for name, part in parts],
        probabilities=[float(p) for p in probabilities.split(",")],
    )


def assert_all_agree(run, name, cases):
    """In rows of all features and of those in use."""
    for inputs in ("all", "used"):
        for (model, rows), (wrong, lines) in zip(cases, run(name, cases, inputs), strict=True):
            assert wrong == "0"
            assert_agrees(model, rows, [_answer(line) for line in lines])


def test_every_language_is_run_here_or_in_a_file_of_its_own():
    assert sorted([*LANGUAGES, *ELSEWHERE]) == sorted(languages())


@pytest.mark.parametrize("name", entries())
def test_every_row_of_real_data_and_every_edge_is_predicted_as_by_the_model(run, name):
    found = trained_models()
    cases = [(model, rows[::10] if name in QUICK else rows) for model, rows in scripts.with_rows(found)]
    assert_all_agree(run, name, [*cases, *scripts.by_hand()])


@pytest.mark.parametrize("name", entries(quick=pytest.mark.slow))  # test_python.py does it too
def test_any_model_is_predicted_as_by_the_model(run, name):
    @few
    @given(scripts.batches)
    def check(cases):
        assert_all_agree(run, name, cases)

    check()


@pytest.mark.parametrize("name", entries())
def test_names_can_do_no_harm(run, name):
    names = [text[:10_000] for text in scripts.HOSTILE]
    assert_all_agree(run, name, [(scripts.hostile_model(names), scripts.hostile_rows(names))])


@pytest.mark.parametrize("name", entries())
@pytest.mark.parametrize("labels", scripts.LABELS.values(), ids=scripts.LABELS)
def test_labels_of_every_type_are_told_apart(run, name, labels):
    rows = [[float(position)] for position in range(len(labels))]
    assert_all_agree(run, name, [(scripts.labelled(labels), rows)])


@pytest.mark.parametrize("name", entries())
def test_a_row_without_an_answer_is_refused(run, name):
    rows = [[row[input_.feature] for input_ in flatten(scripts.NEEDY).inputs] for row in scripts.REFUSED.values()]
    full = [scripts.FULL[input_.feature] for input_ in flatten(scripts.NEEDY).inputs]
    ((wrong, lines),) = run(name, [(scripts.NEEDY, [full, *rows])], "all", n_vectors=1)
    assert wrong == "0"
    assert lines[0] != "error"
    assert lines[1:] == ["error"] * len(scripts.REFUSED)
