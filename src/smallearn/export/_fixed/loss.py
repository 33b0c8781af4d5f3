"""What a number format loses: the decisions that it changes."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.export._fixed.codes import Count
from smallearn.export._fixed.float32 import certain, error_bound, exact_scores
from smallearn.export._fixed.form import Counts
from smallearn.export._fixed.numbers import TargetModel, read_inputs
from smallearn.export._fixed.quantise import IntegerModel, target_of
from smallearn.export._fixed.typical import typical_rows
from smallearn.model._arguments import as_model

ROWS = 2000
MOST_NUMBERS = 20_000_000  # in random rows of all features
LEANING = (1 / 3, 1.0, 3.0)  # powers: rows towards the greatest values, in between, towards the least
MUCH = 0.02  # the share of changed decisions above which exports warn


class FormatLossWarning(UserWarning):
    """A number format changes many decisions of the model.

    Examples
    --------
    >>> import warnings
    >>> from smallearn.export import FormatLossWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", FormatLossWarning)  # exports that lose much raise
    """


@dataclass(frozen=True)
class FormatLoss:
    """The decisions that a number format changes, on some rows.

    Parameters
    ----------
    number : str
        The number format.
    changed : int
        The number of rows that are predicted differently. With float32 and float64, of those that may be.
    rows : int
        The number of rows.
    given : bool
        Whether the rows were given; otherwise they are random, within the training ranges.

    Examples
    --------
    >>> from smallearn.export import FormatLoss
    >>> print(FormatLoss("int8", changed=92, rows=2000, given=False))
    int8 changes 92 of 2,000 decisions (4.6%) on random rows within the training ranges
    """

    number: str
    changed: int
    rows: int
    given: bool

    @property
    def share(self) -> float:
        """The share of decisions that change.

        Returns
        -------
        float
            From 0 to 1.
        """
        return self.changed / max(1, self.rows)

    def __str__(self) -> str:
        which = "the rows given" if self.given else "random rows within the training ranges"
        share = f" ({100.0 * self.share:.2g}%)" if self.changed else ""
        return f"{self.number} changes {self.changed:,} of {self.rows:,} decisions{share} on {which}"


def format_loss(
    model: Any,
    number: str = "int8",
    rows: Any = None,
    *,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    counts: Counts | None = None,
    readings: str | None = None,
) -> FormatLoss:
    """Count the decisions that a number format changes.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    number : {"float32", "float64", "int8", "int8x16", "int16", "int32"}, default="int8"
        The type of the weights, as in `to_c`.
    rows : array or table, rows × features, default=None
        The rows to predict, as `SMaLLModel.predict` takes them. None: 2,000 random rows, over the training
        range of each feature. Real rows are a better measure.
    ranges, counts, readings
        As in `to_c`.

    Returns
    -------
    FormatLoss

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import format_loss
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(X, y)
    >>> print(format_loss(clf, "int16", X))
    int16 changes 0 of 569 decisions on the rows given
    """
    target = target_of(as_model(model), number, ranges=ranges, counts=counts, readings=readings)
    return loss_of(target, rows, counts)


def loss_of(target: TargetModel, rows: Any = None, counts: Counts | None = None) -> FormatLoss:
    """The loss of a model that is in these numbers already. Where the training range of an input is not known, random
    rows are within what its ``counts`` can mean."""
    flat, model = target.flat, target.model
    X = rows
    if rows is None:
        n_rows = int(np.clip(MOST_NUMBERS // max(1, flat.n_features), 1, ROWS))
        unknown = {input_.label for input_ in flat.inputs if input_.low is None or input_.high is None}
        declared = {label: entry for label, entry in (counts or {}).items() if label in unknown}
        X = typical_rows(flat, None, declared, n_rows, at_cuts=0.0, leaning=LEANING)
    before = model.codes(model.predict(X))
    changed = target.predict_rows(X) != before if isinstance(target, IntegerModel) else _may_change(target, X, before)
    return FormatLoss(number=target.number, changed=int(changed.sum()), rows=len(before), given=rows is not None)


def _may_change(target: TargetModel, X: Any, before: np.ndarray) -> np.ndarray:
    """The rows that floats of this type may predict differently."""
    flat = target.flat
    inputs = read_inputs(target.model, flat, X)
    if target.number == "float32":
        with np.errstate(over="ignore"):
            inputs = inputs.astype(np.float32).astype(np.float64)
    known = ~np.isinf(inputs).any(axis=1)
    z = exact_scores(flat, inputs[known])
    changed = np.ones(len(inputs), dtype=bool)
    sure = certain(flat, z, error_bound(flat, inputs[known], target.number), target.number)
    changed[known] = ~sure | (target.model.decide(z) != before[known])
    return changed


def warn_if_much(target: TargetModel, counts: Counts | None) -> None:
    """Warn if the numbers of a model change more than a small share of its decisions."""
    if not isinstance(target, IntegerModel):
        return
    loss = loss_of(target, counts=counts)
    if loss.share > MUCH:
        warnings.warn(
            f"{loss}. A wider number changes fewer; format_loss(model, number, rows) counts them on your rows.",
            FormatLossWarning,
            stacklevel=3,
        )


def beyond_counts(target: TargetModel, X: Any) -> list[str]:
    """A sentence for each input of which rows have values that no declared count means."""
    if not isinstance(target, IntegerModel) or not any(isinstance(coder, Count) for coder in target.coders):
        return []
    inputs = read_inputs(target.model, target.flat, X)
    found = []
    for position, coder in enumerate(target.coders):
        if not isinstance(coder, Count):
            continue
        low, high = sorted((coder.value(coder.least), coder.value(coder.greatest)))
        values, step = inputs[:, position], abs(coder.scale)
        beyond = int(((values < low - step) | (values > high + step)).sum())
        if beyond:
            found.append(
                f"{show(target.flat.inputs[position].label)}: {beyond:,} of {len(values):,} rows are beyond the "
                f"declared counts, which mean {low:.6g} to {high:.6g}; the rows have {np.nanmin(values):.6g} to "
                f"{np.nanmax(values):.6g}. Such values are read as the nearest count."
            )
    return found
