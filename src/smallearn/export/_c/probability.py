"""``NAME_predict_proba``: of two classes the probability of the second, of more that of each.

It is written from ``NAME_score`` or ``NAME_scores``, and so the same for every layout. In whole numbers a table takes
the place of the exponential: see `smallearn.export._fixed.probability`.
"""

from collections.abc import Iterator

from smallearn.export._c.code import LARGEST_SCALE, function
from smallearn.export._c.model import CModel, count_type
from smallearn.export._c.table import element, table
from smallearn.export._fixed.probability import ONE
from smallearn.export._fixed.quantise import IntegerModel

ENTRY = "uint16_t"  # the type of the numbers in the table, and of a probability in whole numbers


def types_of(c: CModel) -> list[str]:
    """The types of the numbers in the table."""
    return [ENTRY] if c.probabilities and not c.is_float else []


def kind_of(c: CModel) -> str:
    """The type of a probability."""
    return c.score_type if c.is_float else ENTRY


def head(c: CModel, name: str = "predict_proba") -> str:
    """The head of the function of this name, whose inputs are those of ``c``."""
    if _of_two(c):
        return f"{kind_of(c)} {c.prefix}_{name}({c.parameters})"
    return f"void {c.prefix}_{name}({c.with_output('probabilities', kind_of(c))})"


def call(c: CModel, passed: str) -> str:
    """A statement that answers as ``NAME_predict_proba`` does for the inputs ``passed``."""
    if _of_two(c):
        return f"return {c.prefix}_predict_proba({passed});"
    return f"{c.prefix}_predict_proba({_with(passed, 'probabilities')});"


def meaning(c: CModel) -> str:
    """What the functions return, for the comment at the top."""
    of = c.target.flat.classes
    whose = f"the probability of {c.classes[1]}" if _of_two(c) else f"the probability of each of the {len(of)} classes"
    if not isinstance(c.target, IntegerModel):
        return f"{c.prefix}_predict_proba: {whose}."
    error = c.target.probability_table.error
    return f"{c.prefix}_predict_proba: {whose} in steps of 1/{ONE}, by a table that is off by at most {error:.3g}."


def functions(c: CModel, public: str, private: str) -> Iterator[str]:
    """The function, and in whole numbers the table and the function that looks it up."""
    if not isinstance(c.target, IntegerModel):
        yield function(f"{public}{head(c)}", _floats_of_two(c) if _of_two(c) else _floats(c))
        return
    yield table(c, "chances", ENTRY, [*map(str, c.target.probability_table.entries)])
    yield _look_up(c, c.target, private)
    yield function(f"{public}{head(c)}", _whole_of_two(c) if _of_two(c) else _whole(c))


def _of_two(c: CModel) -> bool:
    return len(c.target.flat.classes) == 2


def _with(passed: str, output: str) -> str:
    return f"{passed}, {output}" if passed else output


def _scores(c: CModel) -> list[str]:
    """Statements that define ``scores``, one of each class."""
    return [f"{c.score_type} scores[{c.upper}_CLASSES];", f"{c.prefix}_scores({_with(c.passed, 'scores')});"]


def _best(c: CModel) -> list[str]:
    """Statements that leave the greatest of the scores in ``best``."""
    return ["best = scores[0];", f"for (i = 1; i < {c.upper}_CLASSES; i++) if (scores[i] > best) best = scores[i];"]


# --- whole numbers ---------------------------------------------------------------------------------------------------


def _distance_type(c: CModel) -> str:
    """The type of the distance between two scores."""
    return f"u{c.score_type}"


def _distance(c: CModel, greater: str, less: str) -> str:
    """A score less another that is not greater: without a sign it fits the width of both."""
    kind = _distance_type(c)
    return f"({kind})({'0u' if greater == '0' else f'({kind}){greater}'} - ({kind}){less})"


def _look_up(c: CModel, target: IntegerModel, private: str) -> str:
    """The function from a distance to the probability of the less likely of two classes, or to a weight."""
    found = target.probability_table
    last = len(found.entries) - 1
    at = element(c, "chances", ENTRY, "i")
    body, end = [], last << (found.bits + found.drop)
    if end < 2**target.sum_bits:
        body.append(f"if (distance >= {end}{_suffix(end)}) return {element(c, 'chances', ENTRY, str(last))};")
    if not last:
        body = ["(void)distance;", f"return {element(c, 'chances', ENTRY, '0')};"]
    elif found.bits:
        after, part = element(c, "chances", ENTRY, "i + 1"), f"v & {2**found.bits - 1}"
        body = [
            f"{count_type(last << found.bits)} v;",
            f"{count_type(last)} i;",
            f"{ENTRY} here;",
            "uint32_t below;",
            *body,
            f"v = ({count_type(last << found.bits)}){f'(distance >> {found.drop})' if found.drop else 'distance'};",
            f"i = ({count_type(last)})(v >> {found.bits});",
            f"here = {at};",
            f"below = (uint32_t)(here - {after}) * ({part}) + {2**found.bits // 2};",
            f"return ({ENTRY})(here - (below >> {found.bits}));",
        ]
    else:
        body.append(f"return {element(c, 'chances', ENTRY, 'distance')};")
    what = "the probability of the less likely class" if _of_two(c) else "the weight of a class"
    note = f"/* {what}, by how far its score is below the greatest */\n"
    return note + function(f"{private}{ENTRY} {c.prefix}_chance({_distance_type(c)} distance)", body)


def _suffix(number: int) -> str:
    """Of a constant without a sign."""
    return "u" if number < 2**16 else "ul" if number < 2**32 else "ull"


def _whole_of_two(c: CModel) -> list[str]:
    flat, kind = c.target.flat, c.score_type
    if flat.has_one_owner:
        begin = [f"const {kind} score = {c.prefix}_score({c.passed});"]
        is_second = f"score {'>' if flat.owners[0] == 1 else '<'} 0"
        distance = f"score < 0 ? {_distance(c, '0', 'score')} : ({_distance_type(c)})score"
    else:
        begin, is_second = _scores(c), "scores[1] > scores[0]"
        ahead, behind = _distance(c, "scores[1]", "scores[0]"), _distance(c, "scores[0]", "scores[1]")
        distance = f"{is_second} ? {ahead} : {behind}"
    return [
        *begin,
        f"const {ENTRY} less = {c.prefix}_chance({distance});",
        f"return {is_second} ? ({ENTRY})({ONE}u - less) : less;",
    ]


def _whole(c: CModel) -> list[str]:
    begin, fill = _scores(c)
    share = f"((uint32_t)probabilities[i] * {ONE}u + sum / 2) / sum"
    each = f"for (i = 0; i < {c.upper}_CLASSES; i++)"
    return [
        begin,
        f"{c.score_type} best;",
        "uint32_t sum = 0;",
        f"{c.position_type} i;",
        fill,
        *_best(c),
        f"{each} {{",
        f"    probabilities[i] = {c.prefix}_chance({_distance(c, 'best', 'scores[i]')});",
        "    sum += probabilities[i];",
        "}",
        f"{each} probabilities[i] = ({ENTRY})({share});",
    ]


# --- floats ----------------------------------------------------------------------------------------------------------


def _exponential(c: CModel, exponent: str) -> str:
    return f"{'expf' if c.target.number == 'float32' else 'exp'}({exponent})"


def _scale(c: CModel) -> str:
    return c.number(min(c.target.flat.scale, LARGEST_SCALE))


def _floats_of_two(c: CModel) -> list[str]:
    flat, kind, one = c.target.flat, c.score_type, c.number(1)
    begin, lead = _scores(c), "(scores[1] - scores[0])"
    if flat.has_one_owner:
        begin, lead = [], f"{'-' * (flat.owners[0] == 0)}{c.prefix}_score({c.passed})"
    return [
        *begin,
        f"const {kind} z = {_scale(c)} * {lead};",
        f"const {kind} e = {_exponential(c, 'z < 0 ? z : -z')};",
        f"return (z < 0 ? e : {one}) / ({one} + e);",
    ]


def _floats(c: CModel) -> list[str]:
    begin, fill = _scores(c)
    each = f"for (i = 0; i < {c.upper}_CLASSES; i++)"
    return [
        begin,
        f"{c.score_type} best, sum = {c.number(0)};",
        f"{c.position_type} i;",
        fill,
        *_best(c),
        f"{each} {{",
        f"    probabilities[i] = {_exponential(c, f'{_scale(c)} * (scores[i] - best)')};",
        "    sum += probabilities[i];",
        "}",
        f"{each} probabilities[i] /= sum;",
    ]
