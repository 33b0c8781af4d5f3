"""A model as a JavaScript module without dependencies: an ES module, a CommonJS module, or the types of both.

Each term is written once, in `contributions`, from which everything else is computed. Sums are taken in the order of
the terms, so they are those of `SMaLLModel` to the last bit.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from smallearn._errors import check_choice
from smallearn.export._scripts._skeleton import Script, write
from smallearn.export._vectors import Cell, Vector

NAME, FILE = "JavaScript", "model.mjs"
LARGEST_WHOLE = 2**53  # beyond it a whole number of JavaScript is a BigInt or rounded
EXPORTED = re.compile(r"^export (?=(?:const|function) (\w+))", re.MULTILINE)


def to_javascript(model: Any, *, form: str = "module", inputs: str = "all", conformance: Any = None) -> str:
    """Write a model as a JavaScript module without dependencies, or its types for TypeScript.

    The module has ``predict``, ``scores``, ``decision``, ``probabilities`` and ``reason``, each of one row. A row is an
    array or a typed array, or an object keyed by the features' labels, which must have those in use. null, undefined
    and NaN are missing values, a boolean is 1 or 0, and text is never a number. A row that the model cannot predict is
    a RangeError or a TypeError. If a class is a whole number beyond 2⁵³, all whole-number classes are BigInts.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    form : {"module", "commonjs", "types"}, default="module"
        An ES module (``import``), a CommonJS module (``require``), or what TypeScript has to know of either: the text
        of ``model.d.ts`` beside ``model.js``, made with the same ``inputs`` and ``conformance``.
    inputs : {"all", "used"}, default="all"
        Whether an array has all features of the training data or only those that the model uses, in order.
    conformance : array or table, default=None
        Rows, as `SMaLLModel.predict` takes them, that become test vectors: ``test()`` runs them and returns how many
        are predicted differently.

    Returns
    -------
    str
        The text of the module, or of its types.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import to_javascript
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> print(to_javascript(clf).splitlines()[1])
    // Predict 1 if the score is above 0, otherwise 0.
    >>> print(next(line for line in to_javascript(clf, form="types").splitlines() if "predict" in line))
    export declare function predict(x: Row): Class;
    """
    check_choice("form", form, tuple(FORMS))
    return write(FORMS[form], model, inputs, conformance)


class JavaScript(Script):
    """JavaScript's numbers, text and conditions."""

    indent, pair, zero = "  ", "[]", "0"

    def number(self, value: float) -> str:
        return json.dumps(value)

    def string(self, text: str) -> str:
        return _literal(text)

    def cell(self, value: Cell) -> str:
        return _literal(value)

    def labels(self) -> list[str]:
        classes = self.flat.classes
        beyond = any(_is_whole(label) and abs(label) > LARGEST_WHOLE for label in classes)
        suffix = "n" if beyond else ""
        return [f"{int(label)}{suffix}" if _is_whole(label) else _literal(label) for label in classes]

    def named_place(self, name: str, place: int) -> str:
        return f"export const {name} = {place};"

    def reading(self, position: int) -> Iterator[str]:
        input_, place = self.flat.inputs[position], self.layout.places[position]
        how = "number" if self.is_number(position) else "category"
        how = how if input_.may_be_missing else "needed"
        yield f"const x{place} = {how}(read({place}, {_literal(input_.label)}));"

    def missing(self, position: int) -> str:
        x = self.value(position)
        return f"{x} !== {x}"

    def equal(self, position: int, value: Cell) -> str:
        return f"{self.value(position)} === {_literal(value)}"

    def either(self, condition: str, yes: str, no: str) -> str:
        return f"{condition} ? {yes} : {no}"

    def named(self, name: str, expression: str) -> str:
        return f"const {name} = {expression};"

    template = """\
@heading@

@names@
export const CLASSES = @classes@;
const OWNERS = @owners@; // the class of each prototype, by position
const BY_CLASS = @by_class@; // the prototypes, ordered by class
const INTERCEPTS = @intercepts@;
const SCALE = @scale@; // log-odds of one point of score
const WIDTH = @width@; // values in a row
const TERMS = [ // for each prototype, the feature and the text of each term
  @terms@
];

/** The class of a row. */
export function predict(x) {
  return CLASSES[winner(scores(x)).label];
}

@winner@

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

@decision@

/** The probability of each class, in the order of CLASSES. */
export function probabilities(x) {
  const z = CLASSES.length === 2 ? [0, decision(x)] : decision(x);
  const best = Math.max(...z);
  const weights = z.map((one) => Math.exp(one - best));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** The prototype that decides, the one with the greatest score of its class, and what each of its terms adds to it. */
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

/** For each prototype, what each of its terms adds to its score. */
export function contributions(x) {
  const read = reader(x);
  @inputs@
  @shared@
  return [
    @contributions@
  ];
}

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

// From here on, NaN is a missing value.
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
"""
    cut_decides = """\
const CUT = @cut@; // the score that decides
function winner(z) {
  let best = 0;
  for (const j of BY_CLASS) if (z[j] > z[best]) best = j;
  const owner = OWNERS[best];
  const lost = owner === 1 ? z[best] <= CUT : z[best] < CUT;
  return { prototype: best, label: lost ? 1 - owner : owner };
}
"""
    highest_decides = """\
function winner(z) {
  let best = BY_CLASS[0];
  for (const j of BY_CLASS) if (z[j] > z[best]) best = j;
  return { prototype: best, label: OWNERS[best] };
}
"""
    offsets_decide = """\
const OFFSETS = @offsets@; // added to the scores of each class before the greatest decides
function winner(z) {
  const shifted = z.map((one, j) => one + OFFSETS[OWNERS[j]]);
  let best = BY_CLASS[0];
  for (const j of BY_CLASS) if (shifted[j] > shifted[best]) best = j;
  return { prototype: best, label: OWNERS[best] };
}
"""
    costs_decide = """\
const COSTS = [ // of predicting a class (column) where another is true (row): the least expected cost decides
  @costs@
];
function winner(z) {
  const best = CLASSES.map((_, label) => Math.max(...z.filter((_, j) => OWNERS[j] === label)));
  const top = Math.max(...best);
  const chances = best.map((one) => Math.exp(SCALE * (one - top)));
  const costs = CLASSES.map((_, k) => chances.reduce((sum, chance, i) => sum + chance * COSTS[i][k], 0));
  const label = costs.indexOf(Math.min(...costs));
  return { prototype: z.findIndex((one, j) => OWNERS[j] === label && one === best[label]), label };
}
"""
    two_classes = """\
/** Log-odds: positive for CLASSES[1]. */
export function decision(x) {
  const best = Math.max(...scores(x));
  return finite(SCALE * (OWNERS[0] === 1 ? best : -best));
}
"""
    two_owners = """\
/** Log-odds: positive for CLASSES[1]. */
export function decision(x) {
  const z = scores(x);
  const [first, second] = [0, 1].map((label) => finite(SCALE * Math.max(...z.filter((_, j) => OWNERS[j] === label))));
  return second - first;
}
"""
    more_classes = """\
/** Log-odds: the score of each class. */
export function decision(x) {
  const z = scores(x);
  return CLASSES.map((_, label) => finite(SCALE * Math.max(...z.filter((_, j) => OWNERS[j] === label))));
}
"""
    test_template = """
const PLACES = @places@;
const ROWS = [ // test vectors: the values at these places, and the position of the class
  @rows@
];

/** How many of ROWS are predicted differently from the model that this text was made from. */
export function test() {
  let wrong = 0;
  for (const [values, expected] of ROWS) {
    const x = new Array(WIDTH).fill(0);
    PLACES.forEach((place, i) => { x[place] = values[i]; });
    if (predict(x) !== CLASSES[expected]) wrong += 1;
  }
  return wrong;
}
"""


class CommonJS(JavaScript):
    """The same module for ``require``."""

    def text(self, vectors: Sequence[Vector] | None) -> str:
        text = super().text(vectors)
        names = "".join(f"  {name},\n" for name in EXPORTED.findall(text))
        return f'"use strict";\n{EXPORTED.sub("", text)}\nmodule.exports = {{\n{names}}};\n'


class Types(JavaScript):
    """What TypeScript has to know of the module."""

    def named_place(self, name: str, place: int) -> str:
        return f"export declare const {name}: {place};"

    def parts(self) -> dict[str, str | list[str]]:
        features = {input_.label: self._types(position) for position, input_ in enumerate(self.flat.inputs)}
        if self.layout.width == len(features):
            values = sorted({one for types in features.values() for one in types})
        else:
            values = ["boolean", "null", "number", "string", "undefined"]  # some places are never read
        return super().parts() | {
            "class": " | ".join(self.labels()),
            "features": [f"readonly {self.string(label)}: {' | '.join(types)};" for label, types in features.items()],
            "value": " | ".join(values) or "never",
            "log_odds": "number" if len(self.flat.classes) == 2 else "number[]",
            "log_odds_mean": "positive for CLASSES[1]" if len(self.flat.classes) == 2 else "the score of each class",
        }

    def _types(self, position: int) -> list[str]:
        """The types of the values that an input can have."""
        input_ = self.flat.inputs[position]
        categories = [term.value for term in self.flat.terms if term.input == position and term.kind == "equals"]
        text = input_.is_text and not self.is_number(position)
        number = not (text and categories and all(isinstance(one, str) for one in categories))
        return [
            *(["string"] if text else []),
            *(["number", "boolean"] if number else []),
            *(["null", "undefined"] if input_.may_be_missing else []),
        ]

    template = """\
@heading@

@names@
export type Class = @class@;
export declare const CLASSES: readonly @classes@;

/** A row by label: it has the features in use. */
export interface Features {
  @features@
}

/** A value of a row by position. Which type belongs in which place is checked when a row is read. */
export type Value = @value@;

/** A row by label or by position. */
export type Row = Features | readonly Value[] | NumberArray;

export type NumberArray =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array;

/** What a term adds to the score of its prototype. */
export interface Contribution {
  feature: string;
  term: string;
  contribution: number;
}

/** Why a row has its class: the score of the prototype that decides is its intercept and what its terms add. */
export interface Reason {
  class: Class;
  prototype: number;
  score: number;
  intercept: number;
  terms: Contribution[];
}

/** The class of a row. */
export declare function predict(x: Row): Class;

/** The score of each prototype. */
export declare function scores(x: Row): number[];

/** Log-odds: @log_odds_mean@. */
export declare function decision(x: Row): @log_odds@;

/** The probability of each class, in the order of CLASSES. */
export declare function probabilities(x: Row): number[];

/** The prototype that decides, the one with the greatest score of its class, and what each of its terms adds to it. */
export declare function reason(x: Row): Reason;

/** For each prototype, what each of its terms adds to its score. */
export declare function contributions(x: Row): number[][];
"""
    test_template = """
/** How many test vectors are predicted differently from the model that this text was made from. */
export declare function test(): number;
"""


FORMS: dict[str, type[JavaScript]] = {"module": JavaScript, "commonjs": CommonJS, "types": Types}


def _literal(value: Any) -> str:
    """Text, a number, a boolean or None as JavaScript reads it back: in ASCII, and safe within ``<script>``."""
    if isinstance(value, str):
        return json.dumps(str(value)).replace("</", "\\u003c/").replace("<!", "\\u003c!")
    return json.dumps(value)


def _is_whole(label: Any) -> bool:
    return isinstance(label, int) and not isinstance(label, bool)
