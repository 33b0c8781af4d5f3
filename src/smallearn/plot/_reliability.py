"""Whether probabilities are calibrated."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from smallearn._text import listed, show
from smallearn.model import as_model
from smallearn.model._arguments import codes
from smallearn.plot._canvas import axes_for, inches, label_axes, legend_font_size, plain_legend, tidy
from smallearn.plot._colours import BLUE, GREY, INK
from smallearn.plot._rows import check_rows
from smallearn.plot._text import name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FOOT, BARS = -0.24, 0.14  # the bottom of the bars that count rows, and the height of the highest
MOST_COUNTS = 20  # bins, beyond which no counts are written


def reliability(model: Any, X: Any, y: Any, *, n_bins: int = 10, label: Any = None, ax: "Axes | None" = None) -> "Axes":
    """Draw a calibration curve: predicted probability against the observed share.

    Rows are grouped into bins of equal width; bars are 95% Wilson intervals. Calibrated probabilities lie on the
    diagonal. The bars at the bottom count the rows of each bin.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    X : array, sparse matrix, table or Rows of shape (n_rows, n_features)
        The rows, best those that the model was not trained on.
    y : array-like of shape (n_rows,)
        Their classes.
    n_bins : int, default=10
        The number of bins.
    label : class label, default=None
        The class whose probability is drawn. None for the second class.
    ax : matplotlib Axes, default=None
        Where to draw. None for a new figure.

    Returns
    -------
    matplotlib Axes
        Those with the curve.

    Examples
    --------
    >>> import numpy as np
    >>> from smallearn import SMaLLClassifier, plot
    >>> rng = np.random.default_rng(0)
    >>> X, noise = rng.normal(size=(100, 2)), rng.normal(size=100)
    >>> clf = SMaLLClassifier(n_nonzero=1).fit(X, X[:, 0] > noise)
    >>> ax = plot.reliability(clf, X, X[:, 0] > noise, n_bins=5)
    >>> ax.get_xlabel()
    'predicted probability of True'
    """
    from smallearn.evaluation import wilson  # imports scikit-learn, which the other pictures do without

    model = as_model(model)
    if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise ValueError(f"n_bins={n_bins!r} is not a positive integer.")
    label = model.classes[1] if label is None else label
    if label not in model.classes:
        raise ValueError(f"label={show(label)} is not a class of the model; its classes are {listed(model.classes)}.")
    number = model.classes.index(label)
    code = codes(model, y, check_rows(X))
    counts, mean, hits = _bins(model.predict_proba(X)[:, number], code == number, int(n_bins))
    used = np.flatnonzero(counts)
    intervals = [wilson(int(hits[at]), int(counts[at])) for at in used]
    share = np.array([interval.value for interval in intervals])
    errors = [
        [max(one.value - one.low, 0.0) for one in intervals],
        [max(one.high - one.value, 0.0) for one in intervals],
    ]
    ax = axes_for(ax, 5.0, 6.0)
    _bars(ax, counts)
    diagonal = ax.plot([0.0, 1.0], [0.0, 1.0], color=GREY, linestyle="--", linewidth=1.2, zorder=1)[0]
    dots = ax.errorbar(
        mean[used], share, errors, marker="o", color=BLUE, ecolor=INK, markeredgecolor=INK, linestyle="none",
        elinewidth=1.1, capsize=3, markersize=7, zorder=3,
    )  # fmt: skip
    ax.set(xlim=(-0.02, 1.02), ylim=(FOOT, 1.03))
    label_axes(ax, f"predicted probability of {name_of(label)}", f"observed share of {name_of(label)}")
    _percent(ax)
    labels = ["observed, with 95% interval", "perfectly calibrated"]
    above: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 2, "columnspacing": 1.2}
    plain_legend(ax, [dots, diagonal], labels, **above, frameon=False, fontsize=legend_font_size(ax))
    tidy(ax)
    return ax


def _bins(chance: np.ndarray, hit: np.ndarray, n_bins: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of each bin, their mean probability (NaN without rows), and the hits among them; the last bin includes 1."""
    place = np.minimum((chance * n_bins).astype(int), n_bins - 1)
    counts = np.bincount(place, minlength=n_bins)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(place, weights=chance, minlength=n_bins) / counts
    return counts, mean, np.bincount(place[hit], minlength=n_bins)


def _bars(ax: "Axes", counts: np.ndarray) -> None:
    """A bar for the number of rows of each bin, below the curve."""
    middle = (np.arange(len(counts)) + 0.5) / len(counts)
    height = BARS * counts / counts.max()
    look: dict[str, Any] = {"facecolor": "#DDDDDD", "edgecolor": GREY, "linewidth": 0.6, "zorder": 0}
    ax.bar(middle, height, 0.96 / len(counts), FOOT, **look)
    ax.axhline(0.0, color=GREY, linewidth=0.6, zorder=0)
    size = math.floor(min(8.0, 72 * inches(ax)[0] / len(counts) / 2.6))
    if len(counts) <= MOST_COUNTS and size >= 4:
        for at, tall, number in zip(middle, height, counts, strict=True):
            if number:
                ax.text(at, FOOT + tall + 0.008, f"{number}", ha="center", va="bottom", fontsize=size, color="#555555")


def _percent(ax: "Axes") -> None:
    """Ticks at every 20%."""
    from matplotlib.ticker import PercentFormatter

    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(np.linspace(0.0, 1.0, 6))
        axis.set_major_formatter(PercentFormatter(1.0, decimals=0))
