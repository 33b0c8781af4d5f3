"""At most so many different features of a group: a limit on supports that the relaxation does not know.

The relaxation, and with it every lower bound, is that of the problem without this limit, of which models that keep it
are a part. Rounding, the search and branch and bound make no support that breaks it.
"""

from dataclasses import dataclass, replace

import numpy as np

NO_FEATURE = -1  # of the constant


@dataclass(frozen=True)
class GroupLimit:
    """``feature`` of each column (d), which columns belong to each group (``member``, groups × d), and how many
    different features of a group a support may use, over all prototypes (``most``)."""

    feature: np.ndarray
    member: np.ndarray
    most: int

    @classmethod
    def of(cls, groups: tuple[tuple[int, ...], ...], most: int, feature: np.ndarray) -> "GroupLimit":
        """The limit for groups of features."""
        member = np.array([np.isin(feature, group) for group in groups], dtype=bool).reshape(len(groups), len(feature))
        return cls(feature=feature, member=member, most=most)

    def restrict(self, columns: np.ndarray) -> "GroupLimit":
        """The limit on some of the columns."""
        return replace(self, feature=self.feature[columns], member=self.member[:, columns])

    def allows(self, columns: np.ndarray) -> bool:
        """Whether a support that uses these columns keeps the limit."""
        return all(len(np.unique(self.feature[columns[own[columns]]])) <= self.most for own in self.member)

    def closed(self, columns: np.ndarray) -> np.ndarray:
        """The columns that would break the limit if they joined these (d, bool)."""
        closed = np.zeros(len(self.feature), dtype=bool)
        for own in self.member:
            used = np.unique(self.feature[columns[own[columns]]])
            if len(used) >= self.most:
                closed |= own & ~np.isin(self.feature, used)
        return closed
