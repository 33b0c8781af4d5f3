"""Functions of whole-number code that takes float readings, and ``NAME_predict_readings``.

Straight-line code looks at the bits of readings where it needs them (see `float_bits`). Tables have codes, so there all
readings become codes first.
"""

from collections.abc import Iterator
from dataclasses import replace

from smallearn.export._c import float_bits, probability
from smallearn.export._c.code import function
from smallearn.export._c.model import CModel, count_type
from smallearn.export._c.table import element, table
from smallearn.export._fixed.codes import Shifted, Text
from smallearn.export._fixed.quantise import IntegerModel

ONE_BY_ONE = 2  # inputs that become codes one by one; more do so in a loop, if all are shifted


def functions(c: CModel) -> Iterator[str]:
    """Functions that the expressions call, or that codes are made with."""
    coders = c.target.coders  # type: ignore[attr-defined]
    widths = {float_bits.width_of(c, i) for i, coder in enumerate(coders) if not isinstance(coder, Shifted)}
    widths |= {float_bits.width_of(c, i) for i, input_ in enumerate(c.target.flat.inputs) if input_.may_be_missing}
    shifted = {coder.width for coder in coders if isinstance(coder, Shifted)}
    # avr-gcc 5.4 mixes up unions of inlined functions that share a place on the stack, so it reads the memory itself.
    if 32 in widths or shifted:
        yield f"""\
/* the bits of a float */
static inline int32_t {c.prefix}_all_bits(const float *x) {{
#ifdef __AVR__
    typedef int32_t __attribute__((may_alias)) word_t;
    return *(const word_t *)x;
#else
    union {{ float number; int32_t bits; }} u;
    u.number = *x;
    return u.bits;
#endif
}}"""
    if 16 in widths:
        yield f"""\
/* the upper half of the bits of a float */
static inline int16_t {c.prefix}_upper_bits(const float *x) {{
#ifdef __AVR__
    const uint8_t *byte = (const uint8_t *)x;
    return (int16_t)(byte[2] | (uint16_t)byte[3] << 8);
#else
    union {{ float number; uint32_t bits; }} u;
    u.number = *x;
    return (int16_t)(u.bits >> 16);
#endif
}}"""
    if shifted:
        yield _fixed(c, max(shifted))


def _fixed(c: CModel, width: int) -> str:
    """The function that makes a code by a shift."""
    low = "high" if width == 8 else "(bits >> 8)"
    most, top = 2 ** (width - 1) - 1, 2 ** (width - 1)
    # No loop, so that the longest time is known.
    steps = [step for step in (8, 4, 2, 1) if step < width]
    shifts = "\n        ".join(f"if (far & {step}) size = (uint{width}_t)(size >> {step});" for step in steps)
    return f"""\
/* a float times a power of 2, without its fraction, at most {most} either way; base - 127 is the exponent too large */
static int{width}_t {c.prefix}_fixed(const float *x, uint8_t base) {{
    const uint32_t bits = (uint32_t){c.prefix}_all_bits(x);
    const uint16_t high = (uint16_t)(bits >> 16);
    const uint8_t exponent = (uint8_t)(high >> 7), far = (uint8_t)(base - exponent);
    uint{width}_t size = (uint{width}_t)((uint{width}_t){low} | {top:#x}u);
    if (exponent >= base) size = {most};
    else if (far >= {width}) size = 0;
    else {{
        {shifts}
    }}
    return (int{width}_t)(high & 0x8000u ? -(int{width}_t)size : (int{width}_t)size);
}}"""


def are_floats(c: CModel) -> bool:
    """Whether a model in whole numbers takes float readings."""
    return isinstance(c.target, IntegerModel) and c.target.readings == "float"


def has_readings(c: CModel) -> bool:
    """Whether there is a function that predicts from readings."""
    return c.is_float or c.target.readings != "codes"  # type: ignore[attr-defined]


def heads(c: CModel) -> list[str]:
    """The heads of the functions whose inputs are readings."""
    reader = _readings(c)
    predict = f"{c.position_type} {c.prefix}_predict_readings({reader.parameters})"
    return [predict, *([probability.head(reader, "predict_proba_readings")] if c.probabilities else [])]


def missing_reading(c: CModel) -> str:
    """The name of the reading that stands for a missing value."""
    return f"{c.upper}_MISSING_READING" if are_floats(c) and not c.takes_floats else f"{c.upper}_MISSING"


def readings_type(c: CModel) -> str:
    """The type of a reading."""
    return _readings(c).input_type


def _readings(c: CModel) -> CModel:
    """The model as a function sees it that takes readings."""
    return replace(c, takes_floats=are_floats(c))


def types_of(c: CModel) -> list[str]:
    """The types of the numbers in tables that make codes of readings."""
    return ["uint8_t"] if _loops(c) else []


def _loops(c: CModel) -> bool:
    """Whether codes are made in a loop over a table."""
    if not are_floats(c) or c.takes_floats or c.arguments:
        return False
    coders = c.target.coders  # type: ignore[attr-defined]
    return len(coders) > ONE_BY_ONE and all(isinstance(coder, Shifted) for coder in coders) and not _gaps(c)


def _gaps(c: CModel) -> bool:
    return any(input_.may_be_missing for input_ in c.target.flat.inputs)


def from_readings(c: CModel, public: str) -> Iterator[str]:
    """The functions whose inputs are readings; where these are floats and tables have codes, they make the codes."""
    n, passed, body, before = len(c.inputs), c.passed, [], ""
    if are_floats(c) and not c.takes_floats:
        passed = ", ".join(f"codes[{i}]" for i in range(n)) if c.arguments else "codes"
        body = [f"{c.code_type} codes[{max(1, n)}];", *_make_codes(c)]
        if _loops(c):
            bases = [str(coder.base) for coder in c.target.coders]  # type: ignore[attr-defined]
            before = table(c, "reading_bases", "uint8_t", bases) + "\n"
    answers = [f"return {c.prefix}_predict({passed});", probability.call(c, passed)]
    for head, answer in zip(heads(c), answers, strict=False):
        yield before + function(f"{public}{head}", [*body, answer])
        before = ""


def _make_codes(c: CModel) -> list[str]:
    """Statements that make the codes of all readings."""
    reader, n = _readings(c), len(c.inputs)
    if not _loops(c):
        return [f"codes[{i}] = {_code(reader, i)};" for i in range(n)]
    base = element(c, "reading_bases", "uint8_t", "i")
    return [f"{count_type(n)} i;", f"for (i = 0; i < {n}; i++) codes[i] = {c.prefix}_fixed(&x[i], {base});"]


def _code(c: CModel, position: int) -> str:
    """The code of a float reading, as an expression."""
    coder = c.target.coders[position]  # type: ignore[attr-defined]
    if isinstance(coder, Shifted):
        code = float_bits.fixed(c, position)
    elif isinstance(coder, Text):
        code = f"({c.code_type}){c.x(position)}"
    else:
        most = 2 ** (coder.width - 1) - 1
        value = float_bits.bits(c, position)
        code = f"({c.code_type})({value} < 0 ? {value} ^ {most:#x} : {value})"
    if not c.target.flat.inputs[position].may_be_missing:
        return code
    return f"{float_bits.is_missing(c, position)} ? {c.upper}_MISSING : {code}"
