"""Reason codes: which terms held a class back most, row by row, in the user's words."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from smallearn.export._flat import as_term, flatten
from smallearn.export._reason_codes import check_number, shortfalls
from smallearn.model._arguments import as_model, read_rows


def reason_codes(
    model: Any, X: Any, n: int = 3, *, wording: Mapping[str, str] | None = None, favourable: Any = None
) -> np.ndarray:
    """Name the terms that held a class back most, the worst first.

    A term falls short by the most that it can add to the score of the class minus what it added. The most is the weight
    where that helps, else 0, for a literal; for a raw term it is what the term adds at the better end of its feature's
    range in training (at the mean, if the range is not known). Terms that fall short by nothing are not named; of equal
    terms the first in the model comes first. If the class has several prototypes, that with its greatest score counts.
    If the other of two classes owns all prototypes, what their terms add counts against the class.

    ``to_sql(model, reason_codes=n)`` gives the same in a database, ``report_html(model, reason_codes=n)`` on a page.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    X : array, sparse matrix, table or Rows
        The rows.
    n : int, default=3
        How many to name.
    wording : mapping from str to str, default=None
        Words for terms, by the term as it is printed (``"[age ≤ 40]"`` or ``"[age <= 40]"``) or by its feature
        (``"age"``); otherwise the term is named as it is printed, with a "not" where a literal falls short by being
        false: ``not [age ≤ 40]``.
    favourable : class label, default=None
        The class that was held back: that which is wanted. None for the second of two.

    Returns
    -------
    ndarray of object of shape (n_rows, n)
        The words; None where fewer terms fall short.

    Examples
    --------
    >>> import numpy as np
    >>> from smallearn.explain import reason_codes
    >>> from smallearn.model import Prototype, SMaLLModel, Term
    >>> late = Term(feature=0, weight=-3.0, name="late", kind="above", value=0.0)
    >>> owner = Term(feature=1, weight=2.0, name="housing", kind="equals", value="own")
    >>> model = SMaLLModel(("refuse", "grant"), "<U6", n_features=2, prototypes=(Prototype(1, 0.5, (late, owner)),))
    >>> wording = {"late": "Payments were late", "housing": "Does not own a home"}
    >>> rows = np.array([[2.0, "rent"], [0.0, "rent"]], dtype=object)
    >>> reason_codes(model, rows, n=2, wording=wording).tolist()
    [['Payments were late', 'Does not own a home'], ['Does not own a home', None]]
    >>> reason_codes(model, rows, n=2).tolist()
    [['[late > 0]', "not [housing = 'own']"], ["not [housing = 'own']", None]]
    """
    model = as_model(model)
    check_number("n", n, least=1)
    rows = read_rows(model, X)
    flat = flatten(model)
    found = shortfalls(flat, wording, favourable)
    places = list(found.terms)
    chosen = np.array(places)[model.scores(rows)[:, places].argmax(axis=1)]
    codes = np.full((rows.n_rows, n), None, dtype=object)
    for j, terms in found.terms.items():
        mine = np.flatnonzero(chosen == j)
        if not terms or not len(mine):
            continue
        short = np.column_stack(
            [most - found.sign * (term.weight * rows.factor(as_term(flat, term))[mine]) for term, most, _ in terms]
        )
        order = np.argsort(-short, axis=1, kind="stable")[:, :n]
        words = np.array([text for _, _, text in terms], dtype=object)[order]
        words[np.take_along_axis(short, order, axis=1) <= 0.0] = None
        codes[mine, : order.shape[1]] = words
    return codes
