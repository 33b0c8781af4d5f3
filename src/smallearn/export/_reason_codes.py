"""What holds a class back: the terms that could have added more to its score, and what each is called.

The most that a term can add is its weight where that helps, else 0, for a literal; for a raw term what it adds at the
better end of its feature's range in training, or at the mean if the range is not known. A term falls short by the
difference between that and what it added: a literal that helps by being false, one that hurts by being true.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from smallearn._errors import Parameter, ParameterError
from smallearn._text import listed, show
from smallearn.export._flat import FlatModel, FlatTerm


@dataclass(frozen=True)
class Shortfalls:
    """The terms that may fall short, for the class that is wanted.

    ``terms`` has, by the position of a prototype, its terms, each with the most that it can add and its words. The
    prototype with the greatest score of these counts, at a tie the first. ``sign`` is -1 where they are those of the
    other class: there, what a term adds counts against the class. ``wordless`` are the terms that the user has no words
    for, as they are printed.
    """

    favourable: Any
    sign: float
    terms: dict[int, tuple[tuple[FlatTerm, float, str], ...]]
    wordless: tuple[str, ...]


def check_number(name: str, value: Any, least: int) -> None:
    """Raise unless the number of reason codes is a whole number from ``least`` on."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ParameterError(Parameter(name, value), f" is not a whole number of reason codes, {least} or more.")


def shortfalls(flat: FlatModel, wording: Mapping[str, str] | None, favourable: Any) -> Shortfalls:
    """What may hold a class back; by default the second of two."""
    if favourable is None:
        if len(flat.classes) > 2:
            raise ParameterError(
                Parameter("favourable"), f" is needed with more than two classes: one of {listed(flat.classes)}."
            )
        favourable = flat.classes[1]
    if favourable not in flat.classes:
        raise ParameterError(Parameter("favourable", favourable), f" is not a class: {listed(flat.classes)}.")
    wanted = flat.classes.index(favourable)
    own = [j for j, owner in enumerate(flat.owners) if owner == wanted]
    sign = 1.0 if own else -1.0
    words = _Words(flat, wording or {})
    places = own or range(len(flat.owners))
    return Shortfalls(
        favourable=favourable,
        sign=sign,
        terms={j: tuple((term, _most(flat, term, sign), words.of(term, sign)) for term in flat.of(j)) for j in places},
        wordless=tuple(dict.fromkeys(term.text for j in places for term in flat.of(j) if words.given(term) is None)),
    )


def _most(flat: FlatModel, term: FlatTerm, sign: float) -> float:
    """The most that a term can add, times the sign."""
    weight, input_ = sign * term.weight, flat.inputs[term.input]
    if term.kind != "raw":
        return max(weight, 0.0)
    if input_.low is not None and input_.high is not None:
        return max(weight * input_.low, weight * input_.high)
    if term.mean is not None:
        return weight * term.mean
    raise ValueError(
        f"The model knows neither the range nor the mean of {show(input_.label)} in training, so that nothing says how "
        "much its term could add: reason codes need ranges."
    )


class _Words:
    """What terms are called: by the user's words for the term or for its feature, else as they are printed.

    A literal that falls short by being false is then printed with a "not".
    """

    def __init__(self, flat: FlatModel, wording: Mapping[str, str]):
        self.flat = flat
        known = {key for term in flat.terms for key in self._keys(term)}
        self.wording = {key if key in known else key.replace("<=", "≤"): words for key, words in wording.items()}
        unknown = [key for key in self.wording if key not in known]
        if unknown:
            raise ParameterError(
                Parameter("wording"),
                f": {listed(unknown)} is neither a term nor a feature in use: {listed(sorted(known))}.",
            )

    def _keys(self, term: FlatTerm) -> tuple[str, str]:
        return term.text, self.flat.inputs[term.input].label

    def given(self, term: FlatTerm) -> str | None:
        """The user's words; None if there are none."""
        text, label = self._keys(term)
        return self.wording.get(text, self.wording.get(label))

    def of(self, term: FlatTerm, sign: float) -> str:
        given = self.given(term)
        if given is not None:
            return given
        lacks = term.kind != "raw" and sign * term.weight > 0.0
        return f"not {term.text}" if lacks else term.text
