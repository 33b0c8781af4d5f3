"""Captions and column names that the command line and the report share."""

CONFUSION = "Confusion matrix"
GROUPS = "Groups with the most errors"
GROUPS_HEAD = ("group", "rows", "error rate")
ERRORS = "Most confident errors"
ERRORS_HEAD = ("row", "true class", "predicted", "probability")
COMPARISON = "Standard models, for comparison"
COMPARISON_HEAD = ("model", "accuracy", "size", "CPU seconds to train")
