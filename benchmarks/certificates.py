"""Branch and bound on the breast cancer data: time, number of relaxations, remaining gap."""

import time
from math import comb

from sklearn.datasets import load_breast_cancer

from benchmarks.timing import verdict
from smallearn import SMaLLClassifier

LIMIT = 60.0


def main() -> None:
    """λ = 0.01. Branch and bound keeps the final assignment of the fit."""
    X, y = load_breast_cancer(return_X_y=True)
    SMaLLClassifier(1, 2, certify=True).fit(X, y)  # compile
    print("\nProof of the best support on breast cancer, 30 features, λ = 0.01")
    print(f"  {'':<12} {'seconds':>8} {'relaxations':>12} {'of supports':>12} {'gap':>9}")
    for p, k, seconds in ((1, 3, 2.0), (1, 5, 60.0), (2, 3, LIMIT + 5.0)):
        start = time.perf_counter()
        model = SMaLLClassifier(p, k, certify=True, time_limit=LIMIT, reassign=p == 1, random_state=0).fit(X, y)
        spent = time.perf_counter() - start
        share = model.n_relaxations_ / comb(30, k) ** p
        print(
            f"  p = {p}, k = {k} {spent:>8.2f} {model.n_relaxations_:>12} {share:>12.3%} {model.optimality_gap_:>9.1e}"
        )
        if p == 1:
            verdict(
                f"proven in under {seconds:.0f} s with fewer relaxations than 5% of the supports",
                model.optimality_gap_ <= model.tol and spent < seconds and share < 0.05,
            )
