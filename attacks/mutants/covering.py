"""Which tests run a line, and how long they take: the tests are run once under coverage for this."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "tests/model",
    "tests/export",
    "tests/learn/solve",
    "tests/test_invariances.py",
    "tests/test_certificates.py",
)
FOLDERS = (*FOLDERS, "tests/test_score_cards.py", "tests/test_estimator.py", "tests/test_estimator_budgets.py")
LEFT_OUT = "not browser and not slow"


@dataclass
class Covering:
    """The tests that ran each line, and the seconds that each test took."""

    lines: dict[str, dict[int, set[str]]]
    seconds: dict[str, float]

    def tests_of(self, path: str, first: int, last: int, seconds: float) -> list[str]:
        """Tests that run any of these lines, the quickest first, that take at most so long together.

        Of a line that runs only when the file is imported, the tests of its folder.
        """
        files = self.lines.get(path, {})
        known = set().union(*(files.get(line, set()) for line in range(first, last + 1)))
        if not known:
            mirrored = f"tests/{path.removeprefix('smallearn/').replace('_', '', 1)}".rpartition("/")[0]
            known = {name for tests in files.values() for name in tests}
            known = {name for name in known if name.startswith(mirrored)} or known
        chosen, spent = [], 0.0
        for name in _spread(sorted(known, key=lambda name: (self.seconds.get(name, 1e9), name))):
            took = self.seconds.get(name)
            if took is not None and spent + took <= seconds:
                chosen.append(name)
                spent += took
        return chosen


def _spread(names: list[str]) -> list[str]:
    """The same tests, with the first of every test function before the second of any."""
    turns: dict[str, int] = {}
    order = []
    for position, name in enumerate(names):
        function = name.partition("[")[0]
        turns[function] = turns.get(function, -1) + 1
        order.append((turns[function] > 3, position, name))
    return [name for _, _, name in sorted(order)]


def covering(folder: Path, jobs: int) -> Covering:
    """From the folder if the sources and tests are as they were there, else from a run of the tests."""
    folder.mkdir(parents=True, exist_ok=True)
    stamp = _stamp()
    kept = folder / "stamp"
    if not kept.exists() or kept.read_text() != stamp:
        _run_tests(folder, jobs)
        kept.write_text(stamp)
    return Covering(_lines(folder / "coverage"), json.loads((folder / "durations.json").read_text()))


def _stamp() -> str:
    """A hash of all sources and tests."""
    digest = hashlib.sha256()
    for path in sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _run_tests(folder: Path, jobs: int) -> None:
    environment = os.environ | {
        "COVERAGE_FILE": str(folder / "coverage"),
        "SMALLEARN_DURATIONS": str(folder / "durations.json"),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(jobs), "-m", LEFT_OUT, "-p", "attacks.mutants.plugin"]
    command += [
        "--cov=smallearn",
        "--cov-context=test",
        "--cov-report=",
        "--cov-fail-under=0",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run([*command, *FOLDERS], cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"The tests fail before anything is changed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def _lines(data: Path) -> dict[str, dict[int, set[str]]]:
    """By file below ``src`` and by line, the tests that ran it."""
    from coverage.numbits import numbits_to_nums

    base = sqlite3.connect(data)
    tests = {key: name.partition("|")[0] for key, name in base.execute("SELECT id, context FROM context") if name}
    paths = {key: Path(name) for key, name in base.execute("SELECT id, path FROM file")}
    found: dict[str, dict[int, set[str]]] = {}
    arcs = base.execute("SELECT file_id, context_id, tono FROM arc").fetchall()
    bits = base.execute("SELECT file_id, context_id, numbits FROM line_bits").fetchall()
    each = [(file, context, [line]) for file, context, line in arcs]
    each += [(file, context, numbits_to_nums(numbits)) for file, context, numbits in bits]
    for file, context, lines in each:
        path = paths[file]
        if context not in tests or not path.is_relative_to(ROOT / "src"):
            continue
        ran = found.setdefault(path.relative_to(ROOT / "src").as_posix(), {})
        for line in lines:
            ran.setdefault(abs(line), set()).add(tests[context])
    return found
