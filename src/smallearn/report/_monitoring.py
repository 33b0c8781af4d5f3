"""How far new rows have moved from the training rows, as a section of the page: tables and a picture by period."""

from html import escape
from typing import Any

from smallearn._text import typeset
from smallearn.evaluation import Monitoring
from smallearn.evaluation._stability import LARGE, MODERATE
from smallearn.report._tables import Table

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 16, 32  # around the picture's axes
MOST_LABELS = 8  # of periods below the picture
SCORE, FEATURE = "var(--accent, #0b5fa5)", "var(--minus, #b54708)"


def monitor_section(monitoring: Monitoring) -> dict[str, Any]:
    """What the page shows: sentences, tables and pictures, each a plain value."""
    head, *lines = monitoring.stability_lines()
    tables = [Table(name="Stability since training", head=head, lines=lines, numbers=(1, 3, 4, 5, 6))]
    if len(changes := monitoring.change_lines()) > 1:
        tables.append(Table(name="What moved most", head=changes[0], lines=changes[1:], numbers=(2, 3)))
    head, *lines = monitoring.class_lines()
    tables.append(Table(name="Classes in training and now", head=head, lines=lines, numbers=(1, 2, 3, 4)))
    if monitoring.evaluation is not None:
        figures = list(monitoring.evaluation.figures())
        tables.append(Table(name="Performance now", head=("score", "value (95% interval)", "meaning"), lines=figures))
    if monitoring.periods:
        head, *lines = monitoring.period_lines()
        tables.append(Table(name="Period by period", head=head, lines=lines, numbers=(1, 4)))
    return {
        "text": [typeset(sentence) for sentence in monitoring.summary()],
        "tables": tables,
        "pictures": [] if len(monitoring.periods) < 2 else [_by_period(monitoring)],
        "note": f"A PSI below {MODERATE:g} is usually called stable, above {LARGE:g} a large shift. What chance "
        "explains is stable here, whatever the PSI.",
    }


def _by_period(monitoring: Monitoring) -> dict[str, str]:
    """The index of the score, and of the feature that moved most, in each period."""
    worst = monitoring.overall.worst(monitoring.overall.features)
    lines = (
        {} if worst is None else {worst.name: (FEATURE, [_of(one.features, worst.name) for one in monitoring.periods])}
    )
    if monitoring.overall.scores:
        name = monitoring.overall.scores[0].name
        most = [max((one.psi for one in period.scores), default=0.0) for period in monitoring.periods]
        lines["score"] = (
            SCORE,
            most if len(monitoring.overall.scores) > 1 else [_of(p.scores, name) for p in monitoring.periods],
        )
    highest = 1.1 * max(LARGE, *(value for _, values in lines.values() for value in values))
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    n = len(monitoring.periods)

    def place(at: int, value: float) -> tuple[float, float]:
        return LEFT + width * (at + 0.5) / n, TOP + height * (1.0 - value / highest)

    parts = [_limit(value, place(0, value)[1]) for value in (0.0, MODERATE, LARGE)]
    step = -(-n // MOST_LABELS)
    for at, period in enumerate(monitoring.periods):
        if at % step == 0:
            x = place(at, 0.0)[0]
            parts.append(f'<text x="{x:.1f}" y="{HEIGHT - 10}" text-anchor="middle">{escape(period.name)}</text>')
    for row, (name, (colour, values)) in enumerate(lines.items()):
        points = [place(at, value) for at, value in enumerate(values)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for (x, y), period, value in zip(points, monitoring.periods, values, strict=True):
            title = f"<title>{escape(f'{name}, {period.name}: PSI {value:.3f}')}</title>"
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}">{title}</circle>')
        label = escape(name if len(name) <= 40 else f"{name[:39]}…")
        parts.append(f'<text x="{LEFT + 8}" y="{TOP + 12 + 16 * row}" fill="{colour}">{label}</text>')
    alt = f"Population stability index by period, from {monitoring.periods[0].name} to {monitoring.periods[-1].name}."
    svg = (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(alt)}" font-size="12" fill="currentColor" '
        f'class="chart wide">{"".join(parts)}</svg>'
    )
    return {"svg": svg, "caption": "PSI of the score, and of the feature that moved most, period by period."}


def _limit(value: float, y: float) -> str:
    """A line across the picture, with its value at the left."""
    dash = "" if value == 0.0 else ' stroke-dasharray="4 4"'
    line = (
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="currentColor" opacity="0.5"{dash}/>'
    )
    return f'{line}<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>'


def _of(drifts: Any, name: str) -> float:
    return next((one.psi for one in drifts if one.name == name), 0.0)
