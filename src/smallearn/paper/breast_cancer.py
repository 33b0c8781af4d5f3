"""The violin figure: breast cancer with k = 3 and p = 2, feature by feature and the predictor as a whole."""

import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from smallearn import SMaLLModel
from smallearn.paper import data, methods
from smallearn.paper.claims import Claim, Outcome, verdict
from smallearn.paper.compare import Settings, compare
from smallearn.paper.files import markdown, new_figure, write_figure, write_scores, write_text
from smallearn.plot._colours import BLUE, ORANGE

P, K = 2, 3
SAID, CLEAR = 0.94, 0.98
PERIMETER = 22  # the column "worst perimeter"
LABELS = ("malignant", "benign")
OURS = methods.RAW_SMALL
PAPER = methods.SPARSE_PRESET.name
NAMES = [PAPER, OURS.name]


class Drawn(NamedTuple):
    """The model in the figure, and the test rows of its split."""

    method: str
    number: int
    model: SMaLLModel
    X: np.ndarray
    y: np.ndarray
    accuracy: float


def run(settings: Settings) -> Outcome:
    """Train and test what is missing, draw the first model that has both prototypes."""
    results = compare([data.BREAST_CANCER], NAMES, settings)
    drawn = _drawn(results, settings)
    folder = settings.output / "breast-cancer"
    summary = results.groupby("method", sort=False)["accuracy"].agg(["mean", lambda a: a.std(ddof=0), "min"])
    table = [
        [str(name), methods.BY_NAME[str(name)].words, f"{mean:.1%} ± {spread:.1%}", f"{least:.1%}"]
        for name, mean, spread, least in summary.itertuples()
    ]
    page = [
        f"# Breast cancer, k = {K}, p = {P}",
        "",
        "![violins](figure.png)",
        "",
        f"Drawn: {drawn.method}, split {drawn.number}, the first with {len(drawn.model.prototypes)} prototypes; "
        f"{drawn.accuracy:.1%} of its {len(drawn.y)} test rows are right. 1 is benign, 0 malignant.",
        "",
        "```",
        str(drawn.model),
        "```",
        "",
        markdown(["method", "what it is", f"test accuracy, {settings.splits} splits", "worst split"], table),
        "",
        "The paper: over 94%.",
    ]
    write_scores(folder / "scores.csv", results)
    write_text(folder / "table.md", "\n".join(page) + "\n")
    write_figure(folder, _figure(drawn))
    means = ", ".join(f"{name} {mean:.1%}" for name, mean, *_ in summary.itertuples())
    claims = [*_claims(results, settings), _separation(drawn)]
    return Outcome(f"Breast cancer, {settings.splits} splits: {means} (the paper: over 94%).", claims, settings)


def _claims(results: pd.DataFrame, settings: Settings) -> list[Claim]:
    reached = results.groupby("method", sort=False)["accuracy"].mean()
    shared, pairs = {}, {}
    for name in NAMES:
        models = [_prototypes(terms) for terms in results[results["method"] == name]["terms"]]
        pairs[name] = [model for model in models if len(model) == P]
        shared[name] = sum(PERIMETER in set.intersection(*model) for model in pairs[name])
    count = len(pairs[PAPER])
    return [
        Claim(
            f"With k = {K} and p = {P} SMaLL registers a test accuracy of over 94% on breast cancer",
            "over 94%, one split",
            f"mean of {settings.splits} splits: " + ", ".join(f"{name} {reached[name]:.1%}" for name in NAMES),
            verdict(reached[PAPER] > SAID, reached[OURS.name] > SAID),
            f"{PAPER} does (in part: {OURS.name} does)",
        ),
        Claim(
            "The feature perimeter_worst appears in both prototypes",
            "in the model drawn",
            "; ".join(f"{name}: in {shared[name]} of {len(pairs[name])} models with two prototypes" for name in NAMES),
            verdict(2 * shared[PAPER] > count > 0, shared[PAPER] > 0),
            f"in most models of {PAPER} (in part: in some)",
        ),
    ]


def _separation(drawn: Drawn) -> Claim:
    area = roc_auc_score(drawn.y, drawn.model.decision_function(drawn.X))
    return Claim(
        "The predictor's output separates the test data well",
        "in a figure",
        f"in the model drawn, {drawn.method}: area under the ROC curve {area:.3f}",
        verdict(area >= CLEAR),
        f"the area is {CLEAR} or more",
    )


def _prototypes(terms: str) -> list[set[int]]:
    return [{int(feature) for feature in one.split()} for one in terms.split("|")]


def _drawn(results: pd.DataFrame, settings: Settings) -> Drawn:
    """The first model of ours with both prototypes; if none has, the first that is trained as in the paper."""
    names = list(data.load(data.BREAST_CANCER, settings.folder).names)
    ours = results[results["method"] == OURS.name].set_index("split")["terms"]
    both = [int(number) for number, terms in ours.items() if len(_prototypes(terms)) == P]
    method, number = (OURS, both[0]) if both else (methods.SPARSE_PRESET, 0)
    given = data.split(data.BREAST_CANCER, settings.folder, settings.seed, number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier = method.make(len(names), number, data.BREAST_CANCER.owner)
        fitted = classifier.fit(pd.DataFrame(given.X, columns=names), given.y)
    model = methods.small_model(fitted)
    right = model.predict(given.X_test) == given.y_test
    return Drawn(method.name, number, model, given.X_test, given.y_test, float(right.mean()))


def _figure(drawn: Drawn):
    """A violin for each class and each term of each prototype; last, the score that decides."""
    names = data.load(data.BREAST_CANCER, None).names
    model, X, y = drawn.model, drawn.X, drawn.y
    panels = [
        (f"prototype {j + 1}\n{names[term.feature]}", X[:, term.feature], f"weight {term.weight:+.3g}")
        for j, prototype in enumerate(model.prototypes)
        for term in prototype.terms
    ]
    owner = model.prototypes[0].owner
    positive = LABELS[owner]
    score = model.decision_function(X) if owner == 1 else -model.decision_function(X)
    title = f"predictor\n{positive} if {'above' if owner else 'not below'} 0"
    panels.append((title, score, f"{drawn.accuracy:.1%} of test rows right"))
    figure = new_figure(1.75 * len(panels) + 0.8, 4.2)
    rng = np.random.default_rng(0)
    for axes, (title, values, note) in zip(np.atleast_1d(figure.subplots(1, len(panels))), panels, strict=True):
        for place, (label, colour, marker) in enumerate(zip(model.classes, (ORANGE, BLUE), ("^", "o"), strict=True)):
            mine = values[y == label]
            if len(np.unique(mine)) > 1:
                violin = axes.violinplot(mine, [place], widths=0.85, showextrema=False)
                violin["bodies"][0].set(facecolor=colour, edgecolor="black", alpha=0.35)
            across = place + rng.uniform(-0.12, 0.12, len(mine))
            axes.scatter(across, mine, s=7, marker=marker, color=colour, edgecolors="black", linewidths=0.25)
        axes.set_xticks([0, 1], LABELS, rotation=30, ha="right", fontsize=8)
        axes.tick_params(axis="y", labelsize=8)
        axes.set_title(title, fontsize=8.5)
        axes.set_xlabel(note, fontsize=8)
    axes.axhline(0.0, color="black", linewidth=1, linestyle="--")
    figure.suptitle("Test rows: density and values of each term's feature, and the score that decides", fontsize=10)
    figure.tight_layout()
    return figure
