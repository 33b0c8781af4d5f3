"""The big picture: every method of Table 1 and Figure 3 on fri_c0_1000_50, with its accuracy per feature."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from smallearn.paper import data, methods
from smallearn.paper.claims import Claim, Outcome, verdict
from smallearn.paper.compare import Settings, compare, deviations, means
from smallearn.paper.files import markdown, new_figure, write_results
from smallearn.plot._colours import BLUE, GREY, RED, SKY

OURS = [methods.SPARSE_SMALL.name, methods.SPARSE_PRESET.name]
BASELINES = [method.name for method in methods.BASELINES]
RIVALS = [method.name for method in methods.RIVALS]
NAMES = [*OURS, *BASELINES, *RIVALS]
PUBLISHED = 14.0  # percentage points of accuracy per feature


def run(settings: Settings, source: data.Source = data.FRIEDMAN) -> Outcome:
    """Compare the methods and write the page and the bar chart."""
    results = compare([source], NAMES, settings)
    accuracy, deviation = means(results, NAMES).iloc[0], deviations(results, NAMES).iloc[0]
    features = means(results, NAMES, "features").iloc[0]
    per_feature = 100.0 * accuracy / features
    order = sorted(NAMES, key=lambda name: -accuracy[name])
    rows = [
        [
            name,
            methods.BY_NAME[name].description,
            f"{accuracy[name]:.3f} ± {deviation[name]:.2f}",
            f"{features[name]:.1f}",
            f"{per_feature[name]:.2f}",
        ]
        for name in order
    ]
    best = order[0]
    summary = (
        f"{source.name}, {settings.splits} splits: {OURS[0]} {accuracy[OURS[0]]:.1%}, {per_feature[OURS[0]]:.1f} "
        f"percentage points per feature; {OURS[1]} {accuracy[OURS[1]]:.1%}, {per_feature[OURS[1]]:.1f} (the paper: "
        f"over 14); most accurate: {best} {accuracy[best]:.1%}, {per_feature[best]:.1f}."
    )
    page = [
        f"# The big picture: {source.name}",
        "",
        "![accuracy of all methods](figure.png)",
        "",
        summary,
        "",
        markdown(["method", "description", "test accuracy", "features", "accuracy in % per feature"], rows),
    ]
    figure = _figure(source, order, accuracy=accuracy, deviation=deviation, per_feature=per_feature)
    write_results(settings.output / "big-picture", scores=results, page=page, figure=figure)
    claims = _claims(source.name, accuracy, deviation, per_feature)
    return Outcome(summary=summary, claims=claims, settings=settings)


def _claims(name: str, accuracy: pd.Series, deviation: pd.Series, per_feature: pd.Series) -> list[Claim]:
    ours, paper = OURS
    others = [*BASELINES, *RIVALS]
    best, runner_up = accuracy[others].idxmax(), per_feature[others].idxmax()
    near = {method: accuracy[method] >= accuracy[best] - deviation[best] for method in OURS}
    return [
        Claim(
            claim=f"On {name} SMaLL has over 14 percentage points of accuracy per feature",
            published="over 14",
            measured=", ".join(f"{method} {per_feature[method]:.1f}" for method in OURS),
            verdict=verdict(per_feature[paper] > PUBLISHED, per_feature[ours] > PUBLISHED),
            criterion=f"{paper} is over 14 (in part: {ours} is)",
        ),
        Claim(
            claim="… significantly more than all other methods",
            published="in a figure",
            measured=f"next is {runner_up} with {per_feature[runner_up]:.1f} (trees: the features they split on)",
            verdict=verdict(
                per_feature[paper] > 2.0 * per_feature[runner_up], per_feature[paper] > per_feature[runner_up]
            ),
            criterion=f"{paper} has more than twice as many as any other (in part: more)",
        ),
        Claim(
            claim="… without a significant loss of accuracy compared with the most accurate method",
            published="in a figure",
            measured=", ".join(f"{method} {accuracy[method]:.1%}" for method in (*OURS, best)),
            verdict=verdict(near[paper], near[ours]),
            criterion=f"{paper} is within one standard deviation of the most accurate other (in part: {ours} is)",
        ),
        Claim(
            claim=f"The most accurate method on {name} is gradient boosting",
            published="in a figure",
            measured=f"most accurate except for SMaLL: {best} {accuracy[best]:.1%}; GB {accuracy['GB']:.1%}",
            verdict=verdict(best == "GB", accuracy["GB"] >= accuracy[best] - deviation[best]),
            criterion="GB is, except for SMaLL (in part: within one standard deviation of the best)",
        ),
    ]


def _figure(
    source: data.Source,
    order: Sequence[str],
    *,
    accuracy: pd.Series,
    deviation: pd.Series,
    per_feature: pd.Series,
) -> Any:
    figure = new_figure(11, 4.8)
    axes = figure.subplots()
    groups = (
        ("SMaLL", OURS, RED, ""),
        ("half of the features", BASELINES, SKY, "//"),
        ("all features", RIVALS, BLUE, ".."),
    )
    for label, members, colour, hatch in groups:
        places = [order.index(name) for name in members]
        values, errors = ([100 * series[name] for name in members] for series in (accuracy, deviation))
        style = {"color": colour, "edgecolor": "black", "hatch": hatch, "ecolor": GREY, "capsize": 3}
        axes.bar(places, values, yerr=errors, label=label, **style)
    for place, name in enumerate(order):
        top = 100 * (accuracy[name] + deviation[name])
        axes.text(place, top + 0.8, f"{per_feature[name]:.1f}", ha="center", fontsize=9)
    axes.set_xticks(np.arange(len(order)), order, rotation=40, ha="right")
    axes.set_ylabel("test accuracy, %")
    axes.set_ylim(0, 118)
    axes.set_title(
        f"{source.name}: above each bar, accuracy in % per selected feature; lines: standard deviation over the splits"
    )
    axes.legend(loc="upper right", fontsize=9, ncol=3)
    figure.tight_layout()
    return figure
