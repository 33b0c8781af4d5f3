"""smallearn, which standardises the data and chooses its parameters itself, on one thread."""

import time
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from benchmarks.quality.additive import Constant
from benchmarks.quality.chip import CHIP, NUMBERS, flash_of_model
from benchmarks.quality.search import Fitted, Found, Method, dense
from benchmarks.quality.trees import Tree
from smallearn import SMaLLClassifierCV, SMaLLModel
from smallearn._errors import ParameterError
from smallearn._learn.choose.device import DeviceRows, Limits, choose_for_device
from smallearn._learn.choose.final import Choice
from smallearn.export import quantise


class SMaLL(Method):
    """`SMaLLClassifierCV` with a shared budget, which counts rows of the card, or a total one, which counts weights."""

    on_chip = True

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


class AtTreesBytes(Method):
    """The most accurate model within the bytes of the tree of at most T splits, as `SMaLLClassifierCV` chooses it with
    `device` and `max_flash`, but with inputs of 16 bits. The answers are those of the chip, in whole numbers.

    One race serves all T. If no model fits, the most frequent class is predicted, which takes no bytes.
    """

    on_chip = True
    by_bytes = True
    MOST = 20  # terms

    def fits(self, X, y, terms: Sequence[int], seed: int) -> Iterator[Found]:
        compiled(min(int(y.max()), 2), "shared")
        limits = {found.terms: found.model.flash() for found in Tree().fits(X, y, terms, seed)}
        start = time.process_time()
        search = SMaLLClassifierCV(self.MOST, budget="shared", device=CHIP, random_state=seed, n_jobs=1, verbose=-1)
        data = search._validated_data(X, y, None)
        task, results, _ = search._race(data, min_terms=1, n_models=len(terms))
        rows = DeviceRows(X=data.X, y=data.y, weight=data.weight)
        raced = time.process_time() - start
        for T in terms:
            start = time.process_time()
            try:
                choice = choose_for_device(
                    task,
                    results,
                    Limits(device=CHIP, max_flash=limits[T]),
                    rows,
                    one_standard_error=False,
                    n_init=search.n_init,
                    numbers=NUMBERS,
                )
            except ParameterError:  # no model fits
                yield from Constant().fits(X, y, [T], seed)
                continue
            seconds = raced + time.process_time() - start
            yield Found(T, on_chip(choice), results.mean(choice.candidate), seconds)


def on_chip(choice: Choice) -> Fitted:
    """The model that was chosen for a chip, with the answers of its whole numbers."""
    model = choice.fitted.model
    whole = quantise(model, choice.number)
    return Fitted(
        lambda X: np.array(model.classes)[whole.predict_rows(X)],
        model.predict_proba,
        rows_of_card(model),
        len(model.terms),
        lambda: choice.cost.flash,
    )


def rows_of_card(model: SMaLLModel) -> int:
    """The number of distinct terms, whichever prototypes use them."""
    return len({(term.feature, term.kind, term.value) for term in model.terms})


@cache
def compiled(greatest: int, budget: str) -> None:
    """Fit a small set, so that compiled code is loaded before anything is timed."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(greatest + 1), 20)
    SMaLLClassifierCV(2, budget=budget, random_state=0, verbose=-1).fit(rng.normal(size=(len(y), 3)) + y[:, None], y)
