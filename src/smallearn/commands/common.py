"""What several commands do alike."""

import csv
import io
import secrets
import sys
from pathlib import Path
from typing import Any

from smallearn.model import SMaLLModel, load_model
from smallearn.words import show

PROBLEM, INTERRUPTED = 1, 130
LOOKED_AT = 100_000  # signs of a file, to see how its columns are parted


class CommandError(Exception):
    """What a user did, or a file holds, that a command can do nothing with: one sentence."""


def read_model(path: Path) -> SMaLLModel:
    """The model in a file."""
    try:
        return load_model(path)
    except FileNotFoundError:
        raise CommandError(f"there is no file {show(str(path))}") from None
    except (OSError, ValueError) as problem:
        raise CommandError(str(problem)) from None


def write_file(content: str | bytes, path: Path) -> None:
    """Write a file whole or not at all."""
    if not path.parent.is_dir():
        raise CommandError(f"there is no folder {show(str(path.parent))} to write {show(path.name)} in")
    draft = path.with_name(f".smallearn-{secrets.token_hex(8)}.tmp")
    try:
        draft.write_bytes(content if isinstance(content, bytes) else content.encode())
        draft.replace(path)
    except OSError as problem:
        draft.unlink(missing_ok=True)
        raise CommandError(f"{show(str(path))} cannot be written: {problem.strerror}") from None


def tell(text: str) -> None:
    """To the user, not into a pipe."""
    print(text, file=sys.stderr, flush=True)


def read_table(path: Path) -> Any:
    """A pandas table from CSV (any usual separator), TSV or Parquet, by the file's ending."""
    try:
        import pandas as pd
    except ImportError:
        raise CommandError("tables need pandas, which is not installed: pip install 'smallearn[cli]'") from None
    if not path.is_file():
        raise CommandError(f"there is no file {show(str(path))}")
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            table = pd.read_parquet(path)
        else:
            read = {"sep": _separator(path), "encoding": "utf-8-sig", "skipinitialspace": True, "na_values": ["?"]}
            table = pd.read_csv(path, **read)
            if read["sep"] != "," and _has_decimal_commas(table):
                table = pd.read_csv(path, decimal=",", **read)
    except ImportError:
        raise CommandError("Parquet needs pyarrow, which is not installed: pip install 'smallearn[cli]'") from None
    except UnicodeError:
        raise CommandError(f"{show(str(path))} is not UTF-8 text: save it as UTF-8") from None
    except (ValueError, OSError) as problem:
        raise CommandError(
            f"{show(str(path))} cannot be read: {show(str(problem).strip(), quote=False, most=200)}"
        ) from None
    table.columns = [str(name) for name in table.columns]
    if table.empty:
        raise CommandError(f"{show(str(path))} has no rows")
    return table


def _separator(path: Path) -> str:
    """The sign that parts the columns: a tab in TSV, else the one by which the first lines have as many columns each,
    and most of them."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        text = file.read(LOOKED_AT)
    found = {}
    for sign in ",;\t|":
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=sign))
        widths = {len(row) for row in (rows[:-1] if len(text) == LOOKED_AT else rows) if row}
        found[sign] = (len(widths) == 1 and widths != {1}, max(widths, default=0))
    return max(found, key=lambda sign: found[sign])


def _has_decimal_commas(table: Any) -> bool:
    """Whether a column holds nothing but numbers with a comma in them, as where columns are parted by semicolons."""
    text = [table[name].dropna().astype(str) for name in table.columns if table[name].dtype.kind not in "biuf"]
    return any(len(column) > 0 and column.str.fullmatch(r"[+-]?\d*,?\d+").all() for column in text)
