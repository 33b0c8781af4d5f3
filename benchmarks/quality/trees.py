"""Trees and sums of trees. A term is a split."""

import warnings
from copy import copy
from functools import partial

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import ccp_pruning_path

from benchmarks.quality.chip import flash_of_tree
from benchmarks.quality.search import WIDE, Fitted, Searched, dense, two_columns

BITS = {2: 100, 3: 100, 4: 40, 5: 30}  # of an optimal tree, by its depth


class Tree(Searched):
    """A decision tree. Parameters: number of splits, way of growing, criterion, least number of rows in a leaf.

    The ways: best first, best first within a depth of 4, or grown in full and pruned by cost complexity. Growing best
    first adds two nodes per split, so the tree of s splits consists of the first 2s + 1 nodes of a larger tree: one fit
    gives all sizes. So does the path of pruning.
    """

    on_chip = True
    PRUNED = "pruned"

    def candidates(self, X, y, held, most, seed):
        X, held = dense(X), dense(held)
        result = {}
        wide = X.shape[1] > WIDE
        for criterion in ("gini", "entropy"):
            for fewest in (1, 5) if wide else (1, 5, 20):
                settings = {"criterion": criterion, "min_samples_leaf": fewest, "random_state": seed}
                for depth in (None,) if wide else (None, 4):
                    tree = self._grown(most, depth, settings).fit(X, y)
                    nodes = tree.decision_path(held).toarray() * np.arange(tree.tree_.node_count)
                    share = tree.tree_.value[:, 0] / tree.tree_.value[:, 0].sum(axis=1, keepdims=True)
                    for size in range(1, most + 1):
                        result[size, (criterion, fewest, depth)] = share[nodes[:, : 2 * size + 1].max(axis=1)]
                pruned = self._pruned(X, y, most, settings)
                answers = {n: tree.predict_proba(held) for n, tree in pruned.items()}
                for size in range(1, most + 1):
                    largest = max(n for n in answers if n <= size)
                    result[size, (criterion, fewest, self.PRUNED)] = answers[largest]
        return result

    def fit(self, X, y, choice, seed):
        size, (criterion, fewest, way) = choice
        X = dense(X)
        settings = {"criterion": criterion, "min_samples_leaf": fewest, "random_state": seed}
        if way == self.PRUNED:
            trees = self._pruned(X, y, size, settings)
            tree = trees[max(trees)]
        else:
            tree = self._grown(size, way, settings).fit(X, y)
        splits = splits_of(tree)
        return Fitted(
            lambda X: tree.predict(dense(X)),
            lambda X: tree.predict_proba(dense(X)),
            splits,
            splits,
            partial(flash_of_tree, tree, X),
        )

    @staticmethod
    def _grown(size, depth, settings) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(max_leaf_nodes=size + 1, max_depth=depth, **settings)

    @staticmethod
    def _pruned(X, y, most: int, settings) -> dict[int, DecisionTreeClassifier]:
        """Number of splits → the tree of this size on the path of cost-complexity pruning, up to ``most``."""
        full = DecisionTreeClassifier(**settings).fit(X, y)
        trees = {}
        for alpha in ccp_pruning_path(full.tree_)["ccp_alphas"][::-1]:
            tree = copy(full).set_params(ccp_alpha=alpha)
            tree._prune_tree()  # what fit does last; the growth before it is the same for every alpha
            if splits_of(tree) > most:
                break
            trees[splits_of(tree)] = tree
        return trees


def splits_of(tree: DecisionTreeClassifier) -> int:
    """The number of splits of a fitted tree."""
    return int(np.sum(tree.tree_.feature >= 0))


class OptimalTree(Searched):
    """Trees with the fewest training errors for their depth and number of splits, by pystreed.

    It splits on bits: columns compared with quantiles. A forest ranks them, as pystreed does itself, and the deeper the
    tree, the fewer are kept, because time grows with their number to the power of the depth. A search that runs out of
    time returns the best tree so far.
    """

    QUANTILES = 10
    SHAPES = ((1, 2), (2, 2), (3, 2), (5, 3), (6, 3), (7, 3), (8, 4), (10, 4), (12, 4), (16, 5), (20, 5))
    SECONDS, FINAL_SECONDS = 1.0, 10.0  # of a fit in a fold, and of the final fit

    def candidates(self, X, y, held, most, seed):
        bits = Bits(dense(X), y, self.QUANTILES, seed)
        shapes = [(size, depth) for size, depth in self.SHAPES if size <= most]
        return {
            (size, depth): self._solved(bits, y, size, depth, self.SECONDS)[0](dense(held)) for size, depth in shapes
        }

    def fit(self, X, y, choice, seed):
        probability, splits = self._solved(Bits(dense(X), y, self.QUANTILES, seed), y, *choice, self.FINAL_SECONDS)
        return Fitted(lambda X: probability(dense(X)).argmax(axis=1), lambda X: probability(dense(X)), splits, splits)

    def _solved(self, bits, y, size, depth, seconds):
        """The probabilities of rows, and the number of splits."""
        from pystreed import STreeDClassifier

        n = BITS[depth]
        model = STreeDClassifier(max_depth=depth, max_num_nodes=size, time_limit=seconds, random_seed=0)
        model.fit(bits(bits.X, n), y)
        return lambda X: model.predict_proba(bits(X, n)), int(model.fit_result.tree_nodes())


class Bits:
    """Columns compared with their quantiles, the most important comparisons first."""

    def __init__(self, X, y, quantiles: int, seed: int):
        self.X = X
        levels = np.linspace(0.0, 1.0, quantiles + 1)[1:-1]
        cuts = [(column, cut) for column in range(X.shape[1]) for cut in _cuts(X[:, column], levels)]
        self.columns, self.cuts = np.array([c for c, _ in cuts], dtype=int), np.array([cut for _, cut in cuts])
        forest = RandomForestClassifier(50, random_state=seed).fit(self(X, len(cuts)), y)
        order = np.argsort(-forest.feature_importances_, kind="stable")
        self.columns, self.cuts = self.columns[order], self.cuts[order]

    def __call__(self, X, n: int) -> np.ndarray:
        return (X[:, self.columns[:n]] <= self.cuts[:n]).astype(np.int8)


def _cuts(values: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Quantiles that have values on both sides; all values but the greatest, if there are few."""
    distinct = np.unique(values)
    return distinct[:-1] if len(distinct) <= len(levels) else np.setdiff1d(np.quantile(values, levels), distinct[-1:])


class FIGS(Searched):
    """Sums of trees by imodels. Parameter: the number of splits."""

    def candidates(self, X, y, held, most, seed):
        stages, last = self._staged(dense(X), y, dense(held), most, seed)
        if not np.array_equal(stages[-1] > 0.5, last > 0.5):
            raise RuntimeError("the last stage of FIGS is not its model; this version of imodels is not supported")
        return {(size, None): two_columns(stages[min(size, len(stages)) - 1]) for size in range(1, most + 1)}

    def fit(self, X, y, choice, seed):
        from imodels import FIGSClassifier

        model = self._fit(FIGSClassifier(max_rules=choice[0]), dense(X), y, seed)
        splits = int(model.complexity_)
        return Fitted(lambda X: model.predict(dense(X)), lambda X: model.predict_proba(dense(X)), splits, splits)

    @staticmethod
    def _fit(model, X, y, seed):
        # Its stumps break ties with numpy's global generator and take no seed.
        np.random.seed(seed)  # noqa: NPY002
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(X, y)

    @classmethod
    def _staged(cls, X, y, held, most, seed) -> tuple[list[np.ndarray], np.ndarray]:
        """P(y = 1) of the held-out rows after each split, and of the final model.

        The model of s splits is the first part of a larger one; its predictions are recorded when it looks for the
        next split.
        """
        from imodels import FIGSClassifier

        stages = []

        class Watched(FIGSClassifier):
            def _fit_candidate_stumps(self, *args, **kwargs):
                stages.append(np.sum([self._predict_tree(tree, held) for tree in self.trees_], axis=0)[:, -1])
                return super()._fit_candidate_stumps(*args, **kwargs)

        model = cls._fit(Watched(max_rules=most), X, y, seed)
        last = model.predict_proba(held)[:, 1]
        if len(stages) < model.complexity_ or not stages:
            stages.append(last)
        return stages, last
