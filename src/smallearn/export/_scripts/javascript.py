"""A model as an ES module, without dependencies. Each term is written once, in `contributions`, from which everything
else is computed; sums are taken in the order of the terms and so are those of `SMaLLModel`, bit for bit."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from smallearn.export._flat import FlatModel, FlatTerm, flatten
from smallearn.export._scripts.skeleton import (
    Case,
    Layout,
    by_class,
    cases_of,
    heading,
    in_words,
    is_number,
    layout_of,
    said,
)

LARGEST_WHOLE = 2**53  # beyond it a whole number of JavaScript is a BigInt or rounded


def to_javascript(model: Any, *, inputs: str = "all", conformance: Any = None) -> str:
    """The text of an ES module with ``predict``, ``scores``, ``decision``, ``probabilities``, ``reason`` of one row.

    A row is an array or a typed array of all features by position (with ``inputs="used"``, of those in use alone), or
    an object keyed by the features' labels, which must have those in use. null, undefined and NaN are missing, a
    boolean is 1 or 0, text is never a number. A row without an answer is a RangeError or a TypeError. Where a class is
    a whole number beyond 2⁵³, those that are whole numbers are all BigInts.

    ``conformance``: rows, as `SMaLLModel.predict` takes them, that ``test()`` runs; it returns how many differ.
    """
    flat = flatten(model)
    layout = layout_of(flat, inputs)
    parts = [
        [f"// {line}" for line in heading(flat, layout)],
        list(_tables(flat, layout, inputs)),
        PREDICT.splitlines(),
        SCORES.splitlines(),
        (TWO_CLASSES if flat.is_binary else MORE_CLASSES).splitlines(),
        PROBABILITIES.splitlines(),
        REASON.splitlines(),
        list(_contributions(flat, layout)),
        READ.splitlines(),
    ]
    if conformance is not None:
        parts += [list(_rows(layout, cases_of(model, flat, conformance))), TEST.splitlines()]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def literal(value: Any) -> str:
    """Text, a number, a boolean or None as JavaScript reads it back: in ASCII, and harmless within ``<script>``."""
    if isinstance(value, str):
        return json.dumps(str(value)).replace("</", "\\u003c/").replace("<!", "\\u003c!")
    return json.dumps(value)


def _labels(classes: Sequence[Any]) -> list[str]:
    beyond = any(_is_whole(label) and abs(label) > LARGEST_WHOLE for label in classes)
    suffix = "n" if beyond else ""
    return [f"{int(label)}{suffix}" if _is_whole(label) else literal(label) for label in classes]


def _is_whole(label: Any) -> bool:
    return isinstance(label, int) and not isinstance(label, bool)


# --- the parts of the text -------------------------------------------------------------------------------------------


def _tables(flat: FlatModel, layout: Layout, inputs: str) -> Iterator[str]:
    if inputs == "used":
        for place, given in zip(layout.places, flat.inputs, strict=True):
            yield f"export const X_{given.name.upper()} = {place};"
    yield f"export const CLASSES = [{', '.join(_labels(flat.classes))}];"
    yield f"const OWNERS = {list(flat.owners)}; // the class of each prototype, by position"
    yield f"const BY_CLASS = {by_class(flat)}; // the prototypes in the order of their classes"
    yield f"const INTERCEPTS = [{', '.join(map(literal, flat.intercepts))}];"
    yield f"const SCALE = {literal(flat.scale)}; // log-odds of one point of score"
    yield f"const WIDTH = {layout.width}; // values in a row"
    yield "const TERMS = [ // of each prototype: the feature and the term in words"
    for j in range(len(flat.owners)):
        yield "  ["
        for term in flat.of(j):
            yield f"    [{literal(flat.inputs[term.input].label)}, {literal(said(flat, term))}],"
        yield "  ],"
    yield "];"


def _contributions(flat: FlatModel, layout: Layout) -> Iterator[str]:
    yield "/** Of each prototype, what each of its terms adds to its score. */"
    yield "export function contributions(x) {"
    yield "  const read = reader(x);"
    for position, (place, given) in enumerate(zip(layout.places, flat.inputs, strict=True)):
        how = "category"
        if not given.may_be_missing:
            how = "needed"
        elif is_number(flat, position):
            how = "number"
        yield f"  const x{place} = {how}(read({place}, {literal(given.label)}));"
    yield "  return ["
    for j in range(len(flat.owners)):
        yield "    ["
        for term in flat.of(j):
            yield f"      {_product(f'x{layout.places[term.input]}', term)}, // {in_words(flat, term)}"
        yield "    ],"
    yield "  ];"
    yield "}"


def _product(x: str, term: FlatTerm) -> str:
    """``weight · b`` as an expression."""
    weight = literal(term.weight)
    if term.kind == "raw":
        return f"{weight} * {x}" if term.mean is None else f"{weight} * ({x} !== {x} ? {literal(term.mean)} : {x})"
    condition = {
        "at_most": f"{x} <= {literal(term.value)}",
        "above": f"{x} > {literal(term.value)}",
        "equals": f"{x} === {literal(term.value)}",
        "missing": f"{x} !== {x}",
    }[term.kind]
    return f"{condition} ? {weight} : 0"


def _rows(layout: Layout, cases: list[Case]) -> Iterator[str]:
    yield f"const PLACES = {list(layout.places)};"
    yield "const ROWS = [ // the values at these places, and the position of the class"
    for case in cases:
        yield f"  [[{', '.join(map(literal, case.values))}], {case.expected}],"
    yield "];"


PREDICT = """
/** The class of a row. */
export function predict(x) {
  return CLASSES[winner(scores(x)).label];
}

function winner(z) {
  let best = BY_CLASS[0];
  for (const j of BY_CLASS) if (z[j] > z[best]) best = j;
  let label = OWNERS[best];
  if (CLASSES.length === 2 && (label === 1 ? z[best] <= 0 : z[best] < 0)) label = 1 - label;
  return { prototype: best, label };
}
""".strip()
SCORES = """
/** The score of each prototype. */
export function scores(x) {
  return contributions(x).map((parts, j) => {
    let z = INTERCEPTS[j];
    for (const part of parts) z += part;
    return finite(z);
  });
}

function finite(z) {
  if (!Number.isFinite(z)) throw new RangeError("The row has a value that is too large.");
  return z;
}
""".strip()
TWO_CLASSES = """
/** Log-odds: positive for CLASSES[1]. */
export function decision(x) {
  const best = Math.max(...scores(x));
  return finite(SCALE * (OWNERS[0] === 1 ? best : -best));
}
""".strip()
MORE_CLASSES = """
/** Log-odds: the score of each class. */
export function decision(x) {
  const z = scores(x);
  return CLASSES.map((_, label) => finite(SCALE * Math.max(...z.filter((_, j) => OWNERS[j] === label))));
}
""".strip()
PROBABILITIES = """
/** The probability of each class, in the order of CLASSES. */
export function probabilities(x) {
  const z = CLASSES.length === 2 ? [0, decision(x)] : decision(x);
  const best = Math.max(...z);
  const weights = z.map((one) => Math.exp(one - best));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}
""".strip()
REASON = """
/** The prototype of the greatest score, and what each of its terms adds to it. */
export function reason(x) {
  const z = scores(x);
  const { prototype, label } = winner(z);
  const parts = contributions(x)[prototype];
  return {
    class: CLASSES[label],
    prototype,
    score: z[prototype],
    intercept: INTERCEPTS[prototype],
    terms: TERMS[prototype].map(([feature, term], i) => ({ feature, term, contribution: parts[i] })),
  };
}
""".strip()
READ = """
// Rows are arrays by position or objects by label.
function reader(x) {
  if (Array.isArray(x) || ArrayBuffer.isView(x)) {
    if (x.length !== WIDTH) throw new RangeError(`The row has ${x.length} values; the model reads ${WIDTH}.`);
    return (place) => x[place];
  }
  if (typeof x !== "object" || x === null) throw new TypeError("A row is an array or an object keyed by feature.");
  return (_, label) => {
    if (!Object.hasOwn(x, label)) throw new RangeError(`The row lacks ${JSON.stringify(label)}.`);
    return x[label];
  };
}

// NaN is what is missing, from here on.
function number(value) {
  if (value === null || value === undefined) return NaN;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "number") throw new TypeError(`The row has a ${typeof value} in the place of a number.`);
  if (value === Infinity || value === -Infinity) throw new RangeError("The row has an infinite value.");
  return value;
}

function needed(value) {
  const found = number(value);
  if (found !== found) throw new RangeError("The row lacks a value without which the model has no answer.");
  return found;
}

function category(value) {
  return typeof value === "string" ? value : number(value);
}
""".strip()
TEST = """
/** How many of ROWS are not predicted as by the model that this text was made from. */
export function test() {
  let wrong = 0;
  for (const [values, expected] of ROWS) {
    const x = new Array(WIDTH).fill(0);
    PLACES.forEach((place, i) => { x[place] = values[i]; });
    if (predict(x) !== CLASSES[expected]) wrong += 1;
  }
  return wrong;
}
""".strip()
