"""The budget of a model as a `Penalty` on the candidate terms: counts or costs, features always in, signs."""

from dataclasses import dataclass

import numpy as np

from smallearn._learn.data.literals import ABOVE, AT_MOST, EQUALS, RAW, Candidates
from smallearn._learn.solve.group_limit import NO_FEATURE, GroupLimit
from smallearn._learn.solve.objective import Penalty, Pooling


@dataclass(frozen=True)
class Budget:
    """What a model may use.

    ``limit`` is a number of terms, or a cost if there are ``costs`` of the features: for each prototype, in total, or
    for terms that all prototypes share (``pooling``). ``always_in`` lists features outside the budget. ``signs`` (by
    feature) are those of the effect on P(classes_[1]). Of the features of each of ``groups`` the model may use at most
    ``max_per_group``.
    """

    limit: float
    pooling: Pooling = "prototype"
    costs: np.ndarray | None = None
    always_in: tuple[int, ...] = ()
    signs: np.ndarray | None = None
    groups: tuple[tuple[int, ...], ...] = ()
    max_per_group: int = 1

    def penalty(self, alpha: float, candidates: Candidates, intercept: bool, owner: int | None) -> Penalty:
        """The penalty on the candidate terms and the intercept, if any, for prototypes of class ``owner``."""
        n = len(candidates)
        cost = np.ones(n) if self.costs is None else self.costs[candidates.feature]
        sign = np.zeros(n, dtype=np.int8)
        kind = np.array(candidates.kind)
        if self.signs is not None:
            effect = self.signs[candidates.feature] * (1 if owner == 1 else -1)  # the score of class 0 falls as P rises
            of_literal = np.where(kind == AT_MOST, -effect, 0)
            sign = np.where((kind == RAW) | (kind == ABOVE), effect, of_literal).astype(np.int8)
            categorical = np.unique(candidates.feature[kind == EQUALS])
            if self.signs[categorical].any():
                which = categorical[self.signs[categorical] != 0][0]
                raise ValueError(
                    f"monotonic_cst has a sign for feature {which}, whose categories have no order; set it to 0."
                )
        for feature in self.always_in:
            raw = (kind == RAW) & (candidates.feature == feature)
            if not raw.any():
                raise ValueError(
                    f"always_in has feature {feature}, which is no raw candidate term; set literals='raw' or 'both', "
                    "and list no categorical feature."
                )
            cost[raw] = 0.0
        if self.costs is not None and not np.any(cost <= self.limit):
            raise ValueError(f"max_cost={self.limit:g}, but the cheapest term costs {cost.min():g}; raise max_cost.")
        of_column = np.append(candidates.feature, np.full(int(intercept), NO_FEATURE))
        return Penalty(
            alpha=alpha,
            budget=float(self.limit),
            cost=np.append(cost, np.zeros(int(intercept))),
            sign=np.append(sign, np.zeros(int(intercept), dtype=np.int8)),
            pooling=self.pooling,
            groups=GroupLimit.of(self.groups, self.max_per_group, of_column) if self.groups else None,
        )
