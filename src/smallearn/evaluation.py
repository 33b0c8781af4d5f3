"""How good a model is on given rows, with intervals, where it errs, and how familiar models do on the same."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, roc_curve
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import column_or_1d

from smallearn._text import count, listed, show, show_category
from smallearn.model import SMaLLModel
from smallearn.model._columns import Column
from smallearn.model._parts import standard_error
from smallearn.model._rows import read_rows
from smallearn.model._rule import scores, winners

__all__ = ["Comparison", "Evaluation", "Familiar", "Group", "Interval", "Mistake", "evaluate", "familiar", "wilson"]

LEVEL = 0.95
RESAMPLES, MANY_ROWS = 1000, 5000  # of the bootstrap; beyond so many rows a fifth of them will do
MOST_ERRORS, MOST_GROUPS, LEAST_OF_A_GROUP = 10, 5, 10
FOLDS = 5


@dataclass(frozen=True)
class Interval:
    """A figure and its 95% interval."""

    value: float
    low: float
    high: float

    def __format__(self, spec: str) -> str:
        """``94.7% (90.3% to 97.2%)``."""
        spec = spec or ".1%"
        return f"{self.value:{spec}} ({self.low:{spec}} to {self.high:{spec}})"


@dataclass(frozen=True)
class Mistake:
    """A row given to a wrong class: its position, the two classes, and how sure the model was of the wrong one."""

    row: int
    truth: Any
    predicted: Any
    probability: float


@dataclass(frozen=True)
class Group:
    """Rows that have something in common, and the share of them that is wrong."""

    text: str
    n_rows: int
    wrong: float


@dataclass(frozen=True)
class Evaluation:
    """A model on rows: see `evaluate`. ``confusion`` has a line for each true class, a column for each predicted one.
    ``roc`` holds the false and the true positive rates for ``classes[1]``, of two classes only."""

    n_rows: int
    classes: tuple[Any, ...]
    is_training_data: bool
    accuracy: Interval
    balanced_accuracy: Interval
    auc: Interval | None
    log_loss: Interval
    brier: Interval
    frequent: float
    confusion: np.ndarray
    roc: tuple[np.ndarray, np.ndarray] | None
    mistakes: tuple[Mistake, ...]
    groups: tuple[Group, ...]

    def figures(self) -> Iterator[tuple[str, str, str]]:
        """Name, value and meaning of each figure, for people."""
        yield (
            "accuracy",
            f"{self.accuracy}",
            f"share of rows that are right; {self.frequent:.1%} by always saying the same",
        )
        yield "balanced accuracy", f"{self.balanced_accuracy}", "the same, averaged over the classes"
        if self.auc is not None:
            meaning = "chance that a row of one class scores above one of the other"
            if len(self.classes) > 2:
                meaning = "chance that a row of a class scores above one of the others, averaged over the classes"
            yield "area under ROC", f"{self.auc:.3f}", meaning
        yield "log-loss", f"{self.log_loss:.3f}", "how much the true classes surprise the probabilities; 0 is perfect"
        yield "Brier score", f"{self.brier:.3f}", "mean squared error of the probabilities; 0 is perfect"


def evaluate(model: SMaLLModel, X: Any, y: Any, *, random_state: int = 0) -> Evaluation:
    """Scores of a model on rows ``X`` of classes ``y`` with 95% intervals (accuracy: Wilson's; others: bootstrap), the
    confusion matrix, and where it errs."""
    y = column_or_1d(y)
    code = model.codes(y)
    if len(code) == 0:
        raise ValueError("There are no rows to judge the model by.")
    unknown = sorted({show(label) for label, known in zip(np.asarray(y).tolist(), code, strict=True) if known < 0})
    if unknown:
        raise ValueError(f"y has the class {', '.join(unknown)}; the model knows {listed(model.classes)}.")
    chances = model.predict_proba(X)
    if len(chances) != len(code):
        raise ValueError(f"X has {count(len(chances), 'row')} and y {len(code)}; both need as many.")
    ranked = (
        model.decision_function(X) if len(model.classes) == 2 else chances
    )  # probabilities tie where they are 0 or 1
    predicted = model.codes(model.predict(X))
    resample = partial(_bootstrap, code, np.random.default_rng(random_state))
    own = np.clip(chances[np.arange(len(code)), code], 1e-15, 1.0)
    squares = ((chances - np.eye(len(model.classes))[code]) ** 2).sum(axis=1) / (1 if len(model.classes) > 2 else 2)
    several = len(np.unique(code)) > 1
    return Evaluation(
        n_rows=len(code),
        classes=model.classes,
        is_training_data=model.was_trained_on(X, y),
        accuracy=wilson(int((predicted == code).sum()), len(code)),
        balanced_accuracy=resample(lambda rows: _balanced(code[rows], predicted[rows])),
        auc=resample(lambda rows: _area(code[rows], ranked[rows])) if several else None,
        log_loss=resample(lambda rows: float(-np.log(own[rows]).mean())),
        brier=resample(lambda rows: float(squares[rows].mean())),
        frequent=float(np.bincount(code).max() / len(code)),
        confusion=confusion_matrix(code, predicted, labels=range(len(model.classes))),
        roc=roc_curve(code, ranked)[:2] if len(model.classes) == 2 and several else None,
        mistakes=tuple(_mistakes(model, code, predicted, chances)),
        groups=tuple(_groups(model, X, predicted != code)),
    )


def wilson(hits: int, n: int) -> Interval:
    """A share with Wilson's interval, which stays within 0 and 1 and is right for few rows."""
    interval = stats.binomtest(hits, n).proportion_ci(LEVEL, method="wilson")
    return Interval(hits / n, float(interval.low), float(interval.high))


def _bootstrap(code: np.ndarray, rng: np.random.Generator, figure: Callable[[np.ndarray], float]) -> Interval:
    """Percentiles over rows drawn anew, class by class, so that no class is ever absent."""
    classes = [np.flatnonzero(code == c) for c in np.unique(code)]
    times = RESAMPLES if len(code) <= MANY_ROWS else RESAMPLES // 5
    drawn = [figure(np.concatenate([rng.choice(mine, len(mine)) for mine in classes])) for _ in range(times)]
    low, high = np.quantile(drawn, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    return Interval(figure(np.arange(len(code))), float(low), float(high))


def _balanced(code: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.mean([(predicted[code == c] == c).mean() for c in np.unique(code)]))


def _area(code: np.ndarray, ranked: np.ndarray) -> float:
    """Area under the ROC curve by ranks; of more classes, the mean of each against the others."""
    areas = []
    for c in [1] if ranked.ndim == 1 else np.unique(code):
        rank = stats.rankdata(ranked if ranked.ndim == 1 else ranked[:, c])
        mine = code == c
        n = int(mine.sum())
        areas.append((rank[mine].sum() - n * (n + 1) / 2) / (n * (len(code) - n)))
    return float(np.mean(areas))


# --- where it errs ---------------------------------------------------------------------------------------------------


def _mistakes(model: SMaLLModel, code: np.ndarray, predicted: np.ndarray, chances: np.ndarray) -> Iterator[Mistake]:
    """Those that the model was most sure of, first."""
    wrong = np.flatnonzero(predicted != code)
    sure = chances[wrong, predicted[wrong]]
    for row in wrong[np.argsort(-sure, kind="stable")][:MOST_ERRORS]:
        truth, said = model.classes[code[row]], model.classes[predicted[row]]
        yield Mistake(int(row), truth, said, float(chances[row, predicted[row]]))


def _groups(model: SMaLLModel, X: Any, wrong: np.ndarray) -> list[Group]:
    """Groups of rows, by what decided and by each feature in use, in which mistakes are most frequent."""
    rows = read_rows(model, X)
    winner = winners(scores(model.prototypes, rows.factor, rows.n_rows), model.owners)
    found: list[tuple[list[str], np.ndarray]] = []
    if len(model.prototypes) > 1:
        found.append(([f"decided by prototype {j + 1}" for j in range(len(model.prototypes))], winner))
    found += [_parts(rows.columns[term.feature]) for term in model.features]
    least = max(LEAST_OF_A_GROUP, len(wrong) // 20)
    groups = []
    for names, part in found:
        n_rows = np.bincount(part, minlength=len(names))
        mistakes = np.bincount(part, weights=wrong, minlength=len(names))
        enough = np.flatnonzero(n_rows >= least)
        groups += [Group(names[i], int(n_rows[i]), float(mistakes[i] / n_rows[i])) for i in enough]
    worse = [group for group in groups if group.wrong > wrong.mean()]
    return sorted(worse, key=lambda group: -group.wrong)[:MOST_GROUPS]


def _parts(column: Column) -> tuple[list[str], np.ndarray]:
    """A column in quarters, or by category: what each part is called, and the part of each row; 0 is missing."""
    name = show(column.label, quote=False)
    missing = column.missing
    part = np.zeros(len(missing), dtype=np.int64)
    try:
        numbers = column.numbers[~missing]
    except ValueError:
        number: dict[Any, int] = {}
        part[~missing] = [number.setdefault(value, len(number)) + 1 for value in column.values[~missing].tolist()]
        return [f"{name} is missing", *(f"{name} is {show_category(value)}" for value in number)], part
    values = np.unique(numbers)
    if len(values) <= FOLDS:
        part[~missing] = np.searchsorted(values, numbers) + 1
        return [f"{name} is missing", *(f"{name} is {value:.6g}" for value in values)], part
    ends = np.unique(np.quantile(numbers, [0.0, 0.25, 0.5, 0.75, 1.0]))
    part[~missing] = np.maximum(np.searchsorted(ends, numbers), 1)
    first, *others = pairwise(ends)
    words = [f"from {first[0]:.4g} to {first[1]:.4g}", *(f"above {low:.4g}, up to {high:.4g}" for low, high in others)]
    return [f"{name} is missing", *(f"{name} {one}" for one in words)], part


# --- familiar models -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Familiar:
    """A familiar model on the same rows: mean accuracy and its standard error over folds (0 on given test rows), and
    what one would have to read of it."""

    name: str
    score: float
    spread: float
    size: str


@dataclass(frozen=True)
class Comparison:
    """Familiar models, judged by folds of the rows at hand or, ``trained`` on others, by all of them; ``same``: whether
    these others are those that the small model was trained on, None if that is unknown. ``n_rows`` of a class that can
    be held out in ``folds`` folds."""

    models: tuple[Familiar, ...]
    trained: bool
    same: bool | None = True
    folds: int = FOLDS
    n_rows: int | None = None

    def words(self, model: SMaLLModel, judged: Evaluation) -> str:
        """How they were judged, and how fair that is."""
        if self.trained and self.same:
            return "Each was trained on the training rows and is judged by these rows, like the small model."
        if self.trained:
            known = "which may not be those of" if self.same is None else "which are not the table of"
            return f"Each was trained on rows given for that, {known} the small model, and is judged by these rows."
        fewer = self.n_rows is not None and self.n_rows < judged.n_rows
        which = f"{self.n_rows} of these rows, without classes of too few" if fewer else "these rows"
        words = f"Each is judged by {self.folds} stratified folds of {which}."
        if judged.is_training_data and _was_cross_validated(model):
            return f"{words} The small model has its cross-validated score."
        if judged.is_training_data:
            return f"{words} The small model's figure is that on its own training rows, and so flatters it."
        if model.data is None:
            return f"{words} Which rows the small model learned from is not known."
        return f"{words} They learn from rows among these, the small model learned from others: that favours them."

    def lines(self, model: SMaLLModel, judged: Evaluation) -> list[tuple[str, str, str]]:
        """Name, accuracy and size of each, the small model first."""
        own = f"{judged.accuracy.value:.1%}"
        if judged.is_training_data and model.selection is not None and model.selection.metric == "accuracy":
            own = f"{model.selection.score:.1%} ± {model.selection.spread:.1%}"
        each = [(m.name, f"{m.score:.1%}" + (f" ± {m.spread:.1%}" if m.spread else ""), m.size) for m in self.models]
        return [("this model", own, count(len(model.terms), "term")), *each]


def _was_cross_validated(model: SMaLLModel) -> bool:
    return model.selection is not None and model.selection.metric == "accuracy"


def familiar(
    X: Any,
    y: Any,
    test: tuple[Any, Any] | None = None,
    same: bool | None = True,
    step: Callable[[], None] = lambda: None,
) -> Comparison:
    """Accuracy of familiar classifiers, with settings chosen by an inner cross-validation where they matter: by 5
    stratified folds of the rows ``X``, or trained on them and tried on the rows of ``test``; ``same``: whether they are
    the rows that the small model was trained on. ``X`` is a pandas table; text is one-hot, gaps are filled. ``step`` is
    called after each."""
    y = np.asarray(y)
    fewest = int(np.unique(y, return_counts=True)[1].min())
    n_folds = min(FOLDS, max(2, fewest))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    found = []
    for name, make, size in _models(max(2, min(FOLDS, fewest // 2))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns that are empty in a fold, of solvers that stop early
            fitted = clone(make).fit(X, y)
            if test is not None:
                scores = [_accuracy(fitted, *test)]
            else:
                scores = [_accuracy(clone(make).fit(_of(X, a), y[a]), _of(X, b), y[b]) for a, b in folds.split(X, y)]
        spread = standard_error(tuple(scores))
        found.append(Familiar(name, float(np.mean(scores)), spread, size(fitted)))
        step()
    return Comparison(tuple(found), test is not None, same, n_folds, len(y))


N_FAMILIAR = 5


def _models(inner: int) -> list[tuple[str, Any, Callable[[Any], str]]]:
    text = make_column_selector(dtype_exclude=["number", "bool"])
    numbers = make_column_selector(dtype_include=["number", "bool"])
    to_text = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"), OneHotEncoder(handle_unknown="ignore")
    )
    filled = SimpleImputer(add_indicator=True)
    plain = make_column_transformer((filled, numbers), (to_text, text), sparse_threshold=0.0)
    scaled = make_column_transformer(
        (make_pipeline(filled, StandardScaler()), numbers), (to_text, text), sparse_threshold=0.0
    )
    linear = GridSearchCV(LogisticRegression(max_iter=2000), {"C": [0.01, 0.1, 1.0, 10.0]}, cv=inner)
    tree = GridSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": [2, 3, 5, None], "min_samples_leaf": [1, 5]}, cv=inner
    )
    forest = RandomForestClassifier(200, min_samples_leaf=1, random_state=0)
    boosted = HistGradientBoostingClassifier(random_state=0, early_stopping=False)
    return [
        ("always the most frequent class", DummyClassifier(), lambda _: "nothing"),
        (
            "logistic regression",
            make_pipeline(scaled, linear),
            lambda m: count(m[-1].best_estimator_.coef_.size, "weight"),
        ),
        (
            "decision tree",
            make_pipeline(plain, tree),
            lambda m: count(m[-1].best_estimator_.get_n_leaves() - 1, "split"),
        ),
        ("random forest", make_pipeline(plain, forest), lambda m: f"{_splits_of_forest(m[-1]):,} splits"),
        ("gradient boosting", make_pipeline(plain, boosted), lambda m: f"{_splits_of_boosting(m[-1]):,} splits"),
    ]


def _splits_of_forest(forest: Any) -> int:
    return sum(tree.get_n_leaves() - 1 for tree in forest.estimators_)


def _splits_of_boosting(boosted: Any) -> int:
    return sum(tree.get_n_leaf_nodes() - 1 for stage in boosted._predictors for tree in stage)


def _of(X: Any, rows: Sequence[int]) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _accuracy(fitted: Any, X: Any, y: Any) -> float:
    return float(np.mean(fitted.predict(X) == np.asarray(y)))
