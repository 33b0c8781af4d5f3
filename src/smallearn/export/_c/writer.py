"""A model as C99: one header, or a pair of .h and .c. It includes only <stdint.h>: no library, no heap.

Expected costs, and probabilities in floats, need <math.h> for the exponential.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from smallearn._errors import Parameter, ParameterError, check_choice
from smallearn.export._c import class_names as c_class_names
from smallearn.export._c import code as c_code
from smallearn.export._c import probability as c_probability
from smallearn.export._c import readings as c_readings
from smallearn.export._c import table as c_table
from smallearn.export._c.card import Card
from smallearn.export._c.conversions import conversions
from smallearn.export._c.differences import Differences
from smallearn.export._c.heading import heading
from smallearn.export._c.model import CModel, real
from smallearn.export._c.vectors import TestVectors
from smallearn.export._fixed.form import form_of
from smallearn.export._fixed.loss import warn_if_much
from smallearn.export._fixed.quantise import IntegerModel, target_of
from smallearn.export._names import comment_text
from smallearn.model._arguments import as_model

FORMS = ("header", "h", "c")
LAYOUTS = ("auto", "code", "table")
FEW_ROWS = 4  # of a card that is shorter as code
MANY_PRODUCTS = 16  # raw terms, without literals, that take about two thirds of the flash as a table
INLINE = "static inline "


def to_c(
    model: Any,
    number: str | None = None,
    *,
    name: str = "model",
    form: str = "header",
    header: str | None = None,
    layout: str = "auto",
    arguments: bool = False,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    counts: Mapping[str, tuple[float, float, int, int]] | None = None,
    readings: str | None = None,
    conformance: Any = None,
    probabilities: bool = False,
    class_names: bool = False,
) -> str:
    """Write a model as C99, with functions ``NAME_predict``, ``NAME_score`` and ``NAME_reason``.

    The functions take an array of the inputs in use; ``NAME_X_…`` are their places. ``NAME_predict`` returns the
    position of the class, ``NAME_score`` the score that decides, which is the greatest, with a cost matrix that of the
    predicted class, and ``NAME_reason`` the prototype that has it and what each of its terms adds. Expected costs of
    more than two classes need floats and <math.h>; otherwise no library is needed.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    number : {"float32", "float64", "int8", "int8x16", "int16", "int32"} or None, default=None
        The type of the weights. The integer types need no floating point at all (see `quantise`). None: if the model
        was chosen for a chip, what was chosen for it (``model.deployment``); otherwise "float32". Readings and counts
        are also those chosen for the chip unless they are given, and in the chosen type so is the layout.
    name : str, default="model"
        What every identifier begins with.
    form : {"header", "h", "c"}, default="header"
        "header" is one file with everything; "h" and "c" are the two files of a pair.
    header : str or None, default=None
        With ``form="c"``: the file that it includes, which is to hold ``form="h"``. None: NAME.h.
    layout : {"auto", "code", "table"}, default="auto"
        Whether the weights are in the code or in tables, which are smaller for large models and are in flash on AVR.
        "auto": in a table where that takes much less flash, which is so for 16 or more raw terms without literals, and
        if several classes or prototypes share terms and the weights are whole numbers; otherwise in the code, which is
        faster. `smallearn.devices.cost` tells exactly which is smaller on a chip.
    arguments : bool, default=False
        Whether the functions take the inputs one by one instead of as an array.
    ranges : mapping from label to (low, high), default=None
        For integer types: the range of a feature over which its codes are spread. Default: the training range.
    counts : mapping from label to (scale, offset, least, greatest), default=None
        For integer types: the device reads a whole number in [least, greatest], and the feature is
        ``scale · count + offset``.
    readings : {"codes", "counts", "float"} or None, default=None
        What the device passes. "float": readings in float32, in the units of the training data; whole-number code looks
        at their bits and needs no floating point. "counts": whole numbers as they are read; `counts` then has every
        number that the model uses. With these two there is also ``NAME_predict_readings``, whose inputs are readings.
        "codes": codes, which the program has made of the readings before. None: "float" for float types, otherwise
        codes, and counts of the features in `counts`.
    conformance : array or table, default=None
        Rows, as `SMaLLModel.predict` takes them, that become test vectors: ``NAME_test`` returns how many are
        predicted differently.
    probabilities : bool, default=False
        Whether there is a function ``NAME_predict_proba``. With two classes it returns the probability of the second,
        with more it writes that of each class into an array. In whole numbers a probability is a ``uint16_t`` in steps
        of 1/65535, by a table whose error, a bound, is in the comment at the top and
        ``quantise(…).probability_table.error``; with floats it is a float and needs <math.h>.
    class_names : bool, default=False
        Whether there is a function ``NAME_class_name`` from the position of a class to its label as text, in UTF-8. On
        AVR that is in flash.

    Returns
    -------
    str
        The text of the file.

    Warns
    -----
    FormatLossWarning
        If `number` changes more than 2% of the decisions on random rows, as `format_loss` counts them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import to_c
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> header = to_c(clf, "int8", name="tumour")
    >>> "uint8_t tumour_predict(const int8_t *x)" in header
    True
    """
    check_choice("form", form, FORMS)
    if header is not None:
        _check_header(header, form)
    model = as_model(model)
    formed = form_of(model, "float32", number=number, layout=layout, readings=readings, counts=counts)
    target = target_of(model, formed.number, ranges=ranges, counts=formed.counts, readings=formed.readings)
    if not formed.is_chosen:
        warn_if_much(target, formed.counts)
    c = CModel(
        prefix=name,
        target=target,
        arguments=bool(arguments),
        probabilities=bool(probabilities),
        class_names=bool(class_names),
    )
    return c_text(c, form, formed.layout, conformance, header)


def c_text(c: CModel, form: str, layout: str, conformance: Any, header: str | None = None) -> str:
    """The text of a file; ``conformance`` are rows for test vectors, or None; ``header`` is what form "c" includes."""
    check_choice("layout", layout, LAYOUTS)
    if any(term.right for term in c.target.terms):  # tables have no shifts
        layout = "code"
    in_tables = (layout == "table" or (layout == "auto" and _is_smaller_as_table(c))) and bool(c.target.terms)
    c = replace(c, takes_floats=c_readings.are_floats(c) and not in_tables)
    vectors = None if conformance is None else TestVectors.of(c, conformance)
    return "\n".join(_file(c, form, in_tables, vectors, header or f"{c.prefix}.h"))


def _check_header(header: str, form: str) -> None:
    if form != "c":
        pair = Parameter("header", header), " goes with ", Parameter("form", "c")
        raise ParameterError(*pair, " alone, which includes that file.")
    if not header or not header.isprintable() or any(sign in header for sign in '"\\'):
        raise ParameterError(
            Parameter("header", header), " must be the name of a file, without quotation marks and backslashes."
        )


def _is_smaller_as_table(c: CModel) -> bool:
    """Whether tables take much less flash than code, by what was measured on an ATmega328P and a Cortex-M0."""
    card = Differences.of(c) or Card.of(c)
    if card is not None and len(card.rows) >= FEW_ROWS:
        return True
    return len(c.target.terms) >= MANY_PRODUCTS and all(term.kind == "raw" for term in c.target.terms)


def _file(c: CModel, form: str, in_tables: bool, vectors: TestVectors | None, header: str) -> Iterator[str]:
    yield heading(c)
    if form == "c":
        yield f'#include "{header}"\n'
        yield "\n".join(_definitions(c, "", in_tables, vectors))
        return
    exponential = c.target.flat.decision.costs is not None or (c.probabilities and c.is_float)
    library = "#include <math.h>\n" if exponential else ""
    yield f"#ifndef {c.upper}_H\n#define {c.upper}_H\n\n{library}#include <stdint.h>\n"
    yield "\n".join(_constants(c))
    yield "\n".join(_declarations(c, vectors) if form == "h" else _definitions(c, INLINE, in_tables, vectors))
    yield from conversions(c)
    yield f"#endif /* {c.upper}_H */\n"


def _definitions(c: CModel, public: str, in_tables: bool, vectors: TestVectors | None) -> Iterator[str]:
    types = c_table.types_of(c) if in_tables else []
    types += [] if vectors is None else vectors.types
    types += [*c_readings.types_of(c), *c_probability.types_of(c)]
    if types or c.class_names:
        yield c_table.flash(c, sorted(set(types))) + "\n"
    layout = c_table if in_tables else c_code
    if c_readings.are_floats(c):
        for part in c_readings.functions(c):
            yield part + "\n"
    for part in layout.functions(c, public, INLINE):
        yield part + "\n"
    if c.probabilities:
        for part in c_probability.functions(c, public, INLINE):
            yield part + "\n"
    if c_readings.has_readings(c):
        for part in c_readings.from_readings(c, public):
            yield part + "\n"
    if c.class_names:
        yield c_class_names.functions(c, public) + "\n"
    if vectors is not None:
        yield vectors.function(public) + "\n"


def _constants(c: CModel) -> Iterator[str]:
    flat, up = c.target.flat, c.upper
    most = max([1, *(len(c.target.of(j)) for j in range(len(flat.owners)))])
    yield f"#define {up}_INPUTS {len(flat.inputs)}"
    yield f"#define {up}_CLASSES {len(flat.classes)}"
    yield f"#define {up}_PROTOTYPES {len(flat.owners)}"
    yield f"#define {up}_TERMS {most} /* of a prototype, at most */"
    yield from _missing(c)
    yield f"\ntypedef {c.input_type} {c.prefix}_input_t;"
    yield f"typedef {c.score_type} {c.prefix}_score_t;" + "\n" * (not c.probabilities)
    if c.probabilities:
        yield f"typedef {c_probability.kind_of(c)} {c.prefix}_probability_t;\n"
    if c.class_names:
        yield c_class_names.text_type(c)
    if c.target.number == "float64":
        yield f"typedef char {c.prefix}_needs_64_bit_double[sizeof(double) == 8 ? 1 : -1];\n"
    if flat.inputs:
        yield _enum([(f"{up}_X_{name.upper()}", i, flat.inputs[i].label) for i, name in enumerate(c.inputs)])
    yield _enum([(name, i, flat.classes[i]) for i, name in enumerate(c.classes)])
    if c.categories:
        yield _enum([(name, code, category) for _, code, name, category in c.categories])
    yield "typedef struct {"
    yield f"    {c.position_type} prototype; /* with the greatest score, from 0 */"
    yield f"    {c.score_type} score;"
    yield f"    {c.score_type} contribution[{up}_TERMS]; /* of its terms, in order; 0 after the last */"
    yield f"}} {c.prefix}_reason_t;\n"


def _missing(c: CModel) -> Iterator[str]:
    if not any(input_.may_be_missing for input_ in c.target.flat.inputs):
        return
    name = c_readings.missing_reading(c)
    if isinstance(c.target, IntegerModel) and not c.takes_floats:
        yield f"#define {c.upper}_MISSING INT{c.target.input_bits}_MIN"
        if not c_readings.are_floats(c):
            return
    kind = "float64" if c.target.number == "float64" else "float32"
    zero, suffix = real(0.0, kind), "" if kind == "float64" else "f"
    yield "#ifdef __GNUC__ /* a constant in C++, too */"
    yield f'#define {name} __builtin_nan{suffix}("")'
    yield f"#else\n#define {name} ({zero} / {zero}) /* not a number */\n#endif"
    if c_readings.are_floats(c):
        return
    yield "#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__"
    yield "#error missing values need a compiler that knows NaN: no -ffast-math, no -ffinite-math-only"
    yield "#endif"


def _enum(entries: list[tuple[str, int, object]]) -> str:
    lines = [f"    {name} = {value}, /* {comment_text(label)} */" for name, value, label in entries]
    lines[-1] = lines[-1].replace(", /*", " /*", 1)
    return "\n".join(["enum {", *lines, "};\n"])


def _declarations(c: CModel, vectors: TestVectors | None) -> Iterator[str]:
    yield '#ifdef __cplusplus\nextern "C" {\n#endif'
    yield f"{c.position_type} {c.prefix}_predict({c.parameters});"
    yield f"{c.score_type} {c.prefix}_score({c.parameters});"
    if not c.target.flat.has_one_owner:
        yield f"void {c.prefix}_scores({c.with_output('scores')});"
    yield f"void {c.prefix}_reason({c.with_output('reason')});"
    if c.probabilities:
        yield f"{c_probability.head(c)};"
    if c_readings.has_readings(c):
        yield from (f"{head};" for head in c_readings.heads(c))
    if c.class_names:
        yield f"{c_class_names.head(c)};"
    if vectors is not None:
        yield f"{vectors.head};"
    yield "#ifdef __cplusplus\n}\n#endif\n"
