"""Internal: a model as an OR of ANDs."""
