"""Damaged tables: every command ends with an exit code, and where it fails with a sentence; never with a traceback.

Tables in CSV, TSV, gzip, Parquet, Arrow and Excel: cut off, in other encodings, with columns of one name, cells of
mixed types, one row, no row, thousands of columns, or changed while they are read.
"""

import contextlib
import gzip
import io
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from attacks.findings import Findings, complaint
from attacks.pool import Attempt, Outcome, as_findings, attempt_all

ENDINGS = (".csv", ".csv", ".csv", ".tsv", ".csv.gz", ".parquet", ".arrow", ".xlsx")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "shift-jis", "utf-7", "cp037")
CELLS = (
    *(
        "",
        " ",
        "NA",
        "nan",
        "?",
        "-",
        "inf",
        "-inf",
        "1e400",
        "1e-400",
        "1,5",
        "1.5",
        "13.2%",
        "$3,371.00",
        "1 000",
        "1e5",
    ),
    *(
        "2020-01-01",
        "12:30",
        "yes",
        "no",
        "True",
        "0",
        "1",
        "-0",
        "0x10",
        "\x00",
        "\ufeff",
        '"',
        "'",
        "a,b",
        "a\nb",
        "=1+1",
    ),
    *("x" * 5000, "名", "\u202e", "٣", "1_000", "+5", "5.", ".5", "1e", "--", "NULL", "#N/A", "9" * 400, "1" * 30),
)
NAMES = (
    "",
    "a",
    "a",
    "answer",
    "age",
    " age",
    "AGE",
    "age\n",
    "0",
    "nan",
    "\x00",
    "x" * 300,
    "__proto__",
    "名",
    '"',
    "a;b",
    "prediction",
)
COMMANDS = ("predict", "predict", "evaluate", "explain", "explain row", "monitor", "fit", "report")


def attack(count: int, seed: int, first: int, jobs: int) -> Findings:
    """Attack with the damaged tables of these numbers."""
    findings = Findings(f"Damaged tables, seed {seed}, numbers {first} to {first + count - 1}")
    tally = attempt_all(prepare, seed, range(first, first + count), jobs, memory=3 * 2**30, seconds=120.0)
    findings.count("tables", tally.tried)
    for name in sorted(tally.reached):
        findings.count(name, tally.reached[name])
    findings.add(as_findings(tally, lambda i: f"python -m attacks fuzz --tables 1 --seed {seed} --first {i} --jobs 0"))
    if jobs:
        findings.notes.append(f"slowest {tally.slowest:.1f} s of processor time; peak {tally.peak / 2**20:.0f} MB")
    return findings


def good(n_rows: int = 60) -> pd.DataFrame:
    """A table that nothing is wrong with."""
    rng = np.random.default_rng(0)
    age, size = rng.integers(18, 90, n_rows), rng.normal(5.0, 2.0, n_rows).round(2)
    colour = rng.choice(["red", "green", "blue"], n_rows)
    answer = np.where((age > 50) ^ (colour == "red"), "yes", "no")
    return pd.DataFrame({"age": age, "size": size, "colour": colour, "answer": answer})


def prepare() -> Attempt:
    """The attempt, with a model to predict with."""
    import smallearn.cli

    folder = Path(tempfile.mkdtemp(prefix="smallearn-tables-"))
    good().to_csv(folder / "good.csv", index=False)
    quick = ["--max-terms", "2", "--prototypes", "1", "--folds", "2", "--quiet"]
    model = folder / "model.json"
    with contextlib.redirect_stdout(io.StringIO()):
        code = smallearn.cli.main(["fit", str(folder / "good.csv"), "--target", "answer", *quick, "-o", str(model)])
    assert code == 0
    text = model.read_text()
    (folder / "good.csv").unlink()
    model.unlink()
    folder.rmdir()
    return lambda dice, _: attempt(dice, text)


def attempt(dice: random.Random, model: str) -> Outcome:
    """One table and one command."""
    import smallearn.cli

    with tempfile.TemporaryDirectory(prefix="smallearn-tables-") as name:
        folder = Path(name)
        (folder / "model.json").write_text(model)
        path = folder / f"table{dice.choice(ENDINGS)}"
        path.write_bytes(content(dice, path))
        command = dice.choice(COMMANDS)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _changing(dice, path):
            try:
                code = smallearn.cli.main(arguments(command, path, folder))
            except SystemExit as end:
                code = end.code
            except Exception as error:
                return Outcome((command,), ((complaint(error, f"smallearn {command}"), f"{error}"[:500]),))
        left = sorted(file.name for file in folder.iterdir() if file.name.startswith("."))
    wrong = []
    if code not in (0, 1, 2, 3):
        wrong.append((f"smallearn {command}: exit code {code}", err.getvalue()[-500:]))
    if code in (1, 2) and not err.getvalue().strip():
        wrong.append((f"smallearn {command}: it fails without a word", ""))
    if "Traceback" in err.getvalue() + out.getvalue() or "Warning:" in err.getvalue():
        wrong.append((f"smallearn {command}: a traceback or a warning is printed", err.getvalue()[-800:]))
    if left:
        wrong.append((f"smallearn {command}: a draft stays", str(left)))
    return Outcome((f"{command}: {'done' if code in (0, 3) else 'refused'}",), tuple(wrong))


def arguments(command: str, path: Path, folder: Path) -> list[str]:
    """The command on a table."""
    model, table = str(folder / "model.json"), str(path)
    quick = ["--max-terms", "1", "--prototypes", "1", "--folds", "2", "--time-limit", "5", "--no-frontier"]
    return {
        "predict": ["predict", model, table, "-o", str(folder / "scored.csv"), "--quiet"],
        "evaluate": ["evaluate", model, table],
        "explain": ["explain", model, table],
        "explain row": ["explain", model, table, "--row", "3"],
        "monitor": ["monitor", model, table],
        "fit": ["fit", table, "--target", "answer", *quick, "-o", str(folder / "fitted.json"), "--quiet"],
        "report": ["report", model, table, "--no-compare", "-o", str(folder / "report.html"), "--quiet"],
    }[command]


# --- tables ----------------------------------------------------------------------------------------------------------


def content(dice: random.Random, path: Path) -> bytes:
    """The bytes of a damaged table."""
    table = spoiled(dice, good(dice.choice((0, 1, 2, 5, 60, 60, 60, 300))))
    data = stored(dice, table, path)
    way = dice.random()
    if way < 0.1:
        return data[: dice.randint(0, len(data))]
    if way < 0.17 and data:
        damaged = bytearray(data)
        for _ in range(dice.choice((1, 3, 30))):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        return bytes(damaged)
    if way < 0.19:
        return data + data[: dice.randint(0, len(data))]
    if way < 0.2:
        return dice.randbytes(dice.choice((0, 1, 100, 10_000)))
    return data


def spoiled(dice: random.Random, table: pd.DataFrame) -> pd.DataFrame:
    """Cells and names changed, columns repeated, gone or many more."""
    table = table.astype(object)
    for _ in range(dice.choice((0, 0, 1, 1, 2))):
        DAMAGES[dice.randrange(len(DAMAGES))](dice, table)
    names = list(table.columns)
    if names and dice.random() < 0.25:
        names[dice.randrange(len(names))] = dice.choice(NAMES)
    table.columns = pd.Index(names)
    if dice.random() < 0.01:
        many = pd.DataFrame(np.zeros((len(table), 10_000)), columns=[f"c{i}" for i in range(10_000)])
        table = pd.concat([table.reset_index(drop=True), many], axis=1)
    if dice.random() < 0.05:
        table = table.iloc[:, dice.sample(range(table.shape[1]), table.shape[1])]
    if dice.random() < 0.05:
        table = pd.concat([table, table.iloc[:, :1]], axis=1)
    return table


def _one_cell(dice: random.Random, table: pd.DataFrame) -> None:
    if len(table) and table.shape[1]:
        table.iat[dice.randrange(len(table)), dice.randrange(table.shape[1])] = dice.choice(CELLS)


def _many_cells(dice: random.Random, table: pd.DataFrame) -> None:
    if table.shape[1]:
        column = dice.randrange(table.shape[1])
        for row in range(len(table)):
            if dice.random() < 0.5:
                table.iat[row, column] = dice.choice(CELLS)


def _whole_column(dice: random.Random, table: pd.DataFrame) -> None:
    if table.shape[1]:
        table[table.columns[dice.randrange(table.shape[1])]] = dice.choice(CELLS)


def _column_gone(dice: random.Random, table: pd.DataFrame) -> None:
    if table.shape[1] > 1:
        del table[table.columns[dice.randrange(table.shape[1])]]


def _units(dice: random.Random, table: pd.DataFrame) -> None:
    form = dice.choice(("{}%", "${}", "{} kg", "€ {}", "{},0", "{}e3"))
    if table.shape[1]:
        name = table.columns[0]
        table[name] = [form.format(value) for value in table[name]]


DAMAGES: tuple[Callable[[random.Random, pd.DataFrame], None], ...]
DAMAGES = (_one_cell, _one_cell, _many_cells, _whole_column, _column_gone, _units)


def stored(dice: random.Random, table: pd.DataFrame, path: Path) -> bytes:
    """The table in the format of its ending, or now and then of another."""
    kind = path.name.partition(".")[2] if dice.random() < 0.95 else dice.choice(ENDINGS)[1:]
    if kind in ("parquet", "arrow", "xlsx"):
        file = io.BytesIO()
        unique = table.astype(str)
        unique.columns = pd.Index([f"{name}" if name else f"c{i}" for i, name in enumerate(table.columns)])
        unique = unique.loc[:, ~unique.columns.duplicated()]
        for name in unique.columns:
            if dice.random() < 0.7:
                numbers = pd.to_numeric(unique[name], errors="coerce")
                unique[name] = unique[name] if numbers.isna().all() else numbers
        try:
            write = {"parquet": unique.to_parquet, "arrow": unique.to_feather, "xlsx": unique.to_excel}[kind]
            write(file, index=False) if kind == "xlsx" else write(file)
            return file.getvalue()
        except Exception:  # it cannot be written; then as text
            pass
    separator = "\t" if kind == "tsv" else dice.choice((",", ",", ",", ";", "|", "\t", ":"))
    text = table.to_csv(index=False, sep=separator, quoting=dice.choice((0, 0, 1)), escapechar="\\")
    if dice.random() < 0.1:
        text = text.replace("\n", dice.choice(("\r", "\r\n", "\n\n", "\n,\n")))
    if dice.random() < 0.1:
        text = text.replace('"', "", 1)
    if dice.random() < 0.05:
        text = dice.choice(("sep=;\n", "# a comment\n", "\n\n\n", "title\n")) + text
    data = text.encode(dice.choice(ENCODINGS) if dice.random() < 0.3 else "utf-8", "replace")
    return gzip.compress(data) if kind.endswith("gz") else data


@contextlib.contextmanager
def _changing(dice: random.Random, path: Path) -> Iterator[None]:
    """Now and then another thread changes the file while the block runs."""
    way = dice.choice(("cut", "grown", "gone", "other")) if dice.random() < 0.1 else None
    delay = dice.uniform(0.0, 0.05)

    def change() -> None:
        time.sleep(delay)
        with contextlib.suppress(OSError):
            if way == "cut":
                os.truncate(path, path.stat().st_size // 2)
            elif way == "grown":
                with path.open("ab") as file:
                    file.write(b"\n1,2\n" * 100)
            elif way == "gone":
                path.unlink()
            else:
                path.write_bytes(b"a,b\n1,2\n")

    thread = threading.Thread(target=change)
    if way is not None:
        thread.start()
    try:
        yield
    finally:
        if way is not None:
            thread.join()
