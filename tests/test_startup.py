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
# Two of the kernels that a fit compiles, with its notice.
KERNELS = """
import numpy as np
from smallearn._learn.compiling import notice_of_compiling
from smallearn._learn.search_kernels import cholesky, cholesky_solve
factor, solution = np.eye(1), np.ones(1)
with notice_of_compiling():
    cholesky(factor, 1e-14)
    cholesky_solve(factor, solution)
print(float(solution[0]))
"""
CODE = [
    pytest.param(KERNELS, id="two kernels"),
    pytest.param(FIT.format(options=""), id="accelerated", marks=pytest.mark.slow),
    pytest.param(FIT.format(options="solver='mirror-prox', tol=1e-2"), id="mirror-prox", marks=pytest.mark.slow),
]


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


@pytest.mark.parametrize("code", CODE)
def test_compiling_is_announced_once_and_a_filled_cache_is_silent(tmp_path, code):
    out, notice = run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert out == "1.0"
    assert notice == "smallearn: One-time setup, about 10 s."
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)) == ("1.0", "")


@pytest.mark.parametrize("code", CODE)
def test_fitting_works_where_no_cache_can_be_written(tmp_path, code):
    """Where numba would keep its cache, in the package and in the home folder, there are files."""
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    source = Path(__import__("smallearn").__file__).parent
    copy = tmp_path / "site" / "smallearn"
    for path in source.rglob("*.py"):
        target = copy / path.relative_to(source)
        if not target.parent.exists():
            target.parent.mkdir(parents=True)
            (target.parent / "__pycache__").write_text("")
        target.write_text(path.read_text())
    environment = {
        "PYTHONPATH": str(copy.parent),
        "NUMBA_CACHE_DIR": "",
        "HOME": str(blocked),
        "XDG_CACHE_HOME": str(blocked),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    out, notice = run(code, **environment)
    assert out == "1.0"
    assert notice == (
        "smallearn: Setup, about 10 s in each process. To do it only once, set NUMBA_CACHE_DIR to a writable folder."
    )
