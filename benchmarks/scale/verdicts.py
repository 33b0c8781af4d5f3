"""What we promise of our speed, and whether it holds."""

from collections.abc import Sequence

import numpy as np

from benchmarks.scale.cells import AXES, BASE, DIGITS, MADE, REAL_SETS, UNBOUNDED, Cell, real_cell
from benchmarks.scale.methods import BOOSTING, EBM, METHODS, OURS, TREE
from benchmarks.scale.report import Measured, Results, ratio
from benchmarks.timing import verdict

GROWTH = {"rows": 1.05, "columns": 1.1, "terms": 1.1}  # largest exponents
TO_TREE = {  # largest ratios of CPU seconds to those of the grid-searched tree
    **dict.fromkeys(("wdbc", "credit-g", "compas-two-years", "spambase"), 2.0),
    **dict.fromkeys(("MagicTelescope", "heloc", "covertype_20k"), 1.0),
    **dict.fromkeys(("classes/texture", DIGITS), 5.0),
}
TO_BOOSTING = {100_000: 2.0, 1_000_000: 1.0}  # the same to one fit of gradient boosting, by rows
SECONDS = dict.fromkeys(("classes/letter", "adult", "usps_odd_even"), 60.0)  # wall


def made_verdicts(results: Results) -> None:
    """The promises on made data."""
    for rows, most in TO_BOOSTING.items():
        ours, theirs = (_made(results, rows, method) for method in (OURS, BOOSTING))
        _at_most(f"{rows:,} × {BASE['columns']}: at most {most:g}× one default fit of HGB", ours, theirs, most)
    for axis in AXES:
        if axis.name in GROWTH:
            exponent, finished = results.growth(axis, OURS), results.seconds(axis, OURS)
            complete = all(size in finished for size in axis.sizes if size >= axis.first)
            text = f"growth in {axis.name}: an exponent of at most {GROWTH[axis.name]:g} ({exponent:.2f})"
            _judge(text, exponent <= GROWTH[axis.name] if complete else None)
    pairs = [
        (results.get(axis.cell(size, OURS, True)), results.get(axis.cell(size, EBM, False)))
        for axis in AXES
        for size in axis.sizes
    ]
    _faster_than_ebm("on every size", pairs)


def real_verdicts(results: Results) -> None:
    """The promises on real sets."""
    found = {
        name: {method: results.get(real_cell(name, method, METHODS[method].bounded)) for method in (OURS, TREE, EBM)}
        for name in REAL_SETS
    }
    for name, most in TO_TREE.items():
        text = f"{name}, {REAL_SETS[name].terms} terms: at most {most:g}× the grid-searched tree"
        _at_most(text, found[name][OURS], found[name][TREE], most)
    for name, seconds in SECONDS.items():
        ours = found[name][OURS]
        text = f"{name}, {REAL_SETS[name].terms} terms: in under {seconds:.0f} s"
        if ours is None:
            _judge(text, None)
        elif np.isnan(ours.wall):  # stopped: two cores may take the CPU seconds of the limit in half the time
            _judge(f"{text} (more than {ours.limit:.0f} CPU s)", False if ours.limit >= 2.0 * seconds else None)
        else:
            _judge(f"{text} ({ours.wall:.1f} s)", ours.wall < seconds)
    _faster_than_ebm("on every real set", [(one[OURS], one[EBM]) for one in found.values()])


def _made(results: Results, rows: int, method: str) -> Measured | None:
    terms = BASE["terms"] if METHODS[method].bounded else UNBOUNDED
    return results.get(Cell(MADE, rows, BASE["columns"], BASE["classes"], terms, method))


def _at_most(text: str, ours: Measured | None, theirs: Measured | None, most: float) -> None:
    if ours is None or theirs is None:
        _judge(text, None)
    else:
        _judge(f"{text} ({ratio(ours, theirs)})", within(ours, theirs, most))


def within(ours: Measured, theirs: Measured, most: float) -> bool | None:
    """Whether we take at most ``most`` times their CPU seconds; None if a fit was stopped too early to tell."""
    if ours.least_cpu <= most * theirs.least_cpu:
        return None if np.isnan(ours.cpu) else True
    return None if np.isnan(theirs.cpu) else False


def _faster_than_ebm(where: str, pairs: Sequence[tuple[Measured | None, Measured | None]]) -> None:
    met = [None if ours is None or theirs is None else within(ours, theirs, 1.0) for ours, theirs in pairs]
    known = f"yes on {met.count(True)}, no on {met.count(False)} of {len(met)}"
    _judge(f"faster than one default fit of EBM {where} ({known})", False if False in met else all(met) or None)


def _judge(text: str, met: bool | None) -> None:
    """Print whether a promise holds; None: it takes more fits, or a higher limit, to tell."""
    if met is None:
        print(f"  [open] {text}")
    else:
        verdict(text, met)
