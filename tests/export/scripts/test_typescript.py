"""The types of exports to JavaScript: strict TypeScript compiles with them, wrong uses do not."""

import json
import math
import re
import subprocess

import pytest

from smallearn.export._scripts.javascript import to_javascript
from tests.helpers import scripts
from tests.helpers.exports import EXPECTED_COSTS, MIXED, MODELS, trained_models
from tests.helpers.models import CARD, ROWS, THREE, YES
from tests.helpers.tools import need, need_package

TYPESCRIPT = "typescript@5.9.3"
STRICT = ("--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--pretty", "false")
NODE = ("--target", "es2022", "--module", "nodenext")
GOOD = """
import { CLASSES, X_AGE, contributions, decision, predict, probabilities, reason, scores, test } from "./card.mjs";
import type { Class, Contribution, Features, Reason, Row, Value } from "./card.mjs";
import three = require("./three.cjs");

const by_label: Features = { age: 41, colour: "red", member: true };
const lacking: Row = { age: null, colour: undefined, member: NaN };
const more = { age: 41, colour: "red", member: true, other: "not in use" };
const values: readonly Value[] = [41, "red", true];
const rows: Row[] = [by_label, lacking, more, values, [50, "blue", null], new Float64Array([41, 0, 1])];
const found: Class[] = rows.map(predict);
const place: 0 = X_AGE;
const why: Reason = reason(by_label);
const parts: Contribution[] = why.terms;
const log_odds: number = decision(by_label);
const chance: number | undefined = probabilities(by_label)[CLASSES.indexOf("yes")];
const label: "a" | "b" | "c" = three.predict([0, 5]);
const each: number[] = three.decision({ x0: 0, x1: 5 });
const sums: number[] = contributions(by_label).map((added) => added.reduce((a, b) => a + b, 0));
if (why.class === "yes") console.log(JSON.stringify({
  found, place, log_odds, chance, label, each, sums, wrong: test(), scores: scores(by_label),
  terms: parts.map(({ feature, contribution }) => `${feature} ${contribution}`),
}));
"""
WRONG = [
    "card.predict('123');",
    "card.predict(null);",
    "card.predict(undefined);",
    "card.predict();",
    "card.predict([1, {}, true]);",
    "card.predict([1, 2n, true]);",
    "card.predict(new BigInt64Array(3));",
    "card.predict({ age: 41, colour: 'red' });",
    "card.predict({ age: 41, colour: 'red', membre: true });",
    "card.predict({ age: '41', colour: 'red', member: true });",
    "card.predict({ age: 41, colour: 7, member: true });",
    "card.predict({ age: 41, colour: 'red', member: 'true' });",
    "card.predict([1, 'red', true]) === 'maybe';",
    "card.predict([1, 'red', true]) === 1;",
    "card.decision([1, 'red', true]).length;",
    "card.CLASSES.push('maybe');",
    "card.CLASSES[2];",
    "card.test();",
    "card.reader([1]);",
    "yes.predict({ a: null, c: 0 });",
    "yes.predict({ a: 1, c: undefined });",
    "yes.predict([null, 1]);",
    "yes.predict(['1', '2']);",
    "const score: number = three.decision([0, 5]);",
]


@pytest.fixture
def tsc(tmp_path):
    """Compiles files of the test's folder; the errors are in what it returns."""
    program = need_package(TYPESCRIPT) / "bin" / "tsc"

    def run(*arguments):
        command = [need("node"), str(program), *STRICT, *NODE, *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    return run


def write(folder, name, model, **options):
    """The ES module, the CommonJS module, and the types of both."""
    module, commonjs, types = [to_javascript(model, form=form, **options) for form in ("module", "commonjs", "types")]
    files = {"mjs": module, "cjs": commonjs, "d.mts": types, "d.cts": types}
    for ending, text in files.items():
        (folder / f"{name}.{ending}").write_text(text, encoding="ascii")


@pytest.mark.tools
def test_strict_typescript_compiles_and_what_it_makes_runs(tsc, tmp_path):
    write(tmp_path, "card", CARD, inputs="used", conformance=[[41.0, None, 0.0, True], [None, "red", 0.0, False]])
    write(tmp_path, "three", THREE)
    (tmp_path / "use.mts").write_text(GOOD)
    done = tsc("use.mts")
    assert done.returncode == 0, done.stdout
    ran = subprocess.run([need("node"), "use.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found.pop("chance") == pytest.approx(1 / (1 + math.exp(-2.0)))
    assert found == {
        "found": ["yes", "no", "yes", "yes", "no", "yes"],
        "place": 0,
        "log_odds": 2.0,
        "label": "b",
        "each": [0, 5, 1],
        "sums": [6],
        "wrong": 0,
        "scores": [4],
        "terms": ["age 2", "age 0", "colour 3", "colour 0", "member 1"],
    }


@pytest.mark.tools
def test_wrong_uses_do_not_compile(tsc, tmp_path):
    for name, model in {"card": CARD, "yes": YES, "three": THREE}.items():
        write(tmp_path, name, model, inputs="used")
    imports = "".join(f'import * as {name} from "./{name}.mjs"; ' for name in ("card", "yes", "three"))
    (tmp_path / "use.mts").write_text("\n".join([imports, *WRONG]))
    done = tsc("--noEmit", "use.mts")
    assert done.returncode != 0
    lines = {int(line) for line in re.findall(r"^use\.mts\((\d+),\d+\): error TS", done.stdout, re.MULTILINE)}
    assert [WRONG[line - 2] for line in sorted(lines)] == WRONG, done.stdout
    assert done.stdout.count("error TS") == len(re.findall(r"^use\.mts", done.stdout, re.MULTILINE))


@pytest.mark.tools
def test_the_types_of_any_model_compile_and_name_what_the_modules_export(tsc, tmp_path):
    models = {
        **MODELS,
        **EXPECTED_COSTS,
        **{name: model for name, (model, _) in trained_models().items()},
        **{f"labels {name}": scripts.labelled(labels) for name, labels in scripts.LABELS.items()},
        "hostile": scripts.hostile_model(),
    }
    check = ["import { createRequire } from 'node:module';", "const require = createRequire(import.meta.url);"]
    use = []
    for i, model in enumerate(models.values()):
        inputs = ("all", "used")[i % 2]
        write(tmp_path, f"m{i}", model, inputs=inputs)
        names = re.findall(
            r"^export declare \w+ (\w+)", to_javascript(model, form="types", inputs=inputs), re.MULTILINE
        )
        use.append(f'import * as m{i} from "./m{i}.mjs"; const c{i}: readonly m{i}.Class[] = m{i}.CLASSES;')
        check.append(f"import * as m{i} from './m{i}.mjs';")
        check.append(f"check({json.dumps(sorted(names))}, m{i}, require('./m{i}.cjs'));")
    check.append("""
function check(names, ...modules) {
  for (const one of modules) if (String(Object.keys(one).sort()) !== String(names)) throw new Error(Object.keys(one));
}""")
    (tmp_path / "use.mts").write_text("\n".join(use))
    (tmp_path / "check.mjs").write_text("\n".join(check))
    done = tsc("--noEmit", "use.mts", *(f"m{i}.d.cts" for i in range(len(models))))
    assert done.returncode == 0, done.stdout[:2000]
    ran = subprocess.run([need("node"), "check.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[:2000]


def test_a_feature_has_the_type_of_its_values():
    text = to_javascript(MIXED, form="types")
    assert '  readonly "blood pressure": number | boolean | null | undefined;\n' in text
    assert '  readonly "ward": string | null | undefined;\n' in text
    assert '  readonly "a": number | boolean;\n' in to_javascript(YES, form="types")
    assert "export declare function test(): number;" in to_javascript(YES, form="types", conformance=ROWS)
