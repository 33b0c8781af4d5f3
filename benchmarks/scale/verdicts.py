"""What we promise of our speed, and whether it holds."""

from collections.abc import Iterable

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
            exponent = results.growth(axis, OURS)
            text = f"growth in {axis.name}: an exponent of at most {GROWTH[axis.name]:g}"
            _judge(f"{text} ({exponent:.2f})", None if np.isnan(exponent) else exponent <= GROWTH[axis.name])
    pairs = [
        (results.get(axis.cell(size, OURS, True)), results.get(axis.cell(size, EBM, False)))
        for axis in AXES
        for size in axis.sizes
    ]
    _faster_than_ebm("on every size that both finished or were stopped at", pairs)


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
        else:
            took = "stopped" if np.isnan(ours.wall) else f"{ours.wall:.1f} s"
            _judge(f"{text} ({took})", bool(ours.wall < seconds))
    _faster_than_ebm("on every real set", [(one[OURS], one[EBM]) for one in found.values()])


def _made(results: Results, rows: int, method: str) -> Measured | None:
    terms = BASE["terms"] if METHODS[method].bounded else UNBOUNDED
    return results.get(Cell(MADE, rows, BASE["columns"], BASE["classes"], terms, method))


def _at_most(text: str, ours: Measured | None, theirs: Measured | None, most: float) -> None:
    if ours is None or theirs is None:
        _judge(text, None)
    else:
        _judge(f"{text} ({ratio(ours, theirs)})", bool(ours.cpu <= most * theirs.least_cpu))


def _faster_than_ebm(where: str, pairs: Iterable[tuple[Measured | None, Measured | None]]) -> None:
    met = [bool(ours.cpu < theirs.least_cpu) for ours, theirs in pairs if ours is not None and theirs is not None]
    _judge(f"faster than one default fit of EBM {where} ({sum(met)} of {len(met)})", all(met) if met else None)


def _judge(text: str, met: bool | None) -> None:
    if met is None:
        print(f"  [not run] {text}")
    else:
        verdict(text, met)
