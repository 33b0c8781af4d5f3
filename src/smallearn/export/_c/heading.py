"""The comment at the top of a C export: where it comes from, what its functions return, what its inputs are."""

from collections.abc import Iterator
from decimal import Decimal

from smallearn._text import count
from smallearn.export._c import probability
from smallearn.export._c.model import CModel
from smallearn.export._fixed.codes import meaning
from smallearn.export._fixed.quantise import IntegerModel
from smallearn.export._flat import decision_rule, unchecked
from smallearn.export._names import comment_text


def heading(c: CModel) -> str:
    """The comment at the top."""
    lines = [c.target.flat.stamp, "", *_functions(c), "", *_inputs(c)]
    if any(input_.may_be_missing for input_ in c.target.flat.inputs):
        lines += ["", *_missing(c)]
    lines += unchecked(c.target.flat)
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */\n"])


def _functions(c: CModel) -> Iterator[str]:
    flat = c.target.flat
    shown = [f"{position} ({comment_text(label)})" for position, label in enumerate(flat.classes)]
    yield f"{c.prefix}_predict: the position of the class, {', '.join(shown[:20])}{', ...' * (len(shown) > 20)}."
    score = "the score" if len(flat.owners) == 1 else "the score of any prototype"
    yield f"It is {decision_rule(flat, shown, score)}."
    score = "the greatest score" if flat.decision.costs is None and not c.target.offsets else "the score that decides"
    yield f"{c.prefix}_score: {score}. {c.prefix}_reason: what each term adds to it."
    if c.probabilities:
        yield probability.meaning(c)
    if c.class_names:
        yield f"{c.prefix}_class_name: the label of a class as text."
    if isinstance(c.target, IntegerModel):
        factor = Decimal(c.target.factor.numerator) / Decimal(c.target.factor.denominator)
        if c.target.readings == "float":
            yield f"{c.prefix}_predict_readings takes float readings and looks at their bits, without floating point."
        yield f"Scores are {factor:.6g} times those of the model, in whole numbers; none can overflow."


def _inputs(c: CModel) -> Iterator[str]:
    flat = c.target.flat
    yield f"{count(len(flat.inputs), 'input')}{':' if flat.inputs else ''}"
    for position, input_ in enumerate(flat.inputs):
        name = f"{c.argument}_{input_.name}" if c.arguments else f"{c.upper}_X_{input_.name.upper()}"
        yield f"  {name}: {comment_text(input_.label)}{_coding(c, position)}"


def _coding(c: CModel, position: int) -> str:
    """What the numbers of an input mean, after a comma; empty if they are the feature's own values."""
    input_ = c.target.flat.inputs[position]
    if input_.is_text:
        return f", {c.upper}_CATEGORY_... or 0 for any other text"
    if not isinstance(c.target, IntegerModel):
        return ""
    return "" if c.takes_floats else f", {meaning(c.target.coders[position])}"


def _missing(c: CModel) -> Iterator[str]:
    value = "NaN" if c.is_float or c.takes_floats else "the least number of the type"
    yield f"{c.upper}_MISSING ({value}) stands for a missing value."
    needed = [comment_text(input_.label) for input_ in c.target.flat.inputs if not input_.may_be_missing]
    if needed:
        yield f"These may not be missing: {', '.join(needed)}."
