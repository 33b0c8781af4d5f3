"""The form in which a model is compiled: what the caller says, else what was chosen for a chip, else what is usual."""

from collections.abc import Mapping
from typing import NamedTuple

from smallearn.export._fixed.quantise import BITS
from smallearn.model import SMaLLModel

Counts = Mapping[str, tuple[float, float, int, int]]


class Form(NamedTuple):
    """Number format, layout, readings and counts, as `smallearn.export.to_c` takes them.

    ``is_chosen``: number, readings and counts are those that were chosen for a chip.
    """

    number: str
    layout: str
    readings: str | None
    counts: Counts | None
    is_chosen: bool


def form_of(
    model: SMaLLModel,
    usual: str,
    *,
    number: str | None = None,
    layout: str = "auto",
    readings: str | None = None,
    counts: Counts | None = None,
) -> Form:
    """The form; ``usual`` is the number format of a model that was not chosen for a chip.

    What the device reads stays what it was chosen for, in another number format too: otherwise a program that passes
    counts would get a function of codes. Only float formats cannot take counts.
    """
    chosen = model.deployment
    if chosen is None:
        return Form(number or usual, layout, readings, counts, is_chosen=False)
    known, found = chosen.counts_by_label, number or chosen.number
    if layout == "auto" and found == chosen.number:
        layout = chosen.layout
    if found not in BITS:
        return Form(found, layout, readings, counts, is_chosen=found == chosen.number)
    if readings is None and (counts is None or chosen.readings == "counts"):
        readings = chosen.readings
    if counts is None and readings == "counts":
        counts = known
    same = (found, readings, counts if readings == "counts" else None) == (chosen.number, chosen.readings, known)
    return Form(found, layout, readings, counts, is_chosen=same)
