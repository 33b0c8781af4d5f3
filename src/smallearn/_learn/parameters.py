"""Checks of what the user passes to the estimator: each error says what came, what is allowed and what to do."""

import os
from collections.abc import Container, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from smallearn._errors import Parameter, ParameterError, check_choice

LARGEST = float(np.finfo(float).max)
SOLVERS = ("accelerated", "mirror-prox")
GEOMETRIES = ("entropy", "euclidean")
DEVICES = ("atmega328p", "cortex-m0", "cortex-m4")
LITERALS = ("raw", "thresholds", "both")
BUDGETS = ("prototype", "total", "shared")
STARTS = ("kmeans", "splits", "random", "auto")
MOST_CUTS = 65_000
SOLVER_OPTIONS = {"accelerated": (), "mirror-prox": ("geometry", "step_sizes", "average")}


def check_parameters(parameters: dict[str, Any]) -> None:
    """All but those that only make sense together with the data."""
    check_choice("literals", parameters["literals"], LITERALS)
    whole_number("n_prototypes", parameters["n_prototypes"])
    if parameters["n_nonzero"] is not None:
        whole_number("n_nonzero", parameters["n_nonzero"], "; None means every feature may be used")
    number_within("alpha", parameters["alpha"], 1e-10, 1e10)
    if parameters["tol"] is not None:
        number_within("tol", parameters["tol"], 0.0, 1.0, "; None means to run max_iter iterations")
    whole_number("max_iter", parameters["max_iter"])
    for name in ("refit_support", "fit_intercept", "standardize"):
        yes_or_no(name, parameters[name])
    if not isinstance(parameters["reassign"], bool | np.bool_ | Integral) or int(parameters["reassign"]) < 0:
        raise ParameterError(
            Parameter("reassign", parameters["reassign"]), " is not True, False or a number of rounds."
        )
    if isinstance(parameters["assignment"], str):
        check_choice("assignment", parameters["assignment"], STARTS, " or an array of prototype indices")
    for name in ("local_search", "certify"):
        yes_or_no(name, parameters[name])
    if parameters["local_search"] and not parameters["refit_support"]:
        raise ValueError("local_search=True compares refitted models; it needs refit_support=True.")
    if parameters["certify"] and not parameters["refit_support"]:
        raise ValueError("certify=True proves refitted models best; it needs refit_support=True.")
    if parameters["time_limit"] is not None:
        number_within("time_limit", parameters["time_limit"], 0.0, LARGEST, " (seconds); None means no limit")
    whole_number("n_init", parameters["n_init"])
    check_n_jobs(parameters["n_jobs"])
    check_terms(parameters)
    _check_solver(parameters["solver"], parameters["solver_options"])
    plain = parameters["budget"] == "prototype" and all(
        parameters[name] is None for name in ("max_cost", "always_in", "monotonic_cst")
    )
    if parameters["solver"] == "mirror-prox" and not plain:
        raise ValueError(
            "solver='mirror-prox' knows budget='prototype' only, without costs, always_in and monotonic_cst; use "
            "solver='accelerated'."
        )


def check_terms(parameters: dict[str, Any]) -> None:
    """What a model may be made of, in `SMaLLClassifier` and `SMaLLClassifierCV` alike."""
    check_choice("budget", parameters["budget"], BUDGETS)
    cuts = parameters["cut_points"]
    if not isinstance(cuts, Mapping) and (not _is_whole(cuts) or not 1 <= cuts <= MOST_CUTS):
        raise ParameterError(
            Parameter("cut_points", cuts),
            f" is neither a number of cut points from 1 to {MOST_CUTS} nor a dict from feature to a list of them.",
        )
    if (parameters["feature_costs"] is None) != (parameters["max_cost"] is None):
        raise ValueError("feature_costs and max_cost go together: what each feature costs, and how much in all.")
    if parameters["max_cost"] is not None:
        number_within("max_cost", parameters["max_cost"], 1e-300, 1e300)
    if parameters["max_points"] is not None:
        whole_number("max_points", parameters["max_points"], "; None means weights that are not whole numbers")
        if not parameters["fit_intercept"]:
            raise ParameterError(
                Parameter("max_points"),
                " rounds the constant to points too; it needs ",
                Parameter("fit_intercept", True),
                ".",
            )


def check_selection(parameters: dict[str, Any]) -> None:
    """The parameters of `SMaLLClassifierCV`."""
    whole_number("max_terms", parameters["max_terms"])
    if parameters["min_terms"] is not None:
        whole_number("min_terms", parameters["min_terms"], "; None means half of max_terms")
        if parameters["min_terms"] > parameters["max_terms"]:
            least, most = (
                Parameter("min_terms", parameters["min_terms"]),
                Parameter("max_terms", parameters["max_terms"]),
            )
            raise ParameterError(least, " is more than ", most, ".")
    check_terms(parameters)
    kinds = [parameters["literals"]] if isinstance(parameters["literals"], str) else parameters["literals"]
    for kind in _listed("literals", kinds):
        check_choice("literals", kind, LITERALS, ", or a list of these")
    for alpha in _listed("alphas", parameters["alphas"]):
        number_within("alphas", alpha, 1e-10, 1e10)
    if parameters["n_prototypes"] is not None:
        for count in _listed("n_prototypes", np.atleast_1d(np.asarray(parameters["n_prototypes"], dtype=object))):
            whole_number("n_prototypes", count, " or a list of them; None means to try several")
    for name in ("one_standard_error", "refit", "fit_intercept", "standardize"):
        yes_or_no(name, parameters[name])
    whole_number("n_init", parameters["n_init"])
    check_n_jobs(parameters["n_jobs"])
    _check_device(parameters)
    cv = parameters["cv"]
    if isinstance(cv, bool | np.bool_) or (_is_number(cv) and (not _is_whole(cv) or cv < 2)):
        raise ParameterError(
            Parameter("cv", cv), " is not a number of folds from 2, a splitter, an iterable of folds or None."
        )


def _check_device(parameters: dict[str, Any]) -> None:
    device = parameters["device"]
    limits = {name: parameters[name] for name in ("max_flash", "max_ram", "max_cycles", "max_time_us")}
    for name, limit in limits.items():
        if limit is not None and (not _is_number(limit) or not limit > 0):
            raise ParameterError(
                Parameter(name, limit), " is not a positive number or None, which means no limit but the chip's."
            )
    if device is None:
        for name, limit in limits.items():
            if limit is not None:
                raise ParameterError(
                    Parameter(name, limit), " is a limit on a chip; name the chip with ", Parameter("device"), "."
                )
        return
    check_choice("device", device, DEVICES, ", or None")
    if not parameters["refit"]:
        raise ValueError("device is given and refit=False: only a model that is trained on all rows can be measured.")


def _listed(name: str, given: Any) -> list[Any]:
    try:
        values = list(given)
    except TypeError:
        values = []
    if not values:
        raise ParameterError(Parameter(name, given), " is not a non-empty list.")
    return values


def check_n_jobs(n_jobs: Any) -> None:
    """None, or a whole number other than 0."""
    if n_jobs is not None and (not _is_whole(n_jobs) or n_jobs == 0):
        raise ParameterError(
            Parameter("n_jobs", n_jobs), " is not None or an integer other than 0; -1 means all processors."
        )


class Features:
    """Features as a user names them, by position or by name, for parameters that speak of some of them."""

    def __init__(self, n: int, names: Any = None):
        self.n = n
        self._place = {} if names is None else {str(name): l for l, name in enumerate(names)}

    def index(self, parameter: str, key: Any) -> int:
        """The position of one feature."""
        if isinstance(key, str):
            if key in self._place:
                return self._place[key]
            known = "X has no feature names" if not self._place else f"X has {_few(list(self._place))}"
            raise ValueError(f"{parameter} names the feature {key!r}; {known}.")
        if not _is_whole(key) or not -self.n <= key < self.n:
            raise ValueError(f"{parameter} has the feature {key!r}; features are names or positions 0..{self.n - 1}.")
        return int(key) % self.n

    def values(self, parameter: str, given: Any, default: float) -> np.ndarray:
        """One number for each feature, from a dict (the others get ``default``) or a list of all."""
        if isinstance(given, Mapping):
            found = np.full(self.n, default)
            for key, value in given.items():
                if not _is_number(value):
                    raise ValueError(f"{parameter} gives feature {key!r} the value {value!r}, not a number.")
                found[self.index(parameter, key)] = float(value)
            return found
        try:
            found = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.empty(0)
        if found.shape != (self.n,):
            raise ValueError(
                f"{parameter}={given!r} is neither a dict from feature to number nor one number for each of the "
                f"{self.n} features."
            )
        return found

    def positions(self, parameter: str, given: Any) -> list[int]:
        """Positions, from a list of names or positions, or a mask."""
        if given is None:
            return []
        if isinstance(given, str) or not hasattr(given, "__iter__"):
            raise ValueError(f"{parameter}={given!r} is not a list of feature names or positions.")
        keys = given.tolist() if isinstance(given, np.ndarray) else list(given)
        if keys and all(isinstance(key, bool | np.bool_) for key in keys):
            if len(keys) != self.n:
                raise ValueError(f"{parameter} is a mask of {len(keys)} entries for {self.n} features.")
            return [l for l, chosen in enumerate(keys) if chosen]
        return sorted({self.index(parameter, key) for key in keys})


def check_costs(features: Features, costs: Any) -> np.ndarray | None:
    """A positive finite cost for each feature; 1 for those that a dict leaves out."""
    if costs is None:
        return None
    found = features.values("feature_costs", costs, 1.0)
    if not np.all((found > 0.0) & (found < 1e300)):
        worst = float(found[~((found > 0.0) & (found < 1e300))][0])
        raise ValueError(
            f"feature_costs has {worst!r}; costs are positive numbers (always_in: what is free of charge)."
        )
    return found


def check_monotonic(features: Features, monotonic: Any, n_classes: int) -> np.ndarray | None:
    """-1, 0 or 1 for each feature."""
    if monotonic is None:
        return None
    found = features.values("monotonic_cst", monotonic, 0.0)
    if not np.all(np.isin(found, (-1.0, 0.0, 1.0))):
        worst = found[~np.isin(found, (-1.0, 0.0, 1.0))][0]
        raise ValueError(f"monotonic_cst has {worst:g}; it takes 1 (rising), -1 (falling) and 0 (either).")
    if n_classes > 2 and found.any():
        raise ValueError(f"monotonic_cst speaks of P(classes_[1]) and needs two classes; y has {n_classes}.")
    return found.astype(np.int8)


def check_cut_points(
    features: Features, cuts: Any, is_sparse: bool, categorical: Container[int]
) -> int | dict[int, list[float]]:
    """A number of cut points, or the finite cut points of each feature by position."""
    if not isinstance(cuts, Mapping):
        return int(cuts)
    if is_sparse and cuts:
        raise ValueError("cut_points names features, but X is sparse, where the one literal is [x > 0]; leave it out.")
    found = {}
    for key, values in cuts.items():
        try:
            points = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            points = np.array(np.nan)
        if points.ndim != 1 or not np.isfinite(points).all() or len(points) > MOST_CUTS:
            raise ValueError(
                f"cut_points gives feature {key!r} the cut points {values!r}, not a list of finite numbers."
            )
        place = features.index("cut_points", key)
        if place in found:
            raise ValueError(f"cut_points has feature {key!r} twice, by two names.")
        if place in categorical:
            raise ValueError(f"cut_points has feature {key!r}, which is categorical: its literals are [x = category].")
        found[place] = points.tolist()
    return found


def check_positive_class(positive_class: Any, classes: list) -> list[int] | list[None]:
    """The classes to try as owners of the prototypes, by number; None: every class owns prototypes."""
    if len(classes) > 2:
        if positive_class is not None:
            raise ParameterError(
                Parameter("positive_class", positive_class),
                f" is for two classes, but y has {len(classes)}, each with prototypes of its own; leave it None.",
            )
        return [None]
    if positive_class is None:
        return [1]
    if isinstance(positive_class, str) and positive_class == "auto":
        return [1, 0]
    if not np.isscalar(positive_class) or positive_class not in classes:
        raise ParameterError(
            Parameter("positive_class", positive_class), f" is not one of {classes!r}, None or 'auto'."
        )
    return [classes.index(positive_class)]


def check_sample_weight(weight: Any, X: Any) -> np.ndarray:
    """One finite weight of 0 or more for each row."""
    if weight is None:
        return np.ones(X.shape[0])
    try:
        weight = check_array(weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    except (ValueError, TypeError, OverflowError) as problem:
        raise ValueError(f"sample_weight must hold one finite number for each row: {problem}") from None
    if weight.shape != (X.shape[0],):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; it must hold one number for each of {X.shape[0]} rows."
        )
    if np.any(weight < 0.0):
        raise ValueError(f"sample_weight has a negative entry ({weight.min()}); weights must be 0 or more.")
    if not weight.any():
        raise ValueError("Every sample_weight is zero; at least two rows of different classes must weigh more.")
    return weight


def check_assignment(index: Any, n_rows: int) -> np.ndarray:
    """One prototype index for each row."""
    index = np.asarray(index)
    if index.shape != (n_rows,) or index.dtype.kind not in "iu":
        raise ValueError(
            f"assignment has shape {index.shape} and type {index.dtype}; it must be 'kmeans' or one integer for each "
            f"of the {n_rows} rows."
        )
    return index.astype(np.int64)


def count_threads(n_jobs: int | None) -> int:
    """None is one thread; -1 all processors, -2 all but one, …"""
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
        if not _is_number(weight) or not 0.0 <= weight <= LARGEST:
            raise ValueError(f"class_weight gives class {label!r} the weight {weight!r}, not a finite number from 0.")
    return np.array([float(class_weight.get(label, 1.0)) for label in classes])


def _check_solver(solver: Any, options: Any) -> None:
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ValueError(f"solver={solver!r} is neither 'accelerated' nor 'mirror-prox'.")
    if options is None:
        return
    if not isinstance(options, dict):
        raise ValueError(f"solver_options={options!r} is not a dict or None.")
    known = SOLVER_OPTIONS[solver]
    unknown = [name for name in options if name not in known]
    if unknown:
        allowed = f"it takes {', '.join(known)}" if known else "it takes none"
        raise ValueError(f"solver_options has {unknown!r}, which solver={solver!r} does not know; {allowed}.")
    geometry = options.get("geometry", "entropy")
    if not isinstance(geometry, str) or geometry not in GEOMETRIES:
        raise ValueError(f"solver_options: geometry={geometry!r} is neither 'entropy' nor 'euclidean'.")
    yes_or_no("solver_options: average", options.get("average", True))
    steps = options.get("step_sizes", "adaptive")
    if isinstance(steps, np.ndarray):
        steps = steps.tolist()
    pair = isinstance(steps, tuple | list) and len(steps) == 2 and all(map(_is_number, steps))
    if not (isinstance(steps, str) and steps == "adaptive") and not (
        pair and all(0.0 < step <= LARGEST for step in steps)
    ):
        raise ValueError(
            f"solver_options: step_sizes={steps!r} is neither 'adaptive' nor a pair of positive numbers (α, β)."
        )


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def whole_number(name: str, value: Any, hint: str = "") -> None:
    if not _is_whole(value) or value < 1:
        raise ParameterError(Parameter(name, value), f" is not a positive integer{hint}.")


def number_within(name: str, value: Any, low: float, high: float, hint: str = "") -> None:
    if not _is_number(value) or not low <= value <= high:
        raise ParameterError(Parameter(name, value), f" is not a number from {low:g} to {high:g}{hint}.")


def _few(names: list[str], most: int = 10) -> str:
    return ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "")


def yes_or_no(name: str, value: Any) -> None:
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(Parameter(name, value), " is not True or False.")
