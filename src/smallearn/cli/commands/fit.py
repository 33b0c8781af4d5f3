"""``smallearn fit``: the best small model of a table."""

import argparse
import shlex
from dataclasses import asdict
from typing import Any

from smallearn._text import show
from smallearn.cli.arguments import CHIPS, add_command, add_path, add_search, add_talk, add_training, positive
from smallearn.cli.common import CommandError, check_output, file_name, looks_like_table, print_json
from smallearn.cli.io.sources import check_table
from smallearn.cli.search import failures, search_options
from smallearn.cli.terminal import heading

EXAMPLES = """\
smallearn fit data.csv --target y --max-terms 6 -o model.json
smallearn fit data.csv --target y --max-terms 4 --literals thresholds --points 5 --drop age -o card.json
smallearn fit data.csv --target y --max-terms 3 --device atmega328p --max-flash 200 --max-time-us 100 -o model.json
"""
LIMITS = {
    "max_flash": ("BYTES", "bytes of flash on --device"),
    "max_ram": ("BYTES", "bytes of RAM there, stack included"),
    "max_cycles": ("N", "cycles there (instructions on Cortex-M)"),
    "max_time_us": ("µs", "microseconds there"),
}


def add(commands) -> None:
    """The command's arguments."""
    parser = add_command(
        commands,
        "fit",
        "train the best small model of a table",
        "Train the best model of a table within a budget of terms, or that fits a chip: best by\n"
        "cross-validation, where accuracy less a fifth of the log-loss decides. Text columns are categories;\n"
        "empty cells, NA, NaN, null and ? are missing values, among numbers also -, . and none. Left out, and told\n"
        "of: columns of one value, dates, columns that name the rows, rows without a class, and classes of fewer\n"
        "than five rows.\n\n"
        "A prototype is one score: a sum of terms. A term is a weighted feature or condition. The certificate\n"
        "bounds how much better any model of that size could fit the training rows.",
        EXAMPLES,
    )
    add_training(parser)
    add_path(parser, "-o", "--output", required=True, metavar="FILE", help="the model file to write (JSON)")
    add_search(parser, max_terms=10)
    parser.add_argument("--device", metavar="CHIP", help=f"a chip to fit: {CHIPS}")
    for name, (unit, words) in LIMITS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=positive, metavar=unit, help=words)
    add_talk(parser)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Train, save, print."""
    _check(given)
    from smallearn.cli.io.training import read_training

    rows = read_training(given.data, given.target, given.drop, given.keep, given.encoding, given.missing)
    selector = _selector(given, rows)
    with failures():
        selector.fit(rows.X, rows.y)
        model = selector.model_.trained_on(rows.X, rows.y, target=given.target, source=file_name(given.data))
        model.save(given.output)
    label, share = rows.most_frequent
    if given.json:
        print_json(_facts(given, rows, selector, model))
        return 0
    head, _, rest = str(model).partition("\n")
    print(f"{heading(head)}\n{rest}")
    print(
        f"\n{model.selection.score:.1%} ± {model.selection.spread:.1%} of the rows right by cross-validation; "
        f"{show(label)}, the most frequent class, is {share:.1%} of them."
    )
    if given.positive is None and len(model.classes) == 2:
        print(_speaks(model))
    if given.device is not None:
        print(selector.device_cost_)
    print(f"\nWrote {given.output}. {heading('Next:')}")
    print("\n".join(f"  {line}" for line in _next(given, selector)))
    return 0


def _check(given: argparse.Namespace) -> None:
    """What can be known to go wrong before the table is read."""
    if looks_like_table(given.output) or given.output.suffix.lower() == ".gz":
        raise CommandError(
            f"{show(str(given.output))} ends like a table, and a model is JSON: name a file such as model.json"
        )
    check_table(given.data)
    check_output(given.output, given.data)


def _selector(given: argparse.Namespace, rows: Any) -> Any:
    from smallearn import SMaLLClassifierCV

    limits = {name: getattr(given, name) for name in LIMITS}
    return SMaLLClassifierCV(given.max_terms, min_terms=1, device=given.device, **limits, **search_options(given, rows))


def _speaks(model: Any) -> str:
    """Of two classes, the one that the scores speak for, and how to have the other."""
    owner = model.prototypes[0].owner
    other = str(model.classes[1 - owner])
    flag = f"--positive {shlex.quote(other)}" if not other.startswith("-") else shlex.quote(f"--positive={other}")
    return f"The scores speak for {show(model.classes[owner])}; {show(flag, quote=False)} turns them round."


def _next(given: argparse.Namespace, selector: Any) -> list[str]:
    """Commands to go on with, as a shell takes them."""
    model, data = shlex.quote(str(given.output)), shlex.quote(str(given.data))
    reading = "" if given.encoding == "utf-8" else f" --encoding {shlex.quote(given.encoding)}"
    reading += "".join(f" {shlex.quote(f'--missing={text}')}" for text in given.missing)
    to_c = f"smallearn export {model} --to c"
    if given.device is not None:
        to_c += f" --number {selector.number_} --layout {selector.device_cost_.layout}"
    report = shlex.quote(str(given.output.with_suffix(".html")))
    return [
        f"smallearn explain {model} {data}{reading}",
        f"smallearn report {model} {data}{reading} -o {report}",
        to_c,
    ]


def _facts(given: argparse.Namespace, rows: Any, selector: Any, model: Any) -> dict[str, Any]:
    """What was found, for machines."""
    facts = {
        "model": str(given.output),
        "target": given.target,
        "rows": len(rows.y),
        "classes": [
            {"label": label, "rows": number}
            for label, number in zip(model.classes, model.data.class_counts, strict=True)
        ],
        "metric": model.selection.metric,
        "score": model.selection.score,
        "spread": model.selection.spread,
        "most_frequent_class": rows.most_frequent[1],
        "n_terms": len(model.terms),
        "n_prototypes": len(model.prototypes),
        "features": [term.label for term in model.features],
        "left_out": rows.left_out,
        "objective": model.training.objective,
        "lower_bound": model.training.lower_bound,
    }
    if given.device is not None:
        facts |= {"number": selector.number_, "cost": asdict(selector.device_cost_)}
    return facts
