"""Hostile names of features, categories and classes in every text that is exported: nothing of them runs.

A batch of names becomes a model in which feature i says class i where it has the i-th name as its value, so that a name
in the wrong place is a wrong answer. The export is compiled or run, and answers as the model does, or is refused with
a ValueError. ``--names`` counts the names for each target.
"""

import json
import random
import sqlite3
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from attacks.findings import Findings, complaint
from attacks.pool import Attempt, Outcome, as_findings, attempt_all
from smallearn import SMaLLModel
from smallearn.export import to_c, to_javascript, to_lua, to_pmml, to_python, to_rust, to_sql
from smallearn.export._flat import flatten
from tests.helpers.c_programs import Library, device_rows
from tests.helpers.rust_programs import FLOATS, answers, floats_arm
from tests.helpers.scripts import hostile_model, hostile_rows
from tests.helpers.tools import marks

EACH = 25  # names of a model
MODELS = 4  # in a batch: compilers are slow to start
PIECES = (
    *("", " ", "'", '"', "`", "\\", '\\"', "\\'", "*/", "/*", "//", "#", "--", ";", "\n", "\r", "\t", "\x00", "\x0b"),
    *("\x0c", "\x1a", "\x1b[2J", "\x7f", "\x85", "\u2028", "\u2029", "\u202e", "\u2066", "\ufeff", "\ud800", "\udfff"),
    *("\\\n", "??/", "??/\n", "\\u0022", "\\x22", "\\042", "\\N{BULLET}", "\\u{22}", '"#', '"##', 'r#"', "{}", "{0}"),
    *(
        "${",
        "}",
        "%s",
        "%n",
        "%%",
        "$$",
        "$1",
        "@@",
        "]]>",
        "<![CDATA[",
        "<!--",
        "-->",
        "&quot;",
        "&#34;",
        "&x;",
        "<",
        ">",
    ),
    *(
        "</script>",
        "<script>window.broken=1</script>",
        "<img src=x onerror=window.broken=1>",
        "<svg onload=window.broken=1>",
    ),
    *("javascript:window.broken=1", "' onfocus=window.broken=1 autofocus x='", '" onmouseover="window.broken=1'),
    *(
        "'); raise SystemExit(3) #",
        "process.exit(3)",
        "${process.exit(3)}",
        '"); process.exit(3); ("',
        "std::process::exit(3)",
    ),
    *(
        '"; exit(3); "',
        "*/ #error x /*",
        "\n#error x\n",
        "\n#include </etc/passwd>\n",
        "'; DROP TABLE data; --",
        '"; DROP TABLE data; --',
    ),
    *(
        "class",
        "fn",
        "def",
        "None",
        "null",
        "NULL",
        "self",
        "x",
        "x0",
        "z0",
        "i",
        "__proto__",
        "constructor",
        "toString",
        "int",
    ),
    *(
        "a",
        "A",
        "é",
        "e\u0301",
        "名",
        "\U0001f600",
        "İ",
        "ß",
        "ﬁ",
        "0",
        "1e5",
        "-1",
        "0x",
        "_",
        "__",
        "row",
        "rowid",
        "select",
    ),
    "a" * 300,
)


def name_of(dice: random.Random) -> str:
    """A hostile name: pieces and any characters, one after the other."""
    parts = []
    for _ in range(dice.choice((1, 1, 2, 2, 3, 5))):
        if dice.random() < 0.75:
            parts.append(dice.choice(PIECES))
        else:
            parts.append("".join(chr(dice.choice((dice.randrange(128), dice.randrange(0x110000)))) for _ in range(3)))
    return "".join(parts)


def names_of(dice: random.Random, count: int) -> list[str]:
    """Different names; databases also hold those of other case for the same."""
    found: dict[str, str] = {}
    while len(found) < count:
        name = name_of(dice)
        found.setdefault(name.casefold(), name)
    return list(found.values())


# --- targets: each returns the position of the class of every row -----------------------------------------------------


def expected(model: SMaLLModel, rows: list[list]) -> list[int]:
    """The positions of the predicted classes."""
    return [model.classes.index(model.predict_one(row)) for row in rows]


def run_python(models: list[SMaLLModel], rows: list[list[list]], folder: Path) -> list[list[int]]:
    """Executed."""
    found = []
    for model, some in zip(models, rows, strict=True):
        module: dict = {}
        exec(compile(to_python(model), "export", "exec"), module)
        found.append([module["CLASSES"].index(module["predict"](row)) for row in some])
    return found


HOST = """
const fs = require("fs");
const tasks = JSON.parse(fs.readFileSync("rows.json", "utf-8"));
const found = tasks.map((rows, i) => {
  const m = require(`./m${i}.cjs`);
  return rows.map((x) => m.CLASSES.indexOf(m.predict(x)));
});
process.stdout.write(JSON.stringify(found));
"""


def run_javascript(models: list[SMaLLModel], rows: list[list[list]], folder: Path) -> list[list[int]]:
    """Run by node."""
    for i, model in enumerate(models):
        (folder / f"m{i}.cjs").write_text(to_javascript(model, form="commonjs"), encoding="ascii")
    (folder / "rows.json").write_text(json.dumps(rows))
    (folder / "host.cjs").write_text(HOST)
    return json.loads(output_of(["node", "host.cjs"], folder))


LUA_HOST = """
local models = {}
for line in io.lines("rows.txt") do
  local x, i = {}, nil
  for cell in line:gmatch("%S+") do
    if i then
      x[#x + 1] = cell:sub(2):gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end)
    else
      i = cell
    end
  end
  models[i] = models[i] or dofile("m" .. i .. ".lua")
  local label = models[i].predict(x)
  for k, one in ipairs(models[i].CLASSES) do
    if one == label then print(k - 1) end
  end
end
"""


def run_lua(models: list[SMaLLModel], rows: list[list[list]], folder: Path) -> list[list[int]]:
    """Run by Lua."""
    for i, model in enumerate(models):
        (folder / f"m{i}.lua").write_text(to_lua(model), encoding="ascii")
    lines = [
        " ".join([f"{i}", *(f"t{cell.encode('utf-8', 'surrogatepass').hex()}" for cell in row)])
        for i, some in enumerate(rows)
        for row in some
    ]
    (folder / "rows.txt").write_text("\n".join(lines))
    (folder / "host.lua").write_text(LUA_HOST)
    said = iter(output_of(["lua5.4", "host.lua"], folder).split())
    return [[int(next(said)) for _ in some] for some in rows]


def run_rust(models: list[SMaLLModel], rows: list[list[list]], folder: Path) -> list[list[int]]:
    """Compiled by rustc. A text of Rust cannot hold half of a pair of surrogates; such rows are left out."""
    texts = [to_rust(model, inputs="all", probabilities=True) for model in models]
    lines, order = [], []
    for i, some in enumerate(rows):
        for row in some:
            try:
                lines.append((i, [f"t{cell.encode().hex()}" for cell in row]))
                order.append(i)
            except UnicodeEncodeError:
                order.append(-1)
    said = iter(answers(folder, FLOATS, texts, lines, floats_arm))
    found: list[list[int]] = [[] for _ in models]
    for i, some in enumerate(rows):
        for _ in some:
            found[i].append(int(next(said).partition(";")[0]) if order.pop(0) >= 0 else -1)
    return found


def run_c(models: list[SMaLLModel], rows: list[list[list]], folder: Path) -> list[list[int]]:
    """Compiled by gcc, without a warning."""
    library = Library(folder)
    names = [library.add(model, "float64", layout=("code", "table")[i % 2]) for i, model in enumerate(models)]
    library.build()
    found = []
    for name, model, some in zip(names, models, rows, strict=True):
        table = np.array(some, dtype=object)
        found.append(library.call(name, device_rows(model, library.models[name], table)).predict.tolist())
    return found


def run_cpp(models: list[SMaLLModel], rows: list[list[list]], folder: Path) -> list[list[int]]:
    """The same text compiled by g++ as a namespace each; what it answers is checked in C."""
    texts = [to_c(model, "int16", name=f"m{i}", ranges=None) for i, model in enumerate(models)]
    source = folder / "all.cpp"
    source.write_text("\n".join(texts), encoding="ascii")
    output_of(["g++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", str(source)], folder)
    return [expected(model, some) for model, some in zip(models, rows, strict=True)]


def run_sql(models: list[SMaLLModel], rows: list[list[list]], folder: Path) -> list[list[int]]:
    """Run by SQLite. A text of SQLite cannot hold half of a pair of surrogates or NUL; such rows are left out."""
    found = []
    for model, some in zip(models, rows, strict=True):
        connection = sqlite3.connect(":memory:")
        try:
            labels = [f'"{given.label.replace(chr(34), chr(34) * 2)}"' for given in flatten(model).inputs]
            query = to_sql(model, "sqlite", table="data")
            connection.execute("CREATE TABLE data (" + ", ".join(f"{label} text" for label in labels) + ")")
            signs = ", ".join("?" * len(labels))
            storable = [_is_storable("".join(row)) for row in some]
            kept = [row for row, fits in zip(some, storable, strict=True) if fits]
            connection.executemany(f"INSERT INTO data VALUES ({signs})", kept)
            cursor = connection.execute(query)
            column = [one[0] for one in cursor.description].index("prediction")
            said = iter([model.classes.index(row[column]) for row in cursor.fetchall()])
            found.append([next(said) if fits else -1 for fits in storable])
        finally:
            connection.close()
    return found


def _is_storable(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


def run_pmml(models: list[SMaLLModel], rows: list[list[list]], folder: Path) -> list[list[int]]:
    """Read as XML: the names are what they were."""
    for model in models:
        root = ElementTree.fromstring(to_pmml(model))
        space = root.tag.partition("}")[0] + "}"
        fields = {field.get("name") for field in root.iter(f"{space}DataField")}
        labels = {given.label for given in flatten(model).inputs}
        assert labels <= fields, f"names that XML changes: {sorted(labels - fields)[:3]!r}"
    return [expected(model, some) for model, some in zip(models, rows, strict=True)]


class _Tags(HTMLParser):
    """The tags of a page with the names of their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple] = []

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.found.append((tag, *(name for name, _ in attributes)))

    def handle_endtag(self, tag: str) -> None:
        self.found.append((tag,))


def tags_of(page: str) -> list[tuple]:
    """Tags and attributes, in order."""
    parser = _Tags()
    parser.feed(page)
    parser.close()
    return parser.found


def run_html(models: list[SMaLLModel], rows: list[list[list]], folder: Path) -> list[list[int]]:
    """The notebook's view: the same tags as with harmless names."""
    for model in models:
        harmless = hostile_model([f"n{i}" for i in range(len(model.classes))])
        assert tags_of(model._repr_html_()) == tags_of(harmless._repr_html_()), "a name becomes a tag"
    return [expected(model, some) for model, some in zip(models, rows, strict=True)]


def run_browser(models: list[SMaLLModel], rows: list[list[list]], folder: Path) -> list[list[int]]:
    """The notebook's views and a report in Chromium, which tells if anything ran."""
    from attacks.fuzz.browser import assert_harmless
    from smallearn.report import report_html

    views = "<!doctype html><meta charset=utf-8>" + "".join(model._repr_html_() for model in models)
    table = np.array(rows[0][: EACH * 8] * 2, dtype=object)
    page = report_html(models[0], table, models[0].predict(table))
    assert_harmless({"views.html": views, "report.html": page}, folder)
    return [expected(model, some) for model, some in zip(models, rows, strict=True)]


def output_of(command: list[str], folder: Path) -> str:
    """What a program prints; AssertionError with its complaint if it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=300)
    assert done.returncode == 0, f"{command[0]} fails: {done.stderr[-600:]}"
    return done.stdout


Run = Callable[[list[SMaLLModel], list[list[list]], Path], list[list[int]]]
TARGETS: dict[str, Run] = {
    "python": run_python,
    "javascript": run_javascript,
    "rust": run_rust,
    "c": run_c,
    "c++": run_cpp,
    "sql": run_sql,
    "pmml": run_pmml,
    "html": run_html,
    "browser": run_browser,
    "lua": run_lua,
}
SLOW = {"browser": 20}  # of these one batch in so many


# --- the attack ------------------------------------------------------------------------------------------------------


def attack(count: int, seed: int, first: int, jobs: int) -> Findings:
    """Attack every target with so many names, from batch ``first`` on."""
    batches = -(-count // (EACH * MODELS))
    findings = Findings(f"Hostile names in exports, seed {seed}, batches {first} to {first + batches - 1}")
    numbers = range(first * len(TARGETS), (first + batches) * len(TARGETS))
    tally = attempt_all(prepare, seed, numbers, jobs, memory=0, seconds=300.0)
    for name in sorted(tally.reached):
        findings.count(name, tally.reached[name])
    each = EACH * MODELS
    findings.add(
        as_findings(
            tally,
            lambda i: f"python -m attacks fuzz --names {each} --seed {seed} --first {i // len(TARGETS)} --jobs 0",
        )
    )
    return findings


def prepare() -> Attempt:
    """The attempt; what the tests' helpers run is allowed."""
    marks.update(("tools", "browser"))
    return attempt


def attempt(dice: random.Random, number: int) -> Outcome:
    """A batch of names for one target."""
    target = list(TARGETS)[number % len(TARGETS)]
    if (number // len(TARGETS)) % SLOW.get(target, 1):
        return Outcome()
    lists = [names_of(dice, EACH) for _ in range(MODELS)]
    tried, refused, findings = judged(target, lists)
    reached = (*[f"{target}: names"] * tried, *[f"{target}: names refused"] * refused)
    return Outcome(reached, tuple(findings))


def judged(target: str, lists: list[list[str]]) -> tuple[int, int, list[tuple[str, str]]]:
    """How many names were tried, how many refused, and what was found. Those that are refused are found by halving."""
    try:
        wrong = answered_wrongly(target, lists)
    except ValueError:
        if len(lists) == 1 and len(lists[0]) < 4:  # each half needs two classes
            return 0, len(lists[0]), []
        more = [judged(target, part) for part in split(lists)]
        return sum(one[0] for one in more), sum(one[1] for one in more), [found for one in more for found in one[2]]
    except Exception as error:
        return sum(map(len, lists)), 0, [(complaint(error, target), f"{error}"[-900:])]
    findings = [(f"{target}: another answer than the model's", repr(names)[:600]) for names in wrong]
    return sum(map(len, lists)), 0, findings


def split(lists: list[list[str]]) -> list[list[list[str]]]:
    """The halves of some lists, or of one."""
    if len(lists) > 1:
        return [lists[: len(lists) // 2], lists[len(lists) // 2 :]]
    middle = len(lists[0]) // 2
    return [[lists[0][:middle]], [lists[0][middle:]]]


def answered_wrongly(target: str, lists: list[list[str]]) -> list[list[str]]:
    """The lists of names whose models are answered otherwise by the export."""
    models, rows = [hostile_model(names) for names in lists], [hostile_rows(names) for names in lists]
    with tempfile.TemporaryDirectory(prefix="smallearn-names-") as folder:
        found = TARGETS[target](models, rows, Path(folder))
    wrong = []
    for names, model, some, said in zip(lists, models, rows, found, strict=True):
        right = expected(model, some)
        if [b for a, b in zip(said, right, strict=True) if a != -1] != [a for a in said if a != -1]:
            wrong.append(names)
    return wrong
