"""What rounding a model to whole numbers changes, told and kept within a limit."""

import argparse
from typing import Any

from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError
from smallearn.model import SMaLLModel

USUAL_NUMBERS = {"c": "float32", "arduino": "int16", "rust": "float64"}  # of exports in number formats


def check_loss(arguments: argparse.Namespace, model: SMaLLModel, options: dict[str, Any], console: Console) -> None:
    """Tell how many decisions an export changes; refuse if there are too many. ``options``: its function's."""
    from smallearn.export import format_loss
    from smallearn.export._c.arduino import default_readings
    from smallearn.export._c.writer import chosen_form
    from smallearn.export._fixed.loss import MUCH
    from smallearn.export._fixed.quantise import BITS

    if arguments.to not in USUAL_NUMBERS:
        given = {"DATA": arguments.data, "--max-changed": arguments.max_changed}
        named = ", ".join(name for name, value in given.items() if value is not None)
        if named:
            raise CommandError(f"{named} does not go with --to {arguments.to}, which has no number formats")
        return
    asked, readings, counts = options.get("number"), options.get("readings"), options.get("counts")
    usual = USUAL_NUMBERS[arguments.to]
    number, _, readings, counts = chosen_form(model, asked or "", "auto", readings, counts, usual)
    if arguments.to == "arduino":
        readings = readings or default_readings(model, number, counts)
    if number not in BITS and arguments.data is None:
        return
    loss = format_loss(model, number, read_rows(arguments, model, console), readings=readings, counts=counts)
    was_chosen = asked is None and model.deployment is not None
    most = (100.0 if was_chosen else 100.0 * MUCH) if arguments.max_changed is None else arguments.max_changed
    if 100.0 * loss.share > most:
        table = "" if arguments.data is not None else "name a table of real rows as DATA, "
        raise CommandError(
            f"{loss}, more than {most:g}%: choose a wider --number, {table}or allow more with --max-changed"
        )
    console.note(f"{loss}.")


def read_rows(arguments: argparse.Namespace, model: SMaLLModel, console: Console) -> Any:
    """The rows of DATA; None if there is none."""
    if arguments.data is None:
        return None
    from smallearn.cli.io.model_rows import read_for_model
    from smallearn.cli.io.tables import ReadOptions

    return read_for_model(model, arguments.data, options=ReadOptions.of(arguments), console=console).X
