"""Whether an export keeps the limits that its model was chosen under."""

import argparse
from typing import Any

from smallearn._text import joined
from smallearn.cli.console import Console
from smallearn.cli.rounding import USUAL_NUMBERS
from smallearn.model import SMaLLModel

MORE = ("probabilities", "class_names")  # options that were not part of what was measured when the model was chosen


def note_limits(arguments: argparse.Namespace, model: SMaLLModel, options: dict[str, Any], console: Console) -> None:
    """Tell what C code with probabilities or class names costs on the chip that the model was chosen for, and which of
    its limits that exceeds. ``options``: those of the export's function."""
    more: dict[str, Any] = {name: True for name in MORE if options.get(name)}
    chosen = model.deployment
    if not more or chosen is None or arguments.to not in ("c", "arduino"):
        return
    from smallearn.devices import ToolchainError, cost
    from smallearn.devices._limits import Limits
    from smallearn.export._fixed.form import form_of

    asked = {name: options[name] for name in ("number", "layout", "readings", "counts") if name in options}
    form = form_of(model, USUAL_NUMBERS[arguments.to], **asked)
    readings = form.readings or ("counts" if form.counts else "float")
    layout = "best" if form.layout == "auto" else form.layout
    what = " and ".join(name.replace("_", " ") for name in more)
    try:
        spent = cost(model, chosen.chip, form.number, layout=layout, readings=readings, counts=form.counts, **more)
    except ToolchainError as error:
        console.note(f"The limits of the chip do not count {what}, and what these cost was not measured: {error}")
        return
    known: dict[str, Any] = dict(model.device_limits)
    limits = Limits(chosen.chip, **known)
    broken = [limits.sentence(name) for name in limits.exceeded(spent)]
    if broken:
        kept = f"more than {joined(broken)}, under which the model was chosen"
    else:
        kept = "within the limits under which the model was chosen"
    console.note(f"With {what}: {spent.summary}. That is {kept}.")
