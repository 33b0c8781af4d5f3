"""A model as SQL: an expression, a SELECT or a view, in any of `DIALECTS`.

NULL and NaN are missing values. Where the model cannot predict because a value is missing, all answers are NULL.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from smallearn._errors import Parameter, ParameterError, check_choice
from smallearn._text import listed
from smallearn.export._flat import FlatModel, decision_rule, flatten
from smallearn.export._names import comment_text
from smallearn.export._reason_codes import Shortfalls, check_number, shortfalls
from smallearn.export._sql.dialect import Dialect
from smallearn.export._sql.dialects import dialect_of
from smallearn.export._sql.expressions import ANSWERS, REASON, Expressions
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
    reason: bool = False,
    reason_codes: int = 0,
    wording: Mapping[str, str] | None = None,
    favourable: Any = None,
    conformance: Any = None,
) -> str:
    """Write a model as SQL for a database.

    A SELECT or a view has all columns of the table and these:

    ===========  ======================================================================================================
    prediction   the class: text, whole number, double or boolean as the labels are; labels of several types as text
    score        the decision function: positive for the second of two classes; that of the predicted class of more
    probability  that of ``prediction``
    ===========  ======================================================================================================

    Columns are named as the features are (``x0``, ``x1``, … if they have no names). NULL and NaN are missing values;
    where the model cannot predict, all these columns are NULL. Whole numbers, decimals and text that holds a number are
    read as doubles, and a boolean column where the model compares with True or False (elsewhere PostgreSQL needs a cast
    to integer). Infinities are not supported, as in `SMaLLModel`. Text that holds no number is an error where the model
    needs one; SQLite, MySQL, ClickHouse and Spark have no such error or not always: there the row gets no prediction.
    SQLite can be built without ``exp``, which probabilities need.

    The tests run what is written for PostgreSQL, DuckDB, SQLite, MySQL (on MariaDB), ClickHouse and Spark. What is
    written for SQL Server, BigQuery, Snowflake, Oracle, Redshift and Trino has been parsed in their dialect, but never
    run: try it with ``conformance`` first.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    dialect : str, default="postgresql"
        The database: "postgresql", "duckdb", "sqlite", "mysql" (MariaDB too), "clickhouse" or "spark"; or, never run,
        "sqlserver", "bigquery", "snowflake", "oracle", "redshift" or "trino". "mariadb" and "postgres" mean "mysql" and
        "postgresql".
    table : str or sequence of str, default="data"
        The table to read. Names are taken as they are, dots included: ``("schema", "table")`` is a table in a schema.
    form : {"select", "view", "expression"}, default="select"
        A query, a view, or only the class as one expression, without reasons. An expression has no subqueries, so that
        literals that several classes share are repeated in it; a query evaluates each of them once where the database
        has a way to name a value that is no column of the result.
    view : str or sequence of str, default="scored"
        The name of the view.
    reason : bool, default=False
        Whether there is one more column, ``reason``: the prototype with the greatest score, the literals that hold
        with what each adds, the weights of raw terms and, if there are any, the term with the largest effect on the
        score, up or down. To write it takes longer than to predict.
    reason_codes : int, default=0
        How many more columns there are, ``reason_1``, ``reason_2`` and so on: the terms that held the favourable class
        back most, as `smallearn.explain.reason_codes` defines them.
    wording : mapping from str to str, default=None
        Words for the terms in reason codes, by the term as it is printed or by its feature.
    favourable : class label, default=None
        The class that reason codes speak of. None for the second of two.
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
    check_number("reason_codes", reason_codes, least=0)
    if form == "expression":
        _check_no_reasons(
            wording=wording, favourable=favourable, reason_codes=reason_codes or None, reason=reason or None
        )
    model, database = as_model(model), dialect_of(dialect)
    flat = flatten(model)
    _check_columns(flat, database)
    parts = Expressions(model, flat, database)
    codes = [f"reason_{place + 1}" for place in range(reason_codes)]
    found = shortfalls(flat, wording, favourable) if codes else None
    extra = _Extra(reason, codes, found)
    answers = [*ANSWERS, *([REASON] if reason else []), *codes]
    if conformance is not None:
        _check_answers(flat, database, answers)
        rows = database.identifier("rows")
        query = differences_query(model, parts, conformance, scored=_select(parts, rows, extra), table=rows)
        return f"{_header(flat)}-- The rows that the database predicts differently from the model.\n{query}"
    if form == "expression":
        return _expression(parts)
    select = _select(parts, _path(database, table), extra)
    if form == "select":
        return f"{_header(flat)}{select}\n"
    _check_answers(flat, database, answers)
    return f"{_header(flat)}CREATE VIEW {_path(database, view)} AS\n{select};\n"


def _check_no_reasons(**asked: Any) -> None:
    """Raise if one of these is not None: an expression has no reasons."""
    for name, value in asked.items():
        if value is not None:
            with_columns = Parameter("form", "select"), " or ", Parameter("form", "view")
            raise ParameterError(
                Parameter(name), " goes with ", *with_columns, " alone: an expression is the class and nothing else."
            )


def _path(dialect: Dialect, name: str | Sequence[str]) -> str:
    return ".".join(dialect.identifier(part) for part in ([name] if isinstance(name, str) else name))


def _check_columns(flat: FlatModel, dialect: Dialect) -> None:
    keys = [dialect.key(input_.label) for input_ in flat.inputs]
    same = [input_.label for input_, key in zip(flat.inputs, keys, strict=True) if keys.count(key) > 1]
    if same:
        raise ValueError(
            f"{listed(same)} are the same column in {dialect.name}; rename them with model.with_feature_names."
        )


def _check_answers(flat: FlatModel, dialect: Dialect, answers: Sequence[str]) -> None:
    keys = {dialect.key(input_.label) for input_ in flat.inputs}
    twice = [name for name in answers if name in keys]
    if twice:
        raise ValueError(
            f"There would be two columns called {listed(twice)}; rename the features with model.with_feature_names."
        )


def _header(flat: FlatModel) -> str:
    """Comments: the origin, the rule, where there is no prediction, and what has to be NULL."""
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
    missing = [
        f"{', '.join(comment_text(repr(text)) for text in texts)} in {comment_text(name)}"
        for name, texts in flat.missing_by_column
    ]
    lines += [f"Missing values in training, which have to be NULL here: {'; '.join(missing)}."] if missing else []
    return "".join(f"-- {line}\n" for line in lines)


def _expression(parts: Expressions) -> str:
    """The class, without subqueries, so that columns and indexes can be defined by it: nothing has a name in it."""
    columns = [parts.dialect.unqualified(input_.label) for input_ in parts.flat.inputs]
    return f"/* {parts.flat.stamp} */ {_Steps(parts, columns, None).prediction}"


class _Extra(NamedTuple):
    """What a query gives besides `ANSWERS`: the reason, and columns of reason codes."""

    reason: bool
    codes: list[str]
    shortfalls: Shortfalls | None

    @property
    def asks_scores(self) -> bool:
        """Whether it takes the scores of the prototypes."""
        return self.reason or self.shortfalls is not None


def _select(parts: Expressions, table: str, extra: _Extra) -> str:
    """All columns of the table and the answers."""
    dialect = parts.dialect
    name = {"inline": None, "except": "s.smallearn_{}", "lateral": "s.{}"}[dialect.steps]
    row = "s" if dialect.steps == "except" else "t"
    columns = [f"{row}.{dialect.identifier(input_.label)}" for input_ in parts.flat.inputs]
    steps = _Steps(parts, columns, None if name is None else name.format, extra.asks_scores)
    answers = steps.answers(extra)
    if dialect.steps == "lateral":
        return _lateral(table, steps.steps, answers)
    source = f"{table} {row}"
    hidden: list[str] = []
    for step in steps.steps:
        step = {f"smallearn_{name}": text for name, text in step.items()}
        source, hidden = f"(SELECT s.*,\n{_columns(step)}\nFROM {source}) s", [*hidden, *step]
    but = f" {dialect.but} ({', '.join(hidden)})" if hidden else ""
    return f"SELECT {row}.*{but},\n{_columns(answers)}\nFROM {source}"


def _lateral(table: str, steps: list[dict[str, str]], answers: Mapping[str, str]) -> str:
    """The steps in one join, from the inside out; of several joins, PostgreSQL would keep results in a cache.

    It would put expressions in the place of names, were it not for OFFSET.
    """
    source = ""
    for step in steps:
        every, inner = ("    s.*,\n", f"\nFROM {source}") if source else ("", "")
        source = f"(SELECT\n{every}{_columns(step)}{inner}\nOFFSET 0) AS s"
    return f"SELECT t.*,\n{_columns(answers)}\nFROM {table} AS t" + (f"\nCROSS JOIN LATERAL {source}" if source else "")


class _Steps:
    """The expressions of the answers, and the columns of each step on the way there, each from those before.

    b is what several prototypes share, z the scores; with more than two classes follow their scores, with costs their
    probabilities, with offsets or costs what decides, and the greatest. ``name`` gives the column of a step; None if
    nothing has a name: then expressions are repeated. ``scores``: whether the scores of the prototypes are asked for.
    """

    def __init__(self, parts: Expressions, columns: list[str], name: Callable[[str], str] | None, scores: bool = True):
        self.parts, self.name = parts, name
        self.steps: list[dict[str, str]] = []
        self.inputs = parts.inputs(columns)
        few = len(parts.flat.owners) <= 2  # then a step takes as long as to evaluate a factor twice
        factors = {} if name is None or few else parts.factors(self.inputs)
        self.factors = dict(zip(factors, self._add("b", list(factors.values())), strict=True))
        self.unanswered = parts.unanswered(columns, self.inputs)
        self.merits: list[str] = []
        # A score is NULL where an input of a plain sum is; where something else is amiss, the first is made to be.
        sums = [parts.sums(j) for j in range(len(parts.flat.owners))]
        if name is not None and parts.flat.has_one_owner and not scores:  # only the greatest is asked for
            each = [f"({score})" for score in parts.scores(self.inputs, self.factors)]
            self.scores, self.own = each, []
            amiss = parts.unanswered(columns, parts.summed(self.inputs), set.intersection(*sums))
            self.best = self._add("best", [_unless(amiss, parts.best(each))])[0]
            return
        amiss = parts.unanswered(columns, self.inputs, set.union(*sums))
        first, *others = parts.scores(self.inputs, self.factors)
        if name is not None:
            first = _unless(amiss, first if others else parts.best([first]))
        self.scores = self._add("z", [first, *others])
        absent = [j for j, own in enumerate(sums) if own or (amiss and j == 0)]
        self.own = parts.class_scores(self.scores)
        if parts.has_merits:
            self.own = self._add("own", self.own)
            self.merits = self._add("merit", parts.merits(self.own, self._add("chance", parts.chances(self.own))))
        if name is None:
            self.best = _unless(self.unanswered, parts.greatest(self.merits or self.scores))
        else:
            null = " OR ".join(f"{self.scores[j]} IS NULL" for j in absent)
            best = [_unless(null, parts.best(self.merits or self.scores))]
            self.best = self._add("best", best)[0] if others else self.scores[0]

    def _add(self, step: str, expressions: list[str]) -> list[str]:
        """Add a step; its columns, by name, for those that follow."""
        if self.name is None:
            return [f"({expression})" for expression in expressions]
        names = [f"{step}{place + 1}" for place in range(len(expressions))]
        if names:
            self.steps.append(dict(zip(names, expressions, strict=True)))
        return [self.name(name) for name in names]

    @property
    def prediction(self) -> str:
        """The class; NULL where there is none."""
        parts = self.parts
        if self.name is not None:
            return (
                parts.of_class(self.best, self.merits, parts.labels)
                if self.merits
                else parts.prediction(self.best, self.scores)
            )
        if parts.flat.has_one_owner:
            answer = parts.any_of(self.scores)
        elif self.merits:
            answer = parts.of_class(parts.greatest(self.merits), self.merits, parts.labels)
        else:
            answer = parts.winner(parts.greatest(self.scores), self.scores)
        return _unless(self.unanswered, answer)

    def answers(self, extra: _Extra) -> dict[str, str]:
        """The columns of the result."""
        parts, best = self.parts, self.best
        odds = parts.odds(self.own)
        score = parts.of_class(best, self.merits, odds) if self.merits else parts.log_odds(best)
        answers = [self.prediction, score, parts.probability(best, score, odds, bool(self.unanswered))]
        columns = dict(zip(ANSWERS, answers, strict=True))
        columns |= {REASON: self._reason()} if extra.reason else {}
        return columns if extra.shortfalls is None else columns | self._codes(extra.codes, extra.shortfalls)

    def _codes(self, names: list[str], found: Shortfalls) -> dict[str, str]:
        parts = self.parts
        short = self._add("short", parts.short(found, self.inputs, self.factors, self.scores))
        ranks = self._add("rank", parts.ranks(short))
        absent = self.unanswered if self.name is None else f"{self.best} IS NULL"
        return {
            name: _unless(absent, parts.code(place + 1, found, ranks, self.scores)) for place, name in enumerate(names)
        }

    def _reason(self) -> str:
        parts, reasons = self.parts, self.parts.reasons(self.inputs, self.factors)
        if not self.merits:
            return parts.reason(self.best, self.scores, reasons)
        each = [parts.reason_of_class(k, own, self.scores, reasons) for k, own in enumerate(self.own)]
        return parts.of_class(self.best, self.merits, each)


def _unless(condition: str, expression: str) -> str:
    """The expression, NULL where the condition holds."""
    return f"CASE WHEN {condition} THEN NULL\n    ELSE {expression} END" if condition else expression


def _columns(expressions: Mapping[str, str]) -> str:
    return ",\n".join(f"    {text} AS {name}" for name, text in expressions.items())
