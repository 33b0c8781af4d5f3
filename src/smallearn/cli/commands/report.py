"""``smallearn report``: one page about a model."""

import argparse
from dataclasses import replace
from functools import partial

from smallearn.cli.arguments import (
    add_command,
    add_data,
    add_describe,
    add_model,
    add_path,
    add_printing,
    add_target,
    add_units,
    described,
    units_of,
    whole_number,
)
from smallearn.cli.comparison import add_comparison, compare, fits_in_memory
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError, ExitCode, library_errors
from smallearn.cli.io.files import check_output, file_name, read_model, write_file
from smallearn.cli.reading import read_rows
from smallearn.cli.reason_codes import add_reason_codes, note_wordless, reason_codes_of
from smallearn.cli.watching import add_periods, watched

DESCRIPTION = """\
One HTML file that needs no network: the model, how good it is beside standard models, its errors, what it costs on a
chip if asked for, and a panel in which the inputs can be changed, with sliders for its size and its threshold. Of DATA
it shows counts, shares and pictures, the numbers of the rows that are predicted wrongly, and the values of one row that
is nearest to a typical one; with --rows those of more. Standard models need the whole table in memory: a page about a
large table has none. Of more than 200,000 rows, pictures, ROC AUC and groups are those of a random sample.
"""
MOST_ROWS = 50  # of DATA that the page may hold
EXAMPLES = """\
smallearn report model.json data.csv -o report.html
smallearn report model.json data.csv --no-compare --title "Who needs a second look" -o report.html
smallearn report model.json data.csv --no-compare --rows 20 --describe features.csv -o report.html
smallearn report model.json data.csv --no-compare --sections errors,what-if,chips -o report.html
smallearn report model.json data.csv --no-compare --reason-codes 2 --wording wording.csv -o report.html
smallearn report model.json data.csv --train data.csv --unit age=years -o report.html
smallearn report model.json data.csv --compare-all --favourable no -o report.html
smallearn report model.json data.xlsx --sheet May --target y --no-compare -o report.html
smallearn report model.json data.csv --no-compare --monitor new.csv --date when --period quarter -o report.html
smallearn report model.json data.csv --encoding cp1252 --missing 999 --no-compare --quiet -o report.html
"""


def add(commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "report",
        summary="one self-contained HTML page about a model, with a panel to try it out",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    add_model(parser)
    add_data(parser)
    add_path(parser, "-o", "--output", required=True, metavar="FILE", help="the page to write (HTML)")
    parser.add_argument("--title", metavar="TEXT", help="the heading of the page")
    add_target(parser)
    add_comparison(parser, by_default=True)
    add_units(parser)
    add_describe(parser)
    parser.add_argument(
        "--rows",
        dest="embed_rows",
        type=embedded_rows,
        default=0,
        metavar="N",
        help="put the values of N rows of DATA into the page, at most 50, for the panel to start from (default: 0)",
    )
    parser.add_argument(
        "--sections",
        type=section_names,
        metavar="NAMES",
        help="the sections to show below the model, separated by commas: errors, what-if, size, alternatives, "
        "features, scores, comparison, chips, facts; or all (default: all but chips)",
    )
    add_reason_codes(parser, shown="show, beside the panel,")
    new = parser.add_argument_group("new rows beside the training rows")
    add_path(
        new,
        "--monitor",
        metavar="TABLE",
        help="add a section about the rows of this table: how far the score and each feature have moved since training",
    )
    add_periods(new, "--monitor")
    add_printing(parser, json=False)
    return parser


def embedded_rows(text: str) -> int:
    """The number of rows that the page holds."""
    return whole_number(text, 0, MOST_ROWS)


def section_names(text: str) -> list[str]:
    """The names of sections, separated by commas."""
    from smallearn.report._page import SECTIONS

    names = list(SECTIONS) if text == "all" else [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{', '.join(map(repr, unknown))} is no section: {', '.join(SECTIONS)}, or all"
        )
    return names


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Evaluate, compare, write."""
    check_output(arguments.output, arguments.model, arguments.data, arguments.train)
    model = read_model(arguments)
    model = described(arguments, model)
    units = units_of(arguments, model)
    for option in ("date", "period"):
        if arguments.monitor is None and getattr(arguments, option) is not None:
            raise CommandError(f"--{option} goes with --monitor, which names the table of new rows")
    codes = reason_codes_of(arguments, model)
    from smallearn.cli.io.model_rows import Labels
    from smallearn.evaluation import evaluate
    from smallearn.evaluation._evaluate import RunningEvaluation
    from smallearn.report import _page as page

    compares = arguments.compare and (arguments.train is not None or fits_in_memory(arguments, console))
    running = RunningEvaluation(model)
    reading = page.reading_model(model)
    with library_errors(arguments):
        rows = read_rows(
            arguments,
            reading,
            labels=Labels.OPTIONAL,
            all_columns=compares,
            watch=running.add,
            scored=model,
            console=console,
        )
        scores = None
        if rows.y is not None and (rows.is_sample or rows.is_held_out):
            judge = running.with_sample if rows.is_sample else partial(evaluate, model)
            scores = replace(judge(rows.X, rows.y), is_held_out=rows.is_held_out)
    if rows.y is None:
        console.note(f"{arguments.data.name} has no classes: the page has no scores.")
    monitoring = None
    if arguments.monitor is not None:
        with library_errors(arguments):
            if model.reference is None:  # of an earlier version: the rows of DATA stand in for it
                model = model.with_reference(rows.X)
            monitoring = watched(arguments, arguments.monitor, model, console)
    comparison = compare(arguments, model, rows, console) if compares and rows.y is not None else None
    with library_errors(arguments, ImportError), console.progress(page.STEPS, "parts of the page") as bar:
        text = page.report_html(
            model,
            rows.X,
            rows.y,
            evaluation=scores,
            sampled_from=rows.n_rows if rows.is_sample else None,
            compared=comparison,
            monitoring=monitoring,
            title=arguments.title,
            units=units,
            **codes,
            source=file_name(arguments.data),
            embed_rows=arguments.embed_rows,
            sections=arguments.sections,
            rows=rows.numbers,
            step=bar.step,
        )
    note_wordless(arguments, model, codes, console)
    write_file(text, arguments.output)
    console.note(f"Wrote {arguments.output} ({len(text.encode()) // 1000} kB): open it in a browser.")
    return ExitCode.DONE
