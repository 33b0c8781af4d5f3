"""Probabilities and class names in C: in whole numbers bit for bit those of the integer model."""

import ctypes
from dataclasses import replace

import numpy as np
import pytest

from smallearn.devices import CHIPS
from smallearn.devices._measure import measure
from smallearn.devices._toolchain import Program
from smallearn.export import quantise, to_c
from smallearn.export._c.class_names import literal
from smallearn.export._fixed.float32 import error_bound, exact_scores
from smallearn.export._fixed.numbers import read_inputs
from smallearn.export._fixed.probability import ONE
from smallearn.export._fixed.quantise import BITS
from smallearn.export._flat import flatten
from tests.helpers.c_programs import FORMS, STRICT, rows_of, run, with_ranges
from tests.helpers.exports import EXPECTED_COSTS, MODELS, trained_models
from tests.helpers.tools import need, need_chip

HOSTILE = ('x"); } */ int injected; /* \n#error no\\', "??/", "naïve 😀", "a\x00b", "7", "\x0117", "")
WAYS = {"codes": [("code", True), ("table", False)], "float": [("code", False), ("table", True)]}


class Caller:
    """Exports with probabilities, compiled together."""

    def __init__(self, folder):
        self.folder, self.texts, self.kinds = folder, [], {}

    def add(self, model, number, layout, arguments, readings):
        name, flat = f"m{len(self.kinds)}", flatten(model)
        options = {"layout": layout, "arguments": arguments, "probabilities": True, "class_names": True}
        text = to_c(model, number, name=name, readings=readings, **options)
        takes_floats = number not in BITS or readings == "float"
        kind = "float" if takes_floats and number != "float64" else f"{name}_input_t"
        called = f"{name}_predict_proba{'_readings' * takes_floats}"
        passed = ", ".join(f"x[{i}]" for i in range(len(flat.inputs))) if arguments else "x"
        n = len(flat.classes)
        if n == 2:
            call = f"out[i] = {called}({passed});"
        else:
            call = f"{called}({f'{passed}, ' if passed else ''}out + i * {n});"
        head = f"void {name}_run(int n, const {kind} *rows, {name}_probability_t *out)"
        body = f"int i; for (i = 0; i < n; i++) {{ const {kind} *x = rows + i * {len(flat.inputs)}; (void)x; {call} }}"
        names = f"const char *{name}_name({name}_probability_t k)"
        label = f"{names}; {names} {{ return {name}_class_name((uint8_t)k); }}"
        self.texts += [text, f"{head}; {head} {{ {body} }}\n{label if number in BITS else ''}"]
        self.kinds[name] = (kind, number, n)
        return name

    def build(self, before="", *flags):
        (self.folder / "all.c").write_text("\n".join([before, *self.texts]))
        command = [need("gcc"), *STRICT, *flags, "-shared", "-fPIC", "-O0", "all.c", "-lm", "-o", "all.so"]
        run(command, cwd=self.folder)
        self.loaded = ctypes.CDLL(str(self.folder / "all.so"))
        return self

    def call(self, name, rows, input_type):
        kind, number, n = self.kinds[name]
        rows = np.ascontiguousarray(rows, dtype="float32" if kind == "float" else input_type)
        out = np.zeros((len(rows), 1 if n == 2 else n), dtype="uint16" if number in BITS else number)
        pointers = (ctypes.c_void_p(array.ctypes.data) for array in (rows, out))
        getattr(self.loaded, f"{name}_run")(ctypes.c_int(len(rows)), *pointers)
        return out

    def label(self, name, position):
        function = getattr(self.loaded, f"{name}_name")
        function.argtypes, function.restype = [ctypes.c_uint16], ctypes.c_char_p
        return function(position)


def cases():
    """Every model that whole numbers can have, with rows."""
    found = [(with_ranges(model), rows_of(model)) for model in MODELS.values()]
    return [*found, *((model, X[:60]) for model, X in trained_models().values())]


@pytest.mark.tools
def test_whole_numbers_are_bit_for_bit_those_of_the_integer_model(tmp_path):
    caller, found = Caller(tmp_path), []
    for model, rows in cases():
        for number in BITS:
            for readings in ("codes", "float") if number in ("int8", "int32") else ("float",):
                whole = quantise(model, number, readings=readings)
                for layout, arguments in WAYS[readings]:
                    found.append((caller.add(model, number, layout, arguments, readings), whole, rows))
    caller.build()
    for name, whole, rows in found:
        codes = whole.codes(rows)
        given = read_inputs(whole.model, whole.flat, rows) if whole.readings == "float" else codes
        with np.errstate(over="ignore"):
            got = caller.call(name, given, f"int{whole.input_bits}")
        expected = whole.predict_proba(codes)
        np.testing.assert_array_equal(got, expected[:, 1:] if expected.shape[1] == 2 else expected)
        assert [caller.label(name, k).decode() for k in (0, 1)] == [str(label) for label in whole.flat.classes[:2]]
        assert caller.label(name, 255).decode() == str(whole.flat.classes[-1])


@pytest.mark.tools
def test_floats_are_as_near_to_the_model_as_their_scores(tmp_path):
    caller, found = Caller(tmp_path), []
    for model, rows in [*cases(), *((model, rows_of(model)) for model in EXPECTED_COSTS.values())]:
        for number in ("float32", "float64"):
            for layout, arguments in FORMS:
                found.append((caller.add(model, number, layout, arguments, None), model, rows, number))
    caller.build()
    for name, model, X, number in found:
        flat = flatten(model)
        with np.errstate(over="ignore"):
            rows = read_inputs(model, flat, X).astype(number).astype(float)
        rows = rows[~np.isinf(rows).any(axis=1)]
        bound = error_bound(flat, rows, number).max(axis=1, keepdims=True)
        expected = model.chances(exact_scores(flat, rows))
        got = caller.call(name, rows, number)
        got = np.hstack([1.0 - got, got]) if len(flat.classes) == 2 else got
        allowed = 0.5 * model.scale * bound + (1e-4 if number == "float32" else 1e-12)
        assert (np.abs(got - expected) <= allowed).all()


@pytest.mark.tools
@pytest.mark.parametrize("number", ["int8", "float32"])
def test_a_pair_declares_what_it_defines(tmp_path, number):
    model = with_ranges(MODELS["three"])
    for form in ("h", "c"):
        options = {"form": form, "probabilities": True, "class_names": True}
        (tmp_path / f"pair.{form}").write_text(to_c(model, number, name="pair", readings="float", **options))
    use = '#include "pair.h"\n#include <stdio.h>\nint main(void) {\n    float x[PAIR_INPUTS] = {0};\n'
    use += "    pair_probability_t p[PAIR_CLASSES];\n    pair_predict_proba_readings(x, p);\n"
    use += '    printf("%d %s", p[2] > p[0], pair_class_name(PAIR_CLASS_C));\n    return 0;\n}\n'
    (tmp_path / "use.c").write_text(use)
    run([need("gcc"), *STRICT, "-c", "pair.c"], cwd=tmp_path)
    for compiler in (["gcc", *STRICT, "use.c"], ["g++", *STRICT[1:], "-x", "c++", "use.c", "-x", "none"]):
        run([need(compiler[0]), *compiler[1:], "pair.o", "-lm", "-o", "use"], cwd=tmp_path)
        assert run([str(tmp_path / "use")]) == "1 c"


@pytest.mark.tools
@pytest.mark.parametrize("chip", ["atmega328p", "cortex-m0"])
@pytest.mark.parametrize("case", ["breast cancer", "breast cancer literals", "iris", "wine"])
def test_chips_compute_the_same(case, chip):
    need_chip(chip)
    model, X = trained_models()[case]
    whole = quantise(model, "int8")
    codes = whole.codes(X[::29])
    expected = whole.predict_proba(codes)[:, 1]
    source = to_c(model, "int8", probabilities=True, class_names=True)
    call = "const uint16_t p = model_predict_proba(x);"
    if len(model.classes) > 2:
        call = "uint16_t p[MODEL_CLASSES]; model_predict_proba(x, p);"
    value = "p" if len(model.classes) == 2 else "p[1]"
    bodies = [f"{call} return (uint8_t)({value} >> {shift});" for shift in (0, 8)]
    programs = [Program(source, body, "int8", codes.shape[1]) for body in bodies]
    low, high = (np.array(measure(program, CHIPS[chip], codes).answers) for program in programs)
    np.testing.assert_array_equal(low + 256 * high, expected)


@pytest.mark.tools
def test_avr_keeps_the_table_and_the_names_out_of_ram(tmp_path):
    texts = []
    for name in ("three", "mixed", "card"):
        for number in BITS:
            options = {"probabilities": True, "class_names": True, "readings": "float", "layout": "table"}
            texts.append(to_c(with_ranges(MODELS[name]), number, name=f"m{len(texts)}", **options))
    used = [f"const void *u{i}(uint8_t k) {{ return m{i}_class_name(k); }}" for i in range(len(texts))]
    (tmp_path / "all.c").write_text("\n".join([*texts, *used]))
    run([need("avr-gcc"), "-mmcu=atmega328p", *STRICT, "-Os", "-ffreestanding", "-c", "all.c"], cwd=tmp_path)
    sections = run([need("avr-size"), "-A", "all.o"], cwd=tmp_path).splitlines()
    sizes = {line.split()[0]: int(line.split()[1]) for line in sections if line.startswith(".")}
    assert sum(size for name, size in sizes.items() if name.startswith((".data", ".rodata", ".bss"))) == 0
    assert any(name.startswith(".progmem") for name in sizes)


# --- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.tools
def test_hostile_names_are_text_and_nothing_else(tmp_path):
    three = MODELS["three"]
    prototypes = tuple(replace(three.prototypes[0], owner=k, intercept=float(k)) for k in range(len(HOSTILE)))
    model = with_ranges(replace(three, classes=HOSTILE, class_dtype="|O", prototypes=prototypes))
    caller = Caller(tmp_path)
    name = caller.add(model, "int8", "code", False, "codes")
    caller.build("", "-trigraphs")
    found = [caller.label(name, k) for k in range(len(HOSTILE))]
    assert found[:3] == [label.encode() for label in HOSTILE[:3]]
    assert found[3:] == [b"a<U+0000>b", b"7", b"\x0117", b""]


def test_a_string_has_nothing_but_printable_ascii_and_escapes_of_three_digits():
    assert literal('a"b\\c?\n1') == '"a\\042b\\134c\\077\\0121"'
    assert literal("é") == '"\\303\\251"'


def test_nothing_is_added_unless_asked_for():
    model = with_ranges(MODELS["three"])
    for number in ("float32", "int8"):
        text = to_c(model, number)
        assert "prob" not in text
        assert "class_name" not in text
        assert "math.h" not in text


def test_the_heading_states_the_error_and_the_type():
    model = with_ranges(MODELS["yes"])
    text = to_c(model, "int8", probabilities=True)
    error = quantise(model, "int8").probability_table.error
    assert f"in steps of 1/{ONE}, by a table that is off by at most {error:.3g}." in text
    assert "typedef uint16_t model_probability_t;" in text
    assert "math.h" not in text
    assert "#include <math.h>" in to_c(model, "float32", probabilities=True)
