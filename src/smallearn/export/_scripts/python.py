"""A model as plain Python: one text without dependencies, for CPython from 3.8 on and for MicroPython.

`predict` is straight-line arithmetic, written out for speed; everything else is computed from `contributions`, where
each term stands once more. Both add in the order of the terms and so give the same sums as `SMaLLModel`, bit for bit.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from smallearn.export._flat import FlatModel, FlatTerm, Input, flatten
from smallearn.export._scripts.skeleton import (
    Case,
    Layout,
    by_class,
    cases_of,
    heading,
    in_words,
    is_number,
    layout_of,
    said,
    wrong_row,
)

LONGEST_SUM = 100  # terms in one expression: compilers of Python refuse expressions that are too deep


def to_python(model: Any, *, inputs: str = "all", conformance: Any = None) -> str:
    """The text of a module with ``predict``, ``scores``, ``decision``, ``probabilities``, ``reason`` of one row.

    A row is a list or tuple of all features by position or, with ``inputs="used"``, of those in use alone; None and NaN
    are missing. Numbers are Python's (of a NumPy row give ``row.tolist()``). A row without an answer, as
    `SMaLLModel.predict_one` refuses it, is a ValueError; infinity is only noticed where a score becomes infinite.

    ``conformance``: rows, as `SMaLLModel.predict` takes them, that ``test()`` runs; it returns how many differ.
    """
    flat = flatten(model)
    layout = layout_of(flat, inputs)
    head = [*(f"# {line}" for line in heading(flat, layout)), "", "import math", "", *_tables(flat, layout, inputs)]
    parts = [
        head,
        list(_predict(flat, layout)),
        list(_contributions(flat, layout)),
        SCORES.splitlines(),
        (TWO_CLASSES if flat.is_binary else MORE_CLASSES).splitlines(),
        PROBABILITIES.splitlines(),
        REASON.splitlines(),
    ]
    if conformance is not None:
        parts.append(list(_test(layout, cases_of(model, flat, conformance))))
    return "\n\n\n".join("\n".join(part) for part in parts) + "\n"


def literal(value: Any) -> str:
    """Text, a number, a boolean or None as Python reads it back, in ASCII."""
    if isinstance(value, str):
        return ascii(str(value))
    plain = float(value) if isinstance(value, float) else int(value) if type(value) not in (bool, type(None)) else value
    return repr(plain)


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


# --- the parts of the text -------------------------------------------------------------------------------------------


def _tables(flat: FlatModel, layout: Layout, inputs: str) -> Iterator[str]:
    if inputs == "used":
        for place, given in zip(layout.places, flat.inputs, strict=True):
            yield f"X_{given.name.upper()} = {place}"
    yield f"CLASSES = {_tuple([literal(label) for label in flat.classes])}"
    yield f"OWNERS = {_tuple([str(owner) for owner in flat.owners])}  # the class of each prototype, by position"
    yield f"BY_CLASS = {_tuple([str(j) for j in by_class(flat)])}  # the prototypes in the order of their classes"
    yield f"INTERCEPTS = {_tuple([literal(intercept) for intercept in flat.intercepts])}"
    yield f"SCALE = {literal(flat.scale)}  # log-odds of one point of score"
    yield "TERMS = (  # of each prototype: the feature and the term in words"
    for j in range(len(flat.owners)):
        yield "    ("
        for term in flat.of(j):
            yield f"        ({literal(flat.inputs[term.input].label)}, {literal(said(flat, term))}),"
        yield "    ),"
    yield ")"
    yield 'NAN = float("nan")'
    yield f'BAD = "{wrong_row(layout)}"'


def _predict(flat: FlatModel, layout: Layout) -> Iterator[str]:
    names = _names(flat, layout)
    yield "def predict(x):"
    yield '    """The class of a row."""'
    yield from _guarded(layout, [*_locals(flat, layout, names), *_sums(flat, names)])
    finite = " and ".join(f"z{j} > -1e999 and z{j} < 1e999" for j in range(len(flat.owners)))
    if flat.is_binary:
        owner = flat.owners[0]
        sign = "<=" if owner == 1 else "<"
        # Two plain comparisons are faster than a chain, and a score that decides is compared with infinity but once.
        below = " and ".join(f"z{j} {sign} 0.0 and z{j} > -1e999" for j in range(len(flat.owners)))
        yield from (f"    if {below}:", f"        return {literal(flat.classes[1 - owner])}")
        yield from (f"    if {finite}:", f"        return {literal(flat.classes[owner])}")
        yield "    raise ValueError(BAD)"
        return
    yield from (f"    if not ({finite}):", "        raise ValueError(BAD)")
    first, *others = by_class(flat)
    yield from (f"    best = z{first}", f"    winner = {literal(flat.classes[flat.owners[first]])}")
    for j in others:
        yield from (f"    if z{j} > best:", f"        best = z{j}")
        yield f"        winner = {literal(flat.classes[flat.owners[j]])}"
    yield "    return winner"


def _contributions(flat: FlatModel, layout: Layout) -> Iterator[str]:
    names = _names(flat, layout)
    yield "def contributions(x):"
    yield '    """Of each prototype, what each of its terms adds to its score."""'
    body = [*_locals(flat, layout, names), "return ("]
    for j in range(len(flat.owners)):
        body.append("    (")
        body += [f"        {_product(flat, names, term)},  # {in_words(flat, term)}" for term in flat.of(j)]
        body.append("    ),")
    body.append(")")
    yield from _guarded(layout, body)


def _guarded(layout: Layout, body: list[str]) -> Iterator[str]:
    """The lines of a function's body, in which values of a wrong type are a ValueError, as for the model."""
    yield "    try:"
    yield f"        if len(x) != {layout.width}:"
    yield "            raise ValueError(BAD)"
    yield from (f"        {line}" for line in body)
    yield "    except (TypeError, LookupError, OverflowError):"
    yield "        raise ValueError(BAD)"


def _names(flat: FlatModel, layout: Layout) -> list[str]:
    """How each input is called: by a local name if it is used twice or has to be prepared, else where it stands."""
    names = []
    for position, (place, given) in enumerate(zip(layout.places, flat.inputs, strict=True)):
        mine = [term for term in flat.terms if term.input == position]
        simple = len(mine) == 1 and (mine[0].kind == "equals" or _is_plain(given, mine))
        names.append(f"x[{place}]" if simple else f"x{place}")
    return names


def _is_plain(given: Input, terms: list[FlatTerm]) -> bool:
    """Whether products and comparisons for equality alone refuse what is missing."""
    kinds = {term.kind for term in terms}
    return not given.may_be_missing and kinds <= {"raw", "equals"} and any(_is_needed(term) for term in terms)


def _is_needed(term: FlatTerm) -> bool:
    return term.kind == "raw" and term.mean is None


def _locals(flat: FlatModel, layout: Layout, names: list[str]) -> Iterator[str]:
    for position, (place, given) in enumerate(zip(layout.places, flat.inputs, strict=True)):
        name, cell = names[position], f"x[{place}]"
        mine = [term for term in flat.terms if term.input == position]
        if name == cell:
            continue
        if _is_plain(given, mine) or (given.may_be_missing and not is_number(flat, position)):
            yield f"{name} = {cell}"
            continue
        # 1.0 times a whole number is the float that the model would compare.
        yield f"{name} = NAN if {cell} is None else 1.0 * {cell}"
        if not given.may_be_missing:
            yield from (f"if {name} != {name}:", "    raise ValueError(BAD)")


def _sums(flat: FlatModel, names: list[str]) -> Iterator[str]:
    for j, intercept in enumerate(flat.intercepts):
        terms = flat.of(j)
        begin = literal(intercept)
        for start in range(0, len(terms), LONGEST_SUM):
            yield f"z{j} = ("
            yield f"    {begin}"
            for term in terms[start : start + LONGEST_SUM]:
                yield f"    + {_product(flat, names, term)}  # {in_words(flat, term)}"
            yield ")"
            begin = f"z{j}"
        if not terms:
            yield f"z{j} = {begin}"


def _product(flat: FlatModel, names: list[str], term: FlatTerm) -> str:
    """``weight · b`` as an expression that can be added."""
    x, weight = names[term.input], literal(term.weight)
    none = "" if is_number(flat, term.input) else f"{x} is None or "
    if term.kind == "raw":
        return f"{weight} * {x}" if term.mean is None else f"{weight} * ({literal(term.mean)} if {x} != {x} else {x})"
    condition = {
        "at_most": f"{x} <= {literal(term.value)}",
        "above": f"{x} > {literal(term.value)}",
        "equals": f"{x} == {literal(term.value)}",
        "missing": f"{none}{x} != {x}",
    }[term.kind]
    return f"({weight} if {condition} else 0.0)"


def _test(layout: Layout, cases: list[Case]) -> Iterator[str]:
    yield f"PLACES = {_tuple([str(place) for place in layout.places])}"
    yield "ROWS = (  # the values at these places, and the position of the class"
    for case in cases:
        yield f"    ({_tuple([literal(value) for value in case.values])}, {case.expected}),"
    yield ")"
    yield from ("", "")
    yield "def test():"
    yield '    """How many of ROWS are not predicted as by the model that this text was made from."""'
    yield "    wrong = 0"
    yield "    for values, expected in ROWS:"
    yield f"        x = [0.0] * {layout.width}"
    yield "        for place, value in zip(PLACES, values):"
    yield "            x[place] = value"
    yield "        if predict(x) != CLASSES[expected]:"
    yield "            wrong += 1"
    yield "    return wrong"


SCORES = '''
def scores(x):
    """The score of each prototype."""
    found = []
    for z, parts in zip(INTERCEPTS, contributions(x)):
        for part in parts:
            z += part
        found.append(_finite(z))
    return found


def _finite(z):
    if not -1e999 < z < 1e999:
        raise ValueError(BAD)
    return z
'''.strip()
TWO_CLASSES = '''
def decision(x):
    """Log-odds: positive for CLASSES[1]."""
    best = max(scores(x))
    return _finite(SCALE * (best if OWNERS[0] == 1 else -best))
'''.strip()
MORE_CLASSES = '''
def decision(x):
    """Log-odds: the score of each class."""
    z = scores(x)
    found = []
    for label in range(len(CLASSES)):
        found.append(_finite(SCALE * max([z[j] for j in BY_CLASS if OWNERS[j] == label])))
    return found
'''.strip()
PROBABILITIES = '''
def probabilities(x):
    """The probability of each class, in the order of CLASSES."""
    z = decision(x)
    z = [0.0, z] if len(CLASSES) == 2 else z
    best = max(z)
    weights = [math.exp(one - best) for one in z]
    return [weight / sum(weights) for weight in weights]
'''.strip()
REASON = '''
def reason(x):
    """The prototype of the greatest score, and what each of its terms adds to it."""
    z = scores(x)
    best = BY_CLASS[0]
    for j in BY_CLASS:
        if z[j] > z[best]:
            best = j
    parts = zip(TERMS[best], contributions(x)[best])
    return {
        "class": predict(x),
        "prototype": best,
        "score": z[best],
        "intercept": INTERCEPTS[best],
        "terms": [{"feature": name, "term": words, "contribution": part} for (name, words), part in parts],
    }
'''.strip()
