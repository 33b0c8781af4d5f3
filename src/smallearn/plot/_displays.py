"""Pictures as scikit-learn's displays: made from a fitted classifier, drawn again by ``plot``."""

from functools import partial
from typing import TYPE_CHECKING, Any, Self

from smallearn.plot._decision_surface import decision_surface
from smallearn.plot._frontier import frontier
from smallearn.plot._violins import violins

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes


class _Display:
    """A picture that can be drawn again. After ``plot``, ``ax_`` and ``figure_`` are the Axes and the figure."""

    _function: "Callable[..., Axes]"
    ax_: "Axes"
    figure_: Any

    def __init__(self, *args: Any, **kwargs: Any):
        self._draw = partial(type(self)._function, *args, **kwargs)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None for a new figure.

        Returns
        -------
        Display
            The display itself, with ``ax_`` and ``figure_``.
        """
        self.ax_ = self._draw(ax=ax)
        self.figure_ = self.ax_.figure
        return self


class ViolinDisplay(_Display):
    """What each term of a model adds, as a display: `violins` behind scikit-learn's interface.

    Parameters
    ----------
    *args, **kwargs
        The arguments of `violins` except ``ax``.

    Examples
    --------
    >>> import numpy as np
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.plot import ViolinDisplay
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> clf = SMaLLClassifier(n_nonzero=2, random_state=0).fit(X, X[:, 0] > X[:, 1])
    >>> display = ViolinDisplay.from_estimator(clf, X)
    >>> display.ax_.figure is display.figure_
    True
    """

    _function = staticmethod(violins)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, y: Any = None, *, ax: "Axes | None" = None) -> Self:
        """Draw what each term of a fitted classifier adds.

        Parameters
        ----------
        estimator : fitted estimator or SMaLLModel
            The model.
        X, y : rows and classes, default=None
            As in `violins`.
        ax : matplotlib Axes, default=None
            Where to draw. None for a new figure.

        Returns
        -------
        ViolinDisplay
            The display, drawn.
        """
        return cls(estimator, X, y).plot(ax)


class DecisionSurfaceDisplay(_Display):
    """The regions of the classes as a display: `decision_surface` behind scikit-learn's interface.

    Parameters
    ----------
    *args, **kwargs
        The arguments of `decision_surface` except ``ax``.

    Examples
    --------
    >>> import numpy as np
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.plot import DecisionSurfaceDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 2))
    >>> clf = SMaLLClassifier(n_nonzero=2, random_state=0).fit(X, X.sum(axis=1) > 0.0)
    >>> DecisionSurfaceDisplay.from_estimator(clf, X).ax_.get_xlabel()
    'x0'
    """

    _function = staticmethod(decision_surface)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, features: Any = None, ax: "Axes | None" = None
    ) -> Self:
        """Draw the regions in which a fitted classifier predicts each class.

        Parameters
        ----------
        estimator : fitted estimator or SMaLLModel
            The model.
        X, y : rows and classes, default=None
            As in `decision_surface`.
        features : pair of names or positions, default=None
            As in `decision_surface`.
        ax : matplotlib Axes, default=None
            Where to draw. None for a new figure.

        Returns
        -------
        DecisionSurfaceDisplay
            The display, drawn.
        """
        return cls(estimator, X, y, features=features).plot(ax)


class FrontierDisplay(_Display):
    """Accuracy against size as a display: `frontier` behind scikit-learn's interface.

    Parameters
    ----------
    *args, **kwargs
        The arguments of `frontier` except ``ax``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smallearn import SMaLLClassifierCV
    >>> from smallearn.plot import FrontierDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SMaLLClassifierCV(2, literals="raw", n_prototypes=1, cv=3, random_state=0).fit(X, y)
    >>> FrontierDisplay.from_estimator(search).ax_.get_xlabel()
    'terms'
    """

    _function = staticmethod(frontier)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: "Axes | None" = None) -> Self:
        """Draw the frontier that a fitted SMaLLClassifierCV has seen, and the model that it chose.

        Parameters
        ----------
        estimator : fitted SMaLLClassifierCV, or SMaLLModel
            The model.
        ax : matplotlib Axes, default=None
            Where to draw. None for a new figure.

        Returns
        -------
        FrontierDisplay
            The display, drawn.
        """
        return cls(estimator).plot(ax)
