"""Internal: how a model is chosen. Folds, the race of families of models, limits of a chip."""
