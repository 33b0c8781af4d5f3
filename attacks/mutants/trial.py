"""Whether the tests notice a mutant: they run in a copy of the sources, in a process forked from one that has imported
everything but smallearn, so that each mutant takes as long as its tests."""

import os
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path

from attacks.mutants.covering import ROOT
from attacks.mutants.sites import Mutant

KILLED, SURVIVED, SLOW, UNTESTED = "killed", "survived", "too slow", "no test runs it"
PATIENCE = 60.0  # seconds, besides five times what the tests usually take: a mutant may loop for ever
PRELOADED = (
    "numpy scipy.optimize scipy.sparse scipy.stats sklearn.datasets sklearn.linear_model sklearn.model_selection"
)
PRELOADED = (*PRELOADED.split(), "sklearn.pipeline", "numba", "joblib", "pandas", "polars", "pyarrow", "pytest")


class Copy:
    """A copy of the sources in which one file at a time is another.

    Parameters
    ----------
    folder : Path
        Where; it must not exist.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        shutil.copytree(ROOT / "src", folder)

    def write(self, mutant: Mutant) -> None:
        """Change the file."""
        path = self.folder / mutant.path
        for stale in (path.parent / "__pycache__").glob(f"{path.stem}.cpython*.pyc"):
            stale.unlink()
        path.write_text(mutant.applied((ROOT / "src" / mutant.path).read_text(encoding="utf-8")), encoding="utf-8")

    def restore(self, mutant: Mutant) -> None:
        """Undo the change."""
        shutil.copy2(ROOT / "src" / mutant.path, self.folder / mutant.path)


def preload() -> None:
    """Import what the tests import from elsewhere; processes that are forked have it."""
    import importlib

    for name in PRELOADED:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    loaded = [name for name in sys.modules if name.partition(".")[0] == "smallearn"]
    if loaded:
        raise RuntimeError(f"smallearn was imported before its mutants: {loaded[:3]}")


def judge(mutant: Mutant, tests: list[str], usual: float, copy: Copy, log: Path) -> str:
    """What becomes of a mutant."""
    if not tests:
        return UNTESTED
    copy.write(mutant)
    try:
        process = os.fork()
        if process == 0:
            _run_tests([*tests, str(copy.folder / mutant.path)], copy.folder, log)
        return _wait(process, 5.0 * usual + PATIENCE)
    finally:
        copy.restore(mutant)


def _wait(process: int, seconds: float) -> str:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return SURVIVED if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 else KILLED
        time.sleep(0.02)
    os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return SLOW


def _run_tests(tests: list[str], sources: Path, log: Path) -> None:
    """In a new process: run the tests on these sources and end with what pytest returns."""
    os.setpgid(0, 0)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(ROOT)
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["PYTHONPATH"] = os.pathsep.join([str(sources), str(ROOT)])
    sys.path[:] = [str(sources), str(ROOT), *(p for p in sys.path if p not in ("", str(ROOT), str(ROOT / "src")))]
    code = 3
    try:
        import pytest

        options = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "-o", "addopts=--strict-markers --doctest-modules"]
        code = int(pytest.main([*options, *tests]))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
