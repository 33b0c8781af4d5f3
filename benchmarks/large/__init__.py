"""Tables beyond memory: passes in memory, mapped and on Dask; fits from Parquet; a plan for a cluster."""
