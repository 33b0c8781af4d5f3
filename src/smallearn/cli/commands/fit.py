"""``smallearn fit``: train the best small model of a table."""

import argparse
import math
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from smallearn._text import count, show
from smallearn.cli.arguments import (
    CHIP_NAMES,
    add_command,
    add_groups,
    add_named,
    add_path,
    add_printing,
    add_readings,
    add_selection,
    add_storage,
    add_training,
    positive_integer,
    positive_number,
    probability,
)
from smallearn.cli.console import Console, heading
from smallearn.cli.errors import CommandError, ExitCode, library_errors
from smallearn.cli.io.costs import read_costs
from smallearn.cli.io.counts import read_counts
from smallearn.cli.io.files import check_output, file_name, looks_like_table, print_json
from smallearn.cli.io.tables import check_tables
from smallearn.cli.reading import rows_to_train_on
from smallearn.cli.rounding import chosen_loss
from smallearn.cli.selection import selection_parameters
from smallearn.model._sentences import alternatives_sentence, budget_sentence, smaller_sentence

DESCRIPTION = """\
Train the model that is best by cross-validation within a number of terms, and within the limits of a chip if one is
named. What cross-validation maximises is the accuracy minus a fifth of the log loss; with --cost-matrix it minimises
the mean cost.

Text columns are categories. Empty cells, NA, NaN, null and ? are missing values; in a column of numbers also -, . and
none. Ignored, with a note: columns that look like an ID, hold dates or have only one value, rows without a class, and
classes of fewer than five rows.

A table that would take much of the memory is converted once to files on the disk, and the model is trained from these;
a line says so. The model is the same. The files are used again as long as the table is the same: see smallearn cache.
With --dask a Dask cluster reads the table and trains; on one machine that takes longer.

A prototype is a score: a constant plus a sum of terms. A term is a weight times a feature or times a condition. The
certificate bounds how much better any model of this size could fit the training data. It takes time, and is computed
where that is little, or if you ask for it.
"""
EXAMPLES = """\
smallearn fit data.csv --target y --max-terms 6 -o model.json
smallearn fit data.csv --target y --max-terms 4 --literals thresholds --points 5 --drop age -o card.json
smallearn fit data.csv --target y --max-terms 4 --certificate yes --time-limit 600 -o model.json
smallearn fit data.csv --target y --max-terms 4 --decision-threshold 0.2 -o model.json
smallearn fit data.csv --target y --max-terms 4 --group body=age,size --max-per-group 1 -o model.json
smallearn fit parts/ --target y --max-terms 4 --dask local -o model.json
smallearn fit data.csv --target y --device atmega328p --max-flash 200 --max-time-us 100 -o model.json
"""
MAX_TERMS = 10
# With --device: the fewest bytes and cycles that a term takes, and how many terms are tried at most.
TERM_BYTES, TERM_CYCLES, MOST_TERMS = 12.0, 8.0, 24
LIMITS = {
    "max_flash": ("BYTES", "the most bytes of flash on the chip"),
    "max_ram": ("BYTES", "the most bytes of RAM on the chip, stack included"),
    "max_cycles": ("N", "the most cycles of a prediction (on 32-bit chips: instructions)"),
    "max_time_us": ("µs", "the longest time of a prediction, in microseconds"),
}


def add(commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "fit",
        summary="train the best small model of a table",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    add_training(parser, several=True)
    add_storage(parser)
    add_path(parser, "-o", "--output", required=True, metavar="FILE", help="the model file to write (JSON)")
    add_selection(parser, max_terms=MAX_TERMS, with_device=", with --device as many as may fit")
    parser.add_argument(
        "--decision-threshold",
        type=probability,
        metavar="P",
        help="with two classes, predict the second where its probability exceeds P (default: 0.5, or what costs say)",
    )
    add_path(
        parser,
        "--cost-matrix",
        metavar="FILE",
        help="a CSV file of what each prediction costs: predicted classes in the first line, true classes in the first "
        "column",
    )
    add_named(parser, "--device", CHIP_NAMES, metavar="CHIP", help="a chip that the model has to fit: %(names)s")
    add_readings(
        parser,
        "float",
        "what the chip reads: float, counts (see --counts), or codes; limits hold for the whole way from there to the "
        "decision (default: float)",
    )
    for name, (unit, text) in LIMITS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=positive_number, metavar=unit, help=text)
    add_groups(parser)
    parser.add_argument(
        "--alternatives",
        dest="n_alternatives",
        type=positive_integer,
        default=0,
        metavar="N",
        help="also keep up to N models of the same size in the file that are about as good and use other columns",
    )
    parser.add_argument(
        "--no-frontier",
        dest="frontier_models",
        action="store_false",
        help="keep only the chosen model in the file, without the models of other sizes",
    )
    add_printing(parser)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Train, save, print."""
    _check(arguments)
    with rows_to_train_on(arguments, console) as rows:
        selector = _selector(arguments, rows, console)
        with library_errors(arguments), console.warnings_as_notes():
            fitted = rows.fitted(selector)
            model = rows.remembered_by(fitted.model_, arguments.target, _source_name(arguments.data))
            model.save(arguments.output)
    if arguments.json:
        print_json(_facts(arguments, rows, selector, model))
        return ExitCode.DONE
    first, _, rest = str(model).partition("\n")
    print(f"{heading(first)}\n{rest}\n")
    print("\n".join(_summary(arguments, model)))
    if arguments.device is not None:
        print(f"{selector.device_cost_}\n{chosen_loss(model, rows)}.")
    print(f"\nWrote {arguments.output}. {heading('Next:')}")
    print("\n".join(f"  {line}" for line in _next_commands(arguments, selector)))
    return ExitCode.DONE


def _check(arguments: argparse.Namespace) -> None:
    """Check what can be checked before the table is read."""
    if looks_like_table(arguments.output) or arguments.output.suffix.lower() == ".gz":
        raise CommandError(
            f"{show(str(arguments.output))} ends like a table, but a model is JSON: name a file such as model.json"
        )
    check_tables(arguments.data)
    check_output(arguments.output, *arguments.data)


def _source_name(paths: Sequence[Path]) -> str:
    """The name of the table, for the model's file."""
    return file_name(paths[0]) + (f" and {count(len(paths) - 1, 'more file')}" if len(paths) > 1 else "")


def _selector(arguments: argparse.Namespace, rows: Any, console: Console) -> Any:
    from smallearn import SMaLLClassifierCV

    limits = {name: getattr(arguments, name) for name in LIMITS}
    parameters = selection_parameters(arguments, rows, console)
    threshold, costs = arguments.decision_threshold, arguments.cost_matrix
    return SMaLLClassifierCV(
        arguments.max_terms or _max_terms(arguments),
        min_terms=1,
        feature_groups=arguments.feature_groups,
        max_per_group=arguments.max_per_group,
        frontier_models=arguments.frontier_models,
        n_alternatives=arguments.n_alternatives,
        device=arguments.device,
        decision_threshold="auto" if threshold is None else threshold,
        cost_matrix=None if costs is None else read_costs(costs, rows.classes),
        readings=arguments.readings,
        counts=None if arguments.counts is None else read_counts(arguments.counts),
        **limits,
        **parameters,
    )


def _max_terms(arguments: argparse.Namespace) -> int:
    """The most terms to try: as many as may fit a chip with the limits of the user."""
    from smallearn.devices import CHIPS

    if arguments.device not in CHIPS:
        return MAX_TERMS
    bytes_, cycles = arguments.max_flash, [arguments.max_cycles]
    if arguments.max_time_us is not None:
        cycles.append(arguments.max_time_us * CHIPS[arguments.device].clock / 1e6)
    most = [] if bytes_ is None else [bytes_ / TERM_BYTES]
    most += [limit / TERM_CYCLES for limit in cycles if limit is not None]
    return max(1, min(MOST_TERMS, math.floor(min(most)))) if most else MAX_TERMS


def _majority(model: Any) -> tuple[Any, float]:
    """The most common class, and its share of the rows."""
    counts = model.data.class_counts
    return model.classes[counts.index(max(counts))], max(counts) / sum(counts)


def _summary(arguments: argparse.Namespace, model: Any) -> list[str]:
    """Lines about the model, printed after it."""
    label, share = _majority(model)
    folds = model.selection.scores
    if arguments.cost_matrix is not None:
        error = f" ± {model.selection.spread:.3f}" if len(folds) > 1 else " on a single fold"
        lines = [f"Mean cost by cross-validation: {-model.selection.score:.3f}{error}."]
    else:
        error = f" ± {model.selection.spread:.1%}" if len(folds) > 1 else " on a single fold"
        lines = [
            f"Accuracy by cross-validation: {model.selection.score:.1%}{error}. Always guessing "
            f"{show(label)}, the most common class: {share:.1%}."
        ]
    unused = budget_sentence(model)
    if unused is not None and arguments.device is None:
        lines.append(unused)
    if (smaller := smaller_sentence(model)) is not None:
        lines.append(smaller)
    if arguments.n_alternatives:
        lines.append(alternatives_sentence(model))
    owner = model.sole_owner
    if arguments.positive_class is None and owner is not None:
        other = str(model.classes[1 - owner])
        option = shlex.quote(f"--positive={other}") if other.startswith("-") else f"--positive {shlex.quote(other)}"
        lines.append(f"High scores mean {show(model.classes[owner])}. Use {show(option, quote=False)} to reverse.")
    return lines


def _next_commands(arguments: argparse.Namespace, selector: Any) -> list[str]:
    """Commands to go on with, as a shell takes them; on the first file if there are several."""
    model, data = shlex.quote(str(arguments.output)), shlex.quote(str(arguments.data[0]))
    reading = "" if arguments.encoding == "utf-8" else f" --encoding {shlex.quote(arguments.encoding)}"
    reading += "".join(f" {shlex.quote(f'--missing={text}')}" for text in arguments.missing)
    to_c = f"smallearn export {model} --to c"
    report = shlex.quote(str(arguments.output.with_suffix(".html")))
    cost = [] if arguments.device is None else [f"smallearn cost {model} {data}{reading}"]
    return [
        f"smallearn explain {model} {data}{reading}",
        f"smallearn report {model} {data}{reading} -o {report}",
        *cost,
        to_c,
    ]


def _facts(arguments: argparse.Namespace, rows: Any, selector: Any, model: Any) -> dict[str, Any]:
    """The result, for scripts."""
    facts = {
        "model": str(arguments.output),
        "target": arguments.target,
        "rows": rows.n_rows,
        "classes": [
            {"label": label, "rows": number}
            for label, number in zip(model.classes, model.data.class_counts, strict=True)
        ],
        "metric": model.selection.metric,
        "score": model.selection.score,
        "spread": model.selection.spread,
        "most_frequent_class": _majority(model)[1],
        "n_terms": model.n_terms,
        "n_prototypes": len(model.prototypes),
        "decision_threshold": model.decision_threshold,
        "features": [term.label for term in model.features],
        "left_out": rows.ignored,
        "objective": model.training.objective,
        "lower_bound": model.training.lower_bound,
    }
    if arguments.device is not None:
        facts |= {"number": selector.number_, "cost": asdict(selector.device_cost_)}
        facts["format_loss"] = asdict(chosen_loss(model, rows))
    return facts
