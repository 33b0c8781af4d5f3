"""What a fresh process does: light imports, the compiler's cache, and a notice where it must compile."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FIT = """
import numpy as np
from smallearn import SMaLLClassifier
X = np.arange(20.0)[:, None]
print(SMaLLClassifier(1, 1, {options}).fit(X, (X[:, 0] > 9).astype(int)).score(X, (X[:, 0] > 9).astype(int)))
"""


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.strip()


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, smallearn; print([m for m in ('numba', 'sklearn', 'scipy', 'numpy') if m in sys.modules])"
    assert run(code) == ("[]", "")


def test_a_model_needs_numpy_alone():
    code = """
import sys
from smallearn import SMaLLModel, load_model
print([name for name in ("numba", "sklearn", "scipy") if name in sys.modules])
"""
    assert run(code) == ("[]", "")


def test_every_public_name_is_found_and_no_other():
    code = """
import smallearn
print(sorted(smallearn.__all__) == sorted(n for n in dir(smallearn) if n in smallearn.__all__))
print([getattr(smallearn, name).__name__ for name in ("SMaLLClassifier", "SMaLLModel", "load_model")])
try:
    smallearn.nothing
except AttributeError as problem:
    print(problem)
"""
    out, _ = run(code)
    assert out.splitlines() == [
        "True",
        "['SMaLLClassifier', 'SMaLLModel', 'load_model']",
        "module 'smallearn' has no attribute 'nothing'",
    ]


def test_compiling_is_announced_once_and_a_filled_cache_is_silent(tmp_path):
    out, notice = run(FIT.format(options=""), NUMBA_CACHE_DIR=str(tmp_path))
    assert out == "1.0"
    assert notice == "smallearn: compiling kernels on first use, some seconds (kept for later runs)."
    assert run(FIT.format(options=""), NUMBA_CACHE_DIR=str(tmp_path)) == ("1.0", "")


@pytest.mark.parametrize("options", ["", "solver='mirror-prox', tol=1e-2"])
def test_fitting_works_where_no_cache_can_be_written(tmp_path, options):
    """The package's folder and the home folder are files: numba finds no place for its cache."""
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    source = Path(__import__("smallearn").__file__).parent
    copy = tmp_path / "site" / "smallearn"
    copy.mkdir(parents=True)
    for path in source.rglob("*.py"):
        target = copy / path.relative_to(source)
        target.parent.mkdir(exist_ok=True)
        target.write_text(path.read_text())
    for folder in (copy, copy / "solvers"):
        (folder / "__pycache__").write_text("")
    environment = {
        "PYTHONPATH": str(copy.parent),
        "NUMBA_CACHE_DIR": "",
        "HOME": str(blocked),
        "XDG_CACHE_HOME": str(blocked),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    out, notice = run(FIT.format(options=options), **environment)
    assert out == "1.0"
    assert notice == (
        "smallearn: compiling kernels on first use, some seconds "
        "(not kept: set NUMBA_CACHE_DIR to a folder it may write)."
    )
