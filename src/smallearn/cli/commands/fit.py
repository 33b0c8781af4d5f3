"""``smallearn fit``: train the best small model of a table."""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smallearn._text import count, show
from smallearn.cli.arguments import (
    CHIP_NAMES,
    add_command,
    add_describe,
    add_groups,
    add_named,
    add_path,
    add_printing,
    add_readings,
    add_storage,
    add_training,
    described,
    positive_integer,
    positive_number,
    probability,
)
from smallearn.cli.comparison import check_comparable, kept_comparison
from smallearn.cli.config import add_config
from smallearn.cli.console import Console, heading
from smallearn.cli.errors import CommandError, ExitCode, library_errors
from smallearn.cli.held_out import add_held_out, check_held_out, save_held_out, score_held_out
from smallearn.cli.io.costs import read_costs
from smallearn.cli.io.counts import note_unused, read_counts
from smallearn.cli.io.files import check_output, file_name, looks_like_table, print_json
from smallearn.cli.io.tables import check_tables
from smallearn.cli.reading import rows_to_train_on, with_memory
from smallearn.cli.rounding import chosen_loss
from smallearn.cli.selection import add_selection, check_selection_options, scored_class, selection_parameters
from smallearn.model import SMaLLModel

if TYPE_CHECKING:
    from smallearn.cli.fit_result import FitResult

DESCRIPTION = """\
Train the model that is best by cross-validation within a number of terms, and within the limits of a chip if one is
named. What cross-validation maximises is the accuracy minus a fifth of the log loss; with --cost-matrix it minimises
the mean cost, and with --metric the score of that name.

With --test-size some rows are held out, and the scores on these are printed; else the scores are those of
cross-validation. If a class is rare, its recall and precision are printed too.

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
smallearn fit data.csv --target y --max-terms 4 --compare -o model.json
smallearn fit data.csv --target y --max-terms 4 --group body=age,size --max-per-group 1 -o model.json
smallearn fit visits.csv --target ill --test-size 0.3 --save-test test.csv -v -o model.json
smallearn fit data.csv --target y --metric f1 --class-weight balanced --folds 3 -o model.json
smallearn fit data.csv --target y --one-standard-error --monotone age=+1 --always-in size -o model.json
smallearn fit data.csv --target y --cut-points age=30,45,60 --max-terms 4 -o model.json
smallearn fit visits.csv --target ill --id patient --weights times --labels 0=no,1=yes -o model.json
smallearn fit visits.csv --target age --labels ..30=young,30..50=middle,50..=old -o model.json
smallearn fit visits.csv --target ward --many-classes --max-terms 3 -o model.json
smallearn fit --config fit.toml --max-terms 4
smallearn fit parts/ --target y --max-terms 4 --dask local -o model.json
smallearn fit data.csv --target y --device atmega328p --max-flash 200 --max-time-us 100 -o model.json
smallearn fit data.xlsx --sheet May --target y -o model.json
smallearn fit visits.csv --target ill --encoding cp1252 --missing 999 --keep patient --quiet -o model.json
smallearn fit data.csv --target y --cost-matrix costs.csv --positive yes --prototypes 1 -o model.json
smallearn fit data.csv --target y --alternatives 2 --describe features.csv --json -o model.json
smallearn fit data.csv --target y --in-memory --sample-rows all --seed 7 --jobs 2 -o model.json
smallearn fit data.csv --target y --on-disk --float32 --no-frontier -o model.json
smallearn fit data.csv --target y --drop colour --device cortex-m0 --readings counts --counts counts.csv -o model.json
smallearn fit data.csv --target y --device cortex-m0 --max-ram 200 --max-cycles 500 -o model.json
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
    add_held_out(parser)
    groups = add_selection(parser, max_terms=MAX_TERMS, with_device=", with --device as many as may fit")
    add_groups(groups.model)
    groups.choice.add_argument(
        "--one-standard-error",
        action="store_true",
        help="choose the fewest terms that score within one standard error of the best",
    )
    add_path(
        groups.choice,
        "--cost-matrix",
        metavar="FILE",
        help="a CSV file of what each prediction costs: predicted classes in the first line, true classes in the first "
        "column",
    )
    groups.choice.add_argument(
        "--decision-threshold",
        type=probability,
        metavar="P",
        help="with two classes, predict the second where its probability exceeds P (default: 0.5, or what --metric or "
        "--cost-matrix make of it)",
    )
    _add_result(parser)
    add_storage(parser.add_argument_group("large tables"))
    _add_device(parser)
    add_config(parser)
    add_printing(parser)
    return parser


def _add_result(parser: argparse.ArgumentParser) -> None:
    """Where the model goes, what its file holds beside it, and what is printed."""
    result = parser.add_argument_group("the result")
    add_path(result, "-o", "--output", required=True, metavar="FILE", help="the model file to write (JSON)")
    result.add_argument(
        "--alternatives",
        dest="n_alternatives",
        type=positive_integer,
        default=0,
        metavar="N",
        help="also keep up to N models of the same size in the file that are about as good and use other columns",
    )
    result.add_argument(
        "--no-frontier",
        dest="frontier_models",
        action="store_false",
        help="keep only the chosen model in the file, without the models of other sizes",
    )
    add_describe(result)
    result.add_argument(
        "--compare",
        action="store_true",
        help="also train standard models (logistic regression, tree, forest, boosting) and keep their scores with the "
        "model, so that evaluate and report of the training table need not train them again",
    )
    result.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="also print the score of each fold and of each size, the columns ignored and the first rows held out",
    )


def _add_device(parser: argparse.ArgumentParser) -> None:
    """The chip that a model has to fit, and its limits."""
    chip = parser.add_argument_group("for a chip")
    add_named(chip, "--device", CHIP_NAMES, metavar="CHIP", help="a chip that the model has to fit: %(names)s")
    add_readings(
        chip,
        "float",
        "what the chip reads: float, counts (see --counts), or codes; limits hold for the whole way from there to the "
        "decision (default: float)",
    )
    for name, (unit, text) in LIMITS.items():
        chip.add_argument(f"--{name.replace('_', '-')}", type=positive_number, metavar=unit, help=text)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Train, save, print."""
    from smallearn.cli.fit_result import facts_of

    _check(arguments)
    with rows_to_train_on(arguments, console) as rows:
        if arguments.compare:
            check_comparable(rows)
        selector = _selector(arguments, rows, console)
        with library_errors(arguments), console.warnings_as_notes():
            fitted = rows.fitted(selector)
            model = with_memory(arguments, fitted.model_, rows, _source_name(arguments.data))
            if arguments.compare:
                model = kept_comparison(model, rows, console)
            model = described(arguments, model)
            model.save(arguments.output)
            result = _judged(arguments, rows, selector, model, console)
    if arguments.json:
        print_json(facts_of(result, arguments, rows, selector))
    else:
        _print(arguments, rows, selector, result)
    return ExitCode.DONE


def _judged(
    arguments: argparse.Namespace, rows: Any, selector: Any, model: SMaLLModel, console: Console
) -> "FitResult":
    """The model with its scores on the rows held out; these are saved if the user wants that."""
    from smallearn.cli.fit_result import FitResult

    held_out = None
    if arguments.test_size is not None:
        held_out = score_held_out(arguments, model, selector.scoring)
        if arguments.save_test is not None:
            save_held_out(arguments, held_out.numbers, console)
    return FitResult(
        model=model,
        positive=scored_class(arguments, rows),
        held_out=held_out,
        training_confusion=rows.confusion(model) if held_out is None else None,
    )


def _print(arguments: argparse.Namespace, rows: Any, selector: Any, result: "FitResult") -> None:
    from smallearn.cli.fit_result import next_commands

    first, _, rest = str(result.model).partition("\n")
    print(f"{heading(first)}\n{rest}\n")
    print("\n".join(result.lines(arguments)))
    if arguments.device is not None:
        print(f"{selector.device_cost_}\n{chosen_loss(result.model, rows)}.")
    if arguments.verbose:
        print("\n" + "\n".join(result.detail_lines(rows)))
    print(f"\nWrote {arguments.output}. {heading('Next:')}")
    print("\n".join(f"  {line}" for line in next_commands(arguments, result)))


def _check(arguments: argparse.Namespace) -> None:
    """Check what can be checked before the table is read."""
    if looks_like_table(arguments.output) or arguments.output.suffix.lower() == ".gz":
        raise CommandError(
            f"{show(str(arguments.output))} ends like a table, but a model is JSON: name a file such as model.json"
        )
    check_selection_options(arguments)
    check_tables(arguments.data)
    check_output(arguments.output, *arguments.data)
    check_held_out(arguments)


def _source_name(paths: Sequence[Path]) -> str:
    """The name of the table, for the model's file."""
    return file_name(paths[0]) + (f" and {count(len(paths) - 1, 'more file')}" if len(paths) > 1 else "")


def _selector(arguments: argparse.Namespace, rows: Any, console: Console) -> Any:
    from smallearn import SMaLLClassifierCV

    limits = {name: getattr(arguments, name) for name in LIMITS}
    parameters = selection_parameters(arguments, rows, console)
    threshold, costs = arguments.decision_threshold, arguments.cost_matrix
    counts = None if arguments.counts is None else read_counts(arguments.counts)
    if counts is not None:
        note_unused(arguments.counts, counts, set(rows.features) - set(rows.categorical), console)
    return SMaLLClassifierCV(
        arguments.max_terms or _max_terms(arguments),
        min_terms=1,
        feature_groups=arguments.feature_groups,
        max_per_group=arguments.max_per_group,
        frontier_models=arguments.frontier_models,
        n_alternatives=arguments.n_alternatives,
        one_standard_error=arguments.one_standard_error,
        device=arguments.device,
        decision_threshold="auto" if threshold is None else threshold,
        cost_matrix=None if costs is None else read_costs(costs, rows.classes),
        readings=arguments.readings,
        counts=counts,
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
