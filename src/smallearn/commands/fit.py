"""``smallearn fit``: the best small model of a table."""

import argparse
from pathlib import Path
from typing import Any

from smallearn.commands.common import CommandError, read_table, tell
from smallearn.words import count, listed, show

EXAMPLES = """\
examples:
  smallearn fit data.csv --target y --max-terms 6 -o model.json
  smallearn fit data.csv --target y --device atmega328p --max-flash 200 --max-time-us 100 -o model.json
"""
LIMITS = {
    "max_flash": ("BYTES", "bytes of flash on --device"),
    "max_ram": ("BYTES", "bytes of RAM there, stack included"),
    "max_cycles": ("N", "cycles there (instructions on Cortex-M)"),
    "max_time_us": ("µs", "microseconds there"),
}


def add(commands) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "fit",
        help="train the best small model of a table",
        description="Train the best model of a table within a budget of terms, or that fits a chip: best by\n"
        "cross-validation, where accuracy less a fifth of the log-loss decides. Text columns are categories;\n"
        "empty cells, NA, NaN, null and ? are missing values; constant columns and text that differs in every row\n"
        "are left out.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path, metavar="DATA", help="CSV, TSV or Parquet")
    parser.add_argument("--target", required=True, metavar="COLUMN", help="the column of classes")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="the model file to write (JSON)"
    )
    parser.add_argument("--max-terms", type=int, default=10, metavar="N", help="terms that the model may have (10)")
    parser.add_argument("--prototypes", type=int, metavar="P", help="prototypes (chosen by cross-validation)")
    parser.add_argument("--device", metavar="CHIP", help="a chip to fit: atmega328p, cortex-m0, cortex-m4")
    for name, (unit, words) in LIMITS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, metavar=unit, help=words)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the folds and starts (0)")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Train, print, save."""
    from smallearn import SMaLLClassifierCV

    table = read_table(given.data)
    if given.target not in table.columns:
        raise CommandError(
            f"{show(str(given.data))} has no column {show(given.target)}; it has {listed(table.columns)}"
        )
    labelled = table[table[given.target].notna()]
    if len(labelled) < len(table):
        tell(f"{count(len(table) - len(labelled), 'row')} without a class left out.")
    y = labelled[given.target].to_numpy()
    X, text = _features(labelled.drop(columns=given.target))
    selector = SMaLLClassifierCV(
        given.max_terms,
        n_prototypes=given.prototypes,
        categorical_features=text or None,
        device=given.device,
        random_state=given.seed,
        **{name: getattr(given, name) for name in LIMITS},
    )
    try:
        selector.fit(X, y)
        selector.model_.save(given.output)
    except (ValueError, OSError, RuntimeError) as problem:
        raise CommandError(str(problem)) from None
    print(selector.model_)
    print(f"\n{selector.best_score_:.1%} of the rows right by cross-validation.")
    to_c = f"smallearn export {given.output} --to c"
    if given.device is not None:
        print(selector.device_cost_)
        to_c += f" --number {selector.number_} --layout {selector.device_cost_.layout}"
    print(f"Wrote {given.output}. Next: {to_c}")
    return 0


def _features(table: Any) -> tuple[Any, list[str]]:
    """Columns that can tell rows apart, and which of them hold text."""
    import pandas as pd

    text = [name for name in table.columns if not pd.api.types.is_numeric_dtype(table[name])]
    constant = [name for name in table.columns if table[name].nunique(dropna=False) < 2]
    ids = [name for name in text if table[name].nunique() == len(table) > 2]
    for name in text:
        _tell_of_numbers(name, table[name].dropna())
    for names, why in ((constant, "has one value only"), ([n for n in ids if n not in constant], "names the rows")):
        for name in names:
            tell(f"Column {show(name)} {why}: left out.")
    left = table.drop(columns=list({*constant, *ids}))
    if left.shape[1] == 0:
        raise CommandError("no column is left to learn from")
    kept = [name for name in text if name in left.columns]
    return left.astype(dict.fromkeys(kept, object)), kept


def _tell_of_numbers(name: str, values: Any) -> None:
    """A word on text of which most is numbers: likely something else was meant."""
    import pandas as pd

    numbers = pd.to_numeric(values.astype(str).str.replace(",", "."), errors="coerce").notna()
    if 0.5 < numbers.mean() < 1.0:
        odd = values[~numbers].iloc[0]
        tell(f"Column {show(name)} is text, for {show(odd)} is no number; {numbers.mean():.0%} of its values are.")
