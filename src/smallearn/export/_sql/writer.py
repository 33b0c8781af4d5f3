"""A model as SQL: an expression, a SELECT or a view, in any of `DIALECTS`.

NULL and NaN are missing values. Where the model cannot predict because a value is missing, class, score, probability
and reason are NULL.
"""

from collections.abc import Iterable, Sequence
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
    """Write a model as SQL for PostgreSQL, DuckDB or SQLite.

    A SELECT or a view has all columns of the table and these:

    ===========  ======================================================================================================
    prediction   the class: text, whole number, double or boolean as the labels are; labels of several types as text
    score        the decision function: positive for the second of two classes; the winning score of more
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
    dialect : {"postgresql", "duckdb", "sqlite"}, default="postgresql"
        The database.
    table : str or sequence of str, default="data"
        The table to read. Names are taken as they are, dots included: ``("schema", "table")`` is a table in a schema.
    form : {"select", "view", "expression"}, default="select"
        A query, a view, or only the class as one expression.
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
    if not flat.is_binary:
        rule += ": " + ", ".join(f"{name} for {labels[owner]}" for name, owner in zip(names, flat.owners, strict=True))
    lines = [flat.stamp, f"Predict {rule}."]
    needed = [comment_text(input_.label) for input_ in flat.inputs if not input_.may_be_missing]
    lines += [f"Rows where {' or '.join(needed)} is missing (NULL or NaN) get no prediction."] if needed else []
    return "".join(f"-- {line}\n" for line in lines)


def _expression(parts: Expressions) -> str:
    columns = [parts.dialect.unqualified(input_.label) for input_ in parts.flat.inputs]
    inputs = parts.inputs(columns)
    scores = [f"({score})" for score in parts.scores(inputs)]
    unanswered = parts.unanswered(columns, inputs)
    answer = parts.any_of(scores) if parts.flat.is_binary else parts.winner(parts.greatest(scores), scores)
    if unanswered:
        answer = f"CASE WHEN {unanswered} THEN NULL\n    ELSE {answer} END"
    return f"/* {parts.flat.stamp} */ {answer}"


def _select(parts: Expressions, table: str) -> str:
    columns = [f"t.{parts.dialect.identifier(input_.label)}" for input_ in parts.flat.inputs]
    return (_stages if parts.dialect.lateral else _subqueries)(parts, columns, table)


def _stages(parts: Expressions, columns: list[str], table: str) -> str:
    """Step by step, each from those before: inputs x, scores z, the best score, its log-odds, the answers."""
    names = [f"x_{input_.name}" for input_ in parts.flat.inputs]
    inputs = [f"x.{name}" for name in names]
    scores = [f"z.z{j + 1}" for j in range(len(parts.flat.owners))]
    unanswered, best = parts.unanswered(columns, inputs), parts.greatest(scores)
    best = f"CASE WHEN {unanswered} THEN NULL ELSE {best} END" if unanswered else best
    own = parts.class_scores(scores)
    own_names = [f"score{place + 1}" for place in range(len(own))]
    score = "log_odds.score"
    answers = [
        parts.prediction("best.score", scores),
        score,
        parts.probability("best.score", score, [f"log_odds.{name}" for name in own_names]),
        parts.reason("best.score", scores, inputs),
    ]
    stages = [
        ("x", _columns(parts.inputs(columns), names)),
        ("z", _columns(parts.scores(inputs), [f"z{j + 1}" for j in range(len(scores))])),
        ("best", _columns([best], ["score"])),
        ("log_odds", _columns([parts.log_odds("best.score"), *own], ["score", *own_names])),
        ("answer", _columns(answers, ANSWERS)),
    ]
    chosen = ", ".join(f"answer.{name}" for name in ANSWERS)
    joins = [f"CROSS JOIN LATERAL (SELECT\n{text}\n) AS {name}" for name, text in stages if text]
    return "\n".join([f"SELECT t.*, {chosen}", f"FROM {table} AS t", *joins])


def _subqueries(parts: Expressions, columns: list[str], table: str) -> str:
    """One subquery for each answer, from the scores z: for databases without LATERAL. Without z the answer is NULL."""
    inputs = parts.inputs(columns)
    names = [f"z{j + 1}" for j in range(len(parts.flat.owners))]
    scores = [f"z.{name}" for name in names]
    unanswered, best = parts.unanswered(columns, inputs), parts.greatest(scores)
    only = f"\n    WHERE NOT ({unanswered})" if unanswered else ""
    source = f"FROM (SELECT\n{_columns(parts.scores(inputs), names)}{only}) AS z"
    score = parts.log_odds(best)
    answers = [
        parts.prediction(best, scores),
        score,
        parts.probability(best, score, parts.class_scores(scores)),
        parts.reason(best, scores, inputs),
    ]
    written = [f"  (SELECT {text}\n  {source}) AS {name}" for text, name in zip(answers, ANSWERS, strict=True)]
    return ",\n".join(["SELECT t.*", *written]) + f"\nFROM {table} AS t"


def _columns(expressions: Iterable[str], names: Iterable[str]) -> str:
    return ",\n".join(f"    {text} AS {name}" for text, name in zip(expressions, names, strict=True))
