"""Internal: solvers of the relaxation, one in each file, and the registry of them.

A new solver is a file and a line in `SOLVERS`. The file has ``solve(relaxation, start, tol, max_iter)``. If the solver
has options, they are a frozen dataclass with defaults, which ``solve`` takes as ``options``. If it cannot use every
constructor parameter, a function refuses the others.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from smallearn._learn.solve.objective import Relaxed, Solver
from smallearn._learn.solve.solvers import accelerated, mirror_prox


def _accept_all(parameters: Mapping[str, Any]) -> None:
    """The check of a solver that can use all parameters."""


@dataclass(frozen=True)
class SolverEntry:
    """A solver in the registry: its function, the class of its options (None: it has none) and its check.

    The fields of the class are the names that `solver_options` may have. ``check`` takes all constructor parameters by
    name and raises a ValueError if the solver cannot use one of them.
    """

    solve: Callable[..., Relaxed]
    options: type[Any] | None = None
    check: Callable[[Mapping[str, Any]], None] = _accept_all

    @property
    def option_names(self) -> tuple[str, ...]:
        """The names that `solver_options` may have."""
        return () if self.options is None else tuple(field.name for field in fields(self.options))

    def bind(self, tol: float, max_iter: int, options: Mapping[str, Any] | None) -> Solver:
        """The solver with these settings, as a function of the relaxation and the start."""
        solve = partial(self.solve, tol=tol, max_iter=max_iter)
        return solve if self.options is None else partial(solve, options=self.options(**(options or {})))


SOLVERS = {
    "accelerated": SolverEntry(accelerated.solve),
    "mirror-prox": SolverEntry(mirror_prox.solve, mirror_prox.StepOptions, mirror_prox.check_parameters),
}
