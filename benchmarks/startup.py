"""Start-up time: the import, and the first fit of a process with and without the compiler's cache."""

import os
import statistics
import subprocess
import sys
import tempfile

from benchmarks.timing import verdict

FIRST_FIT = """
import time
from sklearn.datasets import load_breast_cancer
import numba, sklearn.linear_model
from smallearn import SMaLLClassifier
X, y = load_breast_cancer(return_X_y=True)
begin = time.perf_counter()
SMaLLClassifier(n_prototypes=2, n_nonzero=3, random_state=0).fit(X, y)
print(time.perf_counter() - begin)
"""
IMPORT = "import time; begin = time.perf_counter(); import {}; print(time.perf_counter() - begin)"


def run(code: str, cache: str | None = None) -> tuple[float, str]:
    """Run code in a new process; return the seconds it prints and its standard error."""
    environment = dict(os.environ) if cache is None else {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout), done.stderr.strip()


def main() -> None:
    """Time the first fit, without imports, and the import beside that of NumPy."""
    print("\nStart-up: breast cancer, p = 2, k = 3")
    with tempfile.TemporaryDirectory() as cache:
        cold, notice = run(FIRST_FIT, cache)
        warm = statistics.median(run(FIRST_FIT, cache)[0] for _ in range(5))
        quiet = run(FIRST_FIT, cache)[1] == ""
    print(f"  first fit, nothing compiled     {cold:>8.2f} s   stderr: {notice}")
    print(f"  first fit, kernels in the cache {warm:>8.2f} s   stderr: {'empty' if quiet else 'not empty'}")
    seconds: dict[str, list[float]] = {"numpy": [], "smallearn": []}
    for _ in range(15):
        for name, values in seconds.items():
            values.append(run(IMPORT.format(name))[0])
    numpy, smallearn = (statistics.median(values) for values in seconds.values())
    print(f"  import numpy {1e3 * numpy:.0f} ms, import smallearn {1e3 * smallearn:.1f} ms: {smallearn / numpy:.2f}×")
    verdict(f"first fit with the cache in under 1 s without imports ({warm:.2f} s)", warm < 1.0)
    verdict(
        f"first fit without it in under 10 s, with a notice of one line ({cold:.1f} s)",
        cold < 10.0 and notice.count("\n") == 0,
    )
    verdict(f"import in under twice the time of numpy ({smallearn / numpy:.2f}×)", smallearn < 2.0 * numpy)
