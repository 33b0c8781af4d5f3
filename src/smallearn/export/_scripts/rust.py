"""A model as a Rust module for ``no_std``: no allocation, no unsafe code, no exponential (so log-odds, but no
probabilities). Each term is written once, in `contributions`, from which everything else is computed; sums are taken
in the order of the terms and so are those of `SMaLLModel`, bit for bit."""

from collections.abc import Iterator, Sequence
from typing import Any

from smallearn._text import show
from smallearn.export._flat import FlatModel, FlatTerm, flatten
from smallearn.export._scripts.skeleton import (
    Case,
    Cell,
    Layout,
    by_class,
    cases_of,
    heading,
    in_words,
    is_number,
    layout_of,
    said,
)

INTEGERS = {"i64": (-(2**63), 2**63 - 1), "u64": (0, 2**64 - 1)}


def to_rust(model: Any, *, inputs: str = "used", conformance: Any = None) -> str:
    """The text of a module with ``predict``, ``scores``, ``decision``, ``reason`` of one row; each is None where the
    model has no answer. ``predict`` gives the position of the class in ``CLASSES``.

    A row is an array of the features in use, whose positions have names, or of all features (``inputs="all"``):
    ``[f64; INPUTS]`` with NaN for what is missing or, if the model compares text, ``[Value; INPUTS]``. Text of Rust has
    no lone surrogates: a category with one holds nowhere, a class shows U+FFFD in its place.

    ``conformance``: rows, as `SMaLLModel.predict` takes them, that ``test()`` runs; it returns how many differ, and
    ``cargo test`` asks for none.
    """
    flat = flatten(model)
    layout = layout_of(flat, inputs)
    text = _reads_text(flat)
    parts = [
        [*(f"// {line}" for line in heading(flat, layout)), "", "#![allow(unused, clippy::all)]"],
        list(_tables(flat, layout)),
        (VALUE if text else NUMBER).splitlines(),
        PREDICT.splitlines(),
        SCORES.splitlines(),
        (TWO_CLASSES if flat.is_binary else MORE_CLASSES).splitlines(),
        REASON.splitlines(),
        list(_contributions(flat, layout)),
    ]
    if conformance is not None:
        parts += [list(_rows(layout, text, cases_of(model, flat, conformance))), TEST.splitlines()]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def quoted(text: str) -> str:
    """Text as Rust reads it back, in ASCII; U+FFFD stands in for a lone surrogate."""
    plain = "".join("\ufffd" if _is_surrogate(sign) else sign for sign in text)
    signs = (sign if " " <= sign <= "~" and sign not in '"\\' else f"\\u{{{ord(sign):x}}}" for sign in plain)
    return '"' + "".join(signs) + '"'


def _is_surrogate(sign: str) -> bool:
    return "\ud800" <= sign <= "\udfff"


def _labels(classes: Sequence[Any]) -> tuple[str, list[str]]:
    """The type of the labels, and each of them: their own if Rust has one for all, else text."""
    if all(isinstance(label, bool) for label in classes):
        return "bool", [str(bool(label)).lower() for label in classes]
    if all(isinstance(label, float) for label in classes):
        return "f64", [_number(label) for label in classes]
    if all(isinstance(label, int) and not isinstance(label, bool) for label in classes):
        for kind, (low, high) in INTEGERS.items():
            if all(low <= label <= high for label in classes):
                return kind, [str(int(label)) for label in classes]
    return "&str", [quoted(label if isinstance(label, str) else str(label)) for label in classes]


def _number(value: float) -> str:
    return repr(float(value))


def _reads_text(flat: FlatModel) -> bool:
    return any(given.is_text for given in flat.inputs)


# --- the parts of the text -------------------------------------------------------------------------------------------


def _tables(flat: FlatModel, layout: Layout) -> Iterator[str]:
    for place, given in zip(layout.places, flat.inputs, strict=True):
        yield f"pub const X_{given.name.upper()}: usize = {place};"
    kind, labels = _labels(flat.classes)
    most = max(len(flat.of(j)) for j in range(len(flat.owners)))
    yield f"pub const INPUTS: usize = {layout.width}; // values in a row"
    yield f"pub const PROTOTYPES: usize = {len(flat.owners)};"
    yield f"pub const MOST_TERMS: usize = {most}; // in a prototype"
    yield f"pub const N_CLASSES: usize = {len(labels)};"
    yield f"pub static CLASSES: [{kind}; N_CLASSES] = [{', '.join(labels)}];"
    yield "/// The class of each prototype, by position."
    yield f"pub static OWNERS: [usize; PROTOTYPES] = {list(flat.owners)};"
    yield f"pub static INTERCEPTS: [f64; PROTOTYPES] = [{', '.join(map(_number, flat.intercepts))}];"
    yield "/// Log-odds of one point of score."
    yield f"pub const SCALE: f64 = {_number(flat.scale)};"
    yield "/// Of each prototype: the feature and the term in words."
    yield "pub static TERMS: [&[(&str, &str)]; PROTOTYPES] = ["
    for j in range(len(flat.owners)):
        yield "    &["
        for term in flat.of(j):
            yield f"        ({quoted(flat.inputs[term.input].label)}, {quoted(said(flat, term))}),"
        yield "    ],"
    yield "];"
    yield f"static BY_CLASS: [usize; PROTOTYPES] = {by_class(flat)}; // the prototypes in the order of their classes"


def _contributions(flat: FlatModel, layout: Layout) -> Iterator[str]:
    most = max(len(flat.of(j)) for j in range(len(flat.owners)))
    yield "/// Of each prototype, what each of its terms adds to its score; then zeros."
    yield "pub fn contributions(x: &Row) -> Option<[[f64; MOST_TERMS]; PROTOTYPES]> {"
    names, readers = [], []
    for position, (place, given) in enumerate(zip(layout.places, flat.inputs, strict=True)):
        how = "number" if is_number(flat, position) or not _reads_text(flat) else "category"
        names.append(f"x{place}")
        readers.append(how)
        yield f"    let x{place} = {how if given.may_be_missing else 'needed'}(x[X_{given.name.upper()}])?;"
    yield "    Some(["
    for j in range(len(flat.owners)):
        terms = flat.of(j)
        yield "        ["
        for term in terms:
            product = _product(names[term.input], readers[term.input] == "category", term)
            yield f"            {product}, // {in_words(flat, term)}"
        yield from ["            0.0,"] * (most - len(terms))
        yield "        ],"
    yield "    ])"
    yield "}"


def _product(x: str, is_value: bool, term: FlatTerm) -> str:
    """``weight · b`` as an expression."""
    weight = _number(term.weight)
    if term.kind == "raw":
        if term.mean is None:
            return f"{weight} * {x}"
        return f"{weight} * if {x}.is_nan() {{ {_number(term.mean)} }} else {{ {x} }}"
    if isinstance(term.value, str):
        if any(map(_is_surrogate, term.value)):
            return "0.0"
        condition = f"{x} == Value::Text({quoted(term.value)})"
    elif term.kind == "missing":
        condition = f"{x} == Value::Missing" if is_value else f"{x}.is_nan()"
    else:
        value = _number(term.value)  # type: ignore[arg-type]
        sign = {"at_most": "<=", "above": ">", "equals": "=="}[term.kind]
        condition = f"{x} == Value::Number({value})" if is_value else f"{x} {sign} {value}"
    return f"if {condition} {{ {weight} }} else {{ 0.0 }}"


def _rows(layout: Layout, text: bool, cases: list[Case]) -> Iterator[str]:
    kind, blank = ("Value", "Value::Number(0.0)") if text else ("f64", "0.0")
    width = len(layout.places)
    yield f"static PLACES: [usize; {width}] = {list(layout.places)};"
    yield f"static BLANK: {kind} = {blank};"
    yield "// The values at these places, and the position of the class."
    yield f"static ROWS: [([{kind}; {width}], usize); {len(cases)}] = ["
    for case in cases:
        yield f"    ([{', '.join(_cell(value, text) for value in case.values)}], {case.expected}),"
    yield "];"


def _cell(value: Cell, text: bool) -> str:
    if isinstance(value, str) and (not text or any(map(_is_surrogate, value))):
        why = "Rust's text has no lone surrogates" if text else "the model reads numbers alone"
        raise ValueError(f"A row for conformance holds {show(value)}, but {why}: leave it out.")
    if isinstance(value, str):
        return f"Value::Text({quoted(value)})"
    if value is None:
        return "Value::Missing" if text else "f64::NAN"
    return f"Value::Number({_number(value)})" if text else _number(value)


NUMBER = """
/// The inputs of a row; NaN where one is missing.
pub type Row = [f64; INPUTS];

fn number(value: f64) -> Option<f64> {
    if value.is_infinite() { None } else { Some(value) }
}

fn needed(value: f64) -> Option<f64> {
    if value.is_finite() { Some(value) } else { None }
}
""".strip()
VALUE = """
/// One input of a row. Number(NaN) is missing, too.
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
""".strip()
PREDICT = """
/// The class of a row, as a position in CLASSES; None if the model has no answer.
pub fn predict(x: &Row) -> Option<usize> {
    Some(winner(&scores(x)?).1)
}

/// The prototype of the greatest score, and the class that follows.
fn winner(z: &[f64; PROTOTYPES]) -> (usize, usize) {
    let mut best = BY_CLASS[0];
    for &j in BY_CLASS.iter() {
        if z[j] > z[best] {
            best = j;
        }
    }
    let owner = OWNERS[best];
    let lost = if owner == 1 { z[best] <= 0.0 } else { z[best] < 0.0 };
    (best, if N_CLASSES == 2 && lost { 1 - owner } else { owner })
}
""".strip()
SCORES = """
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
""".strip()
TWO_CLASSES = """
/// Log-odds: positive for CLASSES[1].
pub fn decision(x: &Row) -> Option<f64> {
    let z = scores(x)?;
    let (best, _) = winner(&z);
    let odds = SCALE * if OWNERS[best] == 1 { z[best] } else { -z[best] };
    if odds.is_finite() { Some(odds) } else { None }
}
""".strip()
MORE_CLASSES = """
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
""".strip()
REASON = """
/// The prototype of the greatest score, and what each of its terms adds to it.
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    pub class: usize,
    pub prototype: usize,
    pub score: f64,
    pub intercept: f64,
    pub contributions: [f64; MOST_TERMS],
}

impl Reason {
    /// The feature, the term in words and its contribution, term by term.
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
""".strip()
TEST = """
/// How many of ROWS are not predicted as by the model that this text was made from.
pub fn test() -> usize {
    let mut wrong = 0;
    for (values, expected) in ROWS.iter() {
        let mut x = [BLANK; INPUTS];
        for (place, value) in PLACES.iter().zip(values.iter()) {
            x[*place] = *value;
        }
        if predict(&x) != Some(*expected) {
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
""".strip()
