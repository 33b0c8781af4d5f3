"""Pictures as scikit-learn's displays: made from a fitted classifier, drawn again by ``plot``."""

from functools import partial
from typing import TYPE_CHECKING, Any, Self

from smallearn.plot._sizes import frontier
from smallearn.plot._surface import decision_surface
from smallearn.plot._violin import violins

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes


class _Display:
    """A picture that can be drawn anew. After ``plot``, ``ax_`` and ``figure_`` are where it is."""

    _function: "Callable[..., Axes]"
    ax_: "Axes"
    figure_: Any

    def __init__(self, *given: Any, **options: Any):
        self._draw = partial(type(self)._function, *given, **options)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw into ``ax``, or into a new figure."""
        self.ax_ = self._draw(ax=ax)
        self.figure_ = self.ax_.figure
        return self


class ViolinDisplay(_Display):
    """`violins` as a display; the constructor takes the same arguments but ``ax``."""

    _function = staticmethod(violins)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, y: Any = None, *, ax: "Axes | None" = None) -> Self:
        """Draw what each term of a fitted classifier adds."""
        return cls(estimator, X, y).plot(ax)


class DecisionSurfaceDisplay(_Display):
    """`decision_surface` as a display; the constructor takes the same arguments but ``ax``."""

    _function = staticmethod(decision_surface)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, features: Any = None, ax: "Axes | None" = None
    ) -> Self:
        """Draw where a fitted classifier parts the classes."""
        return cls(estimator, X, y, features=features).plot(ax)


class FrontierDisplay(_Display):
    """`frontier` as a display; the constructor takes the same arguments but ``ax``."""

    _function = staticmethod(frontier)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: "Axes | None" = None) -> Self:
        """Draw the frontier that a fitted SMaLLClassifierCV saw, and the model it chose."""
        return cls(estimator).plot(ax)
