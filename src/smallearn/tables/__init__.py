"""Tables that need not fit in memory: Parquet, CSV or Arrow batches, converted once to mapped files."""

from smallearn._learn.data.table import Table
from smallearn.tables._cache import CachedTable, cached_tables, clear_cache
from smallearn.tables._convert import open_table

__all__ = ["CachedTable", "Table", "cached_tables", "clear_cache", "open_table"]
