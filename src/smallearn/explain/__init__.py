"""A model in words: what it says, why a case was decided so, which features matter."""

from smallearn.explain.case import Case, Contribution, case
from smallearn.explain.changes import Change, Flip
from smallearn.explain.description import Description, describe
from smallearn.explain.digits import rounded
from smallearn.explain.dnf import DNF, Condition, dnf
from smallearn.explain.importance import Importance, importance

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
