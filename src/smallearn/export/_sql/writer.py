"""A model as SQL: an expression, a SELECT or a view, for PostgreSQL, DuckDB and SQLite.

NULL and NaN are missing, as everywhere. A row that lacks a value for which the model has no mean has no answer: its
class, score, probability and reason are NULL.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from smallearn._errors import check_choice
from smallearn._text import listed
from smallearn.export._flat import FlatModel, flatten
from smallearn.export._names import remark
from smallearn.export._sql.conformance import conformance_query
from smallearn.export._sql.dialects import Dialect, dialect_of
from smallearn.export._sql.expressions import Expressions
from smallearn.model import SMaLLModel

FORMS = ("expression", "select", "view")
ANSWERS = ("prediction", "score", "probability", "reason")


def to_sql(
    model: SMaLLModel,
    dialect: str = "postgresql",
    *,
    table: str | Sequence[str] = "data",
    form: str = "select",
    view: str | Sequence[str] = "scored",
    conformance: Any = None,
) -> str:
    """The model in SQL for "postgresql", "duckdb" or "sqlite".

    ``form`` "expression" gives the class as one expression of columns named as the features are (``x0``, ``x1``, … if
    they have no names); "select" all columns of ``table`` and four more, "view" a view called ``view`` of that. Names
    are taken as they are, dots included: ``("schema", "table")`` for a table in a schema.

    ===========  ===================================================================================================
    prediction   the class: text, whole number, double or boolean as the labels are; labels of several types as text
    score        the decision function: positive for the second of two classes; the winning score of more
    probability  that of ``prediction``
    reason       the prototype with the greatest score, and what each of its terms adds to that
    ===========  ===================================================================================================

    Whole numbers, decimals and text that holds a number are read as doubles; a boolean column where the model compares
    with True or False (elsewhere PostgreSQL needs a cast to integer). Infinities are outside the contract, as they are
    for `SMaLLModel`. Text that holds no number is an error where the model needs one; in SQLite, which has no such
    error, the row has no answer. SQLite can be built without ``exp``, which a SELECT or view needs for probabilities.

    ``conformance``: rows as `SMaLLModel` takes them; the result is then a query that needs no table and returns those
    of them to which the database gives another answer than the model: none, if all is well.
    """
    check_choice("form", form, FORMS)
    spoken, flat = dialect_of(dialect), flatten(model)
    _check_columns(flat, spoken)
    parts = Expressions(model, flat, spoken)
    if conformance is not None:
        _check_view(flat, spoken)
        scored = _select(parts, '"rows"')
        query = conformance_query(model, flat, spoken, conformance, parts.labels, scored, '"rows"')
        return f"{_header(flat)}-- The rows to which the database gives another answer than the model.\n{query}"
    if form == "expression":
        return _expression(parts)
    select = _select(parts, _path(spoken, table))
    if form == "select":
        return f"{_header(flat)}{select}\n"
    _check_view(flat, spoken)
    return f"{_header(flat)}CREATE VIEW {_path(spoken, view)} AS\n{select};\n"


def _path(dialect: Dialect, name: str | Sequence[str]) -> str:
    return ".".join(dialect.identifier(part) for part in ([name] if isinstance(name, str) else name))


def _check_columns(flat: FlatModel, dialect: Dialect) -> None:
    keys = [dialect.key(given.label) for given in flat.inputs]
    same = [given.label for given, key in zip(flat.inputs, keys, strict=True) if keys.count(key) > 1]
    if same:
        raise ValueError(f"{dialect.name} takes {listed(same)} for the names of one column; see with_feature_names.")


def _check_view(flat: FlatModel, dialect: Dialect) -> None:
    keys = {dialect.key(given.label) for given in flat.inputs}
    twice = [name for name in ANSWERS if name in keys]
    if twice:
        raise ValueError(f"There would be two columns called {listed(twice)}; see with_feature_names.")


def _header(flat: FlatModel) -> str:
    """The origin, the rule in words, and where there is no answer."""
    classes = [remark(label) for label in flat.classes]
    names = [f"z{j + 1}" for j in range(len(flat.owners))]
    if flat.is_binary:
        owner = flat.owners[0]
        bar = "above 0" if owner else "0 or more"
        rule = f"{classes[owner]} if {' or '.join(names)} is {bar}, otherwise {classes[1 - owner]}."
    else:
        spoken = [f"{name} for {classes[owner]}" for name, owner in zip(names, flat.owners, strict=True)]
        rule = f"the class of the greatest score, at a tie the first: {', '.join(spoken)}."
    lines = [flat.stamp, f"Predict {rule}"]
    needed = [remark(given.label) for given in flat.inputs if not given.may_be_missing]
    lines += [f"Rows without a value (NULL or NaN) of {', '.join(needed)} have no answer."] if needed else []
    return "".join(f"-- {line}\n" for line in lines)


def _expression(parts: Expressions) -> str:
    columns = [parts.dialect.unqualified(given.label) for given in parts.flat.inputs]
    inputs = parts.inputs(columns)
    scores = [f"({score})" for score in parts.scores(inputs)]
    unanswered = parts.unanswered(columns, inputs)
    answer = parts.any_of(scores) if parts.flat.is_binary else parts.winner(parts.greatest(scores), scores)
    if unanswered:
        answer = f"CASE WHEN {unanswered} THEN NULL\n    ELSE {answer} END"
    return f"/* {parts.flat.stamp} */ {answer}"


def _select(parts: Expressions, table: str) -> str:
    columns = [f"t.{parts.dialect.identifier(given.label)}" for given in parts.flat.inputs]
    return (_stages if parts.dialect.lateral else _subqueries)(parts, columns, table)


def _stages(parts: Expressions, columns: list[str], table: str) -> str:
    """Step by step, each made of those before: inputs x, scores z, the best of them, that in log-odds, the answer."""
    names = [f"x_{given.name}" for given in parts.flat.inputs]
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
    """Each answer in a subquery of its own, from the scores z: for databases without LATERAL. No z, no answer."""
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
