"""Checks of parameters together with the data: features by name, classes, weights, an assignment of rows."""

import os
from collections.abc import Container, Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from smallearn._errors import Parameter, ParameterError
from smallearn._learn.parameters import LARGEST, MOST_CUTS, is_integer, is_number
from smallearn.model._checks import LARGEST_COST
from smallearn.model._decision import Costs, cost_threshold


class Features:
    """The features by position and name, for parameters that refer to some of them."""

    def __init__(self, n: int, names: Any = None):
        self.n = n
        self._position = {} if names is None else {str(name): l for l, name in enumerate(names)}

    def index(self, parameter: str, key: Any) -> int:
        """The position of one feature."""
        if isinstance(key, str):
            if key in self._position:
                return self._position[key]
            known = "X has no feature names" if not self._position else f"X has {_few(list(self._position))}"
            raise ValueError(f"{parameter} names the feature {key!r}; {known}.")
        if not is_integer(key) or not -self.n <= key < self.n:
            raise ValueError(f"{parameter} has the feature {key!r}; features are names or positions 0..{self.n - 1}.")
        return int(key) % self.n

    def numbers(self, parameter: str, value: Any, default: float) -> np.ndarray:
        """One number for each feature, from a dict (the others get ``default``) or a list of all."""
        if isinstance(value, Mapping):
            numbers = np.full(self.n, default)
            for key, number in value.items():
                if not is_number(number):
                    raise ValueError(f"{parameter} gives feature {key!r} the value {number!r}, not a number.")
                numbers[self.index(parameter, key)] = float(number)
            return numbers
        try:
            numbers = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            numbers = np.empty(0)
        if numbers.shape != (self.n,):
            raise ParameterError(
                Parameter(parameter, value),
                f" is neither a dict from feature to number nor one number for each of the {self.n} features.",
            )
        return numbers

    def positions(self, parameter: str, value: Any) -> list[int]:
        """The positions of some features, from a list of names or positions, a mask, or None: no feature."""
        if value is None:
            return []
        if isinstance(value, str) or not hasattr(value, "__iter__"):
            raise ParameterError(Parameter(parameter, value), " is not a list of feature names or positions.")
        keys = value.tolist() if isinstance(value, np.ndarray) else list(value)
        if keys and all(isinstance(key, bool | np.bool_) for key in keys):
            if len(keys) != self.n:
                raise ValueError(f"{parameter} is a mask of {len(keys)} entries for {self.n} features.")
            return [l for l, chosen in enumerate(keys) if chosen]
        return sorted({self.index(parameter, key) for key in keys})


def check_costs(features: Features, costs: Any) -> np.ndarray | None:
    """A positive finite cost for each feature; 1 for those that a dict leaves out."""
    if costs is None:
        return None
    numbers = features.numbers("feature_costs", costs, 1.0)
    wrong = numbers[~((numbers > 0.0) & (numbers < 1e300))]
    if len(wrong):
        raise ValueError(
            f"feature_costs has {float(wrong[0])!r}; costs are positive numbers. Features in always_in cost nothing."
        )
    return numbers


def check_groups(features: Features, groups: Any, most: int, always_in: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The positions of the features of each group, of which at most ``most`` may be used."""
    found = []
    for name, members in (groups or {}).items():
        group = tuple(features.positions(f"feature_groups[{name!r}]", members))
        if not group:
            raise ValueError(f"feature_groups[{name!r}] has no feature; list those of which few may be used.")
        fixed = len(set(group) & set(always_in))
        if fixed > most:
            raise ValueError(
                f"feature_groups[{name!r}] has {fixed} features of always_in, but max_per_group={most}; raise it, or "
                "leave some of them out."
            )
        found.append(group)
    return tuple(found)


def check_monotonic(features: Features, monotonic: Any, classes: list, positive_class: Any) -> np.ndarray | None:
    """-1, 0 or 1 for each feature. Where every class owns prototypes, signs of weights do not make P monotone."""
    if monotonic is None:
        return None
    signs = features.numbers("monotonic_cst", monotonic, 0.0)
    wrong = signs[~np.isin(signs, (-1.0, 0.0, 1.0))]
    if len(wrong):
        raise ValueError(f"monotonic_cst has {wrong[0]:g}; it takes 1 (rising), -1 (falling) and 0 (either).")
    if len(classes) > 2 and signs.any():
        raise ValueError(f"monotonic_cst is about P(classes_[1]) and needs two classes; y has {len(classes)}.")
    if signs.any() and check_positive_class(positive_class, classes) == [None]:
        raise ParameterError(
            "monotonic_cst needs prototypes of one class; ", Parameter("positive_class", positive_class), " has others."
        )
    return signs.astype(np.int8)


def check_cut_points(
    features: Features, cuts: Any, is_sparse: bool, categorical: Container[int]
) -> int | dict[int, list[float]]:
    """A number of cut points, or the finite cut points of each feature by position."""
    if not isinstance(cuts, Mapping):
        return int(cuts)
    if is_sparse and cuts:
        raise ValueError("cut_points names features, but X is sparse: its only literals are [x > 0]. Leave it out.")
    by_position: dict[int, list[float]] = {}
    for key, values in cuts.items():
        try:
            points = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            points = np.array(np.nan)
        if points.ndim != 1 or not np.isfinite(points).all() or len(points) > MOST_CUTS:
            raise ValueError(
                f"cut_points gives feature {key!r} the cut points {values!r}, not a list of finite numbers."
            )
        position = features.index("cut_points", key)
        if position in by_position:
            raise ValueError(f"cut_points has feature {key!r} twice, by name and by position.")
        if position in categorical:
            raise ValueError(f"cut_points has feature {key!r}, which is categorical: its literals are [x = category].")
        by_position[position] = points.tolist()
    return by_position


def check_positive_class(positive_class: Any, classes: list) -> list[int] | list[None]:
    """The codes of the classes to try as owners of the prototypes; None: every class owns prototypes."""
    if len(classes) > 2:
        if positive_class is not None:
            raise ParameterError(
                Parameter("positive_class", positive_class),
                f" is for two classes, but y has {len(classes)}, each with prototypes of its own; leave it None.",
            )
        return [None]
    if positive_class is None:
        return [1]
    if isinstance(positive_class, str) and positive_class in ("auto", "both"):
        return [1, 0] if positive_class == "auto" else [None]
    if not np.isscalar(positive_class) or positive_class not in classes:
        raise ParameterError(
            Parameter("positive_class", positive_class), f" is not one of {classes!r}, None, 'auto' or 'both'."
        )
    return [classes.index(positive_class)]


def check_decision_threshold(threshold: Any, classes: list) -> float | None:
    """The threshold as a number; None for "auto"."""
    if isinstance(threshold, str):
        return None
    if len(classes) > 2 and threshold != 0.5:
        raise ParameterError(
            Parameter("decision_threshold", threshold),
            f" is for two classes, but y has {len(classes)}; leave it 'auto'. A cost matrix moves the decision between "
            "more classes.",
        )
    return None if len(classes) > 2 else float(threshold)


def check_cost_matrix(costs: Any, classes: list) -> Costs | None:
    """A finite cost for each true class (row) and each predicted class (column)."""
    if costs is None:
        return None
    try:
        matrix = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    n = len(classes)
    if matrix.shape != (n, n) or not (np.abs(matrix) <= LARGEST_COST).all():
        raise ParameterError(
            Parameter("cost_matrix", costs),
            f" is not {n} rows of {n} finite numbers: for each true class (row) the cost of each predicted class "
            f"(column), in the order {_few(classes)}.",
        )
    if not (matrix.min(axis=1) < matrix.max(axis=1)).any():
        raise ParameterError(Parameter("cost_matrix", costs), " has the same cost for every prediction.")
    checked = tuple(tuple(row) for row in matrix.tolist())
    if n == 2:
        try:
            cost_threshold(checked)
        except ValueError as error:
            raise ParameterError(Parameter("cost_matrix", costs), f" leaves nothing to decide: {error}.") from None
    return checked


def check_sample_weight(weight: Any, X: Any) -> np.ndarray:
    """One finite weight of 0 or more for each row."""
    if weight is None:
        return np.ones(X.shape[0])
    try:
        weight = check_array(weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"sample_weight must have one finite number for each row: {error}") from None
    if weight.shape != (X.shape[0],):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; it must have one number for each of the {X.shape[0]} rows."
        )
    if np.any(weight < 0.0):
        raise ValueError(f"sample_weight has a negative entry ({weight.min()}); weights must be 0 or more.")
    if not weight.any():
        raise ValueError("Every sample_weight is zero; at least two rows of different classes need a positive weight.")
    return weight


def check_assignment(index: Any, n_rows: int) -> np.ndarray:
    """One prototype index for each row."""
    index = np.asarray(index)
    if index.shape != (n_rows,) or index.dtype.kind not in "iu":
        raise ValueError(
            f"assignment has shape {index.shape} and type {index.dtype}; it must be one integer for each of the "
            f"{n_rows} rows, or one of 'kmeans', 'splits', 'random', 'auto'."
        )
    return index.astype(np.int64)


def count_threads(n_jobs: int | None) -> int:
    """The number of threads for ``n_jobs``: None is one, -1 all processors, -2 all but one, …"""
    if n_jobs is None or n_jobs > 0:
        return int(n_jobs or 1)
    return max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def check_class_weight(class_weight: Any, classes: list) -> np.ndarray | None:
    """One weight for each class; None for "balanced", which depends on the rows."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        return None
    if not isinstance(class_weight, dict):
        raise ParameterError(
            Parameter("class_weight", class_weight), " is neither None, 'balanced' nor a dict from class to weight."
        )
    unknown = [label for label in class_weight if label not in classes]
    if unknown and not all(label in class_weight for label in classes):  # a fold may lack a class that has a weight
        raise ValueError(f"class_weight names {unknown!r}, not among the classes {classes!r}.")
    for label, weight in class_weight.items():
        if not is_number(weight) or not 0.0 <= weight <= LARGEST:
            raise ValueError(
                f"class_weight gives class {label!r} the weight {weight!r}, not a finite number of 0 or more."
            )
    return np.array([float(class_weight.get(label, 1.0)) for label in classes])


def _few(names: list, most: int = 10) -> str:
    """The first names, with an ellipsis if there are more."""
    return ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "")
