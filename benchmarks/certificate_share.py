"""How much time certificates add to a selection, and what the rule of ``certificate="auto"`` makes of it."""

import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification

from smallearn import SMaLLClassifierCV
from smallearn._learn.choose import certificate
from smallearn._learn.solve import descent

BRIEF: dict[str, Any] = {"cv": 2, "n_prototypes": 1, "alphas": (0.001,)}


def cases() -> Iterator[tuple[str, np.ndarray, np.ndarray, dict[str, Any]]]:
    """Data and parameters of a selection: default ones, and brief ones with one or several prototypes."""
    data = {
        "iris": load_iris(return_X_y=True),
        "wine": load_wine(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
        "digits": load_digits(return_X_y=True),
    }
    for n, features, classes in ((1000, 20, 2), (1000, 200, 2), (4000, 20, 3), (1000, 50, 6)):
        data[f"{n} × {features}, {classes} classes"] = make_classification(
            n, features, n_informative=8, n_redundant=0, n_classes=classes, n_clusters_per_class=1, random_state=0
        )
    for name, (X, y) in data.items():
        yield f"{name}, brief", X, y, {"max_terms": 10, **BRIEF}
        yield f"{name}, brief, raw", X, y, {"max_terms": 10, "literals": "raw", **BRIEF}
        if name != "digits":
            yield f"{name}, brief, 3 prototypes", X, y, {"max_terms": 10, **BRIEF, "n_prototypes": 3}
            yield f"{name}, 4 terms", X, y, {"max_terms": 4}
            yield f"{name}, 10 terms", X, y, {"max_terms": 10, "cv": 5}


def main() -> None:
    """Print the share of the certificate by the clock, by the rule's count, and what the rule decides."""
    print("\nCertificates: CPU time as a share of the rest of the fit")
    print(f"  {'':<42} {'fit, s':>8} {'measured':>9} {'counted':>9}")
    for name, X, y, parameters in cases():
        clf = SMaLLClassifierCV(**parameters, certificate=True, random_state=0, verbose=-1)
        clf.fit(X, y)  # compiles
        spent: list[float] = []
        counted: list[int] = []
        start = time.process_time()
        with (
            patch.object(descent, "bounded", _timed(descent.bounded, spent)),
            patch.object(certificate, "work_of_certificate", _noted(certificate.work_of_certificate, counted)),
            patch.object(certificate, "work_of_search", _noted(certificate.work_of_search, counted)),
        ):
            clf.fit(X, y)
        total = time.process_time() - start
        search, own = counted
        decision = "computed" if own <= certificate.SHARE * search else "left out"
        measured = spent[0] / (total - spent[0])
        print(f"  {name:<42} {total:>8.2f} {measured:>9.1%} {own / search:>9.1%} {decision}", flush=True)


def _timed(function: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    def run(*arguments: Any) -> Any:
        start = time.process_time()
        result = function(*arguments)
        spent.append(time.process_time() - start)
        return result

    return run


def _noted(function: Callable[..., int], values: list[int]) -> Callable[..., int]:
    def run(*arguments: Any) -> int:
        values.append(function(*arguments))
        return values[-1]

    return run


if __name__ == "__main__":
    main()
