"""``--metric``: scikit-learn's scorers of classifiers, by name."""

import difflib
import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from smallearn._text import listed, show
from smallearn.cli.errors import CommandError
from smallearn.model import SMaLLModel

OF_CLASSES = ("sklearn.metrics._classification", "sklearn.metrics._ranking")
TWO_CLASSES = {  # and what to use for more
    "f1": "f1_macro",
    "precision": "precision_macro",
    "recall": "recall_macro",
    "jaccard": "jaccard_macro",
    "roc_auc": "roc_auc_ovr",
    "average_precision": "balanced_accuracy",
    "neg_brier_score": "neg_log_loss",
}
NOT_OFFERED = ("_samples", "top_k_accuracy", "likelihood_ratio")  # for several labels, or of no use for some classes


def metric_names() -> list[str]:
    """The names that scikit-learn has for scores of classifiers."""
    from sklearn.metrics import get_scorer, get_scorer_names

    names = [name for name in get_scorer_names() if not any(part in name for part in NOT_OFFERED)]
    return [name for name in names if get_scorer(name)._score_func.__module__ in OF_CLASSES]


def find_scoring(name: str | None, classes: Sequence[Any], positive: Any) -> Any:
    """What a metric's name means for these classes: None, the name, or a scorer for the class that is ``positive``."""
    if name is None:
        return None
    check_metric(name)
    if len(classes) > 2:
        if name in TWO_CLASSES:
            raise CommandError(
                f"--metric {name} is for two classes, and there are {len(classes)}; use --metric {TWO_CLASSES[name]}"
            )
        return name
    from sklearn.metrics import get_scorer, make_scorer

    scorer: Any = get_scorer(name)
    options = dict(scorer._kwargs)
    if not _is_about_one_class(scorer) or positive == 1:
        return name  # scikit-learn's own class is 1
    if name in ("f1", "precision", "recall", "jaccard"):
        options["zero_division"] = 0.0
    return make_scorer(
        scorer._score_func,
        response_method=scorer._response_method,
        greater_is_better=scorer._sign > 0,
        **{**options, "pos_label": positive},
    )


def is_about_one_class(name: str | None) -> bool:
    """Whether a metric scores one of two classes, such as its recall, and not both alike."""
    from sklearn.metrics import get_scorer

    return name is not None and _is_about_one_class(get_scorer(name))


class Metric(NamedTuple):
    """The score that a model was chosen by: its name, what computes it, and the class that it is about, if any."""

    name: str
    scoring: Any
    about: Any

    @property
    def text(self) -> str:
        """``F1 of 'yes'``."""
        name = self.name.replace("_", " ")
        return f"{name[:1].upper()}{name[1:]}" + ("" if self.about is None else f" of {show(self.about)}")


def metric_of(model: SMaLLModel) -> Metric | None:
    """The metric that a model was chosen by; None if that is the accuracy, or none of scikit-learn's scores.

    The class that it is about is the one that the user named in training, else the one that it is by default.
    """
    name = "accuracy" if model.selection is None else model.selection.metric
    if name == "accuracy" or name not in metric_names():
        return None
    about = default_positive(name, model.classes, () if model.data is None else model.data.class_counts)
    if about is not None and model.table.positive is not None:
        about = class_named(model.table.positive, model.classes)
        if about is None:
            return None
    return Metric(name, find_scoring(name, model.classes, about), about)


def class_named(text: str, classes: Sequence[Any]) -> Any:
    """The class that the user named, in letters of any case unless two differ by these alone; None if there is none."""
    named = [known for known in classes if str(known).lower() == text.lower()]
    return next((known for known in named if str(known) == text), named[0] if named else None)


def default_positive(name: str | None, classes: Sequence[Any], counts: Sequence[float]) -> Any:
    """Of two classes, the one that f1, recall and the like are about: 1 of 0 and 1, as in scikit-learn, else the rarer
    one. None if the metric is about all classes."""
    if len(classes) > 2 or not is_about_one_class(name):
        return None
    if list(classes) in ([0, 1], [-1, 1]) or not counts:  # and False and True
        return classes[1]
    return classes[0 if counts[0] < counts[1] else 1]


def score_of(model: SMaLLModel, scoring: Any, X: Any, y: np.ndarray) -> float:
    """The score of a model by what `SMaLLClassifierCV` takes as ``scoring``; None is the accuracy."""
    from sklearn.metrics import get_scorer

    scorer = get_scorer("accuracy" if scoring is None else scoring)
    return float(scorer(_as_classifier(model), X, y))


def _as_classifier(model: SMaLLModel) -> Any:
    """A model with what scikit-learn's scorers ask of a classifier."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Classifier(ClassifierMixin, BaseEstimator):
        classes_ = np.array(model.classes, dtype=model.class_dtype)
        predict, predict_proba = staticmethod(model.predict), staticmethod(model.predict_proba)
        decision_function = staticmethod(model.decision_function)

    return Classifier()


def check_metric(name: str) -> None:
    """Raise unless scikit-learn has a score of classifiers with this name."""
    names = metric_names()
    if name in names:
        return
    wanted = name.lower().replace("-", "_").replace(" ", "_")
    near = [known for known in names if wanted and (wanted in known or known in wanted)]
    near += [known for known in difflib.get_close_matches(wanted, names, n=5, cutoff=0.5) if known not in near]
    meant = f"did you mean {' or '.join(near[:5])}?" if near else f"there are {listed(names)}"
    raise CommandError(f"--metric {show(name)} is none of scikit-learn's scores of classifiers; {meant}")


def _is_about_one_class(scorer: Any) -> bool:
    """Whether it has a parameter ``pos_label`` that counts."""
    takes = inspect.signature(scorer._score_func).parameters
    return "pos_label" in takes and scorer._kwargs.get("average", "binary") == "binary"
