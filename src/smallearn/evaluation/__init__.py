"""How good a model is on labelled rows: scores with intervals, errors, and standard models for comparison."""

from smallearn.evaluation._comparison import N_FAMILIAR, Comparison, Familiar, familiar
from smallearn.evaluation._evaluate import Evaluation, evaluate
from smallearn.evaluation._groups import Group
from smallearn.evaluation._intervals import Interval, wilson
from smallearn.evaluation._mistake import Mistake

__all__ = [
    "N_FAMILIAR",
    "Comparison",
    "Evaluation",
    "Familiar",
    "Group",
    "Interval",
    "Mistake",
    "evaluate",
    "familiar",
    "wilson",
]
