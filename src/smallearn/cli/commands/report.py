"""``smallearn report``: one page about a model."""

import argparse

from smallearn.cli.arguments import add_command, add_data, add_model, add_path, add_talk
from smallearn.cli.commands.evaluate import add_comparison, compare
from smallearn.cli.commands.explain import add_units, units_of
from smallearn.cli.common import CommandError, check_output, file_name, read_model, tell, write_file

EXAMPLES = """\
smallearn report model.json data.csv -o report.html
smallearn report model.json data.csv --no-compare --title "Who needs a second look" -o report.html
"""


def add(commands) -> None:
    """The command's arguments."""
    parser = add_command(
        commands,
        "report",
        "one self-contained HTML page about a model, with a panel to play with it",
        "One HTML file that needs no network: what the model is, how good it is, against familiar models, where it\n"
        "errs, what it costs on a chip, and a panel in which the inputs can be changed. Of DATA it shows counts,\n"
        "shares and pictures, and which rows the model gets wrong, by number.",
        EXAMPLES,
    )
    add_model(parser)
    add_data(parser)
    add_path(parser, "-o", "--output", required=True, metavar="FILE", help="the page to write (HTML)")
    parser.add_argument("--title", metavar="TEXT", help="the page's heading")
    parser.add_argument("--target", metavar="COLUMN", help="the column of classes (the one that it was trained on)")
    add_comparison(parser, by_default=True)
    add_units(parser)
    add_talk(parser, json=False)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Gather, write."""
    check_output(given.output, given.model, given.data, given.train)
    model = read_model(given)
    units = units_of(given, model)
    from smallearn._run.progress import Bar
    from smallearn.cli.io.tables import read_for
    from smallearn.cli.terminal import is_quiet
    from smallearn.report import _page as page

    X, y = read_for(model, given.data, target=given.target, labels=None, encoding=given.encoding, missing=given.missing)
    if y is None:
        tell(f"{given.data.name} has no classes: the page has no scores.")
    compared = compare(given, model, X, y) if given.compare and y is not None else None
    try:
        with Bar(page.STEPS, "parts of the page", not is_quiet()) as bar:
            text = page.report_html(
                model,
                X,
                y,
                compared=compared,
                title=given.title,
                units=units,
                source=file_name(given.data),
                rows=X.index.to_numpy() + 1,
                step=bar.step,
            )
    except (ValueError, ImportError) as problem:
        raise CommandError(str(problem)) from None
    write_file(text, given.output)
    tell(f"Wrote {given.output} ({len(text.encode()) // 1000} kB): open it in a browser.")
    return 0
