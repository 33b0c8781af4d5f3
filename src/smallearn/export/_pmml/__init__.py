"""Internal: PMML."""
