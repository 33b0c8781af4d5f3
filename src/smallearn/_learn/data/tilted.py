"""A sample in place of all rows: its loss is tilted so that the gradient at one W is that of all rows.

With ``tilt = ∇f(W₀) - ∇g(W₀)``, the loss ``f`` of all rows and the loss ``g`` of the sample, the minimum of
``g(W) + tilt·W`` is much closer to that of ``f`` than the minimum of ``g`` is: the error of ``W₀`` shrinks by the
relative error of the Hessian of the sample. It takes one pass over all rows.
"""

import numpy as np

from smallearn._learn.data.blocks import Curvature, Kinds, Sums, TrainingRows
from smallearn._learn.data.labels import Labels, Roles
from smallearn._learn.kernels import PADDING


class TiltedRows:
    """Rows with ``tilt·W`` (p × d) added to their loss."""

    def __init__(self, rows: TrainingRows, tilt: np.ndarray):
        self._rows, self._tilt = rows, tilt
        self.labels: Labels = rows.labels
        self.n_columns = rows.n_columns

    def sums(self, W: np.ndarray, roles: Roles, *, gradient: bool = True) -> Sums:
        at = self._rows.sums(W, roles, gradient=gradient)
        G = at.gradient + self._tilt if gradient else at.gradient
        return Sums(loss=at.loss + float(np.vdot(self._tilt, W)), conjugate=at.conjugate, gradient=G)

    def curvature(self, theta: np.ndarray, column: np.ndarray, roles: Roles) -> Curvature:
        at = self._rows.curvature(theta, column, roles)
        tilt = np.where(column != PADDING, np.take_along_axis(self._tilt, column, axis=1), 0.0)
        return at._replace(loss=at.loss + float(np.vdot(tilt, theta)), gradient=at.gradient + tilt)

    def narrow(self, columns: np.ndarray) -> "TiltedRows":
        return TiltedRows(self._rows.narrow(columns), np.ascontiguousarray(self._tilt[:, columns]))

    def restrict(self, columns: np.ndarray) -> "TiltedRows":
        return self.narrow(columns)

    def take(self, rows: np.ndarray) -> "TiltedRows":
        return TiltedRows(self._rows.take(rows), self._tilt)

    # The rest has nothing to do with the loss.

    def scores(self, W: np.ndarray) -> np.ndarray:
        return self._rows.scores(W)

    def combine(self, S: np.ndarray) -> np.ndarray:
        return self._rows.combine(S)

    def square_norms(self) -> np.ndarray:
        return self._rows.square_norms()

    def columns(self, columns: np.ndarray) -> np.ndarray:
        return self._rows.columns(columns)

    def read_columns(self, columns: np.ndarray, out: np.ndarray) -> None:
        self._rows.read_columns(columns, out)

    def kinds(self, usable: np.ndarray) -> Kinds:
        return self._rows.kinds(usable)

    def screen(self, V: np.ndarray, kinds: Kinds) -> tuple[np.ndarray, np.ndarray]:
        return self._rows.screen(V, kinds)
