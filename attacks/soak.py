"""Parallel and long use: one model from many threads, fits in many processes, and flat memory after thousands of calls.

Every answer is that of a single call alone. Memory is that of the process after a hundredth of the calls, and must not
have grown by more than a few MB at the end.
"""

import argparse
import gc
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from attacks.findings import Finding, Findings, complaint

THREADS, PROCESSES = 16, 8
GROWTH = 16 * 2**20  # bytes that memory may grow by: what allocators keep


def add(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--fits", type=int, default=10_000, help="in one process (default 10,000)")
    parser.add_argument("--predictions", type=int, default=1_000_000, help="calls in one process (default 1,000,000)")
    parser.add_argument("--rounds", type=int, default=5, help="of each kind of parallel use (default 5)")


def run(arguments: argparse.Namespace) -> int:
    """Use it for long; 1 if something was found."""
    findings = Findings("Parallel and long use")
    if arguments.rounds:
        for name, use in PARALLEL.items():
            attempt(findings, name, partial(use, arguments.rounds))
    if arguments.fits:
        attempt(findings, "fits in one process", partial(flat_fits, arguments.fits))
    if arguments.predictions:
        attempt(findings, "predictions in one process", partial(flat_predictions, arguments.predictions))
    return findings.report()


def attempt(findings: Findings, name: str, use: Callable[[], tuple[int, str]]) -> None:
    """Count the calls of one kind of use and note what it says; what it raises is a finding."""
    print(f"  {name} …", file=sys.stderr, flush=True)
    try:
        calls, note = use()
    except Exception as error:
        findings.add([Finding(complaint(error, name), "python -m attacks soak", f"{error}"[:500])])
        return
    findings.count(name, calls)
    if note:
        findings.notes.append(f"{name}: {note}")


# --- what is computed ------------------------------------------------------------------------------------------------


def rows(seed: int = 0, m: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 5))
    return X, (X[:, 0] - 0.5 * X[:, 1] + 0.3 * rng.normal(size=m) > 0.0).astype(int)


def fitted(seed: int) -> str:
    """A small model, as JSON."""
    from smallearn import SMaLLClassifier

    return SMaLLClassifier(2, 2, random_state=seed, verbose=-1).fit(*rows(seed)).model_.to_json()


def chosen(n_jobs: int | None) -> str:
    """A model that is chosen by cross-validation in processes of its own, as JSON."""
    from smallearn import SMaLLClassifierCV

    parameters = {
        "n_prototypes": 1,
        "alphas": [0.01],
        "literals": "raw",
        "cv": 2,
        "n_init": 1,
        "frontier_models": False,
    }
    return SMaLLClassifierCV(2, **parameters, n_jobs=n_jobs, random_state=0, verbose=-1).fit(*rows()).model_.to_json()


# --- parallel use ----------------------------------------------------------------------------------------------------


def one_model_in_threads(rounds: int) -> tuple[int, str]:
    """Predictions, prints and explanations of one model from many threads at once."""
    from smallearn import SMaLLModel
    from smallearn.explain import case

    text, (X, _) = fitted(0), rows(1, 500)
    model = SMaLLModel.from_json(text)
    right = (model.predict(X).tolist(), model.predict_proba(X).tolist(), str(model), str(case(model, X[0])))
    shared = SMaLLModel.from_json(text)  # nothing of it is computed yet
    barrier = threading.Barrier(THREADS)

    def use(_: int) -> bool:
        barrier.wait()
        found = (shared.predict(X).tolist(), shared.predict_proba(X).tolist(), str(shared), str(case(shared, X[0])))
        return found == right and shared.to_json() == text

    for _ in range(rounds):
        with ThreadPoolExecutor(THREADS) as pool:
            if not all(pool.map(use, range(THREADS))):
                raise AssertionError("a thread got another answer")
    return rounds * THREADS * 5, ""


def fits_in_threads(rounds: int) -> tuple[int, str]:
    """Fits in many threads at once."""
    return _same_everywhere(ThreadPoolExecutor(THREADS), rounds)


def fits_in_processes(method: str, rounds: int) -> tuple[int, str]:
    """Fits in many processes, started by fork or spawn."""
    return _same_everywhere(ProcessPoolExecutor(PROCESSES, multiprocessing.get_context(method)), rounds)


def _same_everywhere(pool, rounds: int) -> tuple[int, str]:
    seeds = list(range(PROCESSES))
    right = [fitted(seed) for seed in seeds]  # compiled, too: processes that are forked have it
    with pool:
        for _ in range(rounds):
            if list(pool.map(fitted, seeds)) != right:
                raise AssertionError("a fit in parallel gives another model")
    return rounds * len(seeds), ""


def fits_in_joblib(backend: str, rounds: int) -> tuple[int, str]:
    """Fits by joblib."""
    from joblib import Parallel, delayed

    seeds = list(range(PROCESSES))
    right = [fitted(seed) for seed in seeds]
    for _ in range(rounds):
        if Parallel(PROCESSES, backend=backend)(delayed(fitted)(seed) for seed in seeds) != right:
            raise AssertionError("a fit in parallel gives another model")
    return rounds * len(seeds), ""


def nested(rounds: int) -> tuple[int, str]:
    """A search that uses processes, in threads of joblib's: the same model, and not more threads at work than cores."""
    from joblib import Parallel, delayed

    right = chosen(1)
    most = 0
    for _ in range(rounds):
        with ThreadCount() as count:
            found = Parallel(2, backend="loky")(delayed(chosen)(2) for _ in range(2))
        most = max(most, count.most)
        if found != [right] * 2:
            raise AssertionError("a nested fit gives another model")
    cores = os.cpu_count() or 1
    if most > 2 * cores + 4:
        raise AssertionError(f"{most} threads run at once on {cores} cores")
    return rounds * 2, f"at most {most} threads ran at once on {cores} cores"


class ThreadCount:
    """Counts the threads that run at once in this process and those below it, ten times a second."""

    def __enter__(self) -> "ThreadCount":
        self.most, self._ended = 0, threading.Event()
        self._thread = threading.Thread(target=self._count, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _count(self) -> None:
        while not self._ended.wait(0.1):
            self.most = max(self.most, running_threads(os.getpid()))


def running_threads(root: int) -> int:
    """The threads that are running or ready to, of a process and all below it."""
    parents, states = {}, {}
    for stat in Path("/proc").glob("[0-9]*/task/[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        process = int(stat.parts[2])
        parents[process] = int(fields[1])
        states.setdefault(process, []).append(fields[0])
    return sum(states[process].count("R") for process in states if _is_below(process, root, parents))


def _is_below(process: int, root: int, parents: dict[int, int]) -> bool:
    while process in parents and process != root:
        process = parents[process]
    return process == root


# --- long use --------------------------------------------------------------------------------------------------------


def memory() -> int:
    """Bytes of memory that this process has now."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def flat(count: int, call: Callable[[int], None], what: str) -> tuple[int, str]:
    """Call so often; memory must be flat after the first hundredth."""
    start = max(1, count // 100)
    for i in range(start):
        call(i)
    before = memory()
    for i in range(start, count):
        call(i)
    after = memory()
    if after - before > GROWTH:
        raise AssertionError(f"memory grows by {(after - before) / 2**20:.1f} MB over {count} {what}")
    return count, f"{before / 2**20:.0f} MB after {start:,}, {after / 2**20:.0f} MB after {count:,}"


def flat_fits(count: int) -> tuple[int, str]:
    """Fits of small problems of several kinds."""
    from scipy import sparse

    from smallearn import SMaLLClassifier

    X, y = rows()
    kinds = [
        (X, {"n_prototypes": 2}),
        (X, {"literals": "both"}),
        (sparse.csr_array(X), {}),
        (X, {"solver": "mirror-prox", "max_iter": 200, "tol": None}),
    ]

    def fit(i: int) -> None:
        data, parameters = kinds[i % len(kinds)]
        SMaLLClassifier(n_nonzero=2, random_state=i, verbose=-1, **parameters).fit(data, y)

    return flat(count, fit, "fits")


def flat_predictions(count: int) -> tuple[int, str]:
    """Predictions of a row, and now and then of many, with prints and files."""
    from smallearn import SMaLLModel

    model, (X, _) = SMaLLModel.from_json(fitted(0)), rows(1, 300)

    def predict(i: int) -> None:
        model.predict_one(X[i % 300])
        if i % 100 == 0:
            model.predict_proba(X)
            str(SMaLLModel.from_json(model.to_json()))

    return flat(count, predict, "predictions")


PARALLEL: dict[str, Callable[[int], tuple[int, str]]] = {
    "one model in 16 threads": one_model_in_threads,
    "fits in 16 threads": fits_in_threads,
    "fits in 8 processes (fork)": partial(fits_in_processes, "fork"),
    "fits in 8 processes (spawn)": partial(fits_in_processes, "spawn"),
    "fits by joblib (loky)": partial(fits_in_joblib, "loky"),
    "fits by joblib (threading)": partial(fits_in_joblib, "threading"),
    "searches in processes, in processes": nested,
}
