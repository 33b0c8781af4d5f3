"""What a fresh process pays: the import, and the first fit with and without the compiler's cache."""

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
    """The seconds that ``code`` prints in a fresh process, and what it writes to stderr."""
    environment = dict(os.environ) if cache is None else {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout), done.stderr.strip()


def main() -> None:
    """First fits beyond imports, and imports side by side."""
    print("\nA fresh process: breast cancer, p = 2, k = 3")
    with tempfile.TemporaryDirectory() as cache:
        cold, notice = run(FIRST_FIT, cache)
        warm = statistics.median(run(FIRST_FIT, cache)[0] for _ in range(5))
        quiet = run(FIRST_FIT, cache)[1] == ""
    print(f"  first fit, nothing compiled yet {cold:>8.2f} s   and says: {notice}")
    print(f"  first fit, kernels in the cache {warm:>8.2f} s   and says nothing: {quiet}")
    seconds: dict[str, list[float]] = {"numpy": [], "smallearn": []}
    for _ in range(15):
        for name, values in seconds.items():
            values.append(run(IMPORT.format(name))[0])
    numpy, smallearn = (statistics.median(values) for values in seconds.values())
    print(f"  import numpy {1e3 * numpy:.0f} ms, import smallearn {1e3 * smallearn:.1f} ms: {smallearn / numpy:.2f}×")
    verdict(f"first fit with the cache under 1 s beyond imports ({warm:.2f} s)", warm < 1.0)
    verdict(
        f"first fit without it under 8 s, with one line of notice ({cold:.1f} s)",
        cold < 8.0 and notice.count("\n") == 0,
    )
    verdict(f"import under twice that of numpy ({smallearn / numpy:.2f}×)", smallearn < 2.0 * numpy)
