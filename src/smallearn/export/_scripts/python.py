"""A model as plain Python: one text without dependencies, for CPython from 3.8 on and for MicroPython.

`predict` is straight-line arithmetic, written out for speed; everything else is computed from `contributions`, where
each term is written once more. Both add in the order of the terms, so their sums are those of `SMaLLModel` to the last
bit.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from smallearn.export._flat import FlatTerm
from smallearn.export._scripts._skeleton import Script, write
from smallearn.export._vectors import Cell

NAME, FILE = "Python", "model.py"
LONGEST_SUM = 100  # terms in one expression: Python's compilers refuse expressions that are too deep


def to_python(model: Any, *, inputs: str = "all", conformance: Any = None) -> str:
    """Write a model as a Python module without dependencies.

    The module has ``predict``, ``scores``, ``decision``, ``probabilities`` and ``reason``, each of one row. A row is a
    list or tuple; None and NaN are missing values. Numbers are Python's (for a NumPy row pass ``row.tolist()``). A row
    that `SMaLLModel.predict_one` refuses is a ValueError; infinity is noticed only where a score becomes infinite.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    inputs : {"all", "used"}, default="all"
        Whether a row has all features of the training data or only those that the model uses, in order.
    conformance : array or table, default=None
        Rows, as `SMaLLModel.predict` takes them, that become test vectors: ``test()`` runs them and returns how many
        are predicted differently.

    Returns
    -------
    str
        The text of the module.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import to_python
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(X, y)
    >>> module = {}
    >>> exec(to_python(clf, conformance=X), module)
    >>> module["predict"](X[0].tolist()), module["test"]()
    (0, 0)
    """
    return write(Python, model, inputs, conformance)


class Python(Script):
    """Python's numbers, text and conditions."""

    comment, gap, brackets, terms_opening = "#", "  ", "()", "("

    def number(self, value: float) -> str:
        return repr(float(value))

    def string(self, text: str) -> str:
        return ascii(str(text))

    def cell(self, value: Cell) -> str:
        return _literal(value)

    def labels(self) -> list[str]:
        return [_literal(label) for label in self.flat.classes]

    def sequence(self, items: Iterable[str]) -> str:
        items = list(items)
        return f"({items[0]},)" if len(items) == 1 else super().sequence(items)

    def named_place(self, name: str, place: int) -> str:
        return f"{name} = {place}"

    def value(self, position: int) -> str:
        """A local name if the input is used twice or has to be prepared, else its place in the row."""
        own = self._terms(position)
        simple = len(own) == 1 and (own[0].kind == "equals" or self._refuses_missing(position))
        place = self.layout.places[position]
        return f"x[{place}]" if simple else f"x{place}"

    def reading(self, position: int) -> Iterator[str]:
        name, cell = self.value(position), f"x[{self.layout.places[position]}]"
        may_be_missing = self.flat.inputs[position].may_be_missing
        if name == cell:
            return
        if self._refuses_missing(position) or (may_be_missing and not self.is_number(position)):
            yield f"{name} = {cell}"
            return
        # 1.0 times a whole number is the float that the model would compare.
        yield f"{name} = NAN if {cell} is None else 1.0 * {cell}"
        if not may_be_missing:
            yield from (f"if {name} != {name}:", "    raise ValueError(BAD)")

    def missing(self, position: int) -> str:
        x = self.value(position)
        return f"{x} != {x}" if self.is_number(position) else f"{x} is None or {x} != {x}"

    def equal(self, position: int, value: Cell) -> str:
        return f"{self.value(position)} == {_literal(value)}"

    def either(self, condition: str, yes: str, no: str) -> str:
        return f"{yes} if {condition} else {no}"

    def named(self, name: str, expression: str) -> str:
        return f"{name} = {expression}"

    def summand(self, expression: str) -> str:
        return f"({expression})"

    def parts(self) -> dict[str, str | list[str]]:
        return super().parts() | {"sums": list(self._sums()), "prediction": list(self._prediction())}

    def _terms(self, position: int) -> list[FlatTerm]:
        return [term for term in self.flat.terms if term.input == position]

    def _refuses_missing(self, position: int) -> bool:
        """Whether the products of an input alone make a missing value an error or NaN, with nothing to check first."""
        own = self._terms(position)
        kinds = {term.kind for term in own}
        needed = any(term.kind == "raw" and term.mean is None for term in own)
        return not self.flat.inputs[position].may_be_missing and kinds <= {"raw", "equals"} and needed

    def _sums(self) -> Iterator[str]:
        """Statements that leave the score of prototype j in ``zj``."""
        for j, intercept in enumerate(self.flat.intercepts):
            terms = self.flat.of(j)
            begin = self.number(intercept)
            for start in range(0, len(terms), LONGEST_SUM):
                yield f"z{j} = ("
                yield f"    {begin}"
                for term in terms[start : start + LONGEST_SUM]:
                    yield f"    + {self.contribution(term)}  # {self.term_comment(term)}"
                yield ")"
                begin = f"z{j}"
            if not terms:
                yield f"z{j} = {begin}"

    def _prediction(self) -> Iterator[str]:
        """Statements that return the class, from the scores."""
        flat, labels = self.flat, self.labels()
        prototypes = range(len(flat.owners))
        finite = " and ".join(f"z{j} > -1e999 and z{j} < 1e999" for j in prototypes)
        if flat.has_one_owner:
            owner = flat.owners[0]
            sign, cut = "<=" if owner == 1 else "<", self.number(flat.decision.cut)
            # Two comparisons are faster than a chained one, and a score that decides is compared with infinity once.
            below = " and ".join(f"z{j} {sign} {cut} and z{j} > -1e999" for j in prototypes)
            yield from (f"if {below}:", f"    return {labels[1 - owner]}")
            yield from (f"if {finite}:", f"    return {labels[owner]}")
            yield "raise ValueError(BAD)"
            return
        yield from (f"if not ({finite}):", "    raise ValueError(BAD)")
        if flat.decision.costs is not None:
            yield f"return CLASSES[OWNERS[_winner(({', '.join(f'z{j}' for j in prototypes)}))]]"
            return
        scores = {j: f"z{j}" for j in prototypes}
        if flat.decision.offsets is not None:
            scores = {j: f"z{j} + {self.number(flat.decision.offsets[flat.owners[j]])}" for j in prototypes}
        first, *others = flat.by_class
        yield from (f"best = {scores[first]}", f"winner = {labels[flat.owners[first]]}")
        for j in others:
            yield from (f"if {scores[j]} > best:", f"    best = {scores[j]}", f"    winner = {labels[flat.owners[j]]}")
        yield "return winner"

    template = '''\
@heading@

import math

@names@
CLASSES = @classes@
OWNERS = @owners@  # the class of each prototype, by position
BY_CLASS = @by_class@  # the prototypes, ordered by class
INTERCEPTS = @intercepts@
SCALE = @scale@  # log-odds of one point of score
TERMS = (  # for each prototype, the feature and the text of each term
    @terms@
)
NAN = float("nan")
BAD = "A row has @width@ values; this one has more or fewer, \
or a value in use is missing, too large or of a wrong type."


def predict(x):
    """The class of a row."""
    try:
        if len(x) != @width@:
            raise ValueError(BAD)
        @inputs@
        @shared@
        @sums@
    except (TypeError, LookupError, OverflowError):
        raise ValueError(BAD)
    @prediction@


def contributions(x):
    """For each prototype, what each of its terms adds to its score."""
    try:
        if len(x) != @width@:
            raise ValueError(BAD)
        @inputs@
        @shared@
        return (
            @contributions@
        )
    except (TypeError, LookupError, OverflowError):
        raise ValueError(BAD)


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


@decision@


def probabilities(x):
    """The probability of each class, in the order of CLASSES."""
    z = decision(x)
    z = [0.0, z] if len(CLASSES) == 2 else z
    best = max(z)
    weights = [math.exp(one - best) for one in z]
    return [weight / sum(weights) for weight in weights]


@winner@


def reason(x):
    """The prototype that decides, the one with the greatest score of its class, and what each of its terms adds."""
    z = scores(x)
    best = _winner(z)
    parts = zip(TERMS[best], contributions(x)[best])
    return {
        "class": predict(x),
        "prototype": best,
        "score": z[best],
        "intercept": INTERCEPTS[best],
        "terms": [{"feature": name, "term": words, "contribution": part} for (name, words), part in parts],
    }
'''
    cut_decides = highest_decides = """\
def _winner(z):
    best = BY_CLASS[0]
    for j in BY_CLASS:
        if z[j] > z[best]:
            best = j
    return best
"""
    offsets_decide = """\
OFFSETS = @offsets@  # added to the scores of each class before the greatest decides


def _winner(z):
    best = BY_CLASS[0]
    for j in BY_CLASS:
        if z[j] + OFFSETS[OWNERS[j]] > z[best] + OFFSETS[OWNERS[best]]:
            best = j
    return best
"""
    costs_decide = """\
COSTS = (  # of predicting a class (column) where another is true (row): the least expected cost decides
    @costs@
)


def _winner(z):
    best = {}  # the prototype of each class
    for j in BY_CLASS:
        if OWNERS[j] not in best or z[j] > z[best[OWNERS[j]]]:
            best[OWNERS[j]] = j
    top = max(z)
    label, least = 0, None
    for k in range(len(CLASSES)):
        cost = 0.0
        for i in range(len(CLASSES)):
            cost += math.exp(SCALE * (z[best[i]] - top)) * COSTS[i][k]
        if least is None or cost < least:
            label, least = k, cost
    return best[label]
"""
    two_classes = '''\
def decision(x):
    """Log-odds: positive for CLASSES[1]."""
    best = max(scores(x))
    return _finite(SCALE * (best if OWNERS[0] == 1 else -best))
'''
    two_owners = '''\
def decision(x):
    """Log-odds: positive for CLASSES[1]."""
    z = scores(x)
    first, second = (_finite(SCALE * max([z[j] for j in BY_CLASS if OWNERS[j] == label])) for label in (0, 1))
    return second - first
'''
    more_classes = '''\
def decision(x):
    """Log-odds: the score of each class."""
    z = scores(x)
    found = []
    for label in range(len(CLASSES)):
        found.append(_finite(SCALE * max([z[j] for j in BY_CLASS if OWNERS[j] == label])))
    return found
'''
    test_template = '''

PLACES = @places@
ROWS = (  # test vectors: the values at these places, and the position of the class
    @rows@
)


def test():
    """How many of ROWS are predicted differently from the model that this text was made from."""
    wrong = 0
    for values, expected in ROWS:
        x = [0.0] * @width@
        for place, value in zip(PLACES, values):
            x[place] = value
        if predict(x) != CLASSES[expected]:
            wrong += 1
    return wrong
'''


def _literal(value: Any) -> str:
    """Text, a number, a boolean or None as Python reads it back, in ASCII."""
    if isinstance(value, str):
        return ascii(str(value))
    if isinstance(value, bool) or value is None:
        return repr(value)
    return repr(float(value) if isinstance(value, float) else int(value))
