"""``smallearn frontier``: accuracy against size."""

import argparse
import csv
import io
from pathlib import Path
from typing import Any

from smallearn._text import show
from smallearn.cli.arguments import (
    CHIP_NAMES,
    add_command,
    add_named,
    add_path,
    add_printing,
    add_training,
)
from smallearn.cli.config import add_config
from smallearn.cli.console import Console, heading
from smallearn.cli.errors import CommandError, ExitCode, library_errors, not_installed
from smallearn.cli.io.files import check_output, file_name, print_json, write_file
from smallearn.cli.io.tables import check_tables
from smallearn.cli.reading import read_training, with_memory
from smallearn.cli.selection import add_selection, check_selection_options, selection_parameters

DESCRIPTION = """\
Train the best model for each number of terms, and print its cross-validated accuracy, or another --metric, with the
standard error. With --chip, also what each model takes on that chip. One search finds all sizes.
"""
EXAMPLES = """\
smallearn frontier data.csv --target y --max-terms 5
smallearn frontier data.csv --target y --max-terms 4 --chip atmega328p -o frontier.csv --save models
smallearn frontier data.csv --target y --max-terms 4 --metric f1 --folds 3
smallearn frontier data.csv --target y --max-terms 4 --plot frontier.svg
"""
NUMBER, LAYOUT = "int8", "best"  # on a chip, unless another number is asked for
IMAGES = ("svg", "png", "pdf")


def add(commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "frontier",
        summary="the best model of each size: accuracy against size",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    add_training(parser)
    add_selection(parser, max_terms=10)
    add_path(parser, "-o", "--output", metavar="FILE", help="write the table as CSV")
    add_named(parser, "--chip", CHIP_NAMES, metavar="CHIP", help="add bytes and time on a chip: %(names)s")
    parser.add_argument(
        "--number", metavar="TYPE", help="the number format on the chip: float32, int8, int16, int32 (default: int8)"
    )
    add_path(parser, "--save", folder=True, metavar="FOLDER", help="write each model there, as model-<terms>.json")
    add_path(parser, "--plot", metavar="FILE", help="draw accuracy against size: SVG, PNG or PDF")
    add_config(parser)
    add_printing(parser)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Search, print, write."""
    _check(arguments)
    rows = read_training(arguments, console)
    points = _points(arguments, rows, console)
    lines = []
    with console.progress(len(points), "models") as bar:
        for point in points:
            lines.append(_line(arguments, point))
            bar.step()
    if arguments.output is not None:
        write_file(_as_csv(lines), arguments.output)
        console.note(f"Wrote {arguments.output}.")
    if arguments.save is not None:
        _save(arguments, points, rows)
        console.note(f"Wrote {len(points)} models to {arguments.save}.")
    if arguments.plot is not None:
        _plot(arguments, points)
        console.note(f"Wrote {arguments.plot}.")
    if arguments.json:
        print_json(lines)
    else:
        print(_as_text(lines, _metric(arguments)))
    return ExitCode.DONE


def _check(arguments: argparse.Namespace) -> None:
    """Check what can be checked before the search begins."""
    check_selection_options(arguments)
    check_tables([arguments.data])
    for path in filter(None, (arguments.output, arguments.plot)):
        check_output(path, arguments.data)
    if arguments.plot is not None and _image_format(arguments) not in IMAGES:
        raise CommandError(f"--plot {show(str(arguments.plot))} must end in .svg, .png or .pdf")
    if arguments.save is not None:
        _check_save(arguments.save)
    if arguments.chip is None and arguments.number is not None:
        raise CommandError("--number is for a chip: name one with --chip")
    if arguments.chip is not None:
        from smallearn.devices._chips import find_chip
        from smallearn.devices._cost import NUMBERS

        if arguments.number not in (None, *NUMBERS):
            raise CommandError(f"--number {show(arguments.number)} is none of {', '.join(NUMBERS)}")
        with library_errors(arguments):
            find_chip(arguments.chip)


def _check_save(folder: Path) -> None:
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    if not nearest.is_dir():
        raise CommandError(f"--save {show(str(folder))} must be a folder, but {show(str(nearest))} is a file")


def _image_format(arguments: argparse.Namespace) -> str:
    return arguments.plot.suffix.lower().lstrip(".")


def _points(arguments: argparse.Namespace, rows: Any, console: Console) -> list[Any]:
    from smallearn import frontier

    with library_errors(arguments), console.warnings_as_notes():
        parameters = selection_parameters(arguments, rows, console)
        return frontier(rows.X, rows.y, arguments.max_terms, sample_weight=rows.weight, **parameters)


def _line(arguments: argparse.Namespace, point: Any) -> dict[str, Any]:
    line = {
        "terms": point.n_terms,
        "prototypes": len(point.model.prototypes),
        _metric(arguments): point.score,
        "standard_error": point.spread,
    }
    if arguments.chip is not None:
        from smallearn.devices import cost

        with library_errors(arguments):
            found = cost(point.model, **_on_chip(arguments))
        line |= {"flash": found.flash, "ram": found.ram, "time_us": found.time_us, "measured": found.measured}
    return line


def _metric(arguments: argparse.Namespace) -> str:
    """The name of the score."""
    return arguments.scoring or "accuracy"


def _on_chip(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the table and the picture both ask of the chip."""
    return {"chip": arguments.chip, "number": arguments.number or NUMBER, "layout": LAYOUT}


def _as_csv(lines: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, lines[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def _as_text(lines: list[dict[str, Any]], metric: str = "accuracy") -> str:
    """A table, and the smallest model within one standard error of the best."""
    on_chip = "flash" in lines[0]
    text = [heading(f"terms  prototypes  {metric:>14}" + ("  bytes of flash        µs" if on_chip else ""))]
    for line in lines:
        form = ".1%" if "accuracy" in metric else ".3f"
        score = f"{line[metric]:{form}} ± {line['standard_error']:{form}}"
        text.append(f"{line['terms']:>5}  {line['prototypes']:>10}  {score:>{max(14, len(metric))}}")
        if on_chip:
            text[-1] += f"  {line['flash']:>14}  {line['time_us']:>8.3g}"
    best = max(lines, key=lambda line: line[metric])
    near = best[metric] - best["standard_error"]
    smallest = next(line for line in lines if line[metric] >= near)
    if smallest["terms"] < best["terms"]:
        text.append(f"\nBest: {best['terms']} terms. Within one standard error of it: {smallest['terms']}.")
    if on_chip and not all(line["measured"] for line in lines):
        text.append("\nBytes and times are estimates, as the chip's tools are missing; `smallearn cost` says which.")
    return "\n".join(text)


def _save(arguments: argparse.Namespace, points: list[Any], rows: Any) -> None:
    source = file_name(arguments.data)
    try:
        arguments.save.mkdir(parents=True, exist_ok=True)
        for point in points:
            model = with_memory(arguments, point.model, rows, source)
            model.save(arguments.save / f"model-{point.n_terms}.json")
    except OSError as error:
        raise CommandError(f"{show(str(arguments.save))} cannot be written: {error.strerror}") from None


def _plot(arguments: argparse.Namespace, points: list[Any]) -> None:
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure

        from smallearn import plot
    except ModuleNotFoundError as error:
        raise not_installed("--plot", error.name, "plot") from None
    figure = Figure(layout="constrained")
    with rc_context({"svg.fonttype": "none"}):
        by: dict[str, Any] = {} if arguments.chip is None else {"by": "bytes", **_on_chip(arguments)}
        plot.frontier(points, ax=figure.add_subplot(), **by)
        image = io.BytesIO()
        figure.savefig(image, format=_image_format(arguments))
    write_file(image.getvalue(), arguments.plot)
