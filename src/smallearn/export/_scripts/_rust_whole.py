"""A model as a Rust module in whole numbers, for ``no_std``: what `IntegerModel` computes, bit for bit.

There is no floating point but in functions that make codes of readings with it, no allocation, no unsafe code, and
nothing that can panic: no sum overflows, as `IntegerModel.intervals` proves for the codes that products are limited to,
and every place in an array is a constant or comes from the array's own iterator.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.export._fixed.codes import Coder, FloatBits, Linear, Shifted, Steps, Text, meaning
from smallearn.export._fixed.float32 import GREATEST
from smallearn.export._fixed.numbers import Row, TargetTerm, read_inputs
from smallearn.export._fixed.probability import ONE
from smallearn.export._fixed.quantise import CODE_BITS, IntegerModel, bits_for
from smallearn.export._fixed.scaling import codes_in_products
from smallearn.export._flat import decision_rule, unchecked
from smallearn.export._names import comment_text, unique_names
from smallearn.export._scripts._rust_floats import Rust, float32, string, typed_labels
from smallearn.export._scripts._skeleton import Layout, fill


def text(target: IntegerModel, layout: Layout, conformance: Any, probabilities: bool) -> str:
    """The text of the module; ``conformance`` are rows for test vectors, or None."""
    rust = RustWhole(target, layout, probabilities)
    template = rust.template()
    if conformance is None:
        return fill(template, rust.parts())
    return fill(template + Rust.test_template, rust.parts() | rust.test_parts(conformance))


@dataclass(frozen=True)
class RustWhole:
    """A model in whole numbers as Rust sees it. ``probabilities``: whether there is a function for these."""

    target: IntegerModel
    layout: Layout
    probabilities: bool

    # --- types and names ---------------------------------------------------------------------------------------------

    @property
    def takes_floats(self) -> bool:
        """Whether the device passes floats, of which codes are made without floating point."""
        return self.target.readings == "float"

    @property
    def has_gaps(self) -> bool:
        """Whether anything may be missing."""
        return any(input_.may_be_missing for input_ in self.target.flat.inputs)

    @property
    def code_type(self) -> str:
        return f"{'u' if self.target.unsigned else 'i'}{self.target.input_bits}"

    @property
    def ends_of_type(self) -> tuple[int, int]:
        """The least and the greatest number of the type of a code."""
        bits = self.target.input_bits
        return (0, 2**bits - 1) if self.target.unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)

    @cached_property
    def merit_type(self) -> str:
        """The type of what is compared: scores, with the cut or the offsets."""
        target, intervals = self.target, self.target.intervals
        if target.flat.has_one_owner:
            ends = [target.cut, *(end for interval in intervals for end in interval)]
        else:
            offsets = (
                [target.offsets[owner] for owner in target.flat.owners] if target.offsets else [0] * len(intervals)
            )
            ends = [
                end + shift
                for interval, offset in zip(intervals, offsets, strict=True)
                for end in interval
                for shift in (0, offset)
            ]
        return f"i{max(target.sum_bits, bits_for((min(ends), max(ends))))}"

    def place(self, position: int) -> str:
        """The name of an input's place in a row."""
        return f"X_{self.target.flat.inputs[position].name.upper()}"

    @cached_property
    def categories(self) -> list[tuple[int, int, str, object]]:
        """Input, code, name and value of every category that text is compared with."""
        inputs = self.target.flat.inputs
        entries = [
            (i, code, value) for i, one in enumerate(inputs) for code, value in enumerate(one.categories, start=1)
        ]
        names = unique_names([f"{inputs[i].name} {value}" for i, _, value in entries])
        return [(*entry[:2], f"CATEGORY_{name.upper()}", entry[2]) for entry, name in zip(entries, names, strict=True)]

    # --- terms -------------------------------------------------------------------------------------------------------

    def code(self, term: TargetTerm[int], value: int | None) -> str:
        """A code that an input is compared with."""
        if self.has_gaps and value == self.target.missing:
            return "MISSING"
        names = (name for position, code, name, _ in self.categories if (position, code) == (term.input, value))
        return next(names, str(value))

    def holds(self, term: TargetTerm[int]) -> str:
        """The condition of a literal."""
        x = f"x{self.layout.places[term.input]}"
        if term.kind == "missing":
            return f"{x} == MISSING"
        if term.kind == "between":
            return f"{x} > {self.code(term, term.value)} && {x} <= {term.high}"
        sign = {"at_most": "<=", "above": ">", "equals": "=="}[term.kind]
        return f"{x} {sign} {self.code(term, term.value)}"

    def readings(self, terms: tuple[TargetTerm[int], ...]) -> Iterator[str]:
        """Statements that define the codes ``x…`` in use, and the numbers ``n…`` that weights are multiplied by."""
        for position in sorted({term.input for term in terms}):
            place = self.layout.places[position]
            yield f"let x{place} = x[{self.place(position)}];"
            raw = [term for term in terms if term.input == position and term.kind == "raw"]
            if raw:
                yield f"let n{place} = {self.factor(position, raw[0].right)};"

    def factor(self, position: int, right: int) -> str:
        """What weights are multiplied by: the code, limited to those for which no sum overflows."""
        target = self.target
        least, greatest = codes_in_products(target.coders[position], CODE_BITS[target.number])
        low, high = self.ends_of_type
        if target.flat.inputs[position].may_be_missing:
            low += 1  # a missing value is not multiplied
        x = f"x{self.layout.places[position]}"
        x += f".max({least})" if low < least else ""
        x += f".min({greatest})" if greatest < high else ""
        return f"({x} >> {right}) as Score" if right else f"{x} as Score"

    def row(self, row: Row[int]) -> str:
        """Statements that add a row of the card to the scores."""
        first = next(term for term in row if term is not None)
        terms = [term for term in row if term is not None]
        place, comment = self.layout.places[first.input], f" // {self.comment(first)}"
        if first.kind != "raw":
            return f"if {self.holds(first)} {{ {_changes(terms)} }}{comment}"
        products = " ".join(f"z[{term.prototype}] += {term.weight} * n{place};" for term in terms)
        if first.instead is None:
            return products + comment
        absent = " ".join(f"z[{term.prototype}] += {term.instead};" for term in terms if term.instead)
        return f"if x{place} == MISSING {{ {absent} }} else {{ {products} }}{comment}".replace("{  }", "{}")

    def contribution(self, term: TargetTerm[int]) -> str:
        """What a term adds."""
        if term.kind != "raw":
            return f"if {self.holds(term)} {{ {term.weight} }} else {{ 0 }}"
        place = self.layout.places[term.input]
        product = f"{term.weight} * n{place}"
        return product if term.instead is None else f"if x{place} == MISSING {{ {term.instead} }} else {{ {product} }}"

    @staticmethod
    def comment(term: TargetTerm[int]) -> str:
        """A term for a comment."""
        return comment_text(_plain(term))

    # --- parts of the text -------------------------------------------------------------------------------------------

    def template(self) -> str:
        """The text with holes."""
        flat, target = self.target.flat, self.target
        winner = CUT_DECIDES if flat.has_one_owner else OFFSETS_DECIDE if target.offsets else HIGHEST_DECIDES
        parts = [TEMPLATE.replace("@WINNER@", winner)]
        if self.probabilities:
            several = CHANCES_OF_TWO if len(flat.classes) == 2 else CHANCES_OF_MORE
            parts += [CHANCE] + ([CHANCES_OF_OWNER] if flat.has_one_owner else [CLASS_SCORES, several])
        return "".join([*parts, FLOATS if self.takes_floats else "", "@conversions@\n"])

    def _bit_functions(self) -> Iterator[str]:
        """Functions that make codes of the bits of floats."""
        coders = self.target.coders
        for width in sorted({coder.width for coder in coders if isinstance(coder, FloatBits)}):
            yield from fill(ORDERED, {"bits": str(width), "dropped": str(32 - width)}).splitlines()
        for width in sorted({coder.width for coder in coders if isinstance(coder, Shifted)}):
            top = f"{2 ** (width - 1):#x}"
            yield from fill(FIXED, {"bits": str(width), "dropped": str(24 - width), "top": top}).splitlines()

    def parts(self) -> dict[str, str | list[str]]:
        """What goes in the place of each ``@name@``."""
        target, flat, places = self.target, self.target.flat, self.layout.places
        kind, labels = typed_labels(flat.classes, floats=False)
        rate = Fraction(flat.scale) / target.factor
        gap = ["/// The code of a missing value.", "pub const MISSING: Code = Code::MIN;"]
        owner = flat.owners[0]
        return {
            "heading": [f"// {line}" for line in self._heading()],
            "names": [f"pub const {self.place(i)}: usize = {place};" for i, place in enumerate(places)],
            "categories": [
                f"pub const {name}: Code = {code}; // {comment_text(value)}" for _, code, name, value in self.categories
            ],
            "width": str(self.layout.width),
            "n_prototypes": str(len(flat.owners)),
            "most_terms": str(max(len(target.of(j)) for j in range(len(flat.owners)))),
            "n_classes": str(len(flat.classes)),
            "label_type": kind,
            "classes": _list(labels),
            "owners": _list(flat.owners),
            "intercepts": _list(target.intercepts),
            "scale": float32(float(min(rate, Fraction(GREATEST["float32"])))),
            "terms": list(self._terms()),
            "code_type": self.code_type,
            "missing": gap if self.has_gaps else [],
            "score_type": f"i{target.sum_bits}",
            "merit_type": self.merit_type,
            "cut": str(target.cut),
            "sign": ">" if owner == 1 else ">=",
            "owner": str(owner),
            "other": str(1 - owner),
            "offsets": _list(target.offsets),
            **(self._chances() if self.probabilities else {}),
            "readings": list(self.readings(target.terms)),
            "sums": [self.row(row) for row in target.rows],
            "cases": list(self._cases()),
            "codes": [line for i in range(len(flat.inputs)) for line in self._code(i)] if self.takes_floats else [],
            "conversions": [
                *self._bit_functions(),
                *(line for i, coder in enumerate(target.coders) for line in self._conversion(i, coder)),
            ],
        }

    def _chances(self) -> dict[str, str | list[str]]:
        """What the table of probabilities needs."""
        table, bits = self.target.probability_table, self.target.sum_bits
        end = (len(table.entries) - 1) << table.bits
        chord = [
            f"let after = CHANCES.get(i + 1).copied().unwrap_or({table.entries[-1]});",
            f"let part = v & {2**table.bits - 1};",
            f"here - ((u32::from(here - after) * part + {2**table.bits // 2}) >> {table.bits}) as u16",
        ]
        return {
            "one": str(ONE),
            "beats": ">" if self.target.flat.owners[0] == 1 else "<",
            "error": f"{table.error:.3g}",
            "n_entries": str(len(table.entries)),
            "entries": _lines(table.entries),
            "distance_type": f"u{bits}",
            "steps": ("distance" if not table.drop else f"(distance >> {table.drop})")
            + (f".min({end})" if end < 2**bits else ""),
            "bits": str(table.bits),
            "last": str(table.entries[-1]),
            "chord": chord if table.bits else ["here"],
            "what": "The probability of the less likely class" if table.n_classes == 2 else "The weight of a class",
        }

    def _heading(self) -> Iterator[str]:
        target, flat = self.target, self.target.flat
        labels = [comment_text(show(label)) for label in flat.classes]
        factor = Decimal(target.factor.numerator) / Decimal(target.factor.denominator)
        yield flat.stamp
        yield f"Predict {decision_rule(flat, labels, 'the score' if len(flat.owners) == 1 else 'any score')}."
        yield f"Scores are {factor:.6g} times those of the model, in whole numbers; none can overflow."
        used = ", of which these are used:" if flat.inputs else "; none is used."
        yield f"A row has {self.layout.width} whole numbers{used}"
        for i, input_ in enumerate(flat.inputs):
            coding = "CATEGORY_... or 0 for any other text" if input_.is_text else meaning(target.coders[i])
            missing = ", may be missing" if input_.may_be_missing else ""
            yield f"  [{self.layout.places[i]}] {comment_text(input_.label)}: {coding}{missing}"
        yield from unchecked(flat)

    def _terms(self) -> Iterator[str]:
        for j in range(len(self.target.intercepts)):
            yield "&["
            for term in self.target.of(j):
                yield f"    ({string(self.target.flat.inputs[term.input].label)}, {string(_plain(term))}),"
            yield "],"

    def _cases(self) -> Iterator[str]:
        """For each prototype, its constant and what its terms add."""
        target = self.target
        last, most = len(target.intercepts) - 1, max(len(target.of(j)) for j in range(len(target.intercepts)))
        for j, intercept in enumerate(target.intercepts):
            terms = target.of(j)
            yield f"{'_' if j == last else j} => ({intercept}, ["
            yield from (f"    {self.contribution(term)}, // {self.comment(term)}" for term in terms)
            yield from ["    0,"] * (most - len(terms))
            yield "]),"

    # --- from readings to codes --------------------------------------------------------------------------------------

    def _code(self, position: int) -> Iterator[str]:
        """Statements that make a code of the bits of a float."""
        coder, place = self.target.coders[position], self.place(position)
        if isinstance(coder, Text):
            numbers = FloatBits(32).encode(np.arange(1.0, coder.greatest + 1.0))
            arms = "".join(f"{number:#x} => {code}, " for code, number in enumerate(numbers.tolist(), start=1))
            code = f"match x[{place}].to_bits() {{ {arms}_ => 0 }}"
        elif isinstance(coder, Shifted):
            code = f"fixed_{coder.width}(x[{place}], {coder.base}) as Code"
        else:
            assert isinstance(coder, FloatBits)
            code = f"ordered_{coder.width}(x[{place}]) as Code"
        if self.target.flat.inputs[position].may_be_missing:
            yield f"codes[{place}] = if is_nan(x[{place}]) {{ MISSING }} else {{ {code} }};"
        else:
            yield f"if is_nan(x[{place}]) {{ return None; }}"
            yield f"codes[{place}] = {code};"

    def _conversion(self, position: int, coder: Coder) -> Iterator[str]:
        """A function that makes a code of a float, with floating point."""
        input_ = self.target.flat.inputs[position]
        if not isinstance(coder, Linear | Steps):
            return
        yield ""
        yield f"/// The code of {comment_text(input_.label)}{'' if input_.may_be_missing else '; None for NaN'}."
        yield f"pub fn code_{input_.name}(x: f32) -> Option<Code> {{"
        yield f"    if x.is_nan() {{ return {'Some(MISSING)' if input_.may_be_missing else 'None'}; }}"
        if isinstance(coder, Linear):
            yield f"    let steps = (x - {float32(coder.origin)}) * {float32(coder.rate)};"
            yield f"    if !(steps > 0.0) {{ return Some({coder.least}); }}"
            yield f"    if steps >= {float32(2.0 * coder.Q)} {{ return Some({coder.greatest}); }}"
            yield f"    Some((steps as i32 - {coder.Q}) as Code)"
        else:
            yield "    let mut code = 0;"
            for cut, reached in coder.float32_cuts:
                yield f"    if x {'>=' if reached else '>'} {float32(cut)} {{ code += 1; }}"
            yield "    Some(code)"
        yield "}"

    # --- test vectors ------------------------------------------------------------------------------------------------

    def test_parts(self, X: Any) -> dict[str, str | list[str]]:
        """What goes in the place of each ``@name@`` of the template of tests."""
        target = self.target
        codes = target.codes(X)
        rows = [[str(code) for code in row] for row in codes.tolist()]
        called, answer, kind, blank = "predict", "*expected", "Code", "0"
        if self.takes_floats:
            with np.errstate(over="ignore"):
                readings = read_inputs(target.model, target.flat, X).astype(np.float32)
            rows = [["f32::NAN" if x != x else float32(x) for x in row] for row in readings]
            called, answer, kind, blank = "predict_readings", "Some(*expected)", "f32", "0.0"
        answers = target.predict(codes).tolist()
        return {
            "places": _list(self.layout.places),
            "n_places": str(len(self.layout.places)),
            "n_rows": str(len(rows)),
            "rows": [f"({_list(row)}, {answer})," for row, answer in zip(rows, answers, strict=True)],
            "cell_type": kind,
            "blank": blank,
            "found": f"{called}(&x)",
            "expected": answer,
        }


def _list(items: Any) -> str:
    return f"[{', '.join(map(str, items))}]"


def _lines(numbers: Sequence[int], most: int = 16) -> list[str]:
    """The entries of a table, some on a line."""
    return [f"{', '.join(map(str, numbers[i : i + most]))}," for i in range(0, len(numbers), most)]


def _plain(term: TargetTerm[int]) -> str:
    return term.text.replace("≤", "<=")


def _changes(terms: list[TargetTerm[int]]) -> str:
    return " ".join(f"z[{term.prototype}] += {term.weight};" for term in terms)


TEMPLATE = """\
@heading@

#![allow(unused, clippy::all)]

@names@
@categories@
pub const INPUTS: usize = @width@; // numbers in a row
pub const PROTOTYPES: usize = @n_prototypes@;
pub const MOST_TERMS: usize = @most_terms@; // in a prototype
pub const N_CLASSES: usize = @n_classes@;
pub static CLASSES: [@label_type@; N_CLASSES] = @classes@;
/// The class of each prototype, by position.
pub static OWNERS: [usize; PROTOTYPES] = @owners@;
pub static INTERCEPTS: [Score; PROTOTYPES] = @intercepts@;
/// Log-odds of one unit of score.
pub const SCALE: f32 = @scale@;
/// For each prototype, the feature and the text of each term.
pub static TERMS: [&[(&str, &str)]; PROTOTYPES] = [
    @terms@
];

/// An input in whole numbers.
pub type Code = @code_type@;
@missing@
/// A score, and all that is added up to it.
pub type Score = @score_type@;
/// The inputs of a row.
pub type Row = [Code; INPUTS];

/// The class of a row, as a position in CLASSES.
pub fn predict(x: &Row) -> usize {
    winner(&scores(x)).1
}

@WINNER@
/// The score of each prototype.
pub fn scores(x: &Row) -> [Score; PROTOTYPES] {
    let mut z = INTERCEPTS;
    @readings@
    @sums@
    z
}

/// The prototype that decides, and what each of its terms adds to its score.
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    pub class: usize,
    pub prototype: usize,
    pub score: Score,
    pub intercept: Score,
    pub contributions: [Score; MOST_TERMS],
}

impl Reason {
    /// The feature, the text and the contribution of each term.
    pub fn terms<'a>(&'a self) -> impl Iterator<Item = (&'static str, &'static str, Score)> + 'a {
        let terms: &[(&str, &str)] = TERMS.get(self.prototype).copied().unwrap_or(&[]);
        terms.iter().zip(self.contributions.iter()).map(|(term, part)| (term.0, term.1, *part))
    }
}

pub fn reason(x: &Row) -> Reason {
    let (prototype, class, score) = winner(&scores(x));
    @readings@
    let (intercept, contributions): (Score, [Score; MOST_TERMS]) = match prototype {
        @cases@
    };
    Reason { class, prototype, score, intercept, contributions }
}
"""
CUT_DECIDES = """\
/// The score that decides.
pub const CUT: @merit_type@ = @cut@;

/// The prototype with the greatest score, the class that it predicts, and its score.
fn winner(z: &[Score; PROTOTYPES]) -> (usize, usize, Score) {
    let (mut best, mut score) = (0, z[0]);
    for (j, own) in z.iter().enumerate() {
        if *own > score {
            (best, score) = (j, *own);
        }
    }
    (best, if @merit_type@::from(score) @sign@ CUT { @owner@ } else { @other@ }, score)
}
"""
HIGHEST_DECIDES = """\
/// The prototype with the greatest score, its class, of equal scores the first, and its score.
fn winner(z: &[Score; PROTOTYPES]) -> (usize, usize, Score) {
    let (mut best, mut class, mut score) = (0, OWNERS[0], z[0]);
    for (j, (own, owner)) in z.iter().zip(OWNERS.iter()).enumerate() {
        if *own > score || (*own == score && *owner < class) {
            (best, class, score) = (j, *owner, *own);
        }
    }
    (best, class, score)
}
"""
OFFSETS_DECIDE = """\
/// What is added to the scores of each class before the greatest decides.
pub static OFFSETS: [@merit_type@; N_CLASSES] = @offsets@;

/// The prototype that decides, its class, of equal ones the first, and its score.
fn winner(z: &[Score; PROTOTYPES]) -> (usize, usize, Score) {
    let (mut best, mut class, mut score, mut greatest) = (0, OWNERS[0], z[0], @merit_type@::MIN);
    for (j, (own, owner)) in z.iter().zip(OWNERS.iter()).enumerate() {
        let merit = @merit_type@::from(*own) + OFFSETS.get(*owner).copied().unwrap_or(0);
        if merit > greatest || (merit == greatest && *owner < class) {
            (best, class, score, greatest) = (j, *owner, *own, merit);
        }
    }
    (best, class, score)
}
"""
CHANCE = """
static CHANCES: [u16; @n_entries@] = [
    @entries@
];

/// @what@, by how far its score is below the greatest.
fn chance(distance: @distance_type@) -> u16 {
    let v = @steps@ as u32;
    let i = (v >> @bits@) as usize;
    let here = CHANCES.get(i).copied().unwrap_or(@last@);
    @chord@
}
"""
CHANCES_OF_OWNER = """
/// The probability of each class in steps of 1 / @one@, by a table that is off by at most @error@.
pub fn probabilities(x: &Row) -> [u16; N_CLASSES] {
    let (_, _, score) = winner(&scores(x));
    let less = chance(score.unsigned_abs());
    let second = if score @beats@ 0 { @one@ - less } else { less };
    [@one@ - second, second]
}
"""
CLASS_SCORES = """
/// The score of each class.
fn class_scores(z: &[Score; PROTOTYPES]) -> [Score; N_CLASSES] {
    let mut best = [Score::MIN; N_CLASSES];
    for (own, owner) in z.iter().zip(OWNERS.iter()) {
        if let Some(score) = best.get_mut(*owner) {
            *score = (*score).max(*own);
        }
    }
    best
}
"""
CHANCES_OF_TWO = """
/// The probability of each class in steps of 1 / @one@, by a table that is off by at most @error@.
pub fn probabilities(x: &Row) -> [u16; N_CLASSES] {
    let [first, second] = class_scores(&scores(x));
    let less = chance(first.abs_diff(second));
    if second > first { [less, @one@ - less] } else { [@one@ - less, less] }
}
"""
CHANCES_OF_MORE = """
/// The probability of each class in steps of 1 / @one@, by a table that is off by at most @error@.
pub fn probabilities(x: &Row) -> [u16; N_CLASSES] {
    let best = class_scores(&scores(x));
    let greatest = best.iter().fold(Score::MIN, |most, score| most.max(*score));
    let mut found = [0; N_CLASSES];
    let mut sum: u32 = 0;
    for (weight, score) in found.iter_mut().zip(best.iter()) {
        *weight = chance(greatest.abs_diff(*score));
        sum += u32::from(*weight);
    }
    for weight in found.iter_mut() {
        *weight = (u32::from(*weight) * @one@ + sum / 2).checked_div(sum).unwrap_or(0) as u16;
    }
    found
}
"""
FLOATS = """
/// Readings in the units of the training data; NaN is a missing value.
pub type Readings = [f32; INPUTS];

/// The class of a row of readings; None if one is missing without which the model cannot predict.
pub fn predict_readings(x: &Readings) -> Option<usize> {
    Some(predict(&codes(x)?))
}

/// The codes of readings, from their bits, without floating point.
pub fn codes(x: &Readings) -> Option<Row> {
    let mut codes = [0; INPUTS];
    @codes@
    Some(codes)
}

fn is_nan(x: f32) -> bool {
    x.to_bits() & 0x7fff_ffff > 0x7f80_0000
}
"""
ORDERED = """
/// The upper bits of a float as a number that is ordered as floats are.
fn ordered_@bits@(x: f32) -> i@bits@ {
    let bits = (x.to_bits() >> @dropped@) as i@bits@;
    if bits < 0 { bits ^ i@bits@::MAX } else { bits }
}
"""
FIXED = """
/// A float times a power of 2, without its fraction and at most i@bits@::MAX; base - 127 is the exponent too large.
fn fixed_@bits@(x: f32, base: u8) -> i@bits@ {
    let bits = x.to_bits();
    let size = match base.checked_sub((bits >> 23) as u8) {
        None | Some(0) => i@bits@::MAX,
        Some(far) => ((bits >> @dropped@) as u@bits@ | @top@).checked_shr(far.into()).unwrap_or(0) as i@bits@,
    };
    if bits >> 31 == 1 { -size } else { size }
}
"""
