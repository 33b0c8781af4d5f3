"""The methods by name, for two classes and for more. Each gets training rows and numbers of terms, and returns models.

A term is a non-zero coefficient of a linear model, a split of a tree, a step of an additive model. With more than two
classes a term is a row of the model's card: a column that a linear model uses counts once, however many classes weigh
it. "smallearn (every weight)" counts all weights. "smallearn (tree's bytes)" is bounded by the bytes of a tree instead.
"""

from benchmarks.quality.additive import Boosting, Constant, DefaultBoosting, ExplainableBoosting
from benchmarks.quality.linear import L1, Abess, AbessMultinomial, L1Multinomial
from benchmarks.quality.ours import AtTreesBytes, SMaLL
from benchmarks.quality.search import Method
from benchmarks.quality.trees import FIGS, OptimalTree, Tree

OURS, EVERY_WEIGHT, FITTING = "smallearn", "smallearn (every weight)", "smallearn (tree's bytes)"
TREE, BOOSTING, CONSTANT = "tree", "gradient boosting", "most frequent class"

TWO_CLASSES: dict[str, Method] = {
    OURS: SMaLL("total"),
    "abess": Abess(),
    "l1 logistic": L1(),
    TREE: Tree(),
    "optimal tree": OptimalTree(),
    "FIGS": FIGS(),
    "EBM": ExplainableBoosting(),
    BOOSTING: Boosting(),
}
MORE_CLASSES: dict[str, Method] = {
    OURS: SMaLL("shared"),
    EVERY_WEIGHT: SMaLL("total"),
    FITTING: AtTreesBytes(),
    "abess": AbessMultinomial(),
    "l1 logistic": L1Multinomial(),
    TREE: Tree(),
    "optimal tree": OptimalTree(),
    BOOSTING: DefaultBoosting(),
    CONSTANT: Constant(),
}
NAMES = tuple(dict.fromkeys([*TWO_CLASSES, *MORE_CLASSES]))


def methods_for(several: bool) -> dict[str, Method]:
    """The methods for more than two classes, or for two."""
    return MORE_CLASSES if several else TWO_CLASSES
