"""Code that takes readings, floats or counts: it answers what the model on codes does."""

import ctypes
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn.export import quantise, to_c
from smallearn.export._fixed.codes import FloatBits, Shifted, shifted
from smallearn.export._fixed.quantise import BITS
from smallearn.export._flat import flatten
from smallearn.model import Term
from tests.helpers.c_programs import FORMS, STRICT, rows_of, run, with_ranges
from tests.helpers.exports import MODELS, trained_models
from tests.helpers.models import model_of
from tests.helpers.tools import need

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def wrong_answers(texts, folder):
    """How many answers of each export differ from its conformance rows. Every warning is an error."""
    checks = [f"int check_{i}(void);\nint check_{i}(void) {{ return m{i}_test(); }}" for i in range(len(texts))]
    (folder / "all.c").write_text("\n".join([*texts, *checks]))
    run([need("gcc"), *STRICT, "-shared", "-fPIC", "-O1", str(folder / "all.c"), "-lm", "-o", str(folder / "all.so")])
    library = ctypes.CDLL(str(folder / "all.so"))
    return [getattr(library, f"check_{i}")() for i in range(len(texts))]


@pytest.mark.tools
def test_code_that_takes_floats_answers_as_the_model_on_codes(tmp_path):
    cases = [(with_ranges(model), rows_of(model)) for model in MODELS.values() if flatten(model).decision.costs is None]
    cases += [(model, X[:60]) for model, X in trained_models().values()]
    texts = []
    for model, rows in cases:
        for number in BITS:
            for layout, arguments in FORMS:
                options = {"layout": layout, "arguments": arguments, "readings": "float"}
                texts.append(to_c(model, number, name=f"m{len(texts)}", conformance=rows, **options))
    assert all("_predict_readings(" in text for text in texts)
    assert wrong_answers(texts, tmp_path) == [0] * len(texts)


@pytest.mark.tools
@pytest.mark.parametrize("greatest", [100, 255, 1023, 4095, 65535])
def test_code_that_takes_counts_answers_as_the_model_on_counts(greatest, tmp_path):
    (model, X), texts = trained_models()["breast cancer"], []
    ends = {extent.feature: extent for extent in model.ranges}
    counts = {term.label: (ends[term.feature].high / greatest, 0.0, 0, greatest) for term in model.features}
    for number in BITS:
        for layout, arguments in FORMS:
            options = {"layout": layout, "arguments": arguments, "readings": "counts", "counts": counts}
            texts.append(to_c(model, number, name=f"m{len(texts)}", conformance=X[:80], **options))
    assert wrong_answers(texts, tmp_path) == [0] * len(texts)
    kind = {100: "int8_t", 255: "uint8_t", 1023: "int16_t", 4095: "int16_t", 65535: "uint16_t"}[greatest]
    assert f"m0_predict_readings(const {kind} *x)" in texts[0]
    agreement = np.mean(
        quantise(model, "int16", counts=counts, readings="counts").predict_rows(X) == model.codes(model.predict(X))
    )
    assert agreement > 0.97


def test_counts_of_12_bits_are_shifted_to_8_for_products():
    model, X = trained_models()["breast cancer"]
    counts = {term.label: (0.01, 0.0, 0, 4095) for term in model.features}
    whole = quantise(model, "int8", counts=counts, readings="counts")
    assert {term.right for term in whole.terms if term.kind == "raw"} == {5}
    assert whole.sum_bits == 16
    codes = whole.codes(X)
    term = next(term for term in whole.terms if term.kind == "raw")
    expected = term.weight * (codes[:, term.input] >> 5)
    np.testing.assert_array_equal(whole.contributions(codes)[:, whole.terms.index(term)], expected)


# --- missing values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["code", "table"])
@pytest.mark.parametrize("number", BITS)
def test_a_model_for_complete_rows_asks_for_no_missing_value(number, layout):
    model, _ = trained_models()["breast cancer literals"]
    asking = to_c(model, number, readings="float", layout=layout)
    text = to_c(model.for_complete_rows(), number, readings="float", layout=layout)
    assert "_MISSING" in asking
    assert "_MISSING" not in text
    assert "0x7fff" not in text or layout == "table"  # there it turns the order of negative numbers round
    assert len(text) < len(asking)


def test_an_interval_of_floats_needs_no_question():
    text = to_c(model_of(Term(0, 2.0, "a", "equals", 3.0)), "int8", readings="float")
    assert "!(model_all_bits(&x[MODEL_X_A]) <= 0x403fffff) && model_all_bits(&x[MODEL_X_A]) <= 0x40400000" in text
    assert "0x7fffffff" not in text


@pytest.mark.tools
@pytest.mark.parametrize("cut", [3.0, -3.0, 0.0])
def test_where_nothing_asks_what_is_no_number_is_beyond_all_numbers(cut, tmp_path):
    model = with_ranges(model_of(Term(0, 2.0, "a", "above", cut)).for_complete_rows())
    cases = [(number, layout) for number in BITS for layout in ("code", "table")]
    texts = [
        to_c(model, number, name=f"m{i}", readings="float", layout=layout, arguments=True)
        for i, (number, layout) in enumerate(cases)
    ]
    tests = [
        f"if (m{i}_predict_readings(nan) != 1 || m{i}_predict_readings(-nan) != 0) return {i + 1};"
        for i in range(len(cases))
    ]
    main = f'int main(void) {{ const float nan = __builtin_nanf(""); {" ".join(tests)} return 0; }}'
    (tmp_path / "nan.c").write_text("\n".join([*texts, main]))
    run([need("gcc"), *STRICT, "-O1", "nan.c", "-o", "nan"], cwd=tmp_path)
    run([str(tmp_path / "nan")])


# --- codes -----------------------------------------------------------------------------------------------------------


@given(FLOATS, FLOATS, st.sampled_from([16, 32]))
def test_codes_of_floats_have_their_order(a, b, width):
    low, high = sorted((np.float32(a), np.float32(b)))
    first, second = FloatBits(width).encode(np.array([low, high]))
    assert first <= second or low == high == 0.0  # -0.0 is before 0.0


@given(FLOATS, st.floats(allow_nan=False, allow_infinity=False))
def test_all_bits_decide_a_comparison_exactly(x, cut):
    coder, value = FloatBits(32), np.array([np.float32(x)])
    code = int(coder.encode(value)[0])
    for kind, holds in (("at_most", float(value[0]) <= cut), ("above", float(value[0]) > cut)):
        interval = coder.interval(kind, cut)
        assert (interval is not None and interval[0] <= code <= interval[1]) == holds


@given(st.floats(1e-30, 1e30) | st.floats(-1e30, -1e-30), st.floats(-0.5, 0.5))
def test_the_upper_half_decides_a_comparison_but_near_the_cut(cut, off):
    x = np.array([cut * (1.0 + off)])
    low, high = FloatBits(16).interval("at_most", cut)
    code = int(FloatBits(16).encode(x)[0])
    if abs(off) > 2.0**-7:
        assert (low <= code <= high) == (x[0] <= cut)


@given(FLOATS, st.floats(1e-20, 1e20), st.sampled_from([8, 16]))
def test_a_shifted_number_is_the_reading_times_a_power_of_two(x, reach, width):
    coder = shifted("x", -reach, reach, width)
    code, most = int(coder.encode(np.array([x]))[0]), 2 ** (width - 1) - 1
    assert code == math.trunc(min(max(math.ldexp(float(np.float32(x)), coder.shift), -most), most))
    assert most / 2 <= reach * 2.0**coder.shift <= most + 1


def test_values_of_one_sign_are_in_the_middle_of_a_step():
    assert Shifted(0, 8, 0.0, 100.0).offset == 0.5
    assert Shifted(0, 8, -100.0, 0.0).offset == -0.5
    assert Shifted(0, 8, -100.0, 100.0).offset == 0


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "options", "words"),
    [
        ("int8", {"readings": "volts"}, "readings='volts' is not one of 'codes', 'counts', 'float'"),
        ("int8", {"readings": "counts"}, "counts lacks 'a'"),
        (
            "int8",
            {"readings": "float", "counts": {"a": (1.0, 0.0, 0, 9)}},
            "counts are whole numbers: set readings='counts'",
        ),
        ("float32", {"readings": "codes"}, "readings='codes' needs whole numbers"),
    ],
)
def test_readings_that_make_no_sense_are_refused(number, options, words):
    with pytest.raises(ValueError, match=words):
        to_c(with_ranges(MODELS["yes"]), number, **options)
