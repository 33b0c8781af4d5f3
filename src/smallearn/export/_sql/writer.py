"""A model as SQL: an expression, a SELECT or a view, in any of `DIALECTS`.

NULL and NaN are missing values. Where the model cannot predict because a value is missing, class, score, probability
and reason are NULL.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from smallearn._errors import check_choice
from smallearn._text import listed
from smallearn.export._flat import FlatModel, decision_rule, flatten
from smallearn.export._names import comment_text
from smallearn.export._sql.dialects import Dialect, dialect_of
from smallearn.export._sql.expressions import ANSWERS, Expressions
from smallearn.export._sql.vectors import differences_query
from smallearn.model._arguments import as_model

FORMS = ("expression", "select", "view")


def to_sql(
    model: Any,
    dialect: str = "postgresql",
    *,
    table: str | Sequence[str] = "data",
    form: str = "select",
    view: str | Sequence[str] = "scored",
    conformance: Any = None,
) -> str:
    """Write a model as SQL for PostgreSQL, DuckDB, SQLite or Spark.

    A SELECT or a view has all columns of the table and these:

    ===========  ======================================================================================================
    prediction   the class: text, whole number, double or boolean as the labels are; labels of several types as text
    score        the decision function: positive for the second of two classes; that of the predicted class of more
    probability  that of ``prediction``
    reason       the prototype with the greatest score, and what each of its terms adds
    ===========  ======================================================================================================

    Columns are named as the features are (``x0``, ``x1``, … if they have no names). NULL and NaN are missing values;
    where the model cannot predict, all four columns are NULL. Whole numbers, decimals and text that holds a number are
    read as doubles, and a boolean column where the model compares with True or False (elsewhere PostgreSQL needs a cast
    to integer). Infinities are not supported, as in `SMaLLModel`. Text that holds no number is an error where the model
    needs one; SQLite has no such error, so there the row gets no prediction. SQLite can be built without ``exp``, which
    probabilities need.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    dialect : {"postgresql", "duckdb", "sqlite", "spark"}, default="postgresql"
        The database.
    table : str or sequence of str, default="data"
        The table to read. Names are taken as they are, dots included: ``("schema", "table")`` is a table in a schema.
    form : {"select", "view", "expression"}, default="select"
        A query, a view, or only the class as one expression. An expression has no subqueries, so that literals that
        several classes share are repeated in it; a query evaluates each of them once.
    view : str or sequence of str, default="scored"
        The name of the view.
    conformance : array or table, default=None
        Rows as `SMaLLModel.predict` takes them. The result is then a query that needs no table and returns those of
        them that the database predicts differently from the model: none, if all is well.

    Returns
    -------
    str
        The text of the query, the view or the expression.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import to_sql
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> to_sql(clf, "duckdb", table="patients").splitlines()[1]
    '-- Predict 1 if z1 is above 0, otherwise 0.'
    """
    check_choice("form", form, FORMS)
    model, database = as_model(model), dialect_of(dialect)
    flat = flatten(model)
    _check_columns(flat, database)
    parts = Expressions(model, flat, database)
    if conformance is not None:
        _check_answers(flat, database)
        rows = database.identifier("rows")
        query = differences_query(
            model, flat, database, conformance, labels=parts.labels, scored=_select(parts, rows), table=rows
        )
        return f"{_header(flat)}-- The rows that the database predicts differently from the model.\n{query}"
    if form == "expression":
        return _expression(parts)
    select = _select(parts, _path(database, table))
    if form == "select":
        return f"{_header(flat)}{select}\n"
    _check_answers(flat, database)
    return f"{_header(flat)}CREATE VIEW {_path(database, view)} AS\n{select};\n"


def _path(dialect: Dialect, name: str | Sequence[str]) -> str:
    return ".".join(dialect.identifier(part) for part in ([name] if isinstance(name, str) else name))


def _check_columns(flat: FlatModel, dialect: Dialect) -> None:
    keys = [dialect.key(input_.label) for input_ in flat.inputs]
    same = [input_.label for input_, key in zip(flat.inputs, keys, strict=True) if keys.count(key) > 1]
    if same:
        raise ValueError(
            f"{listed(same)} are the same column in {dialect.name}; rename them with model.with_feature_names."
        )


def _check_answers(flat: FlatModel, dialect: Dialect) -> None:
    keys = {dialect.key(input_.label) for input_ in flat.inputs}
    twice = [name for name in ANSWERS if name in keys]
    if twice:
        raise ValueError(
            f"There would be two columns called {listed(twice)}; rename the features with model.with_feature_names."
        )


def _header(flat: FlatModel) -> str:
    """Comments: the origin, the rule, and where there is no prediction."""
    names = [f"z{j + 1}" for j in range(len(flat.owners))]
    labels = [comment_text(label) for label in flat.classes]
    rule = decision_rule(flat, labels, " or ".join(names))
    if not flat.has_one_owner:
        rule += ": " + ", ".join(f"{name} for {labels[owner]}" for name, owner in zip(names, flat.owners, strict=True))
    lines = [flat.stamp, f"Predict {rule}."]
    needed = [comment_text(input_.label) for input_ in flat.inputs if not input_.may_be_missing]
    lines += [f"Rows where {' or '.join(needed)} is missing (NULL or NaN) get no prediction."] if needed else []
    limited = [comment_text(input_.label) for input_ in flat.inputs if input_.accepted is not None]
    lines += [f"Rows with a value of {' or '.join(limited)} that the model refuses get none."] if limited else []
    return "".join(f"-- {line}\n" for line in lines)


def _expression(parts: Expressions) -> str:
    """The class, without subqueries, so that columns and indexes can be defined by it: nothing has a name in it."""
    columns = [parts.dialect.unqualified(input_.label) for input_ in parts.flat.inputs]
    inputs = parts.inputs(columns)
    scores = [f"({score})" for score in parts.scores(inputs, {})]
    unanswered = parts.unanswered(columns, inputs)
    if parts.flat.has_one_owner:
        answer = parts.any_of(scores)
    elif parts.has_merits:
        own = parts.class_scores(scores)
        merits = [f"({merit})" for merit in parts.merits(own, parts.chances(own))]
        answer = parts.of_class(parts.greatest(merits), merits, parts.labels)
    else:
        answer = parts.winner(parts.greatest(scores), scores)
    if unanswered:
        answer = f"CASE WHEN {unanswered} THEN NULL\n    ELSE {answer} END"
    return f"/* {parts.flat.stamp} */ {answer}"


def _select(parts: Expressions, table: str) -> str:
    columns = [f"t.{parts.dialect.identifier(input_.label)}" for input_ in parts.flat.inputs]
    return (_stages if parts.dialect.lateral else _subqueries)(parts, columns, table)


class _Steps:
    """The columns of each step on the way to the answers, each from those before.

    x are the inputs, b what several prototypes share, z the scores, and with offsets or costs the scores of the
    classes, their probabilities and what decides. ``of`` names a column of a step.
    """

    def __init__(self, parts: Expressions, columns: list[str], of: Callable[[str, str], str]):
        flat = parts.flat
        self.parts, self.of = parts, of
        self.steps: list[tuple[str, dict[str, str]]] = []
        self.inputs = self._add("x", parts.inputs(columns), [f"x_{input_.name}" for input_ in flat.inputs])
        factors = parts.factors(self.inputs)
        self.factors = dict(zip(factors, self._add("b", list(factors.values())), strict=True))
        self.scores = self._add("z", parts.scores(self.inputs, self.factors))
        self.own = parts.class_scores(self.scores)
        self.merits: list[str] = []
        if parts.has_merits:
            self.own = self._add("own", self.own)
            self.merits = self._add("merit", parts.merits(self.own, self._add("chance", parts.chances(self.own))))

    def _add(self, step: str, expressions: list[str], names: list[str] | None = None) -> list[str]:
        """Add a step; its columns, by name, for those that follow."""
        names = [f"{step}{place + 1}" for place in range(len(expressions))] if names is None else names
        if names:
            self.steps.append((step, dict(zip(names, expressions, strict=True))))
        return [self.of(step, name) for name in names]

    @property
    def best(self) -> str:
        """What decides: the greatest score, or the greatest of what decides between classes."""
        return self.parts.greatest(self.merits or self.scores)

    def score(self, best: str) -> str:
        """The decision function of two classes, or that of the predicted class, given what decides."""
        if not self.merits:
            return self.parts.log_odds(best)
        return self.parts.of_class(best, self.merits, self.parts.odds(self.own))

    def answers(self, best: str, score: str, odds: list[str]) -> list[str]:
        """ANSWERS, given what decides, the score, and the log-odds of each class."""
        parts, reasons = self.parts, self.parts.reasons(self.inputs, self.factors)
        if self.merits:
            prediction = parts.of_class(best, self.merits, parts.labels)
            each = [parts.reason_of_class(k, own, self.scores, reasons) for k, own in enumerate(self.own)]
            reason = parts.of_class(best, self.merits, each)
        else:
            prediction, reason = parts.prediction(best, self.scores), parts.reason(best, self.scores, reasons)
        return [prediction, score, parts.probability(best, score, odds), reason]


def _stages(parts: Expressions, columns: list[str], table: str) -> str:
    """Step by step, then the best score, its log-odds, the answers."""
    steps = _Steps(parts, columns, lambda step, name: f"{step}.{name}")
    unanswered, best = parts.unanswered(columns, steps.inputs), steps.best
    best = f"CASE WHEN {unanswered} THEN NULL ELSE {best} END" if unanswered else best
    odds = parts.odds(steps.own)
    names = [f"score{place + 1}" for place in range(len(odds))]
    answers = steps.answers("best.score", "log_odds.score", [f"log_odds.{name}" for name in names])
    stages = [
        *steps.steps,
        ("best", {"score": best}),
        ("log_odds", dict(zip(["score", *names], [steps.score("best.score"), *odds], strict=True))),
        ("answer", dict(zip(ANSWERS, answers, strict=True))),
    ]
    chosen = ", ".join(f"answer.{name}" for name in ANSWERS)
    joins = [f"CROSS JOIN LATERAL (SELECT\n{_columns(text)}\n) AS {name}" for name, text in stages]
    return "\n".join([f"SELECT t.*, {chosen}", f"FROM {table} AS t", *joins])


def _subqueries(parts: Expressions, columns: list[str], table: str) -> str:
    """One subquery for each answer, for databases without LATERAL: steps are nested, and each has all columns before.

    Without a row of the innermost step the answer is NULL.
    """
    steps = _Steps(parts, columns, lambda _, name: f"s.{name}")
    unanswered = parts.unanswered(columns, parts.inputs(columns))
    source = f"FROM (SELECT 1{f' WHERE NOT ({unanswered})' if unanswered else ''}) AS s"
    for place, (_, step) in enumerate(steps.steps):
        before = "s.*,\n" if place else ""
        source = f"FROM (SELECT {before}{_columns(step)}\n  {source}) AS s"
    best = steps.best
    answers = steps.answers(best, steps.score(best), parts.odds(steps.own))
    written = [f"  (SELECT {text}\n  {source}) AS {name}" for text, name in zip(answers, ANSWERS, strict=True)]
    return ",\n".join(["SELECT t.*", *written]) + f"\nFROM {table} AS t"


def _columns(expressions: Mapping[str, str]) -> str:
    return ",\n".join(f"    {text} AS {name}" for name, text in expressions.items())
