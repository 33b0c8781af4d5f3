"""Table 1: 17 low-dimensional sets, k = n and p = 2, against ten classifiers."""

import pandas as pd

from smallearn.paper import data, methods, published
from smallearn.paper.claims import Claim, Outcome, verdict
from smallearn.paper.compare import Settings, compare, deviations, means, ranks
from smallearn.paper.files import markdown, new_figure, write_figure, write_scores, write_text
from smallearn.plot._colours import BLUE, RED

PAPER, OURS = methods.DENSE_PRESET.name, methods.DENSE_SMALL.name
RIVALS = [method.name for method in methods.RIVALS]
NAMES = [PAPER, OURS, *RIVALS]
LEVEL = 0.05
NEAR = 0.02
NO_GP = "pwLinear"


def run(settings: Settings, sources=data.TABLE1) -> Outcome:
    """Train and test what is missing, write the table and the figure."""
    results = compare(list(sources), NAMES, settings)
    folder = settings.output / "table1"
    accuracy, deviation = means(results, NAMES), deviations(results, NAMES)
    terms = means(results[results["method"] == OURS], [OURS], "features")[OURS]
    rank = ranks(accuracy)
    findings = _findings(accuracy, rank, settings)
    page = [
        "# Table 1: low-dimensional sets, no sparsity",
        "",
        *(["![mean ranks](figure.png)", ""] if len(accuracy) > 1 else []),
        f"{settings.splits} stratified 70/30 splits, seed {settings.seed}; test accuracy, mean ± deviation over the "
        "splits; **bold**: the best that was measured.",
        "",
        *(
            f"- {method.name}: {method.words}"
            for method in (methods.DENSE_PRESET, methods.DENSE_SMALL, *methods.RIVALS)
        ),
        "",
        _table(accuracy, deviation, rank, terms),
        "",
        *findings,
        "",
        "## The rivals as published",
        "",
        _published(accuracy),
    ]
    write_scores(folder / "scores.csv", results)
    write_text(folder / "table.md", "\n".join(page) + "\n")
    if len(accuracy) > 1:
        write_figure(folder, _figure(accuracy, rank))
    summary = "\n".join([f"Table 1, {settings.splits} splits:", *findings])
    return Outcome(summary, _claims(accuracy, rank), settings)


def _table(accuracy: pd.DataFrame, deviation: pd.DataFrame, rank: pd.Series, terms: pd.Series) -> str:
    rows = []
    for name, line in accuracy.iterrows():
        best = line.round(4) == line.max().round(4)
        cells = [
            f"**{line[method]:.3f}** ± {deviation.loc[name, method]:.2f}"
            if best[method]
            else f"{line[method]:.3f} ± {deviation.loc[name, method]:.2f}"
            for method in NAMES
        ]
        shown = "{:.2f} ± {:.2f}".format(*published.TABLE1[str(name)]["SMaLL"])
        rows.append([str(name), shown, *cells[:2], f"{terms[name]:.1f}", *cells[2:]])
    for title, values, form in (("mean accuracy", accuracy.mean(), "{:.4f}"), ("mean rank", rank, "{:.2f}")):
        best = values.max() if title == "mean accuracy" else values.min()
        cells = [f"**{form.format(v)}**" if abs(v - best) < 1e-9 else form.format(v) for v in values[NAMES]]
        rows.append([title, "", *cells[:2], "", *cells[2:]])
    return markdown(["set", "published SMaLL", PAPER, OURS, f"{OURS}: terms", *RIVALS], rows)


def _claims(accuracy: pd.DataFrame, rank: pd.Series) -> list[Claim]:
    count, shown = len(accuracy), accuracy.round(2)  # the paper prints two digits
    said = sum(_leads({name: mean for name, (mean, _) in published.TABLE1[str(one)].items()}) for one in accuracy.index)
    best = shown[RIVALS].max(axis=1)
    leads = {name: int((shown[name] >= best).sum()) for name in (PAPER, OURS)}
    near = int((shown[PAPER] >= best - NEAR - 1e-9).sum())
    first = rank[RIVALS].idxmin()
    off, rivals = _off(accuracy), _rivals_within(accuracy)
    claims = [
        Claim(
            "With k = n SMaLL performs very well on most low-dimensional sets",
            f"at least as good as all ten rivals on {said} of {count} sets",
            f"{PAPER}: on {leads[PAPER]} of {count}, within {100 * NEAR:.0f} points of the best on {near}; mean "
            f"accuracy {accuracy[PAPER].mean():.4f}, mean rank {rank[PAPER]:.2f}. {OURS}: on {leads[OURS]}, "
            f"{accuracy[OURS].mean():.4f}, {rank[OURS]:.2f}. Best rival, {first}: {accuracy[first].mean():.4f}, "
            f"{rank[first]:.2f}",
            verdict(leads[PAPER] > count / 2, near > count / 2),
            f"{PAPER} leads, to two digits, on most sets (in part: within {100 * NEAR:.0f} points of the best rival)",
        ),
        Claim(
            "The accuracy of SMaLL on each of these sets",
            "means of five splits, with deviations",
            f"{PAPER}: within the published deviation on {count - len(off)} of {count}",
            verdict(not off, len(off) <= count / 8),
            "on all sets (in part: on all but an eighth)",
        ),
        Claim(
            "The accuracy of the ten rivals",
            "means of five splits, with deviations",
            "within the published deviation on {} of {}".format(*rivals),
            verdict(rivals[0] == rivals[1], rivals[0] >= 0.75 * rivals[1]),
            "in all cells (in part: in three quarters)",
        ),
    ]
    if NO_GP in accuracy.index:
        claims.append(
            Claim(
                f"The Gaussian process yields no solution on {NO_GP}",
                "none in any run",
                f"one in every run, accuracy {accuracy.loc[NO_GP, 'GP']:.3f}",
                verdict(bool(pd.isna(accuracy.loc[NO_GP, "GP"]))),
                "it has none here either",
            )
        )
    return claims


def _leads(means: dict[str, float]) -> bool:
    return means["SMaLL"] >= max(means.values())


def _within(measured: float, mean: float, spread: float) -> bool:
    """Both to the two digits that were published."""
    return abs(round(measured, 2) - mean) <= spread + 1e-9


def _rivals_within(accuracy: pd.DataFrame) -> tuple[int, int]:
    """In how many cells of the rivals the published deviation is kept, and of how many."""
    cells = [
        _within(accuracy.loc[name, rival], *published.TABLE1[str(name)][rival])
        for name in accuracy.index
        for rival in RIVALS
        if rival in published.TABLE1[str(name)]
    ]
    return sum(cells), len(cells)


def _off(accuracy: pd.DataFrame) -> list[str]:
    """Sets on which the preset is further from the published mean than the published deviation."""
    found = []
    for name, measured in accuracy[PAPER].items():
        mean, spread = published.TABLE1[str(name)]["SMaLL"]
        if not _within(measured, mean, spread):
            found.append(f"{name} ({measured:.3f}, published {mean:.2f} ± {spread:.2f})")
    return found


def _findings(accuracy: pd.DataFrame, rank: pd.Series, settings: Settings) -> list[str]:
    rivals = accuracy[RIVALS].mean()
    lines = [
        f"- Mean accuracy: {OURS} {accuracy[OURS].mean():.4f}, {PAPER} {accuracy[PAPER].mean():.4f}; best rival "
        f"{rivals.idxmax()} {rivals.max():.4f}.",
        f"- Mean rank of {len(NAMES)}: {OURS} {rank[OURS]:.2f}, {PAPER} {rank[PAPER]:.2f}; best rival "
        f"{rank[RIVALS].idxmin()} {rank[RIVALS].min():.2f}.",
    ]
    off = _off(accuracy)
    lines.append(
        f"- {PAPER} is within the published deviation of the published mean on {len(accuracy) - len(off)} of "
        f"{len(accuracy)} sets{'; not on ' + ', '.join(off) if off else ''}."
    )
    if len(accuracy) > 2:
        lines.append(_test(accuracy, rank))
    if settings.splits < 20:
        lines.append("- Fewer than 20 splits: the order of the methods changes from seed to seed. Use --splits 20.")
    return lines


def _test(accuracy: pd.DataFrame, rank: pd.Series) -> str:
    from scipy.stats import friedmanchisquare

    rounded = accuracy.round(9)
    chance = friedmanchisquare(*(rounded[name] for name in NAMES)).pvalue
    pairs = _nemenyi(rounded)
    lines = [f"- Friedman's test: were all methods alike, mean ranks this far apart would come with p = {chance:.2g}."]
    for one in (OURS, PAPER):
        apart = [name for name in NAMES if name != one and pairs.loc[one, name] < LEVEL]
        worse = [name for name in apart if rank[name] > rank[one]]
        better = [name for name in apart if rank[name] < rank[one]]
        lines.append(
            f"- Nemenyi's test, at {LEVEL:.0%}: {one} is better than {', '.join(worse) or 'none'} and worse than "
            f"{', '.join(better) or 'none'}; the other differences may be chance."
        )
    return "\n".join(lines)


def _nemenyi(accuracy: pd.DataFrame) -> pd.DataFrame:
    from scikit_posthocs import posthoc_nemenyi_friedman

    found = posthoc_nemenyi_friedman(accuracy[NAMES].round(9).to_numpy())
    found.index = found.columns = pd.Index(NAMES)
    return found


def _published(accuracy: pd.DataFrame) -> str:
    rows = []
    for name in accuracy.index:
        there = published.TABLE1[str(name)]
        rows.append(
            [str(name), *(f"{there[m][0]:.2f} → {accuracy.loc[name, m]:.3f}" if m in there else "–" for m in RIVALS)]
        )
    return markdown(["published → measured", *RIVALS], rows)


def _figure(accuracy: pd.DataFrame, rank: pd.Series):
    """Mean ranks on a line; methods that a bar joins are not told apart by Nemenyi's test."""
    from scikit_posthocs import critical_difference_diagram

    figure = new_figure(9, 4)
    axes = figure.subplots()
    looks = {"marker": "o", "s": 20}
    critical_difference_diagram(
        rank[NAMES],
        _nemenyi(accuracy),
        alpha=LEVEL,
        ax=axes,
        marker_props=looks,
        color_palette={name: RED if name == OURS else BLUE if name == PAPER else "#222222" for name in NAMES},
    )
    axes.set_title(f"Mean rank over {len(accuracy)} sets (1 is best); joined: not told apart at {LEVEL:.0%}")
    return figure
