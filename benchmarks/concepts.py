"""``make bench-concepts``: are known concepts learned exactly, given nothing but the budget?

The concepts are the final positions of tic-tac-toe, hidden DNFs over Boolean inputs with and without noise and, given a
folder with riskslim_mushroom.csv.gz, mushrooms.
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
    """Return the test accuracy, the number of terms of each prototype, and the seconds."""
    start = time.perf_counter()
    with threadpool_limits(1):
        classifier = SMaLLClassifierCV(max_terms, random_state=seed, verbose=-1).fit(X, y)
    terms = [len(prototype.terms) for prototype in classifier.model_.prototypes]
    return float(np.mean(classifier.predict(X_test) == y_test)), terms, time.perf_counter() - start


def split(X, y, max_terms: int, seed: int) -> tuple[float, list[int], float]:
    """Train on 70% of the rows, test on the others."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    return learn(X, y, X_test, y_test, max_terms, seed)


def dnf(p: int, k: int, n: int, seed: int, noise: float) -> tuple[float, float]:
    """Learn a hidden DNF of p clauses of k literals over n inputs.

    Returns the test accuracy and that of the formula itself, which noise keeps below 1.
    """
    data = datasets.random_dnf(p, k, n, 2 * ROWS, noise=noise, random_state=seed)
    X, y = data.data, data.target
    accuracy, _, _ = learn(X[:ROWS], y[:ROWS], X[ROWS:], y[ROWS:], p * k, seed)
    return accuracy, float(np.mean(data.clean_target[ROWS:] == y[ROWS:]))


def main() -> None:
    """Run all concepts and print how many were learned."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.concepts", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with riskslim_mushroom.csv.gz")
    parser.add_argument(
        "--seeds", type=int, default=10, help="number of splits, and of formulas of each kind (default: 10)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="number of processes, each on one thread (default: 1)")
    arguments = parser.parse_args()
    seeds = range(arguments.seeds)
    run = Parallel(n_jobs=arguments.jobs)

    board = datasets.tic_tac_toe()
    results = run(delayed(split)(board.data, board.target, 24, seed) for seed in seeds)
    exact = [accuracy == 1.0 and terms == [3] * 8 for accuracy, terms, _ in results]
    print(f"Tic-tac-toe, 24 terms: {sum(exact)} of {len(exact)} splits learned exactly, a prototype per winning line")
    verdict("on every split, test accuracy 100% and eight prototypes of three terms", all(exact))

    for noise in (0.0, NOISE):
        kinds = [(p, k, n) for p, k, n in itertools.product((1, 2, 3, 4), (1, 2, 3), (20, 50)) if p * k > 1]
        jobs = [(p, k, n, seed) for p, k, n in kinds for seed in seeds]
        results = run(delayed(dnf)(p, k, n, seed, noise) for p, k, n, seed in jobs)
        tolerance = 0.01 if noise else 0.0
        missed = [
            (job, accuracy, best)
            for job, (accuracy, best) in zip(jobs, results, strict=True)
            if accuracy < best - tolerance
        ]
        target = "within a percentage point of the true formula" if noise else "at 100%"
        print(f"Hidden DNFs, {noise:.0%} noise: {len(jobs) - len(missed)} of {len(jobs)} {target}")
        for (p, k, n, seed), accuracy, best in missed:
            print(f"    {p} clauses of {k} literals, {n} inputs, seed {seed}: {accuracy:.2%}; true formula {best:.2%}")
        verdict("all formulas", not missed)

    if arguments.data is not None:
        table = pd.read_csv(arguments.data / "riskslim_mushroom.csv.gz")
        y = table.pop("target").to_numpy()
        results = run(delayed(split)(table.to_numpy(dtype=float), y, 10, seed) for seed in seeds)
        print(f"Mushrooms, 10 terms: test accuracy {', '.join(f'{accuracy:.3%}' for accuracy, _, _ in results)}")
        verdict("100% on every split", all(accuracy == 1.0 for accuracy, _, _ in results))


if __name__ == "__main__":
    main()
