"""Figure 1: decision surfaces of every classifier on a set of two features."""

import warnings

import numpy as np
import pandas as pd

from smallearn.paper import data, methods
from smallearn.paper.claims import Claim, Outcome, verdict
from smallearn.paper.compare import Settings, compare, means
from smallearn.paper.files import markdown, new_figure, write_figure, write_scores, write_text
from smallearn.plot._colours import BLUE, RED

SHOWN = [methods.DENSE_PRESET, methods.DENSE_SMALL, *methods.RIVALS]
NAMES = [method.name for method in SHOWN]
PAPER, OURS = NAMES[:2]
SAID = 0.73
GRID = 220
BANDS = np.linspace(0.0, 1.0, 11)


def run(settings: Settings) -> Outcome:
    """Draw the surfaces on the first split; the accuracy over all splits goes into the table."""
    results = compare([data.FUNDS], NAMES, settings)
    folder = settings.output / "surfaces"
    accuracy = means(results, NAMES).iloc[0]
    first = results[results["split"] == 0].set_index("method")["accuracy"]
    rows = [[name, f"{first[name]:.3f}", f"{accuracy[name]:.3f}"] for name in NAMES]
    best = accuracy.idxmax()
    page = [
        "# Figure 1: decision surfaces on chscase_funds",
        "",
        "![decision surfaces](figure.png)",
        "",
        markdown(["classifier", "first split (drawn)", f"mean of {settings.splits} splits"], rows),
        "",
        "The paper: the 2-prototype predictor has the best test accuracy, 0.73, on its one split. Here the best of "
        f"the mean is {best} ({accuracy[best]:.3f}).",
    ]
    write_scores(folder / "scores.csv", results)
    write_text(folder / "table.md", "\n".join(page) + "\n")
    write_figure(folder, _figure(settings, first))
    others = accuracy.drop([PAPER, OURS])
    shown = ", ".join(f"{name} {accuracy[name]:.3f}" for name in dict.fromkeys([PAPER, OURS, best]))
    measured = f"mean of {settings.splits} splits: {shown}; on the split that is drawn {PAPER} {first[PAPER]:.3f}"
    claims = [
        Claim(
            "On chscase_funds the 2-prototype predictor is the most accurate",
            "on one split",
            measured,
            verdict(accuracy[PAPER] > others.max()),
            f"{PAPER} is better than all ten rivals",
        ),
        Claim(
            "It reaches 0.73 there",
            "0.73 on one split",
            measured,
            verdict(round(accuracy[PAPER], 2) >= SAID, results[results["method"] == PAPER]["accuracy"].max() >= SAID),
            f"the mean of {PAPER} does (in part: on some split)",
        ),
    ]
    return Outcome(f"Decision surfaces, {measured}.", claims, settings)


def _figure(settings: Settings, accuracy: pd.Series):
    given = data.split(data.FUNDS, settings.folder, settings.seed, 0)
    names = data.load(data.FUNDS, settings.folder).names
    every = np.concatenate([given.X, given.X_test])
    low, high = every.min(axis=0), every.max(axis=0)
    room = 0.06 * (high - low)
    across, up = (np.linspace(low[i] - room[i], high[i] + room[i], GRID) for i in (0, 1))
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    figure = new_figure(13, 9.4)
    panels = figure.subplots(3, 4, sharex=True, sharey=True)
    for axes, method in zip(panels.ravel(), SHOWN, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = method.make(2, 0, data.FUNDS.owner).fit(given.X, given.y)
        sure = _confidence(fitted, grid).reshape(GRID, GRID)
        bands = axes.contourf(across, up, sure, levels=BANDS, cmap="RdBu_r", vmin=0.0, vmax=1.0, alpha=0.85)
        axes.contour(across, up, sure, levels=[0.5], colors="black", linewidths=1.2)
        for label, marker, colour in ((1, "^", RED), (0, "o", BLUE)):
            for X, y, alpha in ((given.X, given.y, 1.0), (given.X_test, given.y_test, 0.45)):
                points = X[y == label]
                axes.scatter(*points.T, s=16, marker=marker, c=colour, alpha=alpha, edgecolors="black", linewidths=0.4)
        axes.set_title(method.name, fontsize=11)
        text = f"{accuracy[method.name]:.2f}"
        axes.text(
            0.97, 0.04, text, transform=axes.transAxes, ha="right", fontsize=11, bbox={"fc": "white", "ec": "black"}
        )
    for axes in panels[-1]:
        axes.set_xlabel(names[0])
    for axes in panels[:, 0]:
        axes.set_ylabel(names[1])
    bar = figure.colorbar(bands, ax=panels, fraction=0.02, pad=0.015)
    bar.set_label("confidence in class 1")
    figure.suptitle(
        "chscase_funds: ▲ class 1, ● class 0; solid: training, translucent: test; corner: test accuracy",
        y=0.93,
        fontsize=11,
    )
    return figure


def _confidence(fitted, X: np.ndarray) -> np.ndarray:
    """P(class 1), or the score squeezed between 0 and 1 where a classifier has no probabilities (SVM)."""
    if hasattr(fitted, "predict_proba"):
        return fitted.predict_proba(X)[:, 1]
    return 1.0 / (1.0 + np.exp(-np.clip(fitted.decision_function(X), -30, 30)))
