"""Checks of the constructor parameters alone; `data_parameters` checks those that need the data.

Each error says what came, what is allowed and what to do.

A new constructor parameter touches these files:

================================================  =====================================================================
``estimator.py``, ``selection.py``                ``__init__`` and the docstring of each class that has it, and its use
``_learn/parameters.py``                          its check; in ``check_terms`` if both classes have it
``_learn/data_parameters.py``, ``_base.py``       its check and its use, if these need the data
``_learn/solve/descent.py`` (`Plan`)              if the descent uses it; ``_learn/choose/final.py`` makes a `Plan` too
``_learn/assemble.py`` (`AssembleOptions`)        if it decides how a solution becomes a model
``_learn/choose/families.py`` (`Task`)            if the selection passes it on to every model that it trains
``cli/arguments.py``, ``cli/selection.py``        its option, if the command line has one
``tests/test_bad_parameters.py``                  values that are refused and that are allowed
``tests/test_bad_selection_input.py``             the same, for literals, budgets and the selection
``docs/models.md``                                what it is for
================================================  =====================================================================
"""

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np

from smallearn._errors import Parameter, ParameterError, check_choice

LARGEST = float(np.finfo(float).max)
LITERALS = ("raw", "thresholds", "both")
BUDGETS = ("prototype", "total", "shared")
STARTS = ("kmeans", "splits", "random", "auto")
MOST_CUTS = 65_000
LARGEST_SEED = 2**32 - 1


class SolverRules(Protocol):
    """What is checked of a solver. `smallearn._learn.solve.solvers.SOLVERS` has the solvers."""

    @property
    def option_names(self) -> tuple[str, ...]:
        """The names that `solver_options` may have."""

    @property
    def check(self) -> Callable[[Mapping[str, Any]], None]:
        """The solver's own check of all parameters."""


def check_parameters(parameters: dict[str, Any], solvers: Mapping[str, SolverRules]) -> None:
    """The parameters of `SMaLLClassifier`, which may name one of the ``solvers``."""
    check_terms(parameters)
    check_choice("budget", parameters["budget"], BUDGETS)
    check_choice("literals", parameters["literals"], LITERALS)
    check_positive_integer("n_prototypes", parameters["n_prototypes"])
    if parameters["n_nonzero"] is not None:
        check_positive_integer("n_nonzero", parameters["n_nonzero"], "; None means every feature may be used")
    check_number("alpha", parameters["alpha"], 1e-10, 1e10)
    if parameters["tol"] is not None:
        check_number("tol", parameters["tol"], 0.0, 1.0, "; None means to run max_iter iterations")
    check_positive_integer("max_iter", parameters["max_iter"])
    for name in ("refit_support", "fit_intercept", "standardize", "local_search", "certify"):
        check_bool(name, parameters[name])
    if not isinstance(parameters["reassign"], bool | np.bool_ | Integral) or int(parameters["reassign"]) < 0:
        raise ParameterError(
            Parameter("reassign", parameters["reassign"]), " is not True, False or a number of rounds."
        )
    if isinstance(parameters["assignment"], str):
        check_choice("assignment", parameters["assignment"], STARTS, " or an array of prototype indices")
    for name, purpose in (
        ("local_search", "compares refitted models"),
        ("certify", "is a proof about refitted models"),
    ):
        if parameters[name] and not parameters["refit_support"]:
            needed = Parameter("refit_support", True)
            raise ParameterError(Parameter(name, True), f" {purpose}; it needs ", needed, ".")
    check_positive_integer("n_init", parameters["n_init"])
    check_n_jobs(parameters["n_jobs"])
    _check_solver(parameters, solvers)


def check_terms(parameters: dict[str, Any]) -> None:
    """The parameters that both estimators have: on terms, budgets and time."""
    cuts = parameters["cut_points"]
    if not isinstance(cuts, Mapping) and (not is_integer(cuts) or not 1 <= cuts <= MOST_CUTS):
        raise ParameterError(
            Parameter("cut_points", cuts),
            f" is neither a number of cut points from 1 to {MOST_CUTS} nor a dict from feature to a list of them.",
        )
    if (parameters["feature_costs"] is None) != (parameters["max_cost"] is None):
        costs, most = Parameter("feature_costs"), Parameter("max_cost")
        raise ParameterError(costs, " and ", most, " go together: set both, or neither.")
    if parameters["max_cost"] is not None:
        check_number("max_cost", parameters["max_cost"], 1e-300, 1e300)
    groups = parameters["feature_groups"]
    if groups is not None and (not isinstance(groups, Mapping) or not groups):
        raise ParameterError(
            Parameter("feature_groups", groups),
            " is not a dict from the name of a group to a list of its features, such as {'lab': ['a', 'b']}.",
        )
    check_positive_integer("max_per_group", parameters["max_per_group"], ", the features of a group that may be used")
    check_threshold(parameters["decision_threshold"])
    check_seed(parameters["random_state"])
    if parameters["time_limit"] is not None:
        check_number("time_limit", parameters["time_limit"], 0.0, LARGEST, " (seconds); None means no limit")
    if parameters["max_points"] is not None:
        check_positive_integer(
            "max_points", parameters["max_points"], "; None means weights that are not whole numbers"
        )
        if not parameters["fit_intercept"]:
            raise ParameterError(
                Parameter("max_points"),
                " rounds the constant to points too; it needs ",
                Parameter("fit_intercept", True),
                ".",
            )


def check_threshold(threshold: Any) -> None:
    """Raise unless ``threshold`` is "auto" or a probability between 0 and 1."""
    if isinstance(threshold, str) and threshold == "auto":
        return
    if not is_number(threshold) or not 0.0 < threshold < 1.0:
        raise ParameterError(
            Parameter("decision_threshold", threshold),
            " is neither 'auto' nor a number above 0 and below 1, a probability of the second class.",
        )


def check_seed(seed: Any) -> None:
    """Raise unless ``seed`` is what scikit-learn takes as ``random_state``."""
    is_seed = is_integer(seed) and 0 <= seed <= LARGEST_SEED
    if seed is not None and not is_seed and not isinstance(seed, np.random.RandomState) and seed is not np.random:
        raise ParameterError(
            Parameter("random_state", seed),
            f" is not None, a whole number from 0 to {LARGEST_SEED} or a numpy.random.RandomState.",
        )


def check_selection(parameters: dict[str, Any]) -> None:
    """The parameters of `SMaLLClassifierCV`."""
    check_choice("budget", parameters["budget"], ("auto", *BUDGETS))
    check_positive_integer("max_terms", parameters["max_terms"])
    if parameters["min_terms"] is not None:
        check_positive_integer("min_terms", parameters["min_terms"], "; None means half of max_terms")
        if parameters["min_terms"] > parameters["max_terms"]:
            least, most = (Parameter(name, parameters[name]) for name in ("min_terms", "max_terms"))
            raise ParameterError(least, " is more than ", most, ".")
    check_terms(parameters)
    kinds = [parameters["literals"]] if isinstance(parameters["literals"], str) else parameters["literals"]
    for kind in _entries("literals", kinds):
        check_choice("literals", kind, LITERALS, ", or a list of these")
    for alpha in _entries("alphas", parameters["alphas"]):
        check_number("alphas", alpha, 1e-10, 1e10)
    if parameters["n_prototypes"] is not None:
        for count in _entries("n_prototypes", np.atleast_1d(np.asarray(parameters["n_prototypes"], dtype=object))):
            check_positive_integer("n_prototypes", count, " or a list of them; None means to try several")
    for name in ("one_standard_error", "refit", "frontier_models", "fit_intercept", "standardize"):
        check_bool(name, parameters[name])
    wanted_others = parameters["n_alternatives"]
    if not is_integer(wanted_others) or wanted_others < 0:
        raise ParameterError(Parameter("n_alternatives", wanted_others), " is not a whole number from 0.")
    wanted = parameters["certificate"]
    if not isinstance(wanted, bool | np.bool_) and not (isinstance(wanted, str) and wanted == "auto"):
        raise ParameterError(Parameter("certificate", wanted), " is not 'auto', True or False.")
    rows = parameters["sample_rows"]
    if rows is not None and not (isinstance(rows, str) and rows == "auto"):
        check_positive_integer("sample_rows", rows, " or 'auto'; None means all rows")
    check_positive_integer("n_init", parameters["n_init"])
    check_n_jobs(parameters["n_jobs"])
    if parameters["cost_matrix"] is not None and parameters["scoring"] is not None:
        costs, scoring = Parameter("cost_matrix"), Parameter("scoring", parameters["scoring"])
        raise ParameterError(costs, " and ", scoring, " are two scores to choose by: leave one of them None.")
    _check_device(parameters)
    cv = parameters["cv"]
    if isinstance(cv, bool | np.bool_) or (is_number(cv) and (not is_integer(cv) or cv < 2)):
        raise ParameterError(
            Parameter("cv", cv), " is not an integer of 2 or more, a splitter, an iterable of folds or None."
        )


def _check_device(parameters: dict[str, Any]) -> None:
    device = parameters["device"]
    limits = {name: parameters[name] for name in ("max_flash", "max_ram", "max_cycles", "max_time_us")}
    for name, limit in limits.items():
        if limit is not None and (not is_number(limit) or not limit > 0):
            raise ParameterError(
                Parameter(name, limit), " is not a positive number or None, which means what the chip has."
            )
    if device is None:
        for name, limit in limits.items():
            if limit is not None:
                raise ParameterError(
                    Parameter(name, limit), " is a limit on a chip; name the chip with ", Parameter("device"), "."
                )
        return
    from smallearn.devices import CHIPS

    check_choice("device", device, tuple(CHIPS), ", or None")
    if parameters["n_alternatives"]:
        others, chip = Parameter("n_alternatives", parameters["n_alternatives"]), Parameter("device", device)
        raise ParameterError(others, " are not measured on a chip; leave it 0 with ", chip, ".")
    check_choice("readings", parameters["readings"], ("float", "counts", "codes"))
    if (parameters["readings"] == "counts") != (parameters["counts"] is not None):
        counts, readings = Parameter("counts"), Parameter("readings", "counts")
        raise ParameterError(readings, " and ", counts, " go together: set both or neither.")
    if not parameters["refit"]:
        chip, refit = Parameter("device", device), Parameter("refit", True)
        raise ParameterError(chip, " measures the model that is trained on all rows; it needs ", refit, ".")


def _entries(name: str, value: Any) -> list[Any]:
    """The entries of a parameter that is a non-empty list."""
    try:
        entries = list(value)
    except TypeError:
        entries = []
    if not entries:
        raise ParameterError(Parameter(name, value), " is not a non-empty list.")
    return entries


def check_n_jobs(n_jobs: Any) -> None:
    """None, or a whole number other than 0."""
    if n_jobs is not None and (not is_integer(n_jobs) or n_jobs == 0):
        raise ParameterError(
            Parameter("n_jobs", n_jobs), " is not None or an integer other than 0; -1 means all processors."
        )


def _check_solver(parameters: dict[str, Any], solvers: Mapping[str, SolverRules]) -> None:
    """The solver by its name, its options by theirs, and what else the solver itself checks."""
    solver, options = parameters["solver"], parameters["solver_options"]
    check_choice("solver", solver, tuple(solvers))
    if options is not None and not isinstance(options, dict):
        raise ValueError(f"solver_options={options!r} is not a dict or None.")
    known = solvers[solver].option_names
    unknown = [name for name in options or {} if name not in known]
    if unknown:
        allowed = f"it takes {', '.join(known)}" if known else "it takes none"
        raise ValueError(f"solver_options has {unknown!r}, which solver={solver!r} does not know; {allowed}.")
    solvers[solver].check(parameters)


def is_integer(value: Any) -> bool:
    """Whether a value is a whole number, of Python's or numpy's type; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def is_number(value: Any) -> bool:
    """Whether a value is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def check_positive_integer(name: str, value: Any, hint: str = "") -> None:
    """Raise unless ``value`` is an integer of 1 or more; ``hint`` ends the message."""
    if not is_integer(value) or value < 1:
        raise ParameterError(Parameter(name, value), f" is not a positive integer{hint}.")


def check_number(name: str, value: Any, low: float, high: float, hint: str = "") -> None:
    """Raise unless ``value`` is a number from ``low`` to ``high``; ``hint`` ends the message."""
    if not is_number(value) or not low <= value <= high:
        raise ParameterError(Parameter(name, value), f" is not a number from {low:g} to {high:g}{hint}.")


def check_bool(name: str, value: Any) -> None:
    """Raise unless ``value`` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(Parameter(name, value), " is not True or False.")
