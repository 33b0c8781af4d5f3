"""What the page says of the columns of a table."""

from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.cli.io import cells
from smallearn.cli.io.labels import MANY_CLASSES, SOME_CLASSES
from smallearn.cli.io.tables import Table
from smallearn.model._rare import rare_position

PREVIEW_ROWS, PREVIEW_TEXT = 5, 40
COMMON = 6  # of the values of a column, how many are named


def facts_of_columns(table: Table) -> dict[str, Any]:
    """Of a table: its size, its first rows and its columns, with those that may be classes."""
    columns = table.columns
    first = [[_cell(value) for value in columns.column(name)[:PREVIEW_ROWS].to_pylist()] for name in table.file.names]
    return {
        "n_rows": columns.num_rows,
        "columns": [_column(table, name) for name in table.file.names],
        "preview": [list(row) for row in zip(*first, strict=True)],
    }


def _column(table: Table, name: str) -> dict[str, Any]:
    """A column: how many different values it has, the most common ones, and whether they may be classes."""
    import pyarrow.compute as pc

    text = cells.trimmed(table.columns.column(name), missing=table.file.missing)
    counts = pc.value_counts(text.drop_null())
    values, numbers = counts.field("values"), counts.field("counts").to_numpy(zero_copy_only=False)
    order = np.argsort(-numbers, kind="stable")[:COMMON]
    n_different, n_known = len(values), int(numbers.sum())
    few = n_different <= SOME_CLASSES or (n_different <= MANY_CLASSES and n_different <= n_known / 10)
    return {
        "name": name,
        "n_different": n_different,
        "n_missing": table.columns.num_rows - n_known,
        "common": [[_cell(values[int(at)].as_py()), int(numbers[at])] for at in order],
        "may_be_classes": n_different >= 2 and few,
    }


def facts_of_features(rows: Any) -> dict[str, Any]:
    """Of rows to learn from: the classes, the position of a rare one, the features, and the columns that are ignored,
    each with the reason."""
    labels, counts = np.unique(rows.y, return_counts=True)
    return {
        "n_rows": rows.n_rows,
        "classes": [
            [show(label, quote=False), number] for label, number in zip(labels.tolist(), counts.tolist(), strict=True)
        ],
        "rare": rare_position(counts.tolist()),
        "features": [_feature(str(name), rows.X[name].to_numpy()) for name in rows.X.columns],
        "ignored": [
            {"name": name, "reason": reason, "may_keep": name in rows.may_keep} for name, reason in rows.ignored.items()
        ],
    }


def _feature(name: str, values: np.ndarray) -> dict[str, Any]:
    """A feature: of which kind it is, its values in words, and how many are missing."""
    if values.dtype.kind == "f":
        known = values[~np.isnan(values)]
        words = f"{known.min():.6g} to {known.max():.6g}"
        return {"name": name, "kind": "number", "values": words, "n_missing": len(values) - len(known)}
    known = [value for value in values if value is not None]
    different = sorted(set(known), key=str)
    words = ", ".join(show(value, quote=False, most=PREVIEW_TEXT) for value in different[:COMMON])
    if len(different) > COMMON:
        words += f" and {len(different) - COMMON} more"
    kind = "yes or no" if isinstance(different[0], bool) else "category"
    return {"name": name, "kind": kind, "values": words, "n_missing": len(values) - len(known)}


def _cell(value: Any) -> str:
    return (
        "" if value is None else show(value if isinstance(value, str) else str(value), quote=False, most=PREVIEW_TEXT)
    )
