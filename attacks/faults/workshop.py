"""A folder with tables and a model, and commands that run there as processes of their own."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[2]
HANG = 600.0  # seconds after which a command that was to end is a finding
DRAFTS = (".smallearn-", "smallearn-")


class Workshop:
    """Tables, a model, and an environment in which all that commands leave behind is seen.

    Parameters
    ----------
    folder : Path
        An empty folder.
    """

    def __init__(self, folder: Path):
        self.folder, self.inputs = folder, folder / "inputs"
        self.inputs.mkdir()
        table = customers(400)
        table.to_csv(self.inputs / "data.csv", index=False)
        customers(60_000).to_csv(self.inputs / "many.csv", index=False)
        customers(40_000).to_parquet(self.inputs / "large.parquet")
        funds = customers(60)[["age", "income", "answer"]].rename(columns={"answer": "target"})
        (self.inputs / "sets").mkdir()
        funds.to_csv(self.inputs / "sets" / "chscase_funds.csv", index=False)
        self.model = self.inputs / "model.json"
        arguments = ["fit", "data.csv", "--target", "answer", "--max-terms", "2", "--folds", "2", "-o", str(self.model)]
        self.must(self.inputs, *arguments, "--prototypes", "1")

    def place(self, name: str) -> Path:
        """An empty folder with links to the inputs and a folder for temporary files."""
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        for folder in (place, place / "work", place / "tmp", place / "cache"):
            folder.mkdir()
        return place

    def environment(self, place: Path, **changes: str | None) -> dict[str, str]:
        """The environment of a command; None removes a variable."""
        base = os.environ | {
            "PYTHONPATH": str(ROOT / "src"),
            "TMPDIR": str(place / "tmp"),
            "SMALLEARN_CACHE": str(place / "cache"),
            "NO_COLOR": "1",
        }
        return {name: value for name, value in {**base, **changes}.items() if value is not None}

    def start(self, place: Path, *arguments: str, **options) -> subprocess.Popen:
        """A command in a session of its own, so that what it leaves running can be found."""
        changes, prefix = options.pop("environment", {}), options.pop("prefix", [])
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **options}
        return subprocess.Popen(
            [*prefix, sys.executable, "-m", "smallearn", *arguments],
            cwd=place / "work" if (place / "work").is_dir() else place,
            env=self.environment(place, **changes),
            start_new_session=True,
            **options,
        )

    def run(self, place: Path, *arguments: str, **options) -> tuple[int | None, str, str]:
        """The exit code (None if it did not end), standard output and standard error of a command."""
        process = self.start(place, *arguments, **options)
        try:
            out, err = process.communicate(timeout=HANG)
        except subprocess.TimeoutExpired:
            end_session(process.pid)
            return None, "", "it did not end"
        decoded = [(text or b"").decode(errors="replace") for text in (out, err)]
        return process.returncode, decoded[0], decoded[1]

    def must(self, place: Path, *arguments: str, **options) -> str:
        """The output of a command that has to succeed."""
        code, out, err = self.run(place, *arguments, **options)
        if code != 0:
            raise RuntimeError(f"smallearn {' '.join(arguments)} ended with {code}: {err[-2000:]}")
        return out


def customers(n_rows: int) -> pd.DataFrame:
    """A table with gaps and text."""
    rng = np.random.default_rng(0)
    age, income = rng.integers(18, 90, n_rows), rng.normal(50.0, 15.0, n_rows).round(1)
    colour = rng.choice(["red", "green", "blue"], n_rows)
    answer = (age > 50) ^ (colour == "red") ^ (rng.random(n_rows) < 0.1)
    size = np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(5.0, 2.0, n_rows).round(2))
    table = pd.DataFrame({"age": age, "income": income, "size": size, "colour": colour})
    return table.assign(answer=np.where(answer, "yes", "no"))


def files_below(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content, and empty folders with none."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
        elif path.is_dir() and not any(path.iterdir()):
            found[path.relative_to(folder).as_posix() + "/"] = b""
    return found


def alive_in_session(session: int) -> list[str]:
    """The command lines of the processes of a session."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
            line = (status.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(f"{status.parent.name}: {line.strip()}")
    return found


def wait_until_gone(session: int, seconds: float = 20.0) -> list[str]:
    """What of a session still runs after so many seconds."""
    end = time.monotonic() + seconds
    while (left := alive_in_session(session)) and time.monotonic() < end:
        time.sleep(0.1)
    return left


def end_session(session: int) -> None:
    """Kill what is left of a session that this program started."""
    for line in alive_in_session(session):
        try:
            os.kill(int(line.partition(":")[0]), signal.SIGKILL)
        except OSError:
            continue
