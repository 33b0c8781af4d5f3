"""The same columns as a pandas and as a polars table, with any column types."""

import pandas as pd
import polars as pl


def pandas_table(fields, **types):
    """A pandas table; ``types`` are dtypes by column."""
    return pd.DataFrame({name: pd.Series(values, dtype=types.get(name)) for name, values in fields.items()})


def polars_table(fields, **types):
    """A polars table; ``types`` are dtypes by column."""
    return pl.DataFrame({name: pl.Series(values, dtype=types.get(name)) for name, values in fields.items()})
