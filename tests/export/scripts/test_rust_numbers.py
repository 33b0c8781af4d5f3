"""Rust in float32 and in whole numbers, compiled with overflow checks: exactly the numbers of its Python twin."""

import re
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn.export import float32_error_bound, quantise, to_rust
from smallearn.export._fixed.codes import Linear, Steps
from smallearn.export._fixed.float32 import certain, exact_scores, flat_in_float32
from smallearn.export._fixed.numbers import read_inputs
from smallearn.export._fixed.quantise import BITS, deciding
from smallearn.export._flat import as_term, flatten
from smallearn.model import Deployment
from smallearn.model._columns import factor_of_one
from tests.export.c.test_writer import extreme_codes, whole_number_models
from tests.helpers import scripts
from tests.helpers.c_programs import rows_of, with_ranges
from tests.helpers.exports import EXPECTED_COSTS, MODELS, exportable, full_table, trained_models
from tests.helpers.models import YES
from tests.helpers.rust_programs import FLOATS32, WHOLE, answers, compiled, floats_arm, whole_arm
from tests.helpers.tools import need

NUMBERS = tuple(BITS)


# --- float32 ---------------------------------------------------------------------------------------------------------


def as_float32(cells):
    return [float(np.float32(cell)) if isinstance(cell, float) else cell for cell in cells]


def float32_cell(value):
    if value is None:
        return "m"
    return f"t{value.encode().hex()}" if isinstance(value, str) else f"n{struct.pack('>f', value).hex()}"


def floats_of(text):
    return [struct.unpack(">f", bytes.fromhex(digits))[0] for digits in text.split(",") if digits]


def softmax(odds):
    """Probabilities of these log-odds, in float64."""
    odds = np.array([0.0, *odds] if len(odds) == 1 else odds)
    weights = np.exp(odds - odds.max())
    return weights / weights.sum()


def float32_terms(flat, row):
    """What each term of the rounded model adds, in float32."""
    parts = []
    for term in flat.terms:
        factor = np.float32(factor_of_one(as_term(flat, term), row[term.input]))
        parts.append(np.float32(term.weight) * factor)
    return parts


def check_float32(folder, cases):
    """Scores are the rounded model's in float32 to the last bit, within the bound; decisions where they are sure."""
    cases = [(model, [as_float32(row) for row in rows]) for model, rows in cases]
    texts = [to_rust(model, "float32", probabilities=True) for model, _ in cases]
    lines = [(i, map(float32_cell, row)) for i, (_, rows) in enumerate(cases) for row in rows]
    found, sure_rows = iter(answers(folder, FLOATS32, texts, lines, floats_arm)), []
    for model, rows in cases:
        flat, table = flatten(model), full_table(flatten(model), rows)
        rounded = flat_in_float32(flat)
        bound = float32_error_bound(model, table)
        inputs = read_inputs(model, flat, table)
        z = exact_scores(flat, inputs)
        sure = certain(flat, z, bound)
        sure_rows.append(sure.mean())
        for row, exact, most, is_sure, expected in zip(rows, z, bound, sure, model.decide(z), strict=True):
            label, scores, odds, prototype, parts, chances = next(found).split(";")
            added, totals = float32_terms(rounded, row), [np.float32(b) for b in rounded.intercepts]
            for term, part in zip(rounded.terms, added, strict=True):
                totals[term.prototype] += part
            assert floats_of(scores) == totals
            own = [part for term, part in zip(rounded.terms, added, strict=True) if term.prototype == int(prototype)]
            assert floats_of(parts) == own
            assert (np.abs(np.array(totals, dtype=float) - exact) <= most).all()
            assert not is_sure or int(label) == expected
            np.testing.assert_allclose(floats_of(chances), softmax(floats_of(odds)), rtol=1e-4, atol=1e-6)
    return np.mean(sure_rows)


@pytest.mark.tools
def test_float32_is_the_rounded_model_to_the_last_bit(tmp_path):
    assert check_float32(tmp_path, [*scripts.with_rows(trained_models()), *scripts.by_hand()]) > 0.9


@pytest.mark.tools
def test_any_model_in_float32_is_the_rounded_model(tmp_path_factory):
    @scripts.few
    @given(st.lists(exportable(), min_size=8, max_size=8))
    def check(cases):
        check_float32(tmp_path_factory.mktemp("rust"), cases)

    check()


# --- whole numbers ---------------------------------------------------------------------------------------------------


def check_whole_numbers(folder, cases):
    """Of models with their options and rows of codes: every score, decision and reason is the integer model's."""
    targets = [quantise(model, **options) for model, options, _ in cases]
    texts = [to_rust(model, **options, probabilities=True) for model, options, _ in cases]
    rows = [codes(target) for target, (_, _, codes) in zip(targets, cases, strict=True)]
    lines = [(i, map(str, row)) for i, some in enumerate(rows) for row in some.tolist()]
    found = iter(answers(folder, WHOLE, texts, lines, whole_arm))
    for target, some in zip(targets, rows, strict=True):
        z, labels, added = target.scores(some), target.predict(some), target.contributions(some)
        best, chances = deciding(target, z), target.predict_proba(some)
        most = max(len(target.of(j)) for j in range(len(target.intercepts)))
        for i in range(len(some)):
            own = [added[i, place] for place, term in enumerate(target.terms) if term.prototype == best[i]]
            own += [0] * (most - len(own))
            expected = ";".join([str(labels[i]), listed(z[i]), str(best[i]), listed(own), listed(chances[i])])
            assert next(found) == expected


def listed(numbers):
    return ",".join(map(str, numbers))


def coded(rows, seed=0):
    """Rows as codes, and codes at the ends of what inputs can have."""
    rng = np.random.default_rng(seed)
    return lambda target: np.concatenate([target.codes(rows), extreme_codes(target, rng, 60)])


@pytest.mark.tools
def test_whole_numbers_are_exactly_the_integer_model(tmp_path):
    models = [(with_ranges(model), rows_of(model)) for model in MODELS.values()]
    models += [(model, X[::5]) for model, X in trained_models().values()]
    cases = [
        (model, {"number": NUMBERS[(i + shift) % len(NUMBERS)]}, coded(rows))
        for i, (model, rows) in enumerate(models)
        for shift in (0, 1)
    ]
    check_whole_numbers(tmp_path, cases)


@pytest.mark.tools
def test_any_model_in_whole_numbers_is_exactly_the_integer_model(tmp_path_factory):
    @scripts.few
    @given(st.lists(whole_number_models(), min_size=6, max_size=6), st.integers(0, 2**31))
    def check(drawn, seed):
        cases = [
            (
                model,
                {"number": number, "ranges": ranges, "counts": counts},
                coded(full_table(flatten(model), rows), seed),
            )
            for model, rows, ranges, counts in drawn
            for number in NUMBERS
        ]
        check_whole_numbers(tmp_path_factory.mktemp("rust"), cases)

    check()


@pytest.mark.tools
@pytest.mark.parametrize("greatest", [100, 255, 1023, 65535])
def test_counts_are_exactly_the_integer_model(greatest, tmp_path):
    model, X = trained_models()["breast cancer"]
    ends = {extent.feature: extent for extent in model.ranges}
    counts = {term.label: (ends[term.feature].high / greatest, 0.0, 0, greatest) for term in model.features}
    options = [{"number": number, "counts": counts, "readings": "counts"} for number in NUMBERS]
    check_whole_numbers(tmp_path, [(model, one, lambda target: target.codes(X[:80])) for one in options])
    kind = {100: "i8", 255: "u8", 1023: "i16", 65535: "u16"}[greatest]
    assert f"pub type Code = {kind};" in to_rust(model, **options[0])


@pytest.mark.tools
def test_no_code_of_the_type_can_panic(tmp_path):
    """Codes beyond those that were declared: where they are multiplied they are the nearest of those."""
    rng = np.random.default_rng(0)
    model, _ = trained_models()["breast cancer"]
    counts = {term.label: (0.01, 0.0, 5, 1000) for term in model.features}
    cases = [(model, {"number": number, "counts": counts, "readings": "counts"}) for number in NUMBERS]
    forms = [("int8", "codes"), ("int16", "float"), ("int16", "codes"), ("int8", "float")]
    cases += [
        (with_ranges(model), dict(zip(("number", "readings"), forms[i % 4], strict=True)))
        for i, model in enumerate(MODELS.values())
    ]
    texts = [to_rust(model, **options, probabilities=True) for model, options in cases]
    lines, expected = [], []
    for i, (model, options) in enumerate(cases):
        target = quantise(model, **options)
        ends = np.iinfo(f"{'u' if target.unsigned else ''}int{target.input_bits}")
        rows = rng.integers(ends.min, ends.max, (40, len(target.coders)), endpoint=True)
        rows[:20] = rng.choice([ends.min, ends.min + 1, ends.max], rows[:20].shape)
        lines += [(i, map(str, row)) for row in rows.tolist()]
        if i < len(NUMBERS):
            near = [np.clip(codes, one.least, one.greatest) for codes, one in zip(rows.T, target.coders, strict=True)]
            expected += target.predict(np.array(near).T).tolist()
    found = answers(tmp_path, WHOLE, texts, lines, whole_arm)
    assert len(found) == len(lines)
    assert [int(line.partition(";")[0]) for line in found[: len(expected)]] == expected


def test_the_error_of_probabilities_is_stated():
    model, X = trained_models()["iris"]
    whole = quantise(model, "int8")
    error = whole.probability_table.error
    assert f"by a table that is off by at most {error:.3g}." in to_rust(model, "int8", probabilities=True)
    assert "probabilities" not in to_rust(model, "int8")
    z = whole.scores(whole.codes(X)) / float(whole.factor)
    exact = [softmax(odds) for odds in model.scale * z]
    assert np.abs(whole.predict_proba(whole.codes(X)) / 65535 - exact).max() <= error < 0.002


# --- readings --------------------------------------------------------------------------------------------------------

ODD = [0.0, -0.0, 1e-45, -1e-45, 1e-38, 3e38, -3e38, np.inf, -np.inf, 1.0, 2.0, 3.0, 0.999, -1.0, 127.0, 128.0, 32768.0]


def hexed(values):
    return [struct.pack(">f", value).hex() for value in np.asarray(values, dtype=np.float32)]


def _code(target, position, x):
    """The code of a float; of text, the number of a category passes as it is."""
    coder = target.coders[position]
    if np.isnan(x):
        return target.missing
    if target.flat.inputs[position].is_text:
        return int(x) if x in range(1, coder.greatest + 1) else 0
    return int(coder.encode(np.array([float(x)]))[0])


@pytest.mark.tools
def test_codes_of_the_bits_of_floats_are_the_integer_models(tmp_path):
    rng = np.random.default_rng(0)
    cases = [(with_ranges(model), rows_of(model)) for model in MODELS.values()]
    cases += [(model, X[:60]) for model, X in trained_models().values()]
    targets, texts, lines, expected = [], [], [], []
    for i, (model, rows) in enumerate(cases):
        number = NUMBERS[i % len(NUMBERS)]
        target = quantise(model, number, readings="float")
        targets.append(target)
        texts.append(to_rust(model, number, readings="float", probabilities=True))
        with np.errstate(over="ignore"):
            values = read_inputs(model, target.flat, rows).astype(np.float32)
        gaps = [one.may_be_missing for one in target.flat.inputs]
        more = rng.choice(ODD, (40, len(gaps))) * rng.choice([1.0, rng.uniform(-1.0, 1.0), 1e-3], (40, len(gaps)))
        values = np.concatenate([values, more.astype(np.float32)])
        for row in values:
            codes = [_code(target, j, x) for j, x in enumerate(row)]
            lines.append((f"f{i}", hexed(row)))
            needed = any(np.isnan(x) and not gap for x, gap in zip(row, gaps, strict=True))
            expected.append("none" if needed else listed(codes))
    assert answers(tmp_path, WHOLE, texts, lines, whole_arm) == expected


@pytest.mark.tools
def test_codes_made_with_floating_point_are_the_integer_models(tmp_path):
    rng = np.random.default_rng(0)
    texts, lines, expected = [], [], []
    for i, model in enumerate(map(with_ranges, [*MODELS.values(), YES])):
        number = NUMBERS[i % len(NUMBERS)]
        target = quantise(model, number)
        texts.append(to_rust(model, number, probabilities=True))
        for one, coder in zip(target.flat.inputs, target.coders, strict=True):
            if isinstance(coder, Linear | Steps):
                ends = [coder.low, coder.high] if isinstance(coder, Linear) else [cut for cut, _ in coder.cuts] or [0.0]
                drawn = [*rng.uniform(min(ends) - 1.0, max(ends) + 1.0, 200), *ends, *ODD]
                values = np.asarray(drawn, dtype=np.float32)
                lines.append((f"x{i}_{one.name}", hexed([*values, np.nan])))
                missing = str(target.missing) if one.may_be_missing else "none"
                expected.append(f"{listed(coder.encode(values.astype(float)))},{missing}")
    assert answers(tmp_path, WHOLE, texts, lines, whole_arm) == expected
    assert len(lines) > 100


@pytest.mark.tools
def test_a_reading_that_the_model_needs_is_not_missing(tmp_path):
    text = to_rust(with_ranges(scripts.NEEDY), "int16", readings="float", probabilities=True)
    found = answers(
        tmp_path, WHOLE, [text], [("f0", hexed([1.0, np.nan, 2.0])), ("f0", hexed([1.0, 2.0, 2.0]))], whole_arm
    )
    assert found[0] == "none"
    assert found[1] != "none"


# --- without std -----------------------------------------------------------------------------------------------------


@pytest.mark.tools
def test_every_form_compiles_without_std_and_its_own_tests_pass(tmp_path):
    lines, count = ["#![cfg_attr(not(test), no_std)]", "#![forbid(unsafe_code)]"], 0
    labelled = [with_ranges(scripts.labelled(labels)) for labels in scripts.LABELS.values()]
    for i, model in enumerate([*map(with_ranges, MODELS.values()), *labelled]):
        forms = [("float32", None), (NUMBERS[i // 2 % len(NUMBERS)], (None, "float")[i % 2])]
        for number, readings in forms:
            options = {"inputs": ("used", "all")[i // 8 % 2], "readings": readings, "conformance": rows_of(model, 10)}
            options["probabilities"] = i % 3 == 0
            (tmp_path / f"m{count}.rs").write_text(to_rust(model, number, **options), encoding="ascii")
            lines.append(f"pub mod m{count};")
            count += 1
    source = "\n".join(lines)
    compiled(tmp_path, source, "--crate-type", "rlib", "-D", "warnings")
    tests = compiled(tmp_path, source, "--test")
    found = subprocess.run([tests], capture_output=True, text=True)
    assert f"{count} passed; 0 failed" in found.stdout


@pytest.mark.tools
def test_names_can_do_no_harm_in_whole_numbers(tmp_path):
    model, rows = scripts.hostile_model(), full_table(flatten(scripts.hostile_model()), scripts.hostile_rows())
    check_whole_numbers(tmp_path, [(model, {"number": "int8"}, lambda target: target.codes(rows))])


def bare_metal():
    """Options for a Cortex-M0 if rustc has its core library (``rustup target add thumbv6m-none-eabi``), else none."""
    target = ["--target", "thumbv6m-none-eabi"]
    done = subprocess.run([need("rustc"), "--print", "target-libdir", *target], capture_output=True, text=True)
    return target if list(Path(done.stdout.strip() or ".").glob("libcore-*.rlib")) else []


@pytest.mark.tools
def test_machine_code_of_whole_numbers_has_no_way_to_panic(tmp_path):
    lines = ["#![no_std]", "#![forbid(unsafe_code)]"]
    for i, model in enumerate(MODELS.values()):
        readings = ("codes", "float")[i % 2]
        text = to_rust(with_ranges(model), NUMBERS[i % len(NUMBERS)], readings=readings, probabilities=True)
        assert "f64" not in re.sub(r"//.*", "", text)
        (tmp_path / f"m{i}.rs").write_text(text, encoding="ascii")
        lines.append(f"pub mod m{i};")
        lines.append(f"#[inline(never)] pub fn predict_{i}(x: &m{i}::Row) -> usize {{ m{i}::predict(x) }}")
        lines.append(f"#[inline(never)] pub fn reason_{i}(x: &m{i}::Row) -> m{i}::Reason {{ m{i}::reason(x) }}")
        chances = f"[u16; m{i}::N_CLASSES] {{ m{i}::probabilities(x) }}"
        lines.append(f"#[inline(never)] pub fn chances_{i}(x: &m{i}::Row) -> {chances}")
        if readings == "float":
            answer = f"m{i}::predict_readings(x)"
            lines.append(f"#[inline(never)] pub fn read_{i}(x: &m{i}::Readings) -> Option<usize> {{ {answer} }}")
    options = ["--crate-type", "lib", "--emit", "obj", "-C", "opt-level=2", *bare_metal()]
    made = compiled(tmp_path, "\n".join(lines), *options).read_bytes()
    assert b"predict_0" in made
    assert b"panic" not in made


def test_float_labels_are_text_in_whole_numbers():
    text = to_rust(with_ranges(scripts.labelled((0.5, 1.5))), "int8")
    assert 'pub static CLASSES: [&str; N_CLASSES] = ["0.5", "1.5"]' in text


# --- what was chosen for a chip, and what is refused -----------------------------------------------------------------


def test_a_model_that_was_chosen_for_a_chip_is_written_as_it_was_chosen():
    model = with_ranges(YES)
    chosen = replace(model, deployment=Deployment("atmega328p", "int8", "table", "float"))
    assert to_rust(chosen) == to_rust(chosen, "int8", readings="float")
    assert to_rust(chosen, "float64").splitlines()[1:] == to_rust(model).splitlines()[1:]
    counts = tuple((one.label, 0.01, 0.0, 0, 1023) for one in flatten(model).inputs)
    chosen = replace(model, deployment=Deployment("atmega328p", "int16", "code", "counts", counts))
    by_label = {label: tuple(entry) for label, *entry in counts}
    assert to_rust(chosen) == to_rust(chosen, "int16", readings="counts", counts=by_label)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="int64"):
        to_rust(YES, "int64")
    with pytest.raises(ValueError, match="needs whole numbers"):
        to_rust(YES, readings="codes")
    with pytest.raises(ValueError, match="not for float32"):
        to_rust(YES, "float32", ranges={"a": (0.0, 1.0)})
    with pytest.raises(ValueError, match="least expected cost"):
        to_rust(with_ranges(EXPECTED_COSTS["costs"]), "int8")
    heavy = replace(YES, prototypes=(replace(YES.prototypes[0], intercept=1e39),))
    with pytest.raises(ValueError, match="beyond what float32 can hold"):
        to_rust(heavy, "float32")


def test_rows_that_rounding_decides_are_left_out_of_float32_tests():
    model = scripts.labelled(("no", "yes"))  # yes above one half
    text = to_rust(model, "float32", conformance=[[0.0], [0.5], [0.75], [1e39]])
    assert "[([f32; 1], usize); 2]" in text
