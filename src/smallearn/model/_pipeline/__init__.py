"""Internal: a fitted scikit-learn pipeline as one model in the units of the raw table. scikit-learn is not imported."""
