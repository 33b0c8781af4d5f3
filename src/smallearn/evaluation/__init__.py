"""How good a model is on labelled rows: scores with intervals, errors, standard models for comparison, and how far
new rows have moved since training.

`N_FAMILIAR` is the number of standard models that `familiar` scores:

>>> from smallearn.evaluation import N_FAMILIAR
>>> N_FAMILIAR
5
"""

from smallearn.evaluation._comparison import N_FAMILIAR, Comparison, familiar
from smallearn.evaluation._evaluate import Evaluation, evaluate
from smallearn.evaluation._groups import Group
from smallearn.evaluation._intervals import Interval, wilson
from smallearn.evaluation._mistake import Mistake
from smallearn.evaluation._monitor import Monitoring, Period, monitor
from smallearn.evaluation._stability import Bin, Drift
from smallearn.model._parts import Familiar

__all__ = [
    "N_FAMILIAR",
    "Bin",
    "Comparison",
    "Drift",
    "Evaluation",
    "Familiar",
    "Group",
    "Interval",
    "Mistake",
    "Monitoring",
    "Period",
    "evaluate",
    "familiar",
    "monitor",
    "wilson",
]
