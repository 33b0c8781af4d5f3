"""Checks of what the user passes to the estimator: each error says what came, what is allowed and what to do."""

import os
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

LARGEST = float(np.finfo(float).max)
SOLVERS = ("accelerated", "mirror-prox")
GEOMETRIES = ("entropy", "euclidean")
SOLVER_OPTIONS = {"accelerated": (), "mirror-prox": ("geometry", "step_sizes", "average")}


def check_parameters(parameters: dict[str, Any]) -> None:
    """All but those that only make sense together with the data."""
    _whole_number("n_prototypes", parameters["n_prototypes"])
    if parameters["n_nonzero"] is not None:
        _whole_number("n_nonzero", parameters["n_nonzero"], "; None means every feature may be used")
    _number_within("alpha", parameters["alpha"], 1e-10, 1e10)
    if parameters["tol"] is not None:
        _number_within("tol", parameters["tol"], 0.0, 1.0, "; None means to run max_iter iterations")
    _whole_number("max_iter", parameters["max_iter"])
    for name in ("refit_support", "fit_intercept", "standardize"):
        _yes_or_no(name, parameters[name])
    if not isinstance(parameters["reassign"], bool | np.bool_ | Integral) or int(parameters["reassign"]) < 0:
        raise ValueError(f"reassign={parameters['reassign']!r} is not True, False or a number of rounds.")
    if isinstance(parameters["assignment"], str) and parameters["assignment"] != "kmeans":
        raise ValueError(
            f"assignment={parameters['assignment']!r} is neither 'kmeans' nor an array of prototype indices."
        )
    n_jobs = parameters["n_jobs"]
    if n_jobs is not None and (not _is_whole(n_jobs) or n_jobs == 0):
        raise ValueError(f"n_jobs={n_jobs!r} is not None or an integer other than 0; -1 means all processors.")
    _check_solver(parameters["solver"], parameters["solver_options"])


def check_positive_class(positive_class: Any, classes: list) -> list[int]:
    """The classes to try as owners of the prototypes, by number; -1 stands for all of them."""
    if len(classes) > 2:
        if positive_class is not None:
            raise ValueError(
                f"positive_class={positive_class!r}, but y has {len(classes)} classes, all of which own prototypes; "
                "leave it None."
            )
        return [-1]
    if positive_class is None:
        return [1]
    if isinstance(positive_class, str) and positive_class == "auto":
        return [1, 0]
    if not np.isscalar(positive_class) or positive_class not in classes:
        raise ValueError(f"positive_class={positive_class!r} is not one of {classes!r}, None or 'auto'.")
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
        raise ValueError(f"class_weight={class_weight!r} is neither None, 'balanced' nor a dict from class to weight.")
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
    _yes_or_no("solver_options: average", options.get("average", True))
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


def _whole_number(name: str, value: Any, hint: str = "") -> None:
    if not _is_whole(value) or value < 1:
        raise ValueError(f"{name}={value!r} is not a positive integer{hint}.")


def _number_within(name: str, value: Any, low: float, high: float, hint: str = "") -> None:
    if not _is_number(value) or not low <= value <= high:
        raise ValueError(f"{name}={value!r} is not a number from {low:g} to {high:g}{hint}.")


def _yes_or_no(name: str, value: Any) -> None:
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={value!r} is not True or False.")
