"""A model as C99: one header, or a pair of .h and .c. It needs <stdint.h> alone: no library, no heap."""

from collections.abc import Iterator, Mapping
from typing import Any

from smallearn._errors import check_choice
from smallearn.export._c import code as c_code
from smallearn.export._c import table as c_table
from smallearn.export._c.about import about, conversions
from smallearn.export._c.conformance import Conformance
from smallearn.export._c.identifiers import Words, real
from smallearn.export._fixed.float32 import in_floats
from smallearn.export._fixed.numbers import NUMBERS
from smallearn.export._fixed.quantise import BITS, IntegerModel, quantise
from smallearn.export._names import remark
from smallearn.model import SMaLLModel

FORMS = ("header", "h", "c")
LAYOUTS = ("code", "table")
INLINE = "static inline "


def to_c(
    model: SMaLLModel,
    number: str = "float32",
    *,
    name: str = "model",
    form: str = "header",
    layout: str = "code",
    arguments: bool = False,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    counts: Mapping[str, tuple[float, float, int, int]] | None = None,
    conformance: Any = None,
) -> str:
    """The model as C99 text, with functions ``NAME_predict``, ``NAME_score`` and ``NAME_reason``.

    Parameters
    ----------
    number : of the weights: "float32", "float64", or "int8", "int16", "int32" for whole numbers alone (see `quantise`,
        also for ``ranges`` and ``counts``)
    name : what every identifier begins with, and the name of the pair's files
    form : "header" is a file of its own; "h" and "c" are the two files of a pair
    layout : "code" has the weights in the code; "table" in tables, in flash on AVR, which is smaller for large models
    arguments : the functions take the inputs one by one instead of an array
    conformance : rows, as the model takes them, for a function ``NAME_test`` that counts wrong answers
    """
    check_choice("number", number, NUMBERS)
    check_choice("form", form, FORMS)
    check_choice("layout", layout, LAYOUTS)
    words = words_of(model, number, name, arguments, ranges, counts)
    test = None if conformance is None else Conformance.of(words, conformance)
    return "\n".join(_file(words, form, layout == "table" and bool(words.target.terms), test))


def words_of(model: SMaLLModel, number: str, name: str, arguments: Any, ranges: Any, counts: Any) -> Words:
    """The model in its numbers, with all that it is called in C."""
    if number in BITS:
        return Words(name, quantise(model, number, ranges, counts), bool(arguments))
    if ranges or counts:
        raise ValueError(f"ranges and counts are for whole numbers ({', '.join(BITS)}), not for {number}.")
    return Words(name, in_floats(model, number), bool(arguments))


def _file(words: Words, form: str, tabled: bool, test: Conformance | None) -> Iterator[str]:
    yield about(words)
    if form == "c":
        yield f'#include "{words.prefix}.h"\n'
        yield "\n".join(_definitions(words, "", tabled, test))
        return
    yield f"#ifndef {words.upper}_H\n#define {words.upper}_H\n\n#include <stdint.h>\n"
    yield "\n".join(_constants(words))
    yield "\n".join(_declarations(words, test) if form == "h" else _definitions(words, INLINE, tabled, test))
    yield from conversions(words)
    yield f"#endif /* {words.upper}_H */\n"


def _definitions(words: Words, public: str, tabled: bool, test: Conformance | None) -> Iterator[str]:
    types = list(c_table.Tables(words).types.values()) if tabled else []
    types += [] if test is None else test.types
    if types:
        yield c_table.flash(words, sorted(set(types))) + "\n"
    layout = c_table if tabled else c_code
    for part in layout.functions(words, public, INLINE):
        yield part + "\n"
    if test is not None:
        yield test.function(public) + "\n"


def _constants(words: Words) -> Iterator[str]:
    flat, up = words.target.flat, words.upper
    most = max([1, *(len(words.target.of(j)) for j in range(len(flat.owners)))])
    yield f"#define {up}_INPUTS {len(flat.inputs)}"
    yield f"#define {up}_CLASSES {len(flat.classes)}"
    yield f"#define {up}_PROTOTYPES {len(flat.owners)}"
    yield f"#define {up}_TERMS {most} /* of a prototype, at most */"
    yield from _missing(words)
    yield f"\ntypedef {words.input_type} {words.prefix}_input_t;"
    yield f"typedef {words.score_type} {words.prefix}_score_t;\n"
    if words.target.number == "float64":
        yield f"typedef char {words.prefix}_needs_64_bit_double[sizeof(double) == 8 ? 1 : -1];\n"
    if flat.inputs:
        yield _enum([(f"{up}_X_{name.upper()}", i, flat.inputs[i].label) for i, name in enumerate(words.inputs)])
    yield _enum([(name, i, flat.classes[i]) for i, name in enumerate(words.classes)])
    if words.categories:
        yield _enum([(name, code, category) for _, code, name, category in words.categories])
    yield "typedef struct {"
    yield f"    {words.position_type} prototype; /* the one of the greatest score, from 0 */"
    yield f"    {words.score_type} score;"
    yield f"    {words.score_type} contribution[{up}_TERMS]; /* of its terms, in order; 0 after the last */"
    yield f"}} {words.prefix}_reason_t;\n"


def _missing(words: Words) -> Iterator[str]:
    if not any(given.may_be_missing for given in words.target.flat.inputs):
        return
    if isinstance(words.target, IntegerModel):
        yield f"#define {words.upper}_MISSING INT{words.target.input_bits}_MIN"
        return
    zero = real(0.0, words.target.number)
    yield f"#define {words.upper}_MISSING ({zero} / {zero}) /* not a number */"
    yield "#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__"
    yield "#error missing values need a compiler that knows NaN: no -ffast-math, no -ffinite-math-only"
    yield "#endif"


def _enum(entries: list[tuple[str, int, object]]) -> str:
    lines = [f"    {name} = {value}, /* {remark(label)} */" for name, value, label in entries]
    lines[-1] = lines[-1].replace(", /*", " /*", 1)
    return "\n".join(["enum {", *lines, "};\n"])


def _declarations(words: Words, test: Conformance | None) -> Iterator[str]:
    yield '#ifdef __cplusplus\nextern "C" {\n#endif'
    yield f"{words.position_type} {words.prefix}_predict({words.parameters});"
    yield f"{words.score_type} {words.prefix}_score({words.parameters});"
    if not words.target.flat.is_binary:
        yield f"void {words.prefix}_scores({words.with_output('scores')});"
    yield f"void {words.prefix}_reason({words.with_output('reason')});"
    if test is not None:
        yield f"{test.head};"
    yield "#ifdef __cplusplus\n}\n#endif\n"
