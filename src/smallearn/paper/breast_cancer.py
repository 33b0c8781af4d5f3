"""The violin figure: breast cancer with k = 3 and p = 2, each feature of the model and the score that decides."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from smallearn import SMaLLModel
from smallearn.paper import data, methods
from smallearn.paper.claims import Claim, Outcome, verdict
from smallearn.paper.compare import Settings, compare
from smallearn.paper.files import markdown, new_figure, write_results
from smallearn.plot._colours import BLUE, ORANGE

P, K = 2, 3
PUBLISHED = 0.94  # test accuracy
GOOD_AUC = 0.98
PERIMETER = 22  # the column "worst perimeter"
LABELS = ("malignant", "benign")
OURS = methods.RAW_SMALL
PAPER = methods.SPARSE_PRESET.name
NAMES = [PAPER, OURS.name]


class Drawn(NamedTuple):
    """The model in the figure, and the test rows of its split."""

    method: str
    split: int
    model: SMaLLModel
    X: np.ndarray
    y: np.ndarray
    accuracy: float


def run(settings: Settings) -> Outcome:
    """Compare the two methods; draw the first model that has both prototypes."""
    results = compare([data.BREAST_CANCER], NAMES, settings)
    drawn = _drawn(results, settings)
    statistics = results.groupby("method", sort=False)["accuracy"].agg(["mean", lambda a: a.std(ddof=0), "min"])
    table = [
        [str(name), methods.BY_NAME[str(name)].description, f"{mean:.1%} ± {deviation:.1%}", f"{lowest:.1%}"]
        for name, mean, deviation, lowest in statistics.itertuples()
    ]
    page = [
        f"# Breast cancer, k = {K}, p = {P}",
        "",
        "![violins](figure.png)",
        "",
        f"Drawn: {drawn.method}, split {drawn.split}, the first with {len(drawn.model.prototypes)} prototypes. Its "
        f"accuracy on the {len(drawn.y)} test rows is {drawn.accuracy:.1%}. 1 is benign, 0 malignant.",
        "",
        "```",
        str(drawn.model),
        "```",
        "",
        markdown(["method", "description", f"test accuracy, {settings.splits} splits", "worst split"], table),
        "",
        "The paper: over 94%.",
    ]
    write_results(settings.output / "breast-cancer", scores=results, page=page, figure=_figure(drawn))
    means = ", ".join(f"{name} {mean:.1%}" for name, mean, *_ in statistics.itertuples())
    return Outcome(
        summary=f"Breast cancer, {settings.splits} splits: {means} (the paper: over 94%).",
        claims=[*_claims(results, settings), _separation(drawn)],
        settings=settings,
    )


def _claims(results: pd.DataFrame, settings: Settings) -> list[Claim]:
    mean = results.groupby("method", sort=False)["accuracy"].mean()
    shared, pairs = {}, {}
    for name in NAMES:
        models = [_prototypes(terms) for terms in results[results["method"] == name]["terms"]]
        pairs[name] = [model for model in models if len(model) == P]
        shared[name] = sum(PERIMETER in set.intersection(*model) for model in pairs[name])
    count = len(pairs[PAPER])
    return [
        Claim(
            claim=f"With k = {K} and p = {P} SMaLL has a test accuracy of over 94% on breast cancer",
            published="over 94%, one split",
            measured=f"mean of {settings.splits} splits: " + ", ".join(f"{name} {mean[name]:.1%}" for name in NAMES),
            verdict=verdict(mean[PAPER] > PUBLISHED, mean[OURS.name] > PUBLISHED),
            criterion=f"{PAPER} has (in part: {OURS.name} has)",
        ),
        Claim(
            claim="The feature perimeter_worst appears in both prototypes",
            published="in the model drawn",
            measured="; ".join(
                f"{name}: in {shared[name]} of {len(pairs[name])} models with two prototypes" for name in NAMES
            ),
            verdict=verdict(2 * shared[PAPER] > count > 0, shared[PAPER] > 0),
            criterion=f"in most models of {PAPER} (in part: in some)",
        ),
    ]


def _separation(drawn: Drawn) -> Claim:
    area = roc_auc_score(drawn.y, drawn.model.decision_function(drawn.X))
    return Claim(
        claim="The predictor's output separates the test data well",
        published="in a figure",
        measured=f"area under the ROC curve of the model drawn, {drawn.method}: {area:.3f}",
        verdict=verdict(area >= GOOD_AUC),
        criterion=f"the area is at least {GOOD_AUC}",
    )


def _prototypes(terms: str) -> list[set[int]]:
    """The features of each prototype, from "0 2 7|2 5"."""
    return [{int(feature) for feature in prototype.split()} for prototype in terms.split("|")]


def _drawn(results: pd.DataFrame, settings: Settings) -> Drawn:
    """The first model of ours with both prototypes; if none has them, the paper's on the first split."""
    names = list(data.load(data.BREAST_CANCER, settings.folder).names)
    ours = results[results["method"] == OURS.name].set_index("split")["terms"]
    both = [int(number) for number, terms in ours.items() if len(_prototypes(terms)) == P]
    method, number = (OURS, both[0]) if both else (methods.SPARSE_PRESET, 0)
    split = data.split(data.BREAST_CANCER, settings.folder, settings.seed, number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier = method.make(len(names), number, data.BREAST_CANCER.owner)
        fitted = classifier.fit(pd.DataFrame(split.X, columns=names), split.y)
    model = methods.small_model(fitted)
    correct = model.predict(split.X_test) == split.y_test
    return Drawn(
        method=method.name,
        split=number,
        model=model,
        X=split.X_test,
        y=split.y_test,
        accuracy=float(correct.mean()),
    )


def _figure(drawn: Drawn) -> Any:
    """A panel of violins, one for each class, for each term of each prototype and for the score that decides."""
    names = data.load(data.BREAST_CANCER, None).names
    model, X, y = drawn.model, drawn.X, drawn.y
    panels = [
        (f"prototype {j + 1}\n{names[term.feature]}", X[:, term.feature], f"weight {term.weight:+.3g}")
        for j, prototype in enumerate(model.prototypes)
        for term in prototype.terms
    ]
    owner = model.prototypes[0].owner
    score = model.decision_function(X) if owner == 1 else -model.decision_function(X)
    title = f"predictor\n{LABELS[owner]} if {'above' if owner else 'not below'} 0"
    panels.append((title, score, f"test accuracy {drawn.accuracy:.1%}"))
    figure = new_figure(1.75 * len(panels) + 0.8, 4.2)
    rng = np.random.default_rng(0)
    for axes, (title, values, note) in zip(np.atleast_1d(figure.subplots(1, len(panels))), panels, strict=True):
        for place, (label, colour, marker) in enumerate(zip(model.classes, (ORANGE, BLUE), ("^", "o"), strict=True)):
            of_class = values[y == label]
            if len(np.unique(of_class)) > 1:
                violin = axes.violinplot(of_class, [place], widths=0.85, showextrema=False)
                violin["bodies"][0].set(facecolor=colour, edgecolor="black", alpha=0.35)
            x = place + rng.uniform(-0.12, 0.12, len(of_class))
            axes.scatter(x, of_class, s=7, marker=marker, color=colour, edgecolors="black", linewidths=0.25)
        axes.set_xticks([0, 1], LABELS, rotation=30, ha="right", fontsize=8)
        axes.tick_params(axis="y", labelsize=8)
        axes.set_title(title, fontsize=8.5)
        axes.set_xlabel(note, fontsize=8)
    axes.axhline(0.0, color="black", linewidth=1, linestyle="--")
    figure.suptitle("Test rows: the feature of each term, and the score that decides", fontsize=10)
    figure.tight_layout()
    return figure
