"""``make bench-concepts``: are true concepts learned exactly, given the budget and nothing else?

Tic-tac-toe's end positions, hidden DNFs over Boolean inputs with and without noise and, where a folder with
riskslim_mushroom.csv.gz is given, mushrooms.
"""

import argparse
import itertools
import time
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.timing import verdict
from smallearn import SMaLLClassifierCV, datasets

ROWS, NOISE = 2000, 0.1


def learn(X, y, X_test, y_test, max_terms: int, seed: int) -> tuple[float, list[int], float]:
    """Test accuracy, terms of each prototype, seconds."""
    begin = time.perf_counter()
    with threadpool_limits(1):
        found = SMaLLClassifierCV(max_terms, random_state=seed, verbose=-1).fit(X, y)
    terms = [len(prototype.terms) for prototype in found.model_.prototypes]
    return float(np.mean(found.predict(X_test) == y_test)), terms, time.perf_counter() - begin


def split(X, y, max_terms: int, seed: int) -> tuple[float, list[int], float]:
    """Learn on 70% of the rows, test on the others."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    return learn(X, y, X_test, y_test, max_terms, seed)


def dnf(p: int, k: int, n: int, seed: int, noise: float) -> tuple[float, float]:
    """A hidden p-term k-DNF over n inputs: as many rows to learn from as to test on, both with noise. Test accuracy,
    and that of the formula itself, which no classifier can be expected to beat."""
    data = datasets.random_dnf(p, k, n, 2 * ROWS, noise=noise, random_state=seed)
    X, y = data.data, data.target
    accuracy, _, _ = learn(X[:ROWS], y[:ROWS], X[ROWS:], y[ROWS:], p * k, seed)
    return accuracy, float(np.mean(data.clean_target[ROWS:] == y[ROWS:]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.concepts", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with riskslim_mushroom.csv.gz")
    parser.add_argument("--seeds", type=int, default=10, help="splits, and formulas of each kind (10)")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each on one thread (1)")
    given = parser.parse_args()
    seeds = range(given.seeds)
    run = Parallel(n_jobs=given.jobs)

    board = datasets.tic_tac_toe()
    found = run(delayed(split)(board.data, board.target, 24, seed) for seed in seeds)
    exact = [accuracy == 1.0 and terms == [3] * 8 for accuracy, terms, _ in found]
    print(f"Tic-tac-toe, 24 terms: {sum(exact)} of {len(exact)} splits exact, one prototype for each winning line")
    verdict("100% test accuracy, eight prototypes of three terms", all(exact))

    for noise in (0.0, NOISE):
        cells = [(p, k, n) for p, k, n in itertools.product((1, 2, 3, 4), (1, 2, 3), (20, 50)) if p * k > 1]
        jobs = [(p, k, n, seed) for p, k, n in cells for seed in seeds]
        found = run(delayed(dnf)(p, k, n, seed, noise) for p, k, n, seed in jobs)
        room = 0.01 if noise else 0.0
        missed = [
            (job, accuracy, best) for job, (accuracy, best) in zip(jobs, found, strict=True) if accuracy < best - room
        ]
        words = "within a point of the formula itself" if noise else "at 100%"
        print(f"Hidden DNFs, {noise:.0%} noise: {len(jobs) - len(missed)} of {len(jobs)} {words}")
        for (p, k, n, seed), accuracy, best in missed:
            print(f"    {p} terms of {k} literals, {n} inputs, seed {seed}: {accuracy:.2%}, the formula {best:.2%}")
        verdict("all of them", not missed)

    if given.data is not None:
        table = pd.read_csv(given.data / "riskslim_mushroom.csv.gz")
        y = table.pop("target").to_numpy()
        found = run(delayed(split)(table.to_numpy(dtype=float), y, 10, seed) for seed in seeds)
        print(f"Mushrooms, 10 terms: test accuracy {', '.join(f'{accuracy:.3%}' for accuracy, _, _ in found)}")
        verdict("100% on every split", all(accuracy == 1.0 for accuracy, _, _ in found))


if __name__ == "__main__":
    main()
