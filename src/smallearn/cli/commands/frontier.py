"""``smallearn frontier``: what each further term buys."""

import argparse
import csv
import io
from pathlib import Path
from typing import Any

from smallearn._run.progress import Bar
from smallearn._text import show
from smallearn.cli.arguments import CHIPS, add_command, add_path, add_search, add_talk, add_training
from smallearn.cli.common import CommandError, check_output, file_name, print_json, tell, write_file
from smallearn.cli.io.sources import check_table
from smallearn.cli.search import failures, search_options
from smallearn.cli.terminal import heading, is_quiet

EXAMPLES = """\
smallearn frontier data.csv --target y --max-terms 5
smallearn frontier data.csv --target y --max-terms 4 --chip atmega328p -o frontier.csv --save models
smallearn frontier data.csv --target y --max-terms 4 --plot frontier.svg
"""
NUMBER, LAYOUT = "int8", "best"  # on a chip, unless another number is asked for
PICTURES = ("svg", "png", "pdf")


def add(commands) -> None:
    """The command's arguments."""
    parser = add_command(
        commands,
        "frontier",
        "the best model of each size: what each further term buys",
        "The best model for each number of terms, with its accuracy by cross-validation, the standard error of\n"
        "that, and what it takes on a chip if one is named. One search serves all sizes.",
        EXAMPLES,
    )
    add_training(parser)
    add_search(parser, max_terms=10)
    add_path(parser, "-o", "--output", metavar="FILE", help="the table as CSV")
    parser.add_argument("--chip", metavar="CHIP", help=f"tell bytes and time on it too: {CHIPS}")
    parser.add_argument("--number", metavar="TYPE", help="numbers there: float32, int8, int16, int32 (int8)")
    add_path(parser, "--save", folder=True, metavar="FOLDER", help="write each model there, as model-<terms>.json")
    add_path(parser, "--plot", metavar="FILE", help="draw it: SVG, PNG or PDF")
    add_talk(parser)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Search, print, write."""
    _check(given)
    from smallearn.cli.io.training import read_training

    rows = read_training(given.data, given.target, given.drop, given.keep, given.encoding, given.missing)
    points = _points(given, rows)
    lines = []
    with Bar(len(points), "models", not is_quiet()) as bar:
        for point in points:
            lines.append(_line(given, point))
            bar.step()
    if given.output is not None:
        write_file(_as_csv(lines), given.output)
        tell(f"Wrote {given.output}.")
    if given.save is not None:
        _save(given, points, rows)
    if given.plot is not None:
        _plot(given, points)
    if given.json:
        print_json(lines)
    else:
        print(_as_words(lines))
    return 0


def _check(given: argparse.Namespace) -> None:
    """What can be known to go wrong before the search begins."""
    check_table(given.data)
    for path in filter(None, (given.output, given.plot)):
        check_output(path, given.data)
    if given.plot is not None and _format(given) not in PICTURES:
        raise CommandError(f"--plot {show(str(given.plot))} must end in .svg, .png or .pdf")
    if given.save is not None:
        _check_save(given.save)
    if given.chip is None and given.number is not None:
        raise CommandError("--number is that of a chip: name one with --chip")
    if given.chip is not None:
        from smallearn.devices._chips import find_chip
        from smallearn.devices._cost import NUMBERS

        if given.number not in (None, *NUMBERS):
            raise CommandError(f"--number {show(given.number)} is none of {', '.join(NUMBERS)}")
        with failures():
            find_chip(given.chip)


def _check_save(folder: Path) -> None:
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    if not nearest.is_dir():
        raise CommandError(f"--save {show(str(folder))} must be a folder, and {show(str(nearest))} is none")


def _format(given: argparse.Namespace) -> str:
    return given.plot.suffix.lower().lstrip(".")


def _points(given: argparse.Namespace, rows: Any) -> list[Any]:
    from smallearn import frontier

    with failures():
        return frontier(rows.X, rows.y, given.max_terms, **search_options(given, rows))


def _line(given: argparse.Namespace, point: Any) -> dict[str, Any]:
    line = {
        "terms": point.n_terms,
        "prototypes": len(point.model.prototypes),
        "accuracy": point.score,
        "standard_error": point.spread,
    }
    if given.chip is not None:
        from smallearn.devices import cost

        with failures():
            spent = cost(point.model, **_on_chip(given))
        line |= {"flash": spent.flash, "ram": spent.ram, "time_us": spent.time_us, "measured": spent.measured}
    return line


def _on_chip(given: argparse.Namespace) -> dict[str, Any]:
    """What is asked of the chip, for the table and the picture alike."""
    return {"chip": given.chip, "number": given.number or NUMBER, "layout": LAYOUT}


def _as_csv(lines: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, lines[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def _as_words(lines: list[dict[str, Any]]) -> str:
    """A table, and the least that is as good as the best, within its error."""
    on_chip = "flash" in lines[0]
    head = "terms  prototypes        accuracy" + ("  bytes of flash        µs" if on_chip else "")
    words = [heading(head)]
    for line in lines:
        score = f"{line['accuracy']:.1%} ± {line['standard_error']:.1%}"
        words.append(f"{line['terms']:>5}  {line['prototypes']:>10}  {score:>14}")
        if on_chip:
            words[-1] += f"  {line['flash']:>14}  {line['time_us']:>8.3g}"
    best = max(lines, key=lambda line: line["accuracy"])
    near = best["accuracy"] - best["standard_error"]
    least = next(line for line in lines if line["accuracy"] >= near)
    if least["terms"] < best["terms"]:
        words.append(f"\n{best['terms']} terms do best; {least['terms']} are within a standard error of them.")
    if on_chip and not all(line["measured"] for line in lines):
        words.append("\nBytes and times are estimates: the chip's tools are not at hand; `smallearn cost` says which.")
    return "\n".join(words)


def _save(given: argparse.Namespace, points: list[Any], rows: Any) -> None:
    try:
        given.save.mkdir(parents=True, exist_ok=True)
        for point in points:
            model = point.model.trained_on(rows.X, rows.y, target=given.target, source=file_name(given.data))
            model.save(given.save / f"model-{point.n_terms}.json")
    except OSError as problem:
        raise CommandError(f"{show(str(given.save))} cannot be written: {problem.strerror}") from None
    tell(f"Wrote {len(points)} models to {given.save}.")


def _plot(given: argparse.Namespace, points: list[Any]) -> None:
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure

        from smallearn import plot
    except ImportError as problem:
        raise CommandError(
            f"--plot needs {problem.name}, which is not installed: pip install 'smallearn[plot]'"
        ) from None
    figure = Figure(layout="constrained")
    with rc_context({"svg.fonttype": "none"}):
        by: dict[str, Any] = {} if given.chip is None else {"by": "bytes", **_on_chip(given)}
        plot.frontier(points, ax=figure.add_subplot(), **by)
        image = io.BytesIO()
        figure.savefig(image, format=_format(given))
    write_file(image.getvalue(), given.plot)
    tell(f"Wrote {given.plot}.")
