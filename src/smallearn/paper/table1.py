"""Table 1: 17 low-dimensional data sets, k = n and p = 2, against ten classifiers."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from smallearn.paper import data, methods, published
from smallearn.paper.claims import Claim, Outcome, verdict
from smallearn.paper.compare import Settings, compare, deviations, means, ranks
from smallearn.paper.files import markdown, new_figure, write_results
from smallearn.plot._colours import BLUE, RED

PAPER, OURS = methods.DENSE_PRESET.name, methods.DENSE_SMALL.name
RIVALS = [method.name for method in methods.RIVALS]
NAMES = [PAPER, OURS, *RIVALS]
LEVEL = 0.05
NEAR = 0.02
NO_GP = "pwLinear"


def run(settings: Settings, sources: Sequence[data.Source] = data.TABLE1) -> Outcome:
    """Compare the methods and write the table and the figure."""
    results = compare(sources, NAMES, settings)
    accuracy, deviation = means(results, NAMES), deviations(results, NAMES)
    terms = means(results[results["method"] == OURS], [OURS], "features")[OURS]
    rank = ranks(accuracy)
    findings = _findings(accuracy, rank, settings)
    figure = _figure(accuracy, rank) if len(accuracy) > 1 else None
    page = [
        "# Table 1: low-dimensional data sets, no sparsity",
        "",
        *(["![mean ranks](figure.png)", ""] if figure is not None else []),
        f"{settings.splits} stratified 70/30 splits, seed {settings.seed}; test accuracy, mean ± standard deviation "
        "over the splits; **bold**: the best.",
        "",
        *(f"- {name}: {methods.BY_NAME[name].description}" for name in NAMES),
        "",
        _table(accuracy, deviation, rank, terms),
        "",
        *findings,
        "",
        "## The rivals as published",
        "",
        _published(accuracy),
    ]
    write_results(settings.output / "table1", scores=results, page=page, figure=figure)
    summary = "\n".join([f"Table 1, {settings.splits} splits:", *findings])
    return Outcome(summary=summary, claims=_claims(accuracy, rank), settings=settings)


def _table(accuracy: pd.DataFrame, deviation: pd.DataFrame, rank: pd.Series, terms: pd.Series) -> str:
    """A row for each data set, with the published accuracy, then the mean accuracy and the mean rank."""
    rows = []
    for name, line in accuracy.iterrows():
        best = line.round(4) == line.max().round(4)
        cells = [
            f"{_bold(f'{line[method]:.3f}', best[method])} ± {deviation.loc[name, method]:.2f}" for method in NAMES
        ]
        shown = "{:.2f} ± {:.2f}".format(*published.TABLE1[str(name)]["SMaLL"])
        rows.append([str(name), shown, *cells[:2], f"{terms[name]:.1f}", *cells[2:]])
    mean = accuracy.mean()
    for title, values, best, digits in (("mean accuracy", mean, mean.max(), 4), ("mean rank", rank, rank.min(), 2)):
        cells = [_bold(f"{value:.{digits}f}", abs(value - best) < 1e-9) for value in values[NAMES]]
        rows.append([title, "", *cells[:2], "", *cells[2:]])
    return markdown(["data set", "published SMaLL", PAPER, OURS, f"{OURS}: terms", *RIVALS], rows)


def _bold(text: str, bold: bool) -> str:
    return f"**{text}**" if bold else text


def _claims(accuracy: pd.DataFrame, rank: pd.Series) -> list[Claim]:
    count, rounded = len(accuracy), accuracy.round(2)  # the paper prints two digits
    printed = [published.TABLE1[str(name)] for name in accuracy.index]
    published_leads = sum(line["SMaLL"][0] >= max(mean for mean, _ in line.values()) for line in printed)
    best = rounded[RIVALS].max(axis=1)
    leads = {name: int((rounded[name] >= best).sum()) for name in (PAPER, OURS)}
    near = int((rounded[PAPER] >= best - NEAR - 1e-9).sum())
    first = rank[RIVALS].idxmin()
    deviating, (rivals_within, n_rivals) = _deviating(accuracy), _rivals_within(accuracy)
    claims = [
        Claim(
            claim="With k = n SMaLL performs very well on most low-dimensional data sets",
            published=f"at least as accurate as all ten rivals on {published_leads} of {count} data sets",
            measured=f"{PAPER}: on {leads[PAPER]} of {count}, within {100 * NEAR:.0f} percentage points of the best on "
            f"{near}; mean accuracy {accuracy[PAPER].mean():.4f}, mean rank {rank[PAPER]:.2f}. {OURS}: on "
            f"{leads[OURS]}, {accuracy[OURS].mean():.4f}, {rank[OURS]:.2f}. Best rival, {first}: "
            f"{accuracy[first].mean():.4f}, {rank[first]:.2f}",
            verdict=verdict(leads[PAPER] > count / 2, near > count / 2),
            criterion=f"to two digits, {PAPER} is at least as accurate as all ten on most data sets (in part: within "
            f"{100 * NEAR:.0f} percentage points of the best)",
        ),
        Claim(
            claim="The accuracy of SMaLL on each of these data sets",
            published="means of five splits, with standard deviations",
            measured=f"{PAPER}: within the published standard deviation on {count - len(deviating)} of {count}",
            verdict=verdict(not deviating, len(deviating) <= count / 8),
            criterion="on all data sets (in part: on all but an eighth)",
        ),
        Claim(
            claim="The accuracy of the ten rivals",
            published="means of five splits, with standard deviations",
            measured=f"within the published standard deviation in {rivals_within} of {n_rivals} cases",
            verdict=verdict(rivals_within == n_rivals, rivals_within >= 0.75 * n_rivals),
            criterion="in all cases (in part: in three quarters)",
        ),
    ]
    if NO_GP in accuracy.index:
        claims.append(
            Claim(
                claim=f"The Gaussian process yields no solution on {NO_GP}",
                published="none in any run",
                measured=f"one in every run, accuracy {accuracy.loc[NO_GP, 'GP']:.3f}",
                verdict=verdict(bool(pd.isna(accuracy.loc[NO_GP, "GP"]))),
                criterion="it yields none here either",
            )
        )
    return claims


def _within(measured: float, mean: float, deviation: float) -> bool:
    """Whether the measured accuracy, rounded as the published one, is within the published standard deviation."""
    return abs(round(measured, 2) - mean) <= deviation + 1e-9


def _rivals_within(accuracy: pd.DataFrame) -> tuple[int, int]:
    """How many accuracies of the rivals are within the published standard deviation, and out of how many."""
    within = [
        _within(accuracy.loc[name, rival], *published.TABLE1[str(name)][rival])
        for name in accuracy.index
        for rival in RIVALS
        if rival in published.TABLE1[str(name)]
    ]
    return sum(within), len(within)


def _deviating(accuracy: pd.DataFrame) -> list[str]:
    """Data sets on which the preset is not within the published standard deviation of the published mean."""
    lines = []
    for name, measured in accuracy[PAPER].items():
        mean, deviation = published.TABLE1[str(name)]["SMaLL"]
        if not _within(measured, mean, deviation):
            lines.append(f"{name} ({measured:.3f}, published {mean:.2f} ± {deviation:.2f})")
    return lines


def _findings(accuracy: pd.DataFrame, rank: pd.Series, settings: Settings) -> list[str]:
    rivals = accuracy[RIVALS].mean()
    lines = [
        f"- Mean accuracy: {OURS} {accuracy[OURS].mean():.4f}, {PAPER} {accuracy[PAPER].mean():.4f}; best rival "
        f"{rivals.idxmax()} {rivals.max():.4f}.",
        f"- Mean rank of {len(NAMES)}: {OURS} {rank[OURS]:.2f}, {PAPER} {rank[PAPER]:.2f}; best rival "
        f"{rank[RIVALS].idxmin()} {rank[RIVALS].min():.2f}.",
    ]
    deviating = _deviating(accuracy)
    lines.append(
        f"- {PAPER} is within the published standard deviation of the published mean on "
        f"{len(accuracy) - len(deviating)} of {len(accuracy)} data sets"
        f"{'; not on ' + ', '.join(deviating) if deviating else ''}."
    )
    if len(accuracy) > 2:
        lines.append(_tests(accuracy, rank))
    if settings.splits < 20:
        lines.append("- With fewer than 20 splits, the order of the methods changes with the seed. Use --splits 20.")
    return lines


def _tests(accuracy: pd.DataFrame, rank: pd.Series) -> str:
    """Friedman's test of all methods, and Nemenyi's test of ours against each other."""
    from scipy.stats import friedmanchisquare

    rounded = accuracy.round(9)
    p_value = friedmanchisquare(*(rounded[name] for name in NAMES)).pvalue
    pairs = _nemenyi(rounded)
    lines = [f"- Friedman's test that all methods have the same mean rank: p = {p_value:.2g}."]
    for method in (OURS, PAPER):
        different = [name for name in NAMES if name != method and pairs.loc[method, name] < LEVEL]
        worse = [name for name in different if rank[name] > rank[method]]
        better = [name for name in different if rank[name] < rank[method]]
        lines.append(
            f"- Nemenyi's test at {LEVEL:.0%}: {method} is better than {', '.join(worse) or 'none'} and worse than "
            f"{', '.join(better) or 'none'}; the other differences are not significant."
        )
    return "\n".join(lines)


def _nemenyi(accuracy: pd.DataFrame) -> pd.DataFrame:
    """The p-values of Nemenyi's test, methods × methods."""
    from scikit_posthocs import posthoc_nemenyi_friedman

    p_values = posthoc_nemenyi_friedman(accuracy[NAMES].round(9).to_numpy())
    p_values.index = p_values.columns = pd.Index(NAMES)
    return p_values


def _published(accuracy: pd.DataFrame) -> str:
    rows = [[str(name), *_comparisons(line, published.TABLE1[str(name)])] for name, line in accuracy.iterrows()]
    return markdown(["published → measured", *RIVALS], rows)


def _comparisons(measured: pd.Series, printed: Mapping[str, tuple[float, float]]) -> list[str]:
    return [f"{printed[name][0]:.2f} → {measured[name]:.3f}" if name in printed else "–" for name in RIVALS]


def _figure(accuracy: pd.DataFrame, rank: pd.Series) -> Any:
    """A critical difference diagram: bars join methods that do not differ by Nemenyi's test."""
    from scikit_posthocs import critical_difference_diagram

    figure = new_figure(9, 4)
    axes = figure.subplots()
    critical_difference_diagram(
        rank[NAMES],
        _nemenyi(accuracy),
        alpha=LEVEL,
        ax=axes,
        marker_props={"marker": "o", "s": 20},
        color_palette={name: RED if name == OURS else BLUE if name == PAPER else "#222222" for name in NAMES},
    )
    axes.set_title(f"Mean rank over {len(accuracy)} data sets (1 is best); joined: no difference at {LEVEL:.0%}")
    return figure
