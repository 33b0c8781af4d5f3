"""Exported SQL over many rows in Parquet: every prediction is the model's."""

import numpy as np
import pyarrow as pa
import pytest

from smallearn.export import to_sql
from smallearn.model import Prototype, SMaLLModel, Term
from tests.helpers.databases import opened
from tests.helpers.tools import need_module

N_ROWS = 10_000_000
MODEL = SMaLLModel(
    classes=("no", "yes"),
    class_dtype="<U3",
    n_features=3,
    prototypes=(
        Prototype(
            owner=1,
            intercept=-3.25,
            terms=(
                Term(feature=0, weight=0.0625, name="age"),
                Term(feature=1, weight=-1.5, name="size", kind="at_most", value=4.03405),
                Term(feature=1, weight=0.75, name="size", kind="missing"),
            ),
        ),
        Prototype(
            owner=1,
            intercept=-1.1,
            terms=(
                Term(feature=2, weight=0.7, name="colour", kind="equals", value="red"),
                Term(feature=1, weight=0.1, name="size", mean=5.0),
            ),
        ),
    ),
)
ROWS = f"""
    SELECT CAST(18 + i * 7919 % 72 AS DOUBLE) AS age,
           CASE WHEN i % 17 <> 5 THEN i * 104729 % 1000003 / 100000.0::DOUBLE END AS size,
           ['red', 'green', 'blue'][1 + i * 31 % 97 % 3] AS colour
    FROM range({N_ROWS}) AS numbers (i)
"""


@pytest.mark.slow
def test_duckdb_scores_ten_million_rows_in_parquet_as_the_model_does(tmp_path):
    connection = need_module("duckdb").connect(config={"threads": 2})
    connection.execute(f"COPY ({ROWS}) TO '{tmp_path}' (FORMAT parquet, PER_THREAD_OUTPUT true)")
    connection.execute(f"CREATE VIEW people AS SELECT * FROM read_parquet('{tmp_path}/*.parquet')")
    query = f"SELECT age, size, colour, prediction, probability FROM ({to_sql(MODEL, 'duckdb', table='people')})"
    n_rows = n_yes = 0
    for batch in pa.RecordBatchReader.from_stream(connection.sql(query)):
        answers = batch.select(["prediction", "probability"])
        rows = batch.select(["age", "size", "colour"])
        probability = MODEL.predict_proba(rows)
        predicted = MODEL.predict(rows)
        assert (answers.column(0).to_numpy(zero_copy_only=False) == predicted).all()
        np.testing.assert_allclose(answers.column(1).to_numpy(), probability.max(axis=1), rtol=1e-12)
        n_rows += len(batch)
        n_yes += int((predicted == "yes").sum())
    assert n_rows == N_ROWS
    assert 0.1 * N_ROWS < n_yes < 0.9 * N_ROWS


@pytest.mark.slow
@pytest.mark.tools
def test_rows_of_parquet_reach_postgresql_as_csv_from_duckdb(tmp_path):
    duck = need_module("duckdb").connect(config={"threads": 1})
    duck.execute(f"COPY (SELECT * FROM ({ROWS}) LIMIT 200_000) TO '{tmp_path}/people.parquet'")
    duck.execute(f"COPY (FROM '{tmp_path}/people.parquet') TO '{tmp_path}/people.csv' (HEADER)")
    with opened() as databases:
        database = databases["postgresql"].connection
        database.execute("CREATE TABLE people (age double precision, size double precision, colour text)")
        with database.cursor().copy("COPY people FROM STDIN (FORMAT csv, HEADER)") as copy:
            copy.write((tmp_path / "people.csv").read_bytes())
        database.execute(to_sql(MODEL, "postgresql", table="people", form="view", view="scored"))
        *columns, prediction, probability = zip(
            *database.execute("SELECT age, size, colour, prediction, probability FROM scored").fetchall(), strict=True
        )
    rows = pa.table(dict(zip(["age", "size", "colour"], columns, strict=True)))
    assert len(rows) == 200_000
    assert list(prediction) == MODEL.predict(rows).tolist()
    np.testing.assert_allclose(probability, MODEL.predict_proba(rows).max(axis=1), rtol=1e-12)
