"""The first sentence of the page: how often the model is right, and on whom it is wrong.

`threshold.js` writes the same sentences for other thresholds; all numbers are shares of whole numbers, rounded by whole
numbers, so that both round alike.
"""

from collections.abc import Sequence

import numpy as np

from smallearn._text import count, show
from smallearn.model import SMaLLModel
from smallearn.model._sentences import smaller_sentence

BALANCED = 400  # thousandths of the rows: a rarer class than that comes first


def percent_of(part: int, whole: int) -> str:
    """A share in percent with one digit, halves rounded up; never 0% or 100% unless it is."""
    if whole == 0:
        return "–"
    tenths = (2000 * part + whole) // (2 * whole)
    if tenths == 0 and part > 0:
        return "<0.1%"
    if tenths == 1000 and part < whole:
        return ">99.9%"
    return f"{tenths // 10}.{tenths % 10}%"


def of_hundred(part: int, whole: int) -> str:
    """``41 of 100``; of few, how many they are: ``12 of 29``."""
    if whole < 100:
        return f"{part} of {whole}"
    rounded = (200 * part + whole) // (2 * whole)
    if rounded == 0 and part > 0:
        return "fewer than 1 of 100"
    if rounded == 100 and part < whole:
        return "more than 99 of 100"
    return f"{rounded} of 100"


def rows_of(model: SMaLLModel, label: int) -> str:
    """``rows with ill = yes``, or ``rows of class yes`` where the name of the target is not known."""
    name = show(model.classes[label], quote=False)
    target = None if model.data is None else model.data.target
    return f"rows of class {name}" if target is None else f"rows with {show(target, quote=False)} = {name}"


def verdict_of_two(hits: int, false: int, sizes: Sequence[int], positive: int, names: Sequence[str], rows: str) -> str:
    """For two classes: ``hits`` of the rows of the ``positive`` class are found, ``false`` others are taken for it."""
    members, others = sizes[positive], sizes[1 - positive]
    n_rows, flagged = members + others, hits + false
    common = positive if members > others else 1 - positive
    right = percent_of(hits + others - false, n_rows)
    guess = f"always guessing {names[common]} gets {percent_of(max(members, others), n_rows)}"
    found = f"inds {of_hundred(hits, members)} {rows}; " if members else "inds none, as there are none; "
    flags = f"{of_hundred(hits, flagged)} flagged are right" if flagged else "it flags none"
    if 1000 * members >= BALANCED * n_rows:
        return f"Right on {right} of the rows; {guess}. F{found}{flags}."
    return f"F{found}{flags}; {guess}. Right on {right} of all rows."


def verdict_of_more(confusion: np.ndarray, names: Sequence[str]) -> str:
    """For more classes: the accuracy, and the class that is found worst."""
    sizes, hits = confusion.sum(axis=1).tolist(), np.diag(confusion).tolist()
    n_rows = sum(sizes)
    common = int(np.argmax(sizes))
    there = [k for k, size in enumerate(sizes) if size]
    worst = min(there, key=lambda k: (hits[k] / sizes[k], k))
    worst_found = f"Worst on {names[worst]}: finds {of_hundred(hits[worst], sizes[worst])}."
    guess = f"always guessing {names[common]} gets {percent_of(sizes[common], n_rows)}"
    return f"Right on {percent_of(sum(hits), n_rows)} of the rows; {guess}. {worst_found}"


def verdict_without_rows(model: SMaLLModel) -> str:
    """What is known of the model alone."""
    chosen = model.selection
    if chosen is None:
        return "How often it is right is not known here: this page was made without labelled rows."
    sentence = f"Cross-validated {chosen.metric} {chosen.text}".replace("-", "\N{MINUS SIGN}")
    sentence = sentence.replace("Cross\N{MINUS SIGN}validated", "Cross-validated")
    if model.data is None:
        return f"{sentence}."
    sizes = model.data.class_counts
    common = int(np.argmax(sizes))
    guess = f"always guessing {show(model.classes[common], quote=False)} gets {percent_of(sizes[common], sum(sizes))}"
    return f"{sentence}; {guess}."


def smaller_will_do(model: SMaLLModel) -> str | None:
    """A smaller size whose cross-validated score is within a standard error of the model's own; None if none is."""
    known = smaller_sentence(model)
    chosen = model.selection
    if known is not None or chosen is None or model.frontier_models:
        return known
    own = next((step for step in chosen.frontier if step.n_terms == model.n_terms), None)
    score, spread = (chosen.score, chosen.spread) if own is None else (own.score, own.spread)
    smaller = [step for step in chosen.frontier if step.n_terms < model.n_terms and step.score >= score - spread]
    if not smaller:
        return None
    least = min(smaller, key=lambda step: step.n_terms)
    text = f"{count(least.n_terms, 'term')} would do as well: {chosen.told(least.score)} against {chosen.told(score)}"
    return f"{text}, a difference within the standard error of {chosen.told(spread)}."
