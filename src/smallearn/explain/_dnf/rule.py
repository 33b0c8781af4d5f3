"""A model as a DNF: "predict 1 if a and b, or c and not d, …".

A feature of which a model asks only literals, or that is 0 or 1, matters through the few regions that they cut its
values into. So the model is a function of finitely many cases, and its DNF is exact: prime implicants, as few as can be
found, checked against `SMaLLModel.predict`. Rows that are given say which cases occur, and may make it shorter. Numbers
that are weighed and added have no such form; there a few clauses imitate the model on given rows.
"""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from smallearn._text import listed, show
from smallearn.explain._dnf.conditions import DNF, Condition
from smallearn.explain._dnf.functions import Function, weighed_terms
from smallearn.explain._dnf.imitation import imitated, is_continuous
from smallearn.explain._dnf.regions import variable_of
from smallearn.explain._dnf.shorter import Data, data_of, shortened
from smallearn.model import SMaLLModel, Term
from smallearn.model._columns import Column
from smallearn.model._rows import as_model, read_rows

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
    """When the model predicts ``label``, as an OR of ANDs of conditions on single features.

    Exact where the model asks literals only, or weighs features that are 0 or 1: those whose column of ``X`` is
    (``boolean="auto"``), those named (a list of labels), or all (True). Every case is then checked against the model.
    Rows ``X`` say which cases occur: with ``simplify`` a clause gives way to a shorter or plainer one that holds for
    the same rows, and the answer tells whether it is still exact.

    Where numbers are weighed, at most ``max_clauses`` clauses of at most ``max_conditions`` conditions imitate the
    model on the rows of ``X``; ``fidelity`` is the share of them on which they agree. Rows that were not given, for
    which `DNF.predict` is there, make the more honest test of it.

    Parameters
    ----------
    label : class, default None
        None is the class that owns the prototypes; with more than two classes it must be given.

    Examples
    --------
    >>> from smallearn.model import Prototype, SMaLLModel, Term
    >>> terms = (Term(0, 2.0, "age", "above", 40.0), Term(1, 1.0, "colour", "equals", "red"))
    >>> model = SMaLLModel(("no", "yes"), "<U3", 2, (Prototype(1, -2.5, terms),))
    >>> print(dnf(model))
    Predict 'yes' if this holds, otherwise 'no':
      1. age > 40 and colour = 'red'
    Exactly the model, on every input (truth table of 4 cases).
    """
    model = as_model(model)
    number = _class_number(model, label)
    limits: dict[str, Any] = {"max_clauses": max_clauses, "max_conditions": max_conditions}
    for name, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
            raise ValueError(f"{name}={value!r} is not a positive whole number.")
    rows = None if X is None else read_rows(model, X)
    data = None if rows is None else data_of(model, rows, number)
    terms = weighed_terms(model)
    flags = _flags(terms, data, boolean)
    continuous = [some[0].label for i, some in terms.items() if is_continuous(some, i in flags)]
    other = model.classes[1 - number] if len(model.classes) == 2 else None
    empty = DNF((), model.classes[number], other, model.n_features)
    if not continuous:
        found = _exact(empty, model, number, flags, data, simplify)
    elif data is None:
        raise ValueError(
            f"The model weighs numbers ({listed(continuous)}): pass rows X for clauses that imitate it, or "
            "boolean=True if they are 0 or 1."
        )
    else:
        clauses = tuple(imitated(terms, flags, data, int(max_clauses), int(max_conditions)))
        found = replace(empty, clauses=clauses, imitates=True)
    if data is None:
        return found
    return replace(found, fidelity=float(np.mean(found.predict(rows) == data.truth)), n_rows=data.n_rows)


def conditions_of(model: SMaLLModel, X: Any, most: int, *, simplify: bool) -> list[DNF]:
    """What `dnf` says of a model, or of each of the first ``most`` classes if there are more than two; nothing where it
    cannot say it: of numbers without rows, or of too many cases."""
    labels = (None,) if len(model.classes) == 2 else model.classes[:most]
    try:
        rows = None if X is None else read_rows(model, X)
        return [dnf(model, rows, label=label, simplify=simplify) for label in labels]
    except ValueError:
        return []


def _exact(empty: DNF, model: SMaLLModel, number: int, flags: set[int], data: Data | None, simplify: bool) -> DNF:
    terms = weighed_terms(model)
    columns = {} if data is None else data.columns
    variables = [variable_of(some, i in flags, columns.get(i)) for i, some in terms.items()]
    function = Function(model, variables, number)
    cubes = exact = function.cubes()
    if data is not None and simplify:
        cubes = shortened(function, exact, data)
    cubes = function.in_order(cubes)
    found = replace(empty, clauses=tuple(map(function.clause, cubes)))
    sure = exact if set(cubes) != set(exact) else None
    verified = function.checked(cubes, sure)
    if verified is not None:
        return replace(found, exact=True, domain=function.domain(), verified=verified)
    verified = function.checked(cubes, sure, complete=True)
    return found if verified is None else replace(found, domain=function.domain(complete=True), verified=verified)


def _class_number(model: SMaLLModel, label: Any) -> int:
    if label is None and len(model.classes) == 2:
        return model.prototypes[0].owner
    if label is None:
        raise ValueError(f"With more than two classes, label must be given: one of {listed(model.classes)}.")
    if label not in model.classes:
        raise ValueError(f"label={show(label)} is none of the classes; it must be one of {listed(model.classes)}.")
    return model.classes.index(label)


def _flags(terms: dict[int, list[Term]], data: Data | None, boolean: str | bool | Sequence[str]) -> set[int]:
    """The features that are weighed and are 0 or 1."""
    raw = {some[0].label: i for i, some in terms.items() if any(term.kind == "raw" for term in some)}
    if isinstance(boolean, str):
        if boolean != "auto":
            raise ValueError(f"boolean={boolean!r} is not 'auto', True or a list of features.")
        return set() if data is None else {i for i in raw.values() if _is_flag(data.columns[i])}
    named = (list(raw) if boolean else []) if isinstance(boolean, bool) else list(boolean)
    unknown = [name for name in named if name not in raw]
    if unknown:
        raise ValueError(
            f"boolean names {listed(unknown)}; the features that the model weighs are {listed(list(raw))}."
        )
    wrong = [name for name in named if data is not None and not _is_flag(data.columns[raw[name]])]
    if wrong:
        raise ValueError(f"X has other values than 0 and 1 for {listed(wrong)}.")
    return {raw[name] for name in named}


def _is_flag(column: Column) -> bool:
    return bool(np.isin(column.numbers[~column.missing], (0.0, 1.0)).all())
