"""A row, the features of it that may change, and what a change does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from smallearn.explain._case.changes import Change, Flip
from smallearn.explain._case.domains import Domain
from smallearn.model import SMaLLModel
from smallearn.model._arguments import as_row


@dataclass(frozen=True)
class Changeable:
    """A row that the model gives to ``prediction``, and the domains of the features that may change.

    ``values`` has the value of each feature in use, by its position. A change is a list of new values, one for each
    domain.
    """

    model: SMaLLModel
    values: dict[int, Any]
    domains: tuple[Domain, ...]
    prediction: Any

    def decision(self, after: Sequence[Any]) -> Any:
        """The class that the model predicts after the change."""
        changed = {domain.feature: value for domain, value in zip(self.domains, after, strict=True)}
        return self.model.predict_one(as_row(self.model, {**self.values, **changed}))

    def flips(self, after: Sequence[Any]) -> bool:
        """Whether the model predicts another class after the change."""
        return bool(self.decision(after) != self.prediction)

    def size(self, after: Sequence[Any]) -> float:
        """The changes of all features added up."""
        total = 0.0
        for domain, value in zip(self.domains, after, strict=True):
            total += size_of(domain, value)
        return total

    def flip(self, after: Sequence[Any]) -> Flip:
        """The change as a user sees it."""
        changes = tuple(
            Change(
                feature=domain.feature,
                label=domain.label,
                before=None if domain.now is None else self.values[domain.feature],
                after=value,
            )
            for domain, value in zip(self.domains, after, strict=True)
            if value != domain.now
        )
        return Flip(changes=changes, label=self.decision(after), size=self.size(after))


def size_of(domain: Domain, after: Any) -> float:
    """The change of one feature: relative to its range, or 1 for another category or in place of a missing value."""
    if is_step(domain, after):
        return abs(after - domain.now) / domain.range
    if after is None and domain.now is None:
        return 0.0
    return float(after != domain.now)


def is_step(domain: Domain, after: Any) -> bool:
    """Whether the change is from a number to a number: neither of a category nor of a missing value."""
    return domain.is_number and domain.now is not None and after is not None
