"""What rounding a model to whole numbers changes, told and kept within a limit."""

import argparse
from typing import Any

from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError
from smallearn.model import SMaLLModel

INPUTS = {"float": "floats", "counts": "counts", "codes": "codes, made of the readings before"}
USUAL_NUMBERS = {"c": "float32", "arduino": "int16", "rust": "float64"}  # of exports in number formats


def check_loss(arguments: argparse.Namespace, model: SMaLLModel, options: dict[str, Any], console: Console) -> None:
    """Tell how many decisions an export changes; refuse if there are too many. ``options``: its function's."""
    from smallearn.export._c.arduino import default_readings
    from smallearn.export._fixed.form import form_of
    from smallearn.export._fixed.loss import MUCH, loss_of
    from smallearn.export._fixed.quantise import BITS, target_of

    if arguments.to not in USUAL_NUMBERS:
        given = {"DATA": arguments.data, "--max-changed": arguments.max_changed}
        named = ", ".join(name for name, value in given.items() if value is not None)
        if named:
            raise CommandError(f"{named} does not go with --to {arguments.to}, which has no number formats")
        return
    asked = {name: options[name] for name in ("number", "readings", "counts") if name in options}
    form = form_of(model, USUAL_NUMBERS[arguments.to], **asked)
    if form.number not in BITS and arguments.data is None:
        return
    readings = form.readings
    if arguments.to == "arduino":
        readings = readings or default_readings(model, form.number, form.counts)
    target = target_of(model, form.number, counts=form.counts, readings=readings)
    rows = read_rows(arguments, model, console)
    note_beyond(target, rows, console)
    loss = loss_of(target, rows, form.counts)
    most = (100.0 if form.is_chosen else 100.0 * MUCH) if arguments.max_changed is None else arguments.max_changed
    if 100.0 * loss.share > most:
        table = "" if rows is not None else "name a table of real rows as DATA, "
        raise CommandError(
            f"{loss}, more than {most:g}%: choose a wider --number, {table}or allow more with --max-changed"
        )
    inputs = f" Inputs are {INPUTS[readings or 'codes']}." if form.number in BITS else ""
    console.note(f"{loss}.{inputs}")


def chosen_loss(model: SMaLLModel, rows: Any) -> Any:
    """How many decisions change on the rows of a training table in the number format that was chosen for a chip."""
    from smallearn.export import format_loss

    chosen = model.deployment
    assert chosen is not None
    return format_loss(model, chosen.number, rows.X, readings=chosen.readings, counts=chosen.counts_by_label)


def note_beyond(target: Any, rows: Any, console: Console) -> None:
    """Tell of values in the rows of DATA that the device cannot read."""
    from smallearn.export._fixed.loss import beyond_counts

    for sentence in [] if rows is None else beyond_counts(target, rows):
        console.note(sentence)


def read_rows(arguments: argparse.Namespace, model: SMaLLModel, console: Console) -> Any:
    """The rows of DATA; None if there is none."""
    if arguments.data is None:
        return None
    from smallearn.cli.io.model_rows import read_for_model
    from smallearn.cli.io.tables import ReadOptions

    return read_for_model(model, arguments.data, options=ReadOptions.of(arguments, model), console=console).X
