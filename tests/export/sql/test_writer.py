"""Models in SQL, run by SQLite, DuckDB and PostgreSQL, against the models themselves."""

import math
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from smallearn import SMaLLModel
from smallearn.export._flat import flatten
from smallearn.export._sql.databases import BLANKS, _rounds_to_zero
from smallearn.export._sql.dialects import DIALECTS
from smallearn.export._sql.expressions import ANSWERS
from smallearn.export._sql.writer import to_sql
from smallearn.model import Prototype, TableFacts, Term
from tests.helpers.databases import ID, MARKED_DIALECTS, POSTGRESQL, agree, check, storable
from tests.helpers.exports import (
    EXPECTED_COSTS,
    MIXED,
    MODELS,
    edge_rows,
    exportable,
    full_table,
    trained_models,
    used_rows,
)
from tests.helpers.models import CARD, NO, THREE, YES

VIEW = 'v"; --'


@pytest.fixture(params=MARKED_DIALECTS)
def db(request, databases):
    return databases[request.param]


# --- agreement -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def learned():
    return trained_models()


@pytest.mark.parametrize("name", ["breast cancer", "breast cancer literals", "iris", "wine"])
def test_every_row_of_real_data_gets_the_answer_of_the_model(db, learned, name):
    model, X = learned[name]
    check(db, model, used_rows(flatten(model), X))


@pytest.mark.parametrize("name", [*MODELS, *EXPECTED_COSTS])
def test_edge_rows_get_the_answer_of_the_model(db, name):
    model = (MODELS | EXPECTED_COSTS)[name]
    check(db, model, edge_rows(flatten(model), 100))


def test_edge_rows_of_trained_models_get_the_answer_of_the_model(db, learned):
    for model, _ in learned.values():
        check(db, model, edge_rows(flatten(model), 30))


def is_refused(db, model):
    """Whether this database cannot hold the model's names."""
    flat = flatten(model)
    names = [given.label for given in flat.inputs]
    texts = [*names, *(label for label in model.classes if isinstance(label, str))]
    texts += [term.value for term in flat.terms if isinstance(term.value, str)]
    folded = [DIALECTS[db.dialect].key(name) for name in names]
    if db.dialect == "mysql" and any(
        len(name) > 64 or name.endswith(BLANKS) or max(name, default="") > "\uffff" for name in names
    ):
        return True
    return (
        any("\x00" in text for text in texts)
        or ("" in names and db.dialect != "sqlite")
        or len(set(folded)) < len(folded)
        or len(set(map(str, model.classes))) < len(model.classes)
    )


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(case=exportable())
def test_random_models_get_the_answer_of_the_model_or_a_reason_why_not(db, case):
    model, rows = case
    if is_refused(db, model):
        with pytest.raises(ValueError, match=r"NUL|empty name|one column|several types|no name in MySQL"):
            to_sql(model, db.dialect)
        model = model.with_feature_names([f"f{index}" for index in range(model.n_features)])
        if is_refused(db, model):
            return
    if storable(db, flatten(model), rows):
        check(db, model, rows)


# --- missing values --------------------------------------------------------------------------------------------------


def test_nan_is_missing_as_null_is(db):
    flat = flatten(MIXED)
    row = [None, 150.0, "A", None, 3.0]
    nan = [
        math.nan if value is None and not given.is_text else value
        for value, given in zip(row, flat.inputs, strict=True)
    ]
    columns = [(given.label, db.text if given.is_text else db.double) for given in flat.inputs]
    db.fill(columns, [row, nan])
    first, second = db.rows(to_sql(MIXED, db.dialect))
    assert first[5:] == second[5:]
    assert first[5] == MIXED.predict(full_table(flat, [row]))[0]


@pytest.mark.parametrize("absent", [None, math.nan])
@pytest.mark.parametrize("model", [YES, NO, THREE], ids=["yes", "no", "three"])
def test_a_row_without_a_value_that_the_model_needs_has_no_answer(db, model, absent):
    names = [given.label for given in flatten(model).inputs]
    db.fill([(name, db.double) for name in names], [[5.0, absent], [absent, 5.0], [absent, absent], [5.0, 5.0]])
    found = db.rows(to_sql(model, db.dialect))
    assert [row[2:] for row in found[:3]] == [[None] * 3] * 3
    assert None not in found[3]
    classes = db.rows(f"SELECT {to_sql(model, db.dialect, form='expression')} FROM data")
    assert [row[0] for row in classes] == [None, None, None, found[3][2]]


# --- types of columns ------------------------------------------------------------------------------------------------

CUTS = SMaLLModel(
    (0, 1),
    "<i8",
    2,
    (
        Prototype(1, -1.0, (Term(0, 2.0, "a", "above", 2.0), Term(0, 0.25, "a", mean=1.0), Term(1, -1.0, "c"))),
        Prototype(1, 0.5, (Term(0, -3.0, "a", "equals", 7), Term(1, 0.125, "c", "at_most", 3.0))),
    ),
)


def test_whole_numbers_decimals_and_numbers_in_text_are_read_as_doubles(db):
    rows = [[float(a), float(c)] for a in (0, 1, 2, 3, 7) for c in (0, 1, 3, 4)] + [[None, 1.0]]
    for kind in db.types:
        written = rows
        if "int" in kind or "char" in kind or kind == "text":
            written = [[None if value is None else int(value) for value in row] for row in rows]
        if "char" in kind or kind == "text":
            written = [[None if value is None else str(value) for value in row] for row in written]
        db.fill([("a", kind), ("c", kind), (ID, "integer")], [[*row, i] for i, row in enumerate(written)])
        found = db.rows(f"{to_sql(CUTS, db.dialect, reason=True)} ORDER BY {db.quoted(ID)}")
        classes = db.rows(f"SELECT {to_sql(CUTS, db.dialect, form='expression')} FROM data ORDER BY {db.quoted(ID)}")
        agree(CUTS, flatten(CUTS), rows, found, [row[0] for row in classes])


@pytest.mark.parametrize("dialect", [POSTGRESQL, "duckdb"])
def test_single_precision_is_widened_and_not_the_cut_point_narrowed(databases, dialect):
    db = databases[dialect]
    cut = replace(YES, prototypes=(Prototype(1, -1.0, (Term(0, 2.0, "a", "at_most", 0.1),)),))
    near = float(np.float32(0.1))
    assert near > 0.1
    db.fill([("a", "real")], [[near], [float(np.nextafter(np.float32(0.1), np.float32(0)))]])
    assert [row[1] for row in db.rows(to_sql(cut, dialect))] == ["no", "yes"]


def test_true_and_false_are_found_in_columns_of_booleans_and_of_numbers(db):
    rows = [[age, colour, member] for age in (30.0, None) for colour in ("red", None) for member in (1.0, 0.0, None)]
    for kind in ["boolean", "integer", db.double or "real", db.text]:
        truth = {"boolean": bool, "integer": int}.get(
            kind, float if kind == (db.double or "real") else lambda v: str(int(v))
        )
        stored = [[*row[:2], None if row[2] is None else truth(row[2])] for row in rows]
        db.fill([("age", db.double), ("colour", db.text), ("member", kind)], stored)
        found = [row[3] for row in db.rows(to_sql(CARD, db.dialect))]
        assert found == CARD.predict(full_table(flatten(CARD), rows)).tolist()


@pytest.mark.parametrize("text", ["", "abc", "12abc", "1-2", " "])
def test_text_that_is_no_number_gets_no_answer(db, text):
    db.fill([("a", db.text), ("c", db.text)], [[text, "1"], ["1", "1"]])
    if db.dialect in ("postgresql", "duckdb"):
        with pytest.raises(Exception, match=r"invalid input syntax|Could not convert"):
            db.rows(to_sql(CUTS, db.dialect))
        return
    first, second = db.rows(to_sql(CUTS, db.dialect))
    assert first[2:] == [None] * 3
    assert second[2:4] == [1, 0.625]
    expression = to_sql(CUTS, db.dialect, form="expression")
    assert db.rows(f"SELECT {expression} FROM data") == [[None], [1]]


def wards(*values):
    terms = tuple(Term(0, 2.0, "ward", "equals", value) for value in values)
    return replace(YES, n_features=1, prototypes=(Prototype(1, -1.0, terms),))


@pytest.mark.parametrize(
    ("dialect", "kind"),
    [
        ("sqlite", "text collate nocase"),
        ("sqlite", "text collate rtrim"),
        ("duckdb", "varchar collate nocase"),
        ("duckdb", "varchar collate noaccent"),
        pytest.param("postgresql", "text collate any_case", marks=pytest.mark.tools),
        pytest.param("postgresql", "varchar(20)", marks=pytest.mark.tools),
        pytest.param("mysql", "varchar(20) character set utf8mb4 collate utf8mb4_general_ci", marks=pytest.mark.tools),
        pytest.param("mysql", "varchar(20) character set latin1", marks=pytest.mark.tools),
        pytest.param("mysql", "text character set utf8mb4 collate utf8mb4_bin", marks=pytest.mark.tools),
        pytest.param("clickhouse", "String", marks=pytest.mark.tools),
    ],
)
def test_text_is_compared_sign_by_sign_whatever_the_collation(databases, dialect, kind):
    db = databases[dialect]
    if dialect == "postgresql":
        db.run(
            "CREATE COLLATION IF NOT EXISTS any_case "
            "(provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
        )
    texts = ["Á", "á", "A", "a", "a ", "Á", ""]
    db.fill([("ward", kind)], [[text] for text in texts])
    for category in texts:
        found = [row[1] for row in db.rows(to_sql(wards(category), dialect))]
        assert found == ["yes" if text == category else "no" for text in texts]


@pytest.mark.tools
def test_enumerations_and_padded_text_are_text(databases):
    db = databases["postgresql"]
    db.run("DROP TYPE IF EXISTS mood CASCADE")
    db.run("CREATE TYPE mood AS ENUM ('A', 'B')")
    for kind in ("mood", "char(5)"):
        db.fill([("ward", kind)], [["A"], ["B"], [None]])
        assert [row[1] for row in db.rows(to_sql(wards("A", "not in it"), "postgresql"))] == ["yes", "no", "no"]


def test_a_number_is_not_the_text_that_looks_like_it(databases):
    db = databases["sqlite"]
    both = wards("1", 2)
    db.fill([("ward", "")], [["1"], [1], ["2"], [2], [2.0], [None]])
    assert [row[1] for row in db.rows(to_sql(both, "sqlite"))] == ["yes", "no", "no", "yes", "yes", "no"]


@pytest.mark.parametrize("dialect", [POSTGRESQL, "duckdb"])
def test_a_column_of_text_holds_no_number(databases, dialect):
    db = databases[dialect]
    db.fill([("ward", db.text), (ID, "integer")], [["1", 0], ["2", 1], [None, 2]])
    found = db.rows(f"{to_sql(wards('1', 2), dialect)} ORDER BY {db.quoted(ID)}")
    assert [row[2] for row in found] == ["yes", "no", "no"]


# --- numbers ---------------------------------------------------------------------------------------------------------


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=40, max_size=40))
@example(values=[5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e15, 1e22, 123456789012345678.0])
@example(values=[1.0, 10.0, 1e14, 0.1, 0.3, 1e-7, 9.999999999999999e-08, 13.123456789012345, 0.0, -0.0, 1 / 3])
def test_the_database_reads_every_number_exactly(db, values):
    written = ", ".join(DIALECTS[db.dialect].number(value) for value in values)
    assert db.rows(f"SELECT {written}") == [values]


def test_sqlite_reads_ordinary_numbers_exactly(databases):
    rng = np.random.default_rng(0)
    values = (rng.choice([-1.0, 1.0], 20000) * 10.0 ** rng.uniform(-9.0, 17.0, 20000)).tolist()
    for begin in range(0, len(values), 500):
        part = values[begin : begin + 500]
        written = ", ".join(DIALECTS["sqlite"].number(value) for value in part)
        assert databases["sqlite"].rows(f"SELECT {written}") == [part]


@given(st.floats(5e-324, 1e300))
@example(0.5)
@example(0.001)
def test_the_greatest_factor_that_rounds_to_zero_is_found(weight):
    x = _rounds_to_zero(weight)
    assert weight * x == 0.0
    assert weight * math.nextafter(x, math.inf) > 0.0


def test_large_scores_have_probability_one_and_raise_no_error(db):
    steep = replace(YES, scale=1e3)
    three = replace(THREE, scale=1e3)
    check(db, steep, [[value, 0.0] for value in (-1e6, -1.0, 0.5, 1.0, 1e6)])
    check(db, three, [[value, -value] for value in (-1e6, -1.0, 0.5, 1.0, 1e6)])


# --- what comes out --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "classes",
    [(False, True), (3, 5), (-(2**63), 2**63 - 1), (2**64, 1), (-0.5, 1e-300), ("", "it's"), ("a", 1)],
    ids=str,
)
def test_classes_come_out_as_they_are_or_of_several_types_as_text(db, classes):
    check(db, replace(YES, classes=classes, class_dtype="|O"), [[0.0, 0.0], [0.5, 0.0], [0.75, 1.0]])


def test_the_reason_names_the_winning_prototype_and_its_terms(db):
    rows = [[60.0, 0.1, "A", 4.0, 3.0], [None, 150.0, None, 4.0, 1.0], [-90.0, 150.0, "x", -8.0, 0.0]]
    flat = flatten(MIXED)
    columns = [(given.label, db.text if given.is_text else db.double) for given in flat.inputs]
    db.fill([*columns, (ID, "integer")], [[*row, i] for i, row in enumerate(rows)])
    found = [row[-1] for row in db.rows(f"{to_sql(MIXED, db.dialect, reason=True)} ORDER BY {db.quoted(ID)}")]
    assert found == [
        "prototype 1: constant -1.5000, 0.75 * age (50 if missing), [blood pressure <= 0.1] -3.2500, "
        "[ward = 'A'] 4.0000, [count = 3] 1.0000; largest: age",
        "prototype 1: constant -1.5000, 0.75 * age (50 if missing), [age is missing] 2.0000; largest: age",
        "prototype 2: constant 0.2500, [blood pressure > 140] 1.5000, -0.125 * dose (0 if missing); "
        "largest: [blood pressure > 140]",
    ]


def test_the_reason_names_the_term_with_the_largest_effect_up_or_down_at_a_tie_the_first(db):
    terms = (Term(0, -0.3, "a"), Term(1, 1.5e-7, "b"), Term(2, 2.0, "c", "above", 1.0))
    model = replace(YES, prototypes=(Prototype(1, 0.25, terms),), n_features=3)
    rows = [[10.0, 0.0, 0.0], [-10.0, 0.0, 2.0], [1e20, -1.0, 2.0], [1.0, -1e9, 2.0], [1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]
    db.fill([*((name, db.double) for name in "abc"), (ID, "integer")], [[*row, i] for i, row in enumerate(rows)])
    found = [row[-1] for row in db.rows(f"{to_sql(model, db.dialect, reason=True)} ORDER BY {db.quoted(ID)}")]
    largest = ["a", "a", "a", "b", "[c > 1]", "a"]
    said = "prototype 1: constant 0.2500, -0.3 * a, 1.5e-07 * b"
    assert found == [
        f"{said}{', [c > 1] 2.0000' if row[2] > 1.0 else ''}; largest: {name}"
        for row, name in zip(rows, largest, strict=True)
    ]


def test_the_reason_of_a_single_term_or_of_literals_alone_compares_nothing():
    single = replace(YES, prototypes=(Prototype(1, 0.25, (Term(0, -0.3, "a"),)),), n_features=2)
    assert "largest" not in to_sql(single, reason=True)
    assert "largest" not in to_sql(CARD, reason=True)


def test_the_reason_of_many_terms_names_the_largest_and_grows_hardly_faster_than_they_do():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=120)
    many = [
        SMaLLModel((0, 1), "<i8", n, (Prototype(1, 0.0, tuple(Term(l, float(weights[l]), f"f{l}") for l in range(n))),))
        for n in (30, 120)
    ]
    short, long = (len(to_sql(model, "sqlite", reason=True)) for model in many)
    assert long < 6 * short
    X = rng.normal(size=(50, 120))
    said = [text.rpartition("largest: ")[2] for text in reasons_in_sqlite(many[1], X)]
    assert said == [f"f{l}" for l in np.abs(weights * X).argmax(axis=1)]


def reasons_in_sqlite(model, X):
    """The reason of each row."""
    with closing(sqlite3.connect(":memory:")) as database:
        names = ", ".join(f"f{l}" for l in range(X.shape[1]))
        database.execute(f"CREATE TABLE data ({names})")
        database.executemany(f"INSERT INTO data VALUES ({', '.join('?' * X.shape[1])})", X.tolist())
        database.create_function("exp", 1, math.exp)
        query = to_sql(model, "sqlite", reason=True).rstrip().rstrip(";")
        return [text for (text,) in database.execute(f"SELECT reason FROM ({query}\n)")]


def test_a_view_is_the_select_under_a_name_and_a_table_may_be_in_a_schema(db):
    db.fill([("a", db.double), ("c", db.double), ("other", db.double)], [[0.0, 0.0, 7.0], [0.5, 0.0, 8.0]], "my.table")
    where, name = {"table": (db.schema, "my.table")}, db.quoted(VIEW)
    select = db.rows(to_sql(YES, db.dialect, **where))
    assert [row[:5] for row in select] == [[0.0, 0.0, 7.0, "yes", 0.5], [0.5, 0.0, 8.0, "no", 0.0]]
    db.run(to_sql(YES, db.dialect, form="view", view=VIEW, **where))
    assert db.rows(f"SELECT * FROM {name}") == select
    found = db.run(f"SELECT * FROM {name}").description
    assert [column[0] for column in found] == ["a", "c", "other", *ANSWERS]
    db.run(f"DROP VIEW {name}")


def test_the_expression_of_two_classes_is_an_or_over_the_prototypes():
    for dialect in DIALECTS:
        text = to_sql(YES, dialect, form="expression").upper()
        assert " OR " in text
        assert "GREATEST" not in text
        assert "MAX(" not in text


# --- conformance -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["yes", "three", "card", "mixed", "constant"])
def test_the_conformance_query_returns_no_row_where_all_is_well(db, name):
    model = MODELS[name]
    flat = flatten(model)
    X = full_table(flat, storable(db, flat, edge_rows(flat, 20)))
    assert db.rows(to_sql(model, db.dialect, conformance=X)) == []


def test_the_conformance_query_returns_the_rows_that_differ(db):
    X = [[0.0, 9.0, 0.0], [1.0, 9.0, 0.0], [0.25, 9.0, 1.0]]
    query = to_sql(YES, db.dialect, conformance=X)
    number = DIALECTS[db.dialect].number
    wrong = query.replace(f"{number(2.0)} * ", f"{number(2.5)} * ")
    assert [row[0] for row in db.rows(wrong)] == [1]
    swapped = query.replace("'yes'", "'maybe'", 1)  # an expected class
    assert [row[0] for row in db.rows(swapped)] == [0]


def test_the_conformance_query_finds_other_names_where_a_feature_has_its_own(db):
    named = YES.with_feature_names(["row", "b", "class"])
    assert db.rows(to_sql(named, db.dialect, conformance=[[0.0, 9.0, 0.0], [1.0, 9.0, 0.0]])) == []


def test_conformance_needs_rows_and_columns_of_one_type():
    with pytest.raises(ValueError, match="no rows"):
        to_sql(YES, conformance=np.empty((0, 3)))
    with pytest.raises(ValueError, match="compares text, but a column of DuckDB"):
        to_sql(wards("A"), "duckdb", conformance=np.array([[1.0]], dtype=object))


# --- hostile names ---------------------------------------------------------------------------------------------------

ATTACKS = [
    "'; DROP TABLE victim; --",
    '"; DROP TABLE victim; --',
    "`; DROP TABLE victim; --",
    "\\'; DROP TABLE victim; --",
    "*/ ; DROP TABLE victim; /*",
    "$$; DROP TABLE victim; $$",
    "x\n; DROP TABLE victim;\n--",
    "); DROP TABLE victim; --",
    "select",
    "t",
    "z1",
    "x.y",
    "?",
    "%s %(a)s",
    ":name",
    "größe 数量 🚀",
    "\u2028\u0085\u202e",
    "]",
    " ",
]


@pytest.mark.parametrize("strings", ["on", "off"])
def test_no_name_label_or_category_injects_code(db, strings):
    if db.dialect == "postgresql":
        db.run(f"SET standard_conforming_strings = {strings}")
    if db.dialect == "mysql" and strings == "on":
        db.run("SET sql_mode = 'NO_BACKSLASH_ESCAPES'")
    db.fill([("a", "integer")], [[1]], "victim")
    attacks = [attack for attack in ATTACKS if db.dialect != "mysql" or attack not in (" ", "größe 数量 🚀")]
    for attack, label in zip(attacks, attacks[1:] + attacks[:1], strict=True):
        terms = (Term(0, 1.0, attack, "equals", label), Term(1, 2.0, "n" + label), Term(0, -0.5, attack, "missing"))
        model = SMaLLModel((label, attack), "<U99", 2, (Prototype(1, -1.0, terms),))
        check(db, model, [[label, 0.25], ["other", 0.75], [None, 1.0], ["", 0.5]])
        db.fill([(attack, db.text), ("n" + label, db.double)], [[label, 0.25]], attack)
        db.run(to_sql(model, db.dialect, table=attack, form="view", view=f"view {label}"))
        assert db.rows(f"SELECT * FROM {db.quoted('view ' + label)}")[0][2] == attack
        assert db.rows(to_sql(model, db.dialect, conformance=np.array([[label, 0.25]], dtype=object))) == []
        db.run(f"DROP VIEW {db.quoted('view ' + label)}")
        db.run(f"DROP TABLE {db.quoted(attack)}")
    assert db.rows("SELECT * FROM victim") == [[1]]
    if db.dialect == "postgresql":
        db.run("RESET standard_conforming_strings")
    if db.dialect == "mysql":
        db.run("SET sql_mode = DEFAULT")


def test_names_of_columns_may_be_those_that_the_query_uses_itself(db):
    names = ["z1", "x_z1", "score", "best", "x", "t"]
    if db.dialect == "mysql":  # a subquery cannot have two columns of one name, and the test has it in one
        names.remove("score")
    terms = tuple(Term(index, float(index + 1), name) for index, name in enumerate(names))
    model = SMaLLModel(("no", "yes"), "<U3", len(names), (Prototype(1, -20.0, terms),))
    rows = np.random.default_rng(0).normal(size=(20, len(names))) * 5.0
    check(db, model, rows.tolist())


def test_a_name_of_a_million_characters_is_one_name(db):
    if db.dialect == "mysql":
        with pytest.raises(ValueError, match="more than 64 characters"):
            to_sql(YES.with_feature_names(["x" * 65, "b", "c"]), db.dialect)
        return
    length = {"postgresql": 10**3, "clickhouse": 10**4}  # cut to 63 bytes by one, and a query is too long for the other
    long = "é" * length.get(db.dialect, 10**6)
    model = YES.with_feature_names([long, "b", "c"])
    assert to_sql(YES.with_feature_names(["x" * 10**6, "b", "c"]), db.dialect)
    check(db, model, [[0.0, 0.0], [0.5, 0.0], [0.75, 1.0]])


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("bad", "why"), [("a\x00b", "NUL"), ("\ud800", "surrogate")])
def test_what_no_database_can_hold_is_an_error_wherever_it_stands(dialect, bad, why):
    for model in (
        YES.with_feature_names([bad, "b", "c"]),
        replace(YES, classes=("no", bad)),
        wards(bad),
    ):
        for form in ("expression", "select"):
            with pytest.raises(ValueError, match=why):
                to_sql(model, dialect, form=form)
    with pytest.raises(ValueError, match=why):
        to_sql(YES, dialect, table=bad)
    with pytest.raises(ValueError, match=why):
        to_sql(YES, dialect, form="view", view=bad)


def test_names_that_are_one_column_in_the_database_are_an_error():
    upper = YES.with_feature_names(["A", "b", "a"])
    assert to_sql(upper, "postgresql")
    for dialect in ("duckdb", "sqlite", "mysql", "spark"):
        with pytest.raises(ValueError, match="the same column"):
            to_sql(upper, dialect)
    with pytest.raises(ValueError, match="the same column"):
        to_sql(YES.with_feature_names(["x" * 63 + "a", "b", "x" * 63 + "c"]), "postgresql")
    with pytest.raises(ValueError, match="two columns called 'score'"):
        to_sql(YES.with_feature_names(["score", "b", "c"]), form="view")


def test_an_empty_name_is_a_column_in_sqlite_alone(databases):
    empty = YES.with_feature_names(["", "b", "c"])
    check(databases["sqlite"], empty, [[0.0, 0.0], [0.75, 1.0]])
    for dialect in set(DIALECTS) - {"sqlite"}:
        with pytest.raises(ValueError, match="empty name"):
            to_sql(empty, dialect)


def test_a_column_that_is_not_there_is_an_error_and_not_text(db):
    db.fill([("a", db.double), ("b", db.double)], [[0.0, 0.0]])
    for query in (to_sql(YES, db.dialect), f"SELECT {to_sql(YES, db.dialect, form='expression')} FROM data"):
        with pytest.raises(Exception, match="c"):
            db.run(query).fetchall()


# --- errors ----------------------------------------------------------------------------------------------------------


def test_unknown_dialects_and_forms_are_errors_that_list_the_known_ones():
    with pytest.raises(ValueError, match=r"dialect='access' .* 'postgresql', 'duckdb', 'sqlite'"):
        to_sql(YES, "access")
    with pytest.raises(ValueError, match=r"form='table' .* 'expression', 'select', 'view'"):
        to_sql(YES, form="table")
    with pytest.raises(ValueError, match="several types"):
        to_sql(replace(YES, classes=(1, "1"), class_dtype="|O"))


@pytest.mark.parametrize(
    "asked", [{"reason": True}, {"reason_codes": 2}, {"wording": {"a": "Bad luck"}}, {"favourable": "no"}]
)
def test_an_expression_refuses_reasons_as_it_has_none(asked):
    (name,) = asked
    with pytest.raises(ValueError, match=rf"^{name} goes with form='select' or form='view' alone"):
        to_sql(YES, form="expression", **asked)


def test_a_comment_names_the_words_that_have_to_be_null():
    words = (("a", ("-", "n/a\n; DROP TABLE data")), ("unused", ("?",)))
    model = replace(YES, table=TableFacts(missing_by_column=words))
    lines = to_sql(model, "sqlite").splitlines()
    assert lines[: lines.index("SELECT t.*,")][-1] == (
        "-- Missing values in training, which have to be NULL here: '-', 'n/a<U+005C>n; DROP TABLE data' in a."
    )
    assert to_sql(YES, "sqlite").splitlines()[-1] == lines[-1]


def test_every_word_that_meant_a_missing_value_is_named():
    words = tuple(f"word {number}" for number in range(20))
    model = replace(YES, table=TableFacts(missing=words, missing_by_column=(("a", words),)))
    header = [line for line in to_sql(model, "sqlite").splitlines() if line.startswith("-- ")]
    assert [line for line in header if all(word in line for word in words)] == [header[0], header[-1]]


def test_the_text_says_where_it_comes_from():
    for dialect in DIALECTS:
        for form in ("expression", "select", "view"):
            assert flatten(YES).stamp in to_sql(YES, dialect, form=form)
