"""Table files to read, and their rows as models and training get them."""

from dataclasses import replace

import numpy as np
import pandas as pd

from smallearn.cli.console import Console
from smallearn.cli.io.model_rows import read_for_model
from smallearn.cli.io.rules import TrainingRules
from smallearn.cli.io.tables import ReadOptions
from smallearn.cli.io.training import read_for_training
from smallearn.model import Prototype, Term
from tests.helpers.models import WHOLE

TABLE = pd.DataFrame(
    {
        "age": [41.5, np.nan, 3.0, 60.0],
        "colour": ["red", None, 'so-called "blue"', "grün; hell"],
        "member": [True, False, None, True],
        "note": ["a", "b\nc", None, "d,e"],
        "y": ["yes", "no", "no", "yes"],
    }
)


HEAD = "age,colour,member\n"
ONE = replace(WHOLE, n_features=1, prototypes=(Prototype(1, 0.0, (Term(0, 1.0, "x", mean=0.0),)),))


def write(table, path):
    if path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix in (".arrow", ".feather"):
        table.to_feather(path)
    else:
        separator = {".tsv": "\t", ".txt": ";"}.get(path.suffix, ",")
        table.to_csv(path, index=False, sep=separator, decimal="," if separator == ";" else ".", encoding="utf-8-sig")
    return path


def csv_file(folder, text, encoding="utf-8"):
    path = folder / "cases.csv"
    path.write_bytes(text.encode(encoding))
    return path


def rows(n=30, **columns):
    rng = np.random.default_rng(1)
    return pd.DataFrame({**columns, "size": rng.normal(size=n).round(3), "y": np.where(np.arange(n) % 2, "no", "yes")})


def rows_of(cells, separator=","):
    """A table of a column x and classes that take turns."""
    quoted = [f'"{cell}"' if separator in cell else cell for cell in cells]
    return f"x{separator}y\n" + "".join(f"{cell}{separator}{'ab'[i % 2]}\n" for i, cell in enumerate(quoted))


def for_model(model, path, *, missing=(), encoding="utf-8", console=None, **options):
    """The rows of a file and their classes, as a model gets them."""
    read = ReadOptions(encoding=encoding, missing=tuple(missing))
    found = read_for_model(model, path, options=read, console=console or Console(), **options)
    return found.X, found.y


def for_training(path, target="y", *, missing=(), **options):
    """The rows of a file, as training gets them."""
    read = ReadOptions(missing=tuple(text.strip() for text in missing))
    return read_for_training(path, target, rules=TrainingRules(**options), options=read, console=Console())


def training_of(table, folder, name="t.csv", **options):
    if not (folder / name).exists():
        write(table, folder / name)
    return for_training(folder / name, "y", **options)
