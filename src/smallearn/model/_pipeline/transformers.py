"""The transformers that can be folded: `FOLDS` has a function for each, from the columns before it to those after it.

A further transformer is a further function, with its name in `FOLDS`.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from smallearn._text import show
from smallearn.model._pipeline.bins import binarizer, bins
from smallearn.model._pipeline.columns import Table, cannot
from smallearn.model._pipeline.encoders import encoder
from smallearn.model._pipeline.imputers import simple_imputer
from smallearn.model._pipeline.scalers import max_abs, min_max, robust, standard, times

Fold = Callable[[Any, Table, str], Table]  # from the fitted transformer, the columns and the step as messages name it
LEARNS_NOTHING = ("FeatureUnion", "FunctionTransformer", "Pipeline")  # themselves


def apply(transformer: Any, table: Table, name: str) -> Table:
    """The columns after a transformer, a step of a pipeline called ``name``."""
    if transformer is None or _is("passthrough", transformer):
        return table
    kind = type(transformer)
    step = f"Step {show(name)} ({kind.__name__})"
    fold = FOLDS.get(kind.__name__, _select if hasattr(transformer, "get_support") else None)
    if fold is None or kind.__module__.partition(".")[0] != "sklearn":
        cannot(step, f"no term of a model computes what it does. What can be: {', '.join(sorted(FOLDS))}")
    if not hasattr(transformer, "n_features_in_") and kind.__name__ not in LEARNS_NOTHING:
        raise ValueError(f"{step} is not fitted yet; fit the whole pipeline first.")
    width = getattr(transformer, "n_features_in_", len(table.columns))
    if width != len(table.columns):
        raise ValueError(f"{step} was fitted to {width} columns; the pipeline gives it {len(table.columns)}.")
    return fold(transformer, table, step)


def _is(word: str, transformer: Any) -> bool:
    """Whether a word stands in the place of a transformer."""
    return isinstance(transformer, str) and transformer == word


def _chain(pipeline: Any, table: Table, step: str) -> Table:
    """A `Pipeline` of transformers."""
    for name, transformer in pipeline.steps:
        table = apply(transformer, table, name)
    return table


def _column_transformer(transformer: Any, table: Table, step: str) -> Table:
    """A `ColumnTransformer`: some columns through each of several transformers."""
    places = transformer._transformer_to_input_indices  # from names, slices and masks; scikit-learn has no other way
    weights = transformer.transformer_weights or {}
    parts = []
    for name, part, _ in transformer.transformers_:
        if len(places[name]) and not _is("drop", part):
            own = replace(table, columns=tuple(table.columns[place] for place in places[name]))
            parts.append(times(apply(part, own, name), weights.get(name), step))
    return _side_by_side(table, parts, bool(transformer.sparse_output_))


def _feature_union(transformer: Any, table: Table, step: str) -> Table:
    """A `FeatureUnion`: all columns through each of several transformers."""
    weights = transformer.transformer_weights or {}
    kept = [(name, part) for name, part in transformer.transformer_list if not _is("drop", part)]
    parts = [times(apply(part, table, name), weights.get(name), step) for name, part in kept]
    return _side_by_side(table, parts, any(part.sparse for part in parts))


def _side_by_side(table: Table, parts: Iterable[Table], sparse: bool) -> Table:
    parts = list(parts)
    columns = tuple(column for part in parts for column in part.columns)
    guards = (*table.guards, *(guard for part in parts for guard in part.guards))
    return Table(columns, sparse, all(part.single for part in parts), guards)


def _function(transformer: Any, table: Table, step: str) -> Table:
    """A `FunctionTransformer` without a function: everything passes."""
    if transformer.func is not None:
        cannot(step, "its function may be any; only one without a function, which changes nothing, can be")
    return table


def _select(transformer: Any, table: Table, step: str) -> Table:
    """A selection of features: some of the columns."""
    return table.becomes(table.columns[place] for place in transformer.get_support(indices=True))


FOLDS: dict[str, Fold] = {
    "Binarizer": binarizer,
    "ColumnTransformer": _column_transformer,
    "FeatureUnion": _feature_union,
    "FunctionTransformer": _function,
    "KBinsDiscretizer": bins,
    "MaxAbsScaler": max_abs,
    "MinMaxScaler": min_max,
    "OneHotEncoder": encoder,
    "OrdinalEncoder": encoder,
    "Pipeline": _chain,
    "RobustScaler": robust,
    "SimpleImputer": simple_imputer,
    "StandardScaler": standard,
}
