"""The big picture: every method of the table and of Figure 3 on fri_c0_1000_50, with accuracy per feature."""

import numpy as np
import pandas as pd

from smallearn.paper import data, methods
from smallearn.paper.claims import Claim, Outcome, verdict
from smallearn.paper.compare import Settings, compare, deviations, means
from smallearn.paper.files import markdown, new_figure, write_figure, write_scores, write_text
from smallearn.plot._colours import BLUE, GREY, RED, SKY

OURS = [methods.SPARSE_SMALL.name, methods.SPARSE_PRESET.name]
BASELINES = [method.name for method in methods.BASELINES]
RIVALS = [method.name for method in methods.RIVALS]
NAMES = [*OURS, *BASELINES, *RIVALS]
SAID = 14.0


def run(settings: Settings, source: data.Source = data.FRIEDMAN) -> Outcome:
    """Train and test what is missing, draw the bars."""
    results = compare([source], NAMES, settings)
    folder = settings.output / "big-picture"
    accuracy, deviation = means(results, NAMES).iloc[0], deviations(results, NAMES).iloc[0]
    features = means(results, NAMES, "features").iloc[0]
    per_feature = 100.0 * accuracy / features
    order = sorted(NAMES, key=lambda name: -accuracy[name])
    rows = [
        [
            name,
            methods.BY_NAME[name].words,
            f"{accuracy[name]:.3f} ± {deviation[name]:.2f}",
            f"{features[name]:.1f}",
            f"{per_feature[name]:.2f}",
        ]
        for name in order
    ]
    best = order[0]
    summary = (
        f"{source.name}, {settings.splits} splits: {OURS[0]} {accuracy[OURS[0]]:.1%}, {per_feature[OURS[0]]:.1f} "
        f"points per feature; {OURS[1]} {accuracy[OURS[1]]:.1%}, {per_feature[OURS[1]]:.1f} (the paper: over 14); most "
        f"accurate: {best} {accuracy[best]:.1%}, {per_feature[best]:.1f}."
    )
    page = [
        f"# The big picture: {source.name}",
        "",
        "![accuracy of all methods](figure.png)",
        "",
        summary,
        "",
        markdown(["method", "what it is", "test accuracy", "features", "accuracy in % per feature"], rows),
    ]
    write_scores(folder / "scores.csv", results)
    write_text(folder / "table.md", "\n".join(page) + "\n")
    write_figure(folder, _figure(source, order, accuracy, deviation, per_feature))
    return Outcome(summary, _claims(source.name, accuracy, deviation, per_feature), settings)


def _claims(name: str, accuracy: pd.Series, deviation: pd.Series, per_feature: pd.Series) -> list[Claim]:
    ours, paper = OURS
    others = [*BASELINES, *RIVALS]
    best, densest = accuracy[others].idxmax(), per_feature[others].idxmax()
    near = {one: accuracy[one] >= accuracy[best] - deviation[best] for one in OURS}
    return [
        Claim(
            f"On {name} SMaLL has over 14 points of accuracy per feature",
            "over 14",
            ", ".join(f"{one} {per_feature[one]:.1f}" for one in OURS),
            verdict(per_feature[paper] > SAID, per_feature[ours] > SAID),
            f"{paper} has (in part: {ours} has)",
        ),
        Claim(
            "… significantly more than all other methods",
            "in a figure",
            f"the next is {densest} with {per_feature[densest]:.1f} (trees count the features they split on)",
            verdict(per_feature[paper] > 2.0 * per_feature[densest], per_feature[paper] > per_feature[densest]),
            f"{paper} has twice as many as any (in part: more)",
        ),
        Claim(
            "… without a significant dip in accuracy compared with the most accurate method",
            "in a figure",
            ", ".join(f"{one} {accuracy[one]:.1%}" for one in (*OURS, best)),
            verdict(near[paper], near[ours]),
            f"{paper} is within a deviation of the most accurate of the others (in part: {ours} is)",
        ),
        Claim(
            f"The most accurate method on {name} is gradient boosting",
            "in a figure",
            f"of the others it is {best}, {accuracy[best]:.1%}; GB {accuracy['GB']:.1%}",
            verdict(best == "GB", accuracy["GB"] >= accuracy[best] - deviation[best]),
            "of all but SMaLL it is (in part: within a deviation of the best)",
        ),
    ]


def _figure(source, order, accuracy, deviation, per_feature):
    figure = new_figure(11, 4.8)
    axes = figure.subplots()
    groups = (
        ("SMaLL", OURS, RED, ""),
        ("half of the features", BASELINES, SKY, "//"),
        ("all features", RIVALS, BLUE, ".."),
    )
    for words, members, colour, hatch in groups:
        places = [order.index(name) for name in members]
        values, spread = ([100 * of[name] for name in members] for of in (accuracy, deviation))
        looks = {"color": colour, "edgecolor": "black", "hatch": hatch, "ecolor": GREY, "capsize": 3}
        axes.bar(places, values, yerr=spread, label=words, **looks)
    for place, name in enumerate(order):
        top = 100 * (accuracy[name] + deviation[name])
        axes.text(place, top + 0.8, f"{per_feature[name]:.1f}", ha="center", fontsize=9)
    axes.set_xticks(np.arange(len(order)), order, rotation=40, ha="right")
    axes.set_ylabel("test accuracy, %")
    axes.set_ylim(0, 118)
    axes.set_title(
        f"{source.name}: above each bar, accuracy in % per selected feature; lines: deviation over the splits"
    )
    axes.legend(loc="upper right", fontsize=9, ncol=3)
    figure.tight_layout()
    return figure
