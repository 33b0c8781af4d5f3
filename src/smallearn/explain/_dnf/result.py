"""A model as an OR of ANDs: the answer, how well it agrees with the model, and its text."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._text import percent, show
from smallearn.explain._dnf.conditions import Condition, clause_text, held_by
from smallearn.model import Term
from smallearn.model._rows import gather


@dataclass(frozen=True)
class DNF:
    """A rule as an OR of ANDs: what `dnf` returns.

    ``label`` is predicted where all conditions of any clause hold.

    Parameters
    ----------
    clauses : tuple of tuple of Condition
        The ANDs. No clause: never; an empty clause: always.
    label : class label
        What is predicted where a clause holds.
    other : class label or None
        What is predicted elsewhere; None for any of several classes.
    n_features : int
        The number of features of the training data.
    exact : bool, default=False
        Whether the rule agrees with the model on every input of ``domain``, with missing values or without.
    domain : str or None, default=None
        The inputs on which the rule agrees with the model. If these are only rows without missing values, ``exact`` is
        False.
    verified : str or None, default=None
        How the agreement was checked.
    fidelity : float or None, default=None
        The share of the rows given on which the rule agrees with the model.
    n_rows : int or None, default=None
        The number of rows given.
    imitates : bool, default=False
        Whether the rule was fitted to the model's predictions on these rows, and may differ from it elsewhere.

    Examples
    --------
    >>> from smallearn.explain import DNF, Condition
    >>> red = Condition(feature=0, name="colour", categories=("red",))
    >>> rule = DNF(clauses=((red,),), label="yes", other="no", n_features=1)
    >>> rule.heading, rule.clause_texts
    ("Predict 'yes' if this holds, otherwise 'no':", ("colour = 'red'",))
    >>> rule.predict([["red"], ["blue"]]).tolist()
    [True, False]
    """

    clauses: tuple[tuple[Condition, ...], ...]
    label: Any
    other: Any
    n_features: int
    exact: bool = False
    domain: str | None = None
    verified: str | None = None
    fidelity: float | None = None
    n_rows: int | None = None
    imitates: bool = False

    def predict(self, X: Any) -> np.ndarray:
        """Check which rows satisfy the rule.

        Parameters
        ----------
        X : array, sparse matrix, table or Rows
            The rows to decide about.

        Returns
        -------
        ndarray of bool of shape (n_rows,)
            Whether ``label`` is predicted.
        """
        return np.logical_or.reduce(self.holds_for(X), axis=1)

    def holds_for(self, X: Any) -> np.ndarray:
        """Check which rows satisfy which clause.

        Parameters
        ----------
        X : array, sparse matrix, table or Rows
            The rows to check.

        Returns
        -------
        ndarray of bool of shape (n_rows, n_clauses)
            Whether all conditions of the clause hold.
        """
        features = {condition.feature: condition for clause in self.clauses for condition in clause}
        terms = [Term(feature=feature, weight=1.0, name=features[feature].name) for feature in sorted(features)]
        blocks = [held_by(self.clauses, n_rows, columns) for n_rows, columns in gather(X, terms, self.n_features)]
        return np.concatenate(blocks) if blocks else np.zeros((0, len(self.clauses)), dtype=bool)

    # --- text ------------------------------------------------------------------------------------------------------

    @property
    def same_as_model(self) -> bool:
        """Whether the rule is known to agree with the model, rather than to approximate it.

        Returns
        -------
        bool
            True if it is exact, at least on rows without missing values, or was derived from the model and agrees with
            it on all the rows given.
        """
        return self.domain is not None or (self.fidelity == 1.0 and not self.imitates)

    @property
    def heading(self) -> str:
        """What the clauses decide: ``Predict 'yes' if any of these holds, otherwise 'no':``.

        Returns
        -------
        str
            One sentence. It ends with a colon if clauses follow, and with a full stop if the rule is constant.
        """
        label = show(self.label)
        otherwise = "another class" if self.other is None else show(self.other)
        if not self.clauses:
            return f"Never predict {label}, always {otherwise}."
        if () in self.clauses:
            return f"Always predict {label}."
        which = "this holds" if len(self.clauses) == 1 else "any of these holds"
        return f"Predict {label} if {which}, otherwise {otherwise}:"

    @property
    def clause_texts(self) -> tuple[str, ...]:
        """Each clause on one line: ``age > 40 and colour = 'red'``.

        Returns
        -------
        tuple of str
            Empty if the rule is constant.
        """
        return () if () in self.clauses else tuple(clause_text(clause) for clause in self.clauses)

    @property
    def note(self) -> str | None:
        """How well the rule agrees with the model.

        Returns
        -------
        str or None
            One sentence; None if that is not known.
        """
        if self.domain is not None:
            return f"Exactly the model, on {self.domain} ({self.verified})."
        if self.fidelity is None:
            return None
        if self.fidelity < 1.0:
            return f"Agrees with the model on {percent(self.fidelity)} of the {self.n_rows:,} rows given."
        rows = "the one row" if self.n_rows == 1 else f"all {self.n_rows:,} rows"
        return f"The same as the model on {rows} given{'; on others it may differ' if self.imitates else ''}."

    def __str__(self) -> str:
        lines = [self.heading, *(f"  {number}. {text}" for number, text in enumerate(self.clause_texts, start=1))]
        return "\n".join([*lines, *([] if self.note is None else [self.note])])
