"""A model as a DNF: "predict 1 if a and b, or c and not d, …".

Where a model uses a feature only in literals, or the feature is 0 or 1, its values matter only through a few regions.
So the model is a Boolean function of regions (`functions`), and its DNF is exact: prime implicants (`cubes`), as few as
can be found (`covers`), compared with `SMaLLModel.predict`. Rows show which combinations occur, and may make the rule
shorter (`shorter`). Numbers that are weighed have no such form; there a few clauses are fitted to the model's
predictions on the rows (`imitation`, `clause_search`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from smallearn._text import listed, show
from smallearn.explain._dnf.conditions import Condition
from smallearn.explain._dnf.functions import Function, weighed_terms
from smallearn.explain._dnf.imitation import imitated, is_continuous
from smallearn.explain._dnf.regions import variable_of
from smallearn.explain._dnf.result import DNF
from smallearn.explain._dnf.shorter import Data, data_of, shortened
from smallearn.explain._size import check_size
from smallearn.model import SMaLLModel, Term
from smallearn.model._arguments import as_model, read_rows
from smallearn.model._columns import Column

__all__ = ["DNF", "Condition", "dnf"]


def dnf(
    model: Any,
    X: Any = None,
    *,
    label: Any = None,
    boolean: str | bool | Sequence[str] = "auto",
    simplify: bool = True,
    max_clauses: int = 4,
    max_conditions: int = 3,
) -> DNF:
    """Write a model as an OR of ANDs of conditions on single features.

    The rule is exact if the model uses literals only, or weighs features that are 0 or 1: prime implicants, as few as
    can be found, compared with the model on every combination of regions. If the model weighs other numbers, no such
    rule is exact; then a few clauses are fitted to its predictions on the rows of ``X``.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    X : array, sparse matrix, table or Rows, default=None
        Rows × features. They show which combinations occur, so that an exact rule may become shorter, and are needed
        for an approximate rule.
    label : class label, default=None
        The class that the rule is for. None for the class that owns the prototypes; required with more than two
        classes.
    boolean : "auto", bool or sequence of str, default="auto"
        Which of the weighed features are 0 or 1: those whose column of ``X`` is ("auto"), all (True), none (False), or
        those named.
    simplify : bool, default=True
        With ``X``, replace clauses by simpler ones that hold for the same rows. ``exact`` tells whether the rule still
        agrees with the model on every input.
    max_clauses : int, default=4
        The most clauses of an approximate rule.
    max_conditions : int, default=3
        The most conditions of each of its clauses.

    Returns
    -------
    DNF
        The rule. Print it, take its fields, or predict with it: an approximate rule is best judged by its agreement
        with the model on other rows than those of ``X``.

    Raises
    ------
    ValueError
        If the model weighs numbers and there are no rows, or if an exact rule would be too long.

    Examples
    --------
    >>> from smallearn.explain import dnf
    >>> from smallearn.model import Prototype, SMaLLModel, Term
    >>> terms = (Term(0, 2.0, "age", "above", 40.0), Term(1, 1.0, "colour", "equals", "red"))
    >>> model = SMaLLModel(("no", "yes"), "<U3", 2, (Prototype(1, -2.5, terms),))
    >>> print(dnf(model))
    Predict 'yes' if this holds, otherwise 'no':
      1. age > 40 and colour = 'red'
    Exactly the model, on every input (truth table of 4 rows).
    """
    model = as_model(model)
    number = _class_number(model, label)
    limits: dict[str, Any] = {"max_clauses": max_clauses, "max_conditions": max_conditions}
    for name, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
            raise ValueError(f"{name}={value!r} is not a whole number of at least 1.")
    rows = None if X is None else read_rows(model, X)
    data = None if rows is None else data_of(model, rows, number)
    terms = weighed_terms(model)
    flags = _flags(terms, data, boolean)
    continuous = [some[0].label for i, some in terms.items() if is_continuous(some, i in flags)]
    other = model.classes[1 - number] if len(model.classes) == 2 else None
    empty = DNF(clauses=(), label=model.classes[number], other=other, n_features=model.n_features)
    if not continuous:
        columns = {} if data is None else data.columns
        rule = _exact(empty, model, number, flags, data if simplify else None, columns=columns)
    elif data is None:
        raise ValueError(
            f"The model weighs numbers ({listed(continuous)}) and has no exact rule; pass rows X for an approximate "
            "one, or boolean=True if the numbers are 0 or 1."
        )
    else:
        clauses = imitated(terms, flags, data, max_clauses=int(max_clauses), max_conditions=int(max_conditions))
        rule = replace(empty, clauses=tuple(clauses), imitates=True)
    if data is None:
        return rule
    return replace(rule, fidelity=float(np.mean(rule.predict(rows) == data.truth)), n_rows=data.n_rows)


def conditions_of(model: SMaLLModel, X: Any, most: int, *, simplify: bool) -> list[DNF]:
    """The rule of a model, or of each of the first ``most`` classes if each has prototypes.

    Empty if there is none: for weighed numbers without rows, or if an exact rule would be too long.
    """
    labels = model.classes[:most] if model.sole_owner is None else (None,)
    try:
        rows = None if X is None else read_rows(model, X)
        return [dnf(model, rows, label=label, simplify=simplify) for label in labels]
    except ValueError:
        return []


def _exact(
    empty: DNF, model: SMaLLModel, number: int, flags: set[int], data: Data | None, *, columns: Mapping[int, Column]
) -> DNF:
    """The exact rule for the class at position ``number``; simplified for the rows of ``data``, if given."""
    check_size(model, "an exact rule")
    variables = [variable_of(terms, i in flags, columns.get(i)) for i, terms in weighed_terms(model).items()]
    function = Function(model, variables, number)
    exact = function.cubes()
    cubes = function.in_order(exact if data is None else shortened(function, exact, data))
    rule = replace(empty, clauses=tuple(map(function.clause, cubes)))
    sure = exact if set(cubes) != set(exact) else None
    verified = function.checked(cubes, sure)
    if verified is not None:
        return replace(rule, exact=True, domain=function.domain(), verified=verified)
    verified = function.checked(cubes, sure, complete=True)
    return rule if verified is None else replace(rule, domain=function.domain(complete=True), verified=verified)


def _class_number(model: SMaLLModel, label: Any) -> int:
    """The position of the class that the rule is for."""
    if label is None and model.sole_owner is not None:
        return model.sole_owner
    if label is None:
        raise ValueError(
            f"Every class has prototypes of its own, so that label must be given: one of {listed(model.classes)}."
        )
    if label not in model.classes:
        raise ValueError(f"label={show(label)} is none of the classes; it must be one of {listed(model.classes)}.")
    return model.classes.index(label)


def _flags(terms: dict[int, list[Term]], data: Data | None, boolean: str | bool | Sequence[str]) -> set[int]:
    """The positions of the weighed features that are 0 or 1."""
    raw = {some[0].label: i for i, some in terms.items() if any(term.kind == "raw" for term in some)}
    if isinstance(boolean, str):
        if boolean != "auto":
            raise ValueError(f"boolean={boolean!r} is not 'auto', True, False or a list of features.")
        return set() if data is None else {i for i in raw.values() if _is_flag(data.columns[i])}
    named = (list(raw) if boolean else []) if isinstance(boolean, bool) else list(boolean)
    unknown = [name for name in named if name not in raw]
    if unknown:
        raise ValueError(
            f"boolean names {listed(unknown)}; the features that the model weighs are {listed(list(raw))}."
        )
    wrong = [name for name in named if data is not None and not _is_flag(data.columns[raw[name]])]
    if wrong:
        raise ValueError(f"X has other values than 0 and 1 for {listed(wrong)}, which boolean names.")
    return {raw[name] for name in named}


def _is_flag(column: Column) -> bool:
    return bool(np.isin(column.numbers[~column.missing], (0.0, 1.0)).all())
