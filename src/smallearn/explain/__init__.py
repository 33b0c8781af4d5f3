"""A model in words: what it says, why a case was decided so, which features matter."""

from smallearn.explain._case.changes import Change, Flip
from smallearn.explain._case.decision import Case, Contribution, case
from smallearn.explain._describe import Description, describe
from smallearn.explain._digits import rounded
from smallearn.explain._dnf.rule import DNF, Condition, dnf
from smallearn.explain._importance import Importance, importance

__all__ = [
    "DNF",
    "Case",
    "Change",
    "Condition",
    "Contribution",
    "Description",
    "Flip",
    "Importance",
    "case",
    "describe",
    "dnf",
    "importance",
    "rounded",
]
