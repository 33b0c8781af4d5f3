"""What a C export says of itself to a reader, and its conversions from readings to codes."""

from collections.abc import Iterator
from decimal import Decimal

from smallearn._text import count
from smallearn.export._c.identifiers import Words, real
from smallearn.export._fixed.codes import Count, Linear, Steps
from smallearn.export._fixed.quantise import IntegerModel
from smallearn.export._names import remark


def about(words: Words) -> str:
    """The comment at the top."""
    lines = [words.target.flat.stamp, "", *_rule(words), "", *_inputs(words)]
    if any(given.may_be_missing for given in words.target.flat.inputs):
        lines += ["", *_missing(words)]
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */\n"])


def _rule(words: Words) -> Iterator[str]:
    flat = words.target.flat
    shown = [f"{position} ({remark(label)})" for position, label in enumerate(flat.classes)]
    yield f"{words.prefix}_predict: the position of the class, {', '.join(shown[:20])}{', ...' * (len(shown) > 20)}."
    if flat.is_binary:
        owner = flat.owners[0]
        which = "the score is" if len(flat.owners) == 1 else "any of the prototypes' scores is"
        bar = "above 0" if owner == 1 else "0 or more"
        yield f"It is {shown[owner]} if {which} {bar}, otherwise {shown[1 - owner]}."
    else:
        yield "It is the class of the greatest score; at a tie the first."
    yield f"{words.prefix}_score: the greatest score. {words.prefix}_reason: what it is made of."
    if isinstance(words.target, IntegerModel):
        factor = Decimal(words.target.factor.numerator) / Decimal(words.target.factor.denominator)
        yield f"Scores are {factor:.6g} times those of the model, in whole numbers; none can overflow."


def _inputs(words: Words) -> Iterator[str]:
    flat = words.target.flat
    yield f"{count(len(flat.inputs), 'input')}{':' if flat.inputs else ''}"
    for position, given in enumerate(flat.inputs):
        called = f"{words.argument}_{given.name}" if words.arguments else f"{words.upper}_X_{given.name.upper()}"
        yield f"  {called}: {remark(given.label)}{_coding(words, position)}"


def _coding(words: Words, position: int) -> str:
    given = words.target.flat.inputs[position]
    if given.is_text:
        return f", {words.upper}_CATEGORY_... or 0 for any other text"
    if not isinstance(words.target, IntegerModel):
        return ""
    coder = words.target.coders[position]
    if isinstance(coder, Count):
        turned = (
            "" if coder.scale == 1.0 and coder.shift == 0.0 else f"; it is {coder.scale!r} * count + {coder.shift!r}"
        )
        return f", a count from {coder.least} to {coder.greatest}{turned}"
    if isinstance(coder, Linear):
        return f", from {coder.low!r} (code {coder.least}) to {coder.high!r} (code {coder.greatest})"
    cuts = [f"{'>=' if reached else '>'} {cut!r}" for cut, reached in coder.cuts] if isinstance(coder, Steps) else []
    listed = ", ".join(cuts[:8]) + (", ..." if len(cuts) > 8 else "")
    return f", code: how many of these hold: {listed}" if cuts else ", any code"


def _missing(words: Words) -> Iterator[str]:
    given = words.target.flat.inputs
    value = "NaN" if words.is_float else "the least number of the type"
    yield f"{words.upper}_MISSING ({value}) stands for a missing value."
    never = [remark(one.label) for one in given if not one.may_be_missing]
    if never:
        yield f"These may not be missing: {', '.join(never)}."


def conversions(words: Words) -> Iterator[str]:
    """Functions from a reading to its code, for those who want floating point."""
    if not isinstance(words.target, IntegerModel):
        return
    made = []
    for position, coder in enumerate(words.target.coders):
        if isinstance(coder, Linear):
            made.append(_linear(words, position, coder))
        elif isinstance(coder, Steps):
            made.append(_steps(words, position, coder))
    if made:
        yield f"#ifdef {words.upper}_WITH_FLOAT /* from readings to codes */\n"
        yield "\n\n".join(made)
        yield "\n#endif\n"


def _conversion(words: Words, position: int, body: list[str]) -> str:
    given = words.target.flat.inputs[position]
    absent = [f"if (x != x) return {words.upper}_MISSING;"] if given.may_be_missing else []
    head = f"static inline {words.input_type} {words.prefix}_code_{given.name}(float x) {{ /* {remark(given.label)} */"
    return "\n".join([head, *(f"    {line}" for line in [*absent, *body]), "}"])


def _linear(words: Words, position: int, coder: Linear) -> str:
    steps = f"(x - {real(coder.origin, 'float32')}) * {real(coder.rate, 'float32')}"
    body = [
        f"const float steps = {steps.replace('- -', '+ ')};",
        f"if (!(steps > 0.0f)) return {coder.least};",
        f"if (steps >= {real(2.0 * coder.Q, 'float32')}) return {coder.greatest};",
        f"return ({words.input_type})((int32_t)steps - {coder.Q});",
    ]
    return _conversion(words, position, body)


def _steps(words: Words, position: int, coder: Steps) -> str:
    tests = [f"if (x {'>=' if reached else '>'} {real(cut, 'float32')}) code++;" for cut, reached in coder.float32_cuts]
    body = [f"{words.input_type} code = 0;", *tests, "return code;"] if tests else ["(void)x;", "return 0;"]
    return _conversion(words, position, body)
