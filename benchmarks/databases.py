"""``python -m benchmarks.databases``: how long databases take to score a million rows.

For each model and database, in turn: the class alone (``form="expression"``), the SELECT with prediction, score and
probability, with ``reason``, and with three reason codes. Numbers are read by a sum and text by its greatest length in
bytes, so that nothing is sent. Printed are seconds, the median of the rounds, how many times those of the expression
that is, and whether the targets are met: twice for the SELECT, five times with ``reason``.

PostgreSQL takes part if it is told where: ``--postgresql "host=/tmp user=me dbname=postgres"``.
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from benchmarks.timing import interleaved, verdict
from smallearn import SMaLLClassifier, SMaLLModel
from smallearn.export import to_sql

N_FEATURES = 10
TARGETS = {"select": 2.0, "reason": 5.0}  # times the expression
BYTES = {"duckdb": "strlen", "postgresql": "octet_length"}  # the length of a text, whatever its signs
WANTED: dict[str, dict[str, Any]] = {"sums": {}, "score card": {"literals": "thresholds"}}


def main(arguments: list[str] | None = None) -> None:
    """Print a line for each database, model and query."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10**6, help="default: a million")
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    parser.add_argument("--postgresql", metavar="ADDRESS", help="what psycopg connects to")
    chosen = parser.parse_args(arguments)
    X, y = make_classification(chosen.rows, N_FEATURES, random_state=0)
    models = dict(trained(X[:2000], y[:2000]))
    for dialect, run in connected(chosen.postgresql, X):
        for name, model in models.items():
            runs = {asked: partial(run, query) for asked, query in queries(model, dialect).items()}
            show(f"{dialect}, {name}", interleaved(runs, chosen.rounds))


def trained(X: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, SMaLLModel]]:
    """Models of two prototypes with three terms each: sums of numbers, and literals."""
    for name, options in WANTED.items():
        yield name, SMaLLClassifier(n_prototypes=2, n_nonzero=3, random_state=0, **options).fit(X, y).model_


def connected(postgresql: str | None, X: np.ndarray) -> Iterator[tuple[str, Callable[[str], Any]]]:
    """Each dialect, and a function that runs a query on a table with the rows."""
    import duckdb

    columns = [f"x{l}" for l in range(X.shape[1])]
    duck = duckdb.connect(config={"threads": 1})
    duck.register("rows", pd.DataFrame(X, columns=columns))
    duck.execute("CREATE TABLE data AS SELECT * FROM rows")
    yield "duckdb", lambda query: duck.execute(query).fetchall()
    if postgresql is not None:
        import psycopg

        connection = psycopg.connect(postgresql, autocommit=True)
        declared = ", ".join(f"{name} double precision" for name in columns)
        connection.execute(f"CREATE TEMPORARY TABLE data ({declared})")
        with connection.cursor() as cursor, cursor.copy("COPY data FROM STDIN") as copy:
            for row in X.tolist():
                copy.write_row(row)
        connection.execute("SET max_parallel_workers_per_gather = 0")
        connection.execute("ANALYZE data")
        yield "postgresql", lambda query: connection.execute(query).fetchall()


def queries(model: SMaLLModel, dialect: str) -> dict[str, str]:
    """A query that reads all answers, by what is asked for."""
    answers = "sum(prediction), sum(score), sum(probability)"
    size = BYTES[dialect]
    codes = ", ".join(f"max({size}(reason_{place}))" for place in (1, 2, 3))
    return {
        "expression": f"SELECT sum(c) FROM (SELECT {to_sql(model, dialect, form='expression')} AS c FROM data) AS s",
        "select": f"SELECT {answers} FROM ({to_sql(model, dialect)}) AS s",
        "reason": f"SELECT {answers}, max({size}(reason)) FROM ({to_sql(model, dialect, reason=True)}) AS s",
        "reason codes": f"SELECT {answers}, {codes} FROM ({to_sql(model, dialect, reason_codes=3)}) AS s",
    }


def show(title: str, seconds: dict[str, float]) -> None:
    """One line for each query, and the verdicts."""
    print(title)
    times = {name: each / seconds["expression"] for name, each in seconds.items()}
    for name, each in seconds.items():
        print(f"  {name:<14}{each:8.3f} s{times[name]:8.2f} times the expression", flush=True)
    for name, most in TARGETS.items():
        verdict(f"{name}: at most {most:g} times the expression ({times[name]:.1f})", times[name] <= most)


if __name__ == "__main__":
    main()
