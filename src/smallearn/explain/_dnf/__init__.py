"""Internal: a model as an OR of ANDs (disjunctive normal form)."""
