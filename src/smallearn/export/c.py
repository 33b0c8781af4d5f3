"""A model as C99: one header, or a pair of .h and .c. It needs <stdint.h> alone: no library, no heap."""

from collections.abc import Iterator, Mapping
from typing import Any

from smallearn.export import c_code
from smallearn.export.c_words import Words, real
from smallearn.export.codes import Count, Linear, Steps, Text
from smallearn.export.fixed import BITS, IntegerModel, quantise
from smallearn.export.float32 import in_floats
from smallearn.export.names import remark
from smallearn.export.numbers import NUMBERS
from smallearn.model import SMaLLModel

FORMS = ("header", "h", "c")
LAYOUTS = ("code", "table")


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
    form : "header" is a file of its own; "h" and "c" are the two files of a pair
    layout : "code" has the weights in the code; "table" in a table in flash, which is smaller for large models
    arguments : the functions take the inputs one by one instead of an array
    conformance : rows, as the model takes them, for a function ``NAME_test`` that counts wrong answers
    """
    for what, given, known in (("number", number, NUMBERS), ("form", form, FORMS), ("layout", layout, LAYOUTS)):
        if given not in known:
            raise ValueError(f"{what}={given!r} is not one of {', '.join(map(repr, known))}.")
    if number in BITS:
        words = Words(name, quantise(model, number, ranges, counts), arguments)
    else:
        if ranges or counts:
            raise ValueError(f"ranges and counts are for whole numbers ({', '.join(BITS)}), not for {number}.")
        words = Words(name, in_floats(model, number), arguments)
    return "\n".join(_parts(words, form)) + "\n"


def _parts(words: Words, form: str) -> Iterator[str]:
    yield _head(words)
    if form == "c":
        yield f'#include "{words.prefix}.h"\n'
        yield "\n\n".join(c_code.functions(words, "", "static inline "))
        return
    yield f"#ifndef {words.upper}_H\n#define {words.upper}_H\n\n#include <stdint.h>\n"
    yield "\n".join(_constants(words))
    if form == "h":
        yield "\n".join(_declarations(words))
    else:
        yield "\n\n".join(c_code.functions(words, "static inline ", "static inline "))
    yield f"\n#endif /* {words.upper}_H */"


def _head(words: Words) -> str:
    flat = words.target.flat
    return f"/* {flat.stamp} */\n"


def _constants(words: Words) -> Iterator[str]:
    flat, up = words.target.flat, words.upper
    most = max([1, *(len(words.target.of(j)) for j in range(len(flat.owners)))])
    yield f"#define {up}_INPUTS {len(flat.inputs)}"
    yield f"#define {up}_CLASSES {len(flat.classes)}"
    yield f"#define {up}_PROTOTYPES {len(flat.owners)}"
    yield f"#define {up}_TERMS {most} /* of a prototype, at most */"
    if any(given.may_be_missing for given in flat.inputs):
        yield f"#define {up}_MISSING {_missing(words)}"
    yield f"\ntypedef {words.input_type} {words.prefix}_input_t;"
    yield f"typedef {words.score_type} {words.prefix}_score_t;\n"
    if flat.inputs:
        yield _enum([(f"{up}_X_{name.upper()}", i, flat.inputs[i].label) for i, name in enumerate(words.inputs)])
    yield _enum([(name, i, flat.classes[i]) for i, name in enumerate(words.classes)])
    if words.categories:
        yield _enum([(name, code, category) for _, code, name, category in words.categories])
    yield f"typedef struct {{\n    {words.position_type} prototype; /* the one of the greatest score, from 0 */"
    yield f"    {words.score_type} score;"
    yield f"    {words.score_type} contribution[{up}_TERMS]; /* of its terms, in order; then 0 */"
    yield f"}} {words.prefix}_reason_t;\n"


def _missing(words: Words) -> str:
    if isinstance(words.target, IntegerModel):
        return f"INT{words.target.input_bits}_MIN"
    zero = real(0.0, words.target.number)
    return f"({zero} / {zero}) /* not a number */"


def _enum(entries: list[tuple[str, int, object]]) -> str:
    lines = [f"    {name} = {value}, /* {remark(label)} */" for name, value, label in entries]
    lines[-1] = lines[-1].replace(", /*", " /*", 1)
    return "\n".join(["enum {", *lines, "};\n"])


def _declarations(words: Words) -> Iterator[str]:
    yield '#ifdef __cplusplus\nextern "C" {\n#endif'
    yield f"{words.position_type} {words.prefix}_predict({words.parameters});"
    yield "#ifdef __cplusplus\n}\n#endif"
