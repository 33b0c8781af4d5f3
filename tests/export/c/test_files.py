"""C: names that cannot inject, forms of files, chips that compile them, and what is refused."""

import re

import numpy as np
import pytest

from smallearn.export._c.writer import to_c
from smallearn.export._fixed.quantise import BITS
from smallearn.export._flat import flatten
from smallearn.model import Prototype, Range, SMaLLModel, Term
from tests.helpers.c_programs import FORMS, STRICT, rows_of, run, with_ranges
from tests.helpers.exports import MODELS
from tests.helpers.tools import need

HOSTILE = [
    '"; int injected(void); /*',
    "*/ int injected(void) { return 1; } /*",
    "a\n#error no\n",
    "ends with a backslash \\",
    "ends with a trigraph ??/",
    "//",
    "int",
    "",
    "\x00",
    "ü",
    "€" * 1_000_000,
    "i" * 1_000_000,
]


def hostile_model():
    """Features, classes and categories that are called everything that C is afraid of."""
    width = len(HOSTILE)
    terms = [Term(i, 1.0 + i, name, mean=0.5) for i, name in enumerate(HOSTILE)]
    terms += [Term(width, 2.0, "text", "equals", name) for name in HOSTILE]
    prototypes = [Prototype(label, 0.5, (terms[label], terms[width + label])) for label in range(width)]
    ranges = tuple(Range(i, -1.0, 1.0) for i in range(width))
    return SMaLLModel(tuple(HOSTILE), "|O", width + 1, tuple(prototypes), ranges=ranges)


@pytest.mark.tools
def test_names_of_users_cannot_inject_anything_into_c(tmp_path):
    model = hostile_model()
    texts = []
    for number in ("float32", "int8"):
        for layout, arguments in FORMS:
            name = f"m{len(texts)}"
            texts.append(
                to_c(
                    model,
                    number,
                    name=name,
                    layout=layout,
                    arguments=arguments,
                    conformance=[[0.5] * (len(HOSTILE) + 1)],
                )
            )
    source = tmp_path / "all.c"
    source.write_text("\n".join(texts) + "\nint main(void) { return 0; }\n", encoding="ascii")
    assert len(source.read_bytes()) < 400_000
    run([need("gcc"), *STRICT, "-c", str(source), "-o", str(tmp_path / "all.o")])
    defined = [line.split()[-1] for line in run([need("nm"), str(tmp_path / "all.o")]).splitlines()]
    assert "main" in defined
    assert [name for name in defined if not re.fullmatch(r"main|m\d_[a-z_]+", name)] == []
    run([need("g++"), *STRICT[1:], "-x", "c++", "-c", str(source), "-o", str(tmp_path / "all.o")])


@pytest.mark.tools
def test_numbers_are_not_broken_across_lines(tmp_path):
    weights = np.random.default_rng(0).normal(size=60) * 1e-6
    terms = tuple(Term(i, float(weight), f"x-{i}") for i, weight in enumerate(weights))
    model = SMaLLModel((0, 1), "<i8", 60, (Prototype(1, 0.0, terms),))
    rows = np.random.default_rng(1).normal(size=(9, 60)) * 1e-6
    (tmp_path / "long.c").write_text(
        to_c(model, layout="table", conformance=rows) + "int main(void) { return (int)model_test(); }\n"
    )
    run([need("gcc"), *STRICT, "long.c", "-o", "long"], cwd=tmp_path)
    run([str(tmp_path / "long")])


@pytest.mark.tools
@pytest.mark.parametrize("number", ["float32", "int16"])
def test_a_pair_is_compiled_apart_and_called_from_c_and_from_cpp(tmp_path, number):
    model = with_ranges(MODELS["three"])
    rows = rows_of(model)
    for form in ("h", "c"):
        text = to_c(model, number, name="pair", form=form, layout="table", conformance=rows)
        (tmp_path / f"pair.{form}").write_text(text)
    use = '#include "pair.h"\n#include "pair.h"\n#include <stdio.h>\nint main(void) {\n'
    use += "    pair_input_t x[PAIR_INPUTS] = {0};\n    pair_score_t scores[PAIR_CLASSES];\n    pair_reason_t why;\n"
    use += "    pair_scores(x, scores);\n    pair_reason(x, &why);\n"
    use += '    printf("%d %d %d", (int)pair_test(), pair_predict(x) == PAIR_CLASS_C, why.score == pair_score(x));\n'
    (tmp_path / "use.c").write_text(use + "    return 0;\n}\n")
    run([need("gcc"), *STRICT, "-c", "pair.c"], cwd=tmp_path)
    for compiler in (["gcc", *STRICT, "use.c"], ["g++", *STRICT[1:], "-x", "c++", "use.c", "-x", "none"]):
        run([need(compiler[0]), *compiler[1:], "pair.o", "-o", "use"], cwd=tmp_path)
        assert run([str(tmp_path / "use")]) == "0 1 1"


@pytest.mark.tools
def test_a_conformance_test_finds_wrong_answers(tmp_path):
    model = with_ranges(MODELS["yes"])
    text = to_c(model, "int8", conformance=[[1.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.75, 0.0, 1.0]])
    assert text.count("return 1;") == 2
    broken = text.replace("return 1;", "return 0;") + "int main(void) { return (int)model_test(); }\n"
    (tmp_path / "broken.c").write_text(broken)
    run([need("gcc"), *STRICT, "broken.c", "-o", "broken"], cwd=tmp_path)
    with pytest.raises(AssertionError):
        run([str(tmp_path / "broken")])


def test_rows_that_rounding_decides_are_left_out_of_a_conformance_test_and_counted():
    text = to_c(MODELS["yes"], conformance=[[0.5, 0.0, 0.0], [1.0, 0.0, 0.0]])
    assert "1 row and what the model predicts. Left out: 1" in text


@pytest.mark.tools
@pytest.mark.parametrize(
    "compiler",
    [
        ["avr-gcc", "-mmcu=atmega328p"],
        ["avr-gcc", "-mmcu=attiny85"],
        ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m0"],
        ["riscv64-unknown-elf-gcc", "-march=rv32imc", "-mabi=ilp32"],
    ],
)
def test_chips_compile_every_number_without_a_library_and_keep_tables_out_of_ram(tmp_path, compiler):
    texts = []
    for model in map(with_ranges, MODELS.values()):
        for number in ("float32", *BITS):
            for layout, arguments in FORMS:
                name = f"m{len(texts)}"
                texts.append(
                    to_c(model, number, name=name, layout=layout, arguments=arguments, conformance=rows_of(model, 1))
                )
                texts.append(f"int {name}_check(void);\nint {name}_check(void) {{ return (int){name}_test(); }}\n")
    (tmp_path / "all.c").write_text("\n".join(texts))
    run([need(compiler[0]), *compiler[1:], *STRICT, "-Os", "-ffreestanding", "-c", "all.c"], cwd=tmp_path)
    symbols = run([need(compiler[0].replace("gcc", "nm")), "all.o"], cwd=tmp_path)
    outside = {line.split()[1] for line in symbols.splitlines() if line.split()[0] == "U"}
    assert all(name.startswith("__") for name in outside), outside  # arithmetic of the compiler's own, no library
    if compiler[0] == "avr-gcc":
        sections = [line.split()[:2] for line in run([need("avr-size"), "-A", "all.o"], cwd=tmp_path).splitlines()]
        in_ram = [int(size) for name, size in filter(None, sections) if re.match(r"\.(data|rodata|bss)", name)]
        assert sum(in_ram) == 0
        assert any(name.startswith(".progmem") for name, _ in filter(None, sections))


@pytest.mark.tools
def test_doubles_are_refused_where_a_double_is_a_float(tmp_path):
    (tmp_path / "model.c").write_text(to_c(MODELS["yes"], "float64"))
    with pytest.raises(AssertionError, match="model_needs_64_bit_double"):
        run([need("avr-gcc"), "-mmcu=atmega328p", "-std=c99", "-c", "model.c"], cwd=tmp_path)


@pytest.mark.tools
def test_missing_values_are_refused_where_the_compiler_knows_no_nan(tmp_path):
    (tmp_path / "model.c").write_text(to_c(MODELS["mixed"]))
    with pytest.raises(AssertionError, match="no -ffast-math"):
        run([need("gcc"), "-std=c99", "-ffast-math", "-c", "model.c"], cwd=tmp_path)


def test_the_header_says_where_it_comes_from_and_what_it_does():
    text = to_c(MODELS["mixed"], "int8", name="ward")
    for line in (
        flatten(MODELS["mixed"]).stamp,
        "It is 0 (ill) if the score of any prototype is 0 or more, otherwise 1 (well).",
        "WARD_X_BLOOD_PRESSURE: blood pressure, from 60.0 (code -127) to 200.0 (code 127)",
        "WARD_X_COUNT: count, code: how many of these are true:",
        "WARD_X_AGE: age, from 18.0 (code -127) to 97.0 (code 127)",
        "WARD_MISSING (the least number of the type) stands for a missing value.",
        "#define WARD_INPUTS 5",
        "WARD_CATEGORY_WARD_A = 1",
        "WARD_CLASS_WELL = 1",
    ):
        assert line in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"number": "int4"}, "number='int4' is not one of 'float32', 'float64', 'int8', 'int8x16', 'int16', 'int32'"),
        ({"header": "m.h"}, "header='m.h' goes with form='c' alone"),
        ({"form": "h", "header": "m.h"}, "header='m.h' goes with form='c' alone"),
        ({"form": "c", "header": 'm".h'}, "must be the name of a file, without quotation marks and backslashes"),
        ({"form": "c", "header": ""}, "must be the name of a file"),
        ({"form": "so"}, "form='so' is not one of 'header', 'h', 'c'"),
        ({"layout": "tree"}, "layout='tree' is not one of 'auto', 'code', 'table'"),
        ({"name": "2"}, "name='2' is not a C name"),
        ({"name": "a b"}, "name='a b' is not a C name"),
        ({"ranges": {"a": (0, 1)}}, "for whole numbers .*not for float32"),
        ({"number": "int8"}, r"range of 'a' is not known: give it in ranges=\{label: \(low, high\)\}, or in counts"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        to_c(MODELS["yes"], **options)
