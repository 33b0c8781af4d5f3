"""smallearn, which standardises the data and chooses its parameters itself, on one thread."""

import time
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from benchmarks.quality.chip import flash_of_model
from benchmarks.quality.search import Fitted, Found, Method, dense
from smallearn import SMaLLClassifierCV, SMaLLModel


class SMaLL(Method):
    """`SMaLLClassifierCV` with a shared budget, which counts rows of the card, or a total one, which counts weights."""

    on_chip = True
    smaller = (2, 4)

    def __init__(self, budget: str):
        self.budget = budget
        self.count = "rows" if budget == "shared" else "weights"

    def fits(self, X, y, terms: Sequence[int], seed: int) -> Iterator[Found]:
        compiled(min(int(y.max()), 2), self.budget)
        for T in terms:
            start = time.process_time()
            search = SMaLLClassifierCV(T, budget=self.budget, random_state=seed, n_jobs=1, verbose=-1).fit(X, y)
            seconds = time.process_time() - start
            model = search.model_
            fitted = Fitted(
                search.predict,
                search.predict_proba,
                rows_of_card(model),
                sum(len(prototype.terms) for prototype in model.prototypes),
                lambda model=model: flash_of_model(model, dense(X[:2])),
            )
            yield Found(T, fitted, search.best_score_, seconds)


def rows_of_card(model: SMaLLModel) -> int:
    """The number of distinct terms, whichever prototypes use them."""
    return len({(term.feature, term.kind, term.value) for term in model.terms})


@cache
def compiled(greatest: int, budget: str) -> None:
    """Fit a small set, so that compiled code is loaded before anything is timed."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(greatest + 1), 20)
    SMaLLClassifierCV(2, budget=budget, random_state=0, verbose=-1).fit(rng.normal(size=(len(y), 3)) + y[:, None], y)
