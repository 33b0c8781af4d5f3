"""Models whose features have the names that readers know: the words of their descriptions."""

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from smallearn.model._columns import Column
from smallearn.model._model import SMaLLModel
from smallearn.model._parts import Description, Prototype
from smallearn.model._rows import Rows
from smallearn.model._term import Term


def words_of(model: SMaLLModel, descriptions: Mapping[str, Description]) -> dict[str, str]:
    """What each feature in use is called; with its name where several would be called the same."""
    labels = [term.label for term in model.features]
    words = {label: (descriptions[label].words if label in descriptions else None) or label for label in labels}
    times = Counter(words.values())
    return {label: said if times[said] == 1 or said == label else f"{said} ({label})" for label, said in words.items()}


def in_words(model: SMaLLModel, words: Mapping[str, str]) -> SMaLLModel:
    """The model with its features under these names; those without one keep theirs."""

    def named(prototype: Prototype) -> Prototype:
        terms = tuple(
            replace(term, name=words[term.label]) if words.get(term.label, term.label) != term.label else term
            for term in prototype.terms
        )
        return replace(prototype, terms=terms)

    return replace(model, prototypes=tuple(map(named, model.prototypes)))


def units_of(descriptions: Mapping[str, Description]) -> dict[str, str]:
    """The units that descriptions name, by feature."""
    return {name: one.unit for name, one in descriptions.items() if one.unit}


def renamed(rows: Rows, features: Sequence[Term]) -> Rows:
    """The rows under other names of their features."""
    again = copy.copy(rows)
    again._factors, again._scores = {}, {}
    again.columns = {term.feature: Column(rows.columns[term.feature].values, term.label) for term in features}
    return again
