"""C functions that convert a reading in floating point to the code that an integer model takes."""

from collections.abc import Iterator

from smallearn.export._c.model import CModel, real
from smallearn.export._fixed.codes import Linear, Steps
from smallearn.export._fixed.quantise import IntegerModel
from smallearn.export._names import comment_text


def conversions(c: CModel) -> Iterator[str]:
    """Functions from a reading to its code, compiled only if ``NAME_WITH_FLOAT`` is defined."""
    if not isinstance(c.target, IntegerModel):
        return
    functions = []
    for position, coder in enumerate(c.target.coders):
        if isinstance(coder, Linear):
            functions.append(_linear(c, position, coder))
        elif isinstance(coder, Steps):
            functions.append(_steps(c, position, coder))
    if functions:
        yield f"#ifdef {c.upper}_WITH_FLOAT /* from readings to codes */\n"
        yield "\n\n".join(functions)
        yield "\n#endif\n"


def _conversion(c: CModel, position: int, body: list[str]) -> str:
    input_ = c.target.flat.inputs[position]
    absent = [f"if (x != x) return {c.upper}_MISSING;"] if input_.may_be_missing else []
    head = f"static inline {c.input_type} {c.prefix}_code_{input_.name}(float x) {{ /* {comment_text(input_.label)} */"
    return "\n".join([head, *(f"    {line}" for line in [*absent, *body]), "}"])


def _linear(c: CModel, position: int, coder: Linear) -> str:
    steps = f"(x - {real(coder.origin, 'float32')}) * {real(coder.rate, 'float32')}"
    body = [
        f"const float steps = {steps.replace('- -', '+ ')};",
        f"if (!(steps > 0.0f)) return {coder.least};",
        f"if (steps >= {real(2.0 * coder.Q, 'float32')}) return {coder.greatest};",
        f"return ({c.input_type})((int32_t)steps - {coder.Q});",
    ]
    return _conversion(c, position, body)


def _steps(c: CModel, position: int, coder: Steps) -> str:
    tests = [f"if (x {'>=' if reached else '>'} {real(cut, 'float32')}) code++;" for cut, reached in coder.float32_cuts]
    body = [f"{c.input_type} code = 0;", *tests, "return code;"] if tests else ["(void)x;", "return 0;"]
    return _conversion(c, position, body)
