"""Explanations of a model: its rule, the reason for one decision, and which features matter.

Every function takes a `smallearn.SMaLLModel` or a fitted estimator, and rows as an array, a sparse matrix, a table or
`smallearn.model.Rows`.
"""

from smallearn.explain._case.changes import Change, Flip
from smallearn.explain._case.decision import case
from smallearn.explain._case.result import Case, ChangeSummary, Contribution
from smallearn.explain._describe import Description, describe
from smallearn.explain._digits import rounded
from smallearn.explain._dnf.rule import DNF, Condition, dnf
from smallearn.explain._importance import Importance, importance
from smallearn.explain._reason_codes import reason_codes

__all__ = [
    "DNF",
    "Case",
    "Change",
    "ChangeSummary",
    "Condition",
    "Contribution",
    "Description",
    "Flip",
    "Importance",
    "case",
    "describe",
    "dnf",
    "importance",
    "reason_codes",
    "rounded",
]
