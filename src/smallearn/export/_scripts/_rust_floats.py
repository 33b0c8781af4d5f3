"""A model as a Rust module in f64 or f32, for ``no_std``: no allocation and no unsafe code.

Each term is written once, in `contributions`, from which everything else is computed. Sums are taken in the order of
the terms, so they are those of `SMaLLModel` to the last bit; in f32, those of the rounded model.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from smallearn._text import show
from smallearn.export._flat import FlatTerm
from smallearn.export._scripts._skeleton import Script, fill
from smallearn.export._vectors import Cell

TEMPLATES: tuple[str, ...] = (
    "template",
    "test_template",
    "rows_of_numbers",
    "rows_of_values",
    "two_classes",
    "two_owners",
)
TEMPLATES += (
    "chances_of_two",
    "chances",
    "more_classes",
    "cut_decides",
    "highest_decides",
    "offsets_decide",
    "costs_decide",
)
INTEGERS = {"i64": (-(2**63), 2**63 - 1), "u64": (0, 2**64 - 1)}

EXPONENTIAL = """
/// exp(x) of x up to 0, which core does not have: exp(x) = 2^n exp(r), |r| <= ln(2) / 2.
fn exponential(x: @real@) -> @real@ {
    if x < @least@ {
        return 0.0;
    }
    let n = (x * core::@real@::consts::LOG2_E - 0.5) as @whole@;
    let r = (x - n as @real@ * @ln_2@) @rest@;
    let mut power = 1.0;
    let mut i = @degree@;
    while i > 0.5 {
        power = 1.0 + r / i * power;
        i -= 1.0;
    }
    power * @power@
}
"""


@dataclass(frozen=True)
class Rust(Script):
    """Rust's numbers, text and conditions, in f64. ``probabilities``: whether there is a function for these."""

    probabilities: bool = False

    terms_opening = "&["
    real: ClassVar[str] = "f64"

    @property
    def reads_text(self) -> bool:
        """Whether a row is of ``Value``, not of f64."""
        return any(input_.is_text for input_ in self.flat.inputs)

    def is_value(self, position: int) -> bool:
        """Whether an input is read as a ``Value``."""
        needed = not self.flat.inputs[position].may_be_missing
        return self.reads_text and not needed and not self.is_number(position)

    def number(self, value: float) -> str:
        return repr(float(value))

    def string(self, text: str) -> str:
        return string(text)

    def cell(self, value: Cell) -> str:
        if isinstance(value, str) and (not self.reads_text or any(map(_is_surrogate, value))):
            why = "Rust's text has no lone surrogates" if self.reads_text else "the model reads only numbers"
            raise ValueError(f"A row for conformance holds {show(value)}, but {why}: leave the row out.")
        if value is None:
            return "Value::Missing" if self.reads_text else f"{self.real}::NAN"
        return self._wrapped(value) if self.reads_text else self.number(value)  # type: ignore[arg-type]

    def labels(self) -> list[str]:
        return typed_labels(self.flat.classes)[1]

    def named_place(self, name: str, place: int) -> str:
        return f"pub const {name}: usize = {place};"

    def reading(self, position: int) -> Iterator[str]:
        input_ = self.flat.inputs[position]
        how = "category" if self.is_value(position) else "number"
        how = how if input_.may_be_missing else "needed"
        yield f"let x{self.layout.places[position]} = {how}(x[X_{input_.name.upper()}])?;"

    def missing(self, position: int) -> str:
        x = self.value(position)
        return f"{x} == Value::Missing" if self.is_value(position) else f"{x}.is_nan()"

    def equal(self, position: int, value: Cell) -> str | None:
        if isinstance(value, str) and any(map(_is_surrogate, value)):
            return None
        is_value = self.is_value(position)
        return f"{self.value(position)} == {self._wrapped(value) if is_value else self.number(value)}"  # type: ignore[arg-type]

    def _wrapped(self, value: str | float) -> str:
        if isinstance(value, str):
            return f"Value::Text({self.string(value)})"
        return f"Value::Number({self.number(value)})"

    def either(self, condition: str, yes: str, no: str) -> str:
        return f"if {condition} {{ {yes} }} else {{ {no} }}"

    def named(self, name: str, expression: str) -> str:
        return f"let {name} = {expression};"

    def operand(self, expression: str) -> str:
        return expression

    def contributions(self, prototype: int) -> list[str]:
        """Filled up with zeros: every prototype has as many."""
        lines = super().contributions(prototype)
        return lines + ["0.0,"] * (self.most_terms - len(lines))

    def _winner(self) -> list[str]:
        needs_exponential = self.probabilities or self.flat.decision.costs is not None
        return super()._winner() + (self.exponential.splitlines() if needs_exponential else [])

    def parts(self) -> dict[str, str | list[str]]:
        rows = self.rows_of_values if self.reads_text else self.rows_of_numbers
        chances = self.chances_of_two if len(self.flat.classes) == 2 else self.chances
        return super().parts() | {
            "label_type": typed_labels(self.flat.classes)[0],
            "row_type": rows.splitlines(),
            "probabilities": chances.splitlines() if self.probabilities else [],
        }

    def test_parts(self, vectors: Any) -> dict[str, str | list[str]]:
        kind, blank = ("Value", "Value::Number(0.0)") if self.reads_text else (self.real, "0.0")
        called = {"found": "predict(&x)", "expected": "Some(*expected)"}
        return super().test_parts(vectors) | {"cell_type": kind, "blank": blank} | called

    template = """\
@heading@

#![allow(unused, clippy::all)]

@names@
pub const INPUTS: usize = @width@; // values in a row
pub const PROTOTYPES: usize = @n_prototypes@;
pub const MOST_TERMS: usize = @most_terms@; // in a prototype
pub const N_CLASSES: usize = @n_classes@;
pub static CLASSES: [@label_type@; N_CLASSES] = @classes@;
/// The class of each prototype, by position.
pub static OWNERS: [usize; PROTOTYPES] = @owners@;
pub static INTERCEPTS: [f64; PROTOTYPES] = @intercepts@;
/// Log-odds of one point of score.
pub const SCALE: f64 = @scale@;
/// For each prototype, the feature and the text of each term.
pub static TERMS: [&[(&str, &str)]; PROTOTYPES] = [
    @terms@
];
static BY_CLASS: [usize; PROTOTYPES] = @by_class@; // the prototypes, ordered by class

@row_type@

/// The class of a row, as a position in CLASSES; None if the model cannot predict.
pub fn predict(x: &Row) -> Option<usize> {
    Some(winner(&scores(x)?).1)
}

@winner@

/// The score of each prototype.
pub fn scores(x: &Row) -> Option<[f64; PROTOTYPES]> {
    let parts = contributions(x)?;
    let mut z = INTERCEPTS;
    for j in 0..PROTOTYPES {
        for part in parts[j].iter() {
            z[j] += *part;
        }
        if !z[j].is_finite() {
            return None;
        }
    }
    Some(z)
}

@decision@
@probabilities@

/// The prototype with the greatest score, and what each of its terms adds to it.
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    pub class: usize,
    pub prototype: usize,
    pub score: f64,
    pub intercept: f64,
    pub contributions: [f64; MOST_TERMS],
}

impl Reason {
    /// The feature, the text and the contribution of each term.
    pub fn terms<'a>(&'a self) -> impl Iterator<Item = (&'static str, &'static str, f64)> + 'a {
        TERMS[self.prototype].iter().zip(self.contributions.iter()).map(|(term, part)| (term.0, term.1, *part))
    }
}

pub fn reason(x: &Row) -> Option<Reason> {
    let z = scores(x)?;
    let (prototype, class) = winner(&z);
    let contributions = contributions(x)?[prototype];
    Some(Reason { class, prototype, score: z[prototype], intercept: INTERCEPTS[prototype], contributions })
}

/// For each prototype, what each of its terms adds to its score; then zeros.
pub fn contributions(x: &Row) -> Option<[[f64; MOST_TERMS]; PROTOTYPES]> {
    @inputs@
    @shared@
    Some([
        @contributions@
    ])
}
"""
    cut_decides = """\
/// The score that decides.
pub const CUT: f64 = @cut@;

/// The prototype with the greatest score, and the class that it predicts.
fn winner(z: &[f64; PROTOTYPES]) -> (usize, usize) {
    let mut best = BY_CLASS[0];
    for &j in BY_CLASS.iter() {
        if z[j] > z[best] {
            best = j;
        }
    }
    let owner = OWNERS[best];
    let lost = if owner == 1 { z[best] <= CUT } else { z[best] < CUT };
    (best, if lost { 1 - owner } else { owner })
}
"""
    highest_decides = """\
/// The prototype with the greatest score, and the class that it predicts.
fn winner(z: &[f64; PROTOTYPES]) -> (usize, usize) {
    let mut best = BY_CLASS[0];
    for &j in BY_CLASS.iter() {
        if z[j] > z[best] {
            best = j;
        }
    }
    (best, OWNERS[best])
}
"""
    offsets_decide = """\
/// What is added to the scores of each class before the greatest decides.
pub static OFFSETS: [f64; N_CLASSES] = @offsets@;

/// The prototype that decides, and the class that it predicts.
fn winner(z: &[f64; PROTOTYPES]) -> (usize, usize) {
    let mut best = BY_CLASS[0];
    for &j in BY_CLASS.iter() {
        if z[j] + OFFSETS[OWNERS[j]] > z[best] + OFFSETS[OWNERS[best]] {
            best = j;
        }
    }
    (best, OWNERS[best])
}
"""
    costs_decide = """\
/// The cost of predicting a class (column) where another is true (row): the least expected cost decides.
pub static COSTS: [[f64; N_CLASSES]; N_CLASSES] = [
    @costs@
];

/// The greatest score of the class of the least expected cost: its prototype, and the class.
fn winner(z: &[f64; PROTOTYPES]) -> (usize, usize) {
    let mut best = [PROTOTYPES; N_CLASSES];
    let mut top = z[0];
    for j in 0..PROTOTYPES {
        let held = best[OWNERS[j]];
        if held == PROTOTYPES || z[j] > z[held] {
            best[OWNERS[j]] = j;
        }
        if z[j] > top {
            top = z[j];
        }
    }
    let mut label = 0;
    let mut least = f64::INFINITY;
    for k in 0..N_CLASSES {
        let mut cost = 0.0;
        for i in 0..N_CLASSES {
            cost += exponential(SCALE * (z[best[i]] - top)) * COSTS[i][k];
        }
        if cost < least {
            least = cost;
            label = k;
        }
    }
    (best[label], label)
}
"""
    exponential = fill(
        EXPONENTIAL,
        {
            "real": "f64",
            "least": "-700.0",
            "whole": "i64",
            "ln_2": "0.693147180369123816490",
            "rest": "- n as f64 * 1.90821492927058770002e-10",
            "degree": "18.0",
            "power": "f64::from_bits(((1023 + n) as u64) << 52)",
        },
    )
    rows_of_numbers = """\
/// The inputs of a row; NaN is a missing value.
pub type Row = [f64; INPUTS];

fn number(value: f64) -> Option<f64> {
    if value.is_infinite() { None } else { Some(value) }
}

fn needed(value: f64) -> Option<f64> {
    if value.is_finite() { Some(value) } else { None }
}
"""
    rows_of_values = """\
/// One input of a row. Number(NaN) is a missing value, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Number(f64),
    Text(&'a str),
    Missing,
}

/// The inputs of a row.
pub type Row<'a> = [Value<'a>; INPUTS];

fn number(value: Value) -> Option<f64> {
    match value {
        Value::Number(v) if !v.is_infinite() => Some(v),
        Value::Missing => Some(f64::NAN),
        _ => None,
    }
}

fn needed(value: Value) -> Option<f64> {
    match value {
        Value::Number(v) if v.is_finite() => Some(v),
        _ => None,
    }
}

fn category(value: Value) -> Option<Value> {
    match value {
        Value::Number(v) if v.is_infinite() => None,
        Value::Number(v) if v.is_nan() => Some(Value::Missing),
        other => Some(other),
    }
}
"""
    two_classes = """\
/// Log-odds: positive for CLASSES[1].
pub fn decision(x: &Row) -> Option<f64> {
    let z = scores(x)?;
    let (best, _) = winner(&z);
    let odds = SCALE * if OWNERS[best] == 1 { z[best] } else { -z[best] };
    if odds.is_finite() { Some(odds) } else { None }
}
"""
    two_owners = """\
/// Log-odds: positive for CLASSES[1].
pub fn decision(x: &Row) -> Option<f64> {
    let z = scores(x)?;
    let mut best = [f64::NEG_INFINITY; N_CLASSES];
    for j in 0..PROTOTYPES {
        if z[j] > best[OWNERS[j]] {
            best[OWNERS[j]] = z[j];
        }
    }
    let (first, second) = (SCALE * best[0], SCALE * best[1]);
    if first.is_finite() && second.is_finite() { Some(second - first) } else { None }
}
"""
    more_classes = """\
/// Log-odds: the score of each class.
pub fn decision(x: &Row) -> Option<[f64; N_CLASSES]> {
    let z = scores(x)?;
    let mut found = [f64::NEG_INFINITY; N_CLASSES];
    for j in 0..PROTOTYPES {
        if z[j] > found[OWNERS[j]] {
            found[OWNERS[j]] = z[j];
        }
    }
    for odds in found.iter_mut() {
        *odds *= SCALE;
        if !odds.is_finite() {
            return None;
        }
    }
    Some(found)
}
"""
    chances_of_two = """
/// The probability of each class, in the order of CLASSES.
pub fn probabilities(x: &Row) -> Option<[f64; N_CLASSES]> {
    let odds = decision(x)?;
    let weight = exponential(if odds < 0.0 { odds } else { -odds });
    let (less, more) = (weight / (1.0 + weight), 1.0 / (1.0 + weight));
    Some(if odds < 0.0 { [more, less] } else { [less, more] })
}
"""
    chances = """
/// The probability of each class, in the order of CLASSES.
pub fn probabilities(x: &Row) -> Option<[f64; N_CLASSES]> {
    let mut found = decision(x)?;
    let mut best = found[0];
    for odds in found.iter() {
        if *odds > best {
            best = *odds;
        }
    }
    let mut sum = 0.0;
    for odds in found.iter_mut() {
        *odds = exponential(*odds - best);
        sum += *odds;
    }
    for weight in found.iter_mut() {
        *weight /= sum;
    }
    Some(found)
}
"""
    test_template = """
static PLACES: [usize; @n_places@] = @places@;
static BLANK: @cell_type@ = @blank@;
// Test vectors: the values at these places, and the position of the class.
static ROWS: [([@cell_type@; @n_places@], usize); @n_rows@] = [
    @rows@
];

/// How many of ROWS are predicted differently from the model that this text was made from.
pub fn test() -> usize {
    let mut wrong = 0;
    for (values, expected) in ROWS.iter() {
        let mut x = [BLANK; INPUTS];
        for (place, value) in PLACES.iter().zip(values.iter()) {
            x[*place] = *value;
        }
        if @found@ != @expected@ {
            wrong += 1;
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_row_is_predicted_as_by_the_model() {
        assert_eq!(super::test(), 0);
    }
}
"""


class Rust32(Rust):
    """The same in f32, of a model whose numbers are rounded to float32."""

    real = "f32"
    exponential = fill(
        EXPONENTIAL,
        {
            "real": "f32",
            "least": "-87.0",
            "whole": "i32",
            "ln_2": "0.693359375",
            "rest": "+ n as f32 * 2.1219444e-4",
            "degree": "9.0",
            "power": "f32::from_bits(((127 + n) as u32) << 23)",
        },
    )

    def number(self, value: float) -> str:
        return float32(value)

    def term_text(self, term: FlatTerm) -> str:
        """With the fewest digits that are read back as the same float32."""
        short = float(str(np.float32(term.value))) if isinstance(term.value, float) else term.value
        return super().term_text(replace(term, value=short))


for _name in TEMPLATES:
    setattr(Rust32, _name, getattr(Rust, _name).replace("f64", "f32"))


def float32(value: float) -> str:
    """A float32, in the fewest digits that are read back as the same number."""
    if math.isinf(value):
        return "f32::INFINITY" if value > 0 else "f32::NEG_INFINITY"
    return str(np.float32(value))


def string(text: str) -> str:
    """Text in quotes, in ASCII; U+FFFD stands in for a lone surrogate."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    plain = "".join("\ufffd" if _is_surrogate(sign) else sign for sign in text)
    signs = (sign if " " <= sign <= "~" and sign not in '"\\' else f"\\u{{{ord(sign):x}}}" for sign in plain)
    return '"' + "".join(signs) + '"'


def typed_labels(classes: Sequence[Any], floats: bool = True) -> tuple[str, list[str]]:
    """The type of the labels, and each of them: their own type if Rust has one for all, else text.

    Without ``floats``, labels in floating point are text.
    """
    if all(isinstance(label, bool) for label in classes):
        return "bool", [str(bool(label)).lower() for label in classes]
    if floats and all(isinstance(label, float) for label in classes):
        return "f64", [repr(float(label)) for label in classes]
    if all(isinstance(label, int) and not isinstance(label, bool) for label in classes):
        for kind, (low, high) in INTEGERS.items():
            if all(low <= label <= high for label in classes):
                return kind, [str(int(label)) for label in classes]
    return "&str", [string(str(label)) for label in classes]


def _is_surrogate(sign: str) -> bool:
    return "\ud800" <= sign <= "\udfff"
