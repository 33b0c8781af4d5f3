"""What a model may spend, as a `Penalty` on the candidate terms: counts or costs, what is always in, signs."""

from dataclasses import dataclass

import numpy as np

from smallearn._learn.data.literals import ABOVE, AT_MOST, EQUALS, RAW, Candidates
from smallearn._learn.solve.objective import Penalty, Pooling


@dataclass(frozen=True)
class Budget:
    """``limit`` terms (or cost, where ``costs`` of the features are given) for each prototype, in total, or for terms
    that all prototypes share; features always in; the signs due for P(classes_[1])."""

    limit: float
    pooling: Pooling = "prototype"
    costs: np.ndarray | None = None
    always_in: tuple[int, ...] = ()
    signs: np.ndarray | None = None

    def penalty(self, alpha: float, candidates: Candidates, constant: bool, owner: int | None) -> Penalty:
        """The penalty on the candidates, then the constant if there is one, for prototypes of class ``owner``."""
        n = len(candidates)
        cost = np.ones(n) if self.costs is None else self.costs[candidates.feature]
        sign = np.zeros(n, dtype=np.int8)
        kind = np.array(candidates.kind)
        if self.signs is not None:
            due = self.signs[candidates.feature] * (1 if owner == 1 else -1)  # the other class's score falls as P rises
            sign = np.where((kind == RAW) | (kind == ABOVE), due, np.where(kind == AT_MOST, -due, 0)).astype(np.int8)
            named = np.unique(candidates.feature[kind == EQUALS])
            if self.signs[named].any():
                which = named[self.signs[named] != 0][0]
                raise ValueError(f"monotonic_cst has a sign for feature {which}, whose categories have no order.")
        for feature in self.always_in:
            mine = (kind == RAW) & (candidates.feature == feature)
            if not mine.any():
                raise ValueError(
                    f"always_in has feature {feature}, which is no candidate as a number; it needs literals='raw' or "
                    "'both' and a feature that is not categorical."
                )
            cost[mine] = 0.0
        if self.costs is not None and not np.any(cost <= self.limit):
            raise ValueError(f"max_cost={self.limit:g}, but the cheapest term costs {cost.min():g}: no term fits.")
        return Penalty(
            alpha,
            float(self.limit),
            np.append(cost, np.zeros(int(constant))),
            np.append(sign, np.zeros(int(constant), dtype=np.int8)),
            self.pooling,
        )
