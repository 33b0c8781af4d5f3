"""Exported SQL in Spark, where it is installed: the model's answers on the edges of every term, over Parquet."""

import pandas as pd
import pytest

from smallearn.export import to_sql
from smallearn.export._flat import flatten
from smallearn.model import Prototype, SMaLLModel, Term
from tests.export.sql.test_writer import MODELS
from tests.helpers.databases import ID, Database, agree, storable
from tests.helpers.exports import edge_rows

ODD_NAMES = ["a`b", 'say "x"', "it's \\ odd"]
ODD = SMaLLModel(
    ("it's", "back\\slash"),
    "<U10",
    3,
    (
        Prototype(1, -0.5, (Term(0, 1.0, ODD_NAMES[0]), Term(1, 2.0, ODD_NAMES[1], "equals", "O'Neill \\ %"))),
        Prototype(1, 0.25, (Term(2, -1.5, ODD_NAMES[2], "at_most", 0.1),)),
    ),
)


@pytest.fixture(scope="module")
def session():
    spark = pytest.importorskip("pyspark.sql", reason="Spark is not installed").SparkSession
    options = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "1"}
    session = spark.builder.master("local[1]").config(map=options).getOrCreate()
    yield session
    session.stop()


@pytest.mark.tools
@pytest.mark.parametrize("ansi", ["false", "true"])  # the default until Spark 4, and since
@pytest.mark.parametrize("name", [*MODELS, "odd"])
def test_spark_gives_the_models_answers_over_parquet(session, name, ansi, tmp_path):
    session.conf.set("spark.sql.ansi.enabled", ansi)
    model = ODD if name == "odd" else MODELS[name]
    flat = flatten(model)
    rows = storable(Database("spark", None), flat, edge_rows(flat, 20))
    labels = [given.label for given in flat.inputs]
    columns = {label: [row[l] for row in rows] for l, label in enumerate(labels)}
    types = {given.label: "string" if given.is_text else "Float64" for given in flat.inputs}
    frame = pd.DataFrame(columns).astype(types).assign(**{ID: range(len(rows))})
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    session.read.parquet(str(tmp_path)).createOrReplaceTempView("data")
    found = session.sql(f"SELECT * FROM ({to_sql(model, 'spark')}) ORDER BY `{ID}`").collect()
    classes = session.sql(f"SELECT {to_sql(model, 'spark', form='expression')} FROM data ORDER BY `{ID}`").collect()
    agree(model, flat, rows, [list(row) for row in found], [row[0] for row in classes])
