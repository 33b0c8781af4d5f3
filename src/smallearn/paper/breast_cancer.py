"""The violin figure: breast cancer with k = 3 and p = 2, feature by feature and the predictor as a whole."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedShuffleSplit

from smallearn import SMaLLClassifier, SMaLLClassifierCV, SMaLLModel
from smallearn.paper import data
from smallearn.paper.compare import Settings
from smallearn.paper.files import BLUE, ORANGE, markdown, new_figure, write_figure, write_scores, write_text

P, K = 2, 3
WAYS = {
    "SMaLL as in the paper": lambda seed: SMaLLClassifier.paper_preset(n_prototypes=P, n_nonzero=K, random_state=seed),
    "smallearn": lambda seed: SMaLLClassifierCV(
        P * K, n_prototypes=P, budget="prototype", literals="raw", random_state=seed, verbose=-1
    ),
}
DRAWN = "smallearn"


def run(settings: Settings) -> str:
    """Train on every split, draw the model of the first that has both prototypes."""
    bunch = load_breast_cancer()
    X, y = bunch.data, bunch.target_names[bunch.target]
    rows, drawn = [], None
    for number in range(settings.splits):
        draw = StratifiedShuffleSplit(1, test_size=data.HELD_OUT, random_state=1000 * settings.seed + number)
        train, test = next(draw.split(X, y))
        for way, make in WAYS.items():
            fitted = make(number).fit(pd.DataFrame(X[train], columns=bunch.feature_names), y[train])
            right = fitted.model_.predict(X[test]) == y[test]
            size = len(fitted.model_.prototypes)
            rows.append({"split": number, "method": way, "accuracy": float(right.mean()), "prototypes": size})
            if way == DRAWN and drawn is None and (size == P or number == settings.splits - 1):
                drawn = fitted.model_, X[test], y[test], float(right.mean()), number
    if drawn is None:
        raise ValueError(f"--splits {settings.splits}: one split at least is needed.")
    model, X_test, y_test, accuracy, number = drawn
    results = pd.DataFrame(rows)
    folder = settings.output / "breast-cancer"
    summary = results.groupby("method", sort=False)["accuracy"].agg(["mean", lambda a: a.std(ddof=0), "min"])
    table = [
        [str(way), f"{mean:.1%} ± {spread:.1%}", f"{least:.1%}"] for way, mean, spread, least in summary.itertuples()
    ]
    page = [
        f"# Breast cancer, k = {K}, p = {P}",
        "",
        "![violins](figure.png)",
        "",
        f"Drawn: {DRAWN}, split {number}, the first with {P} prototypes; {accuracy:.1%} of its {len(y_test)} test rows "
        "are right.",
        "",
        "```",
        str(model),
        "```",
        "",
        markdown(["method", f"test accuracy, {settings.splits} splits", "worst split"], table),
        "",
        "The paper: over 94%.",
    ]
    write_scores(folder / "scores.csv", results)
    write_text(folder / "table.md", "\n".join(page) + "\n")
    write_figure(folder, _figure(model, list(bunch.feature_names), X_test, y_test, accuracy))
    means = ", ".join(f"{way} {mean:.1%}" for way, mean, *_ in summary.itertuples())
    return f"Breast cancer, {settings.splits} splits: {means} (the paper: over 94%)."


def _figure(model: SMaLLModel, names: list[str], X: np.ndarray, y: np.ndarray, accuracy: float):
    """A violin for each class and each term of each prototype; last, the score that decides."""
    panels = [
        (f"prototype {j + 1}\n{names[term.feature]}", X[:, term.feature], f"weight {term.weight:+.3g}")
        for j, prototype in enumerate(model.prototypes)
        for term in prototype.terms
    ]
    owner = model.prototypes[0].owner
    positive = model.classes[owner]
    score = model.decision_function(X) if owner == 1 else -model.decision_function(X)
    panels.append(
        (f"predictor\n{positive} if {'above' if owner else 'not below'} 0", score, f"{accuracy:.1%} of test rows right")
    )
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
        axes.set_xticks([0, 1], [str(label) for label in model.classes], rotation=30, ha="right", fontsize=8)
        axes.tick_params(axis="y", labelsize=8)
        axes.set_title(title, fontsize=8.5)
        axes.set_xlabel(note, fontsize=8)
    axes.axhline(0.0, color="black", linewidth=1, linestyle="--")
    figure.suptitle("Test rows: density and values of each term's feature, and the score that decides", fontsize=10)
    figure.tight_layout()
    return figure
