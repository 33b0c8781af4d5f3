"""Models that are hard to draw: long names, many classes or terms, whole numbers, Booleans, points, other scripts."""

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from smallearn.model import Prototype, Range, Selection, SMaLLModel, Step, Term

N = 300
LONG = "number_of_days_since_the_last_payment_was_received_by_the_bank"


class Case(NamedTuple):
    """A model, rows to draw, and their classes."""

    model: SMaLLModel
    X: pd.DataFrame
    y: np.ndarray


def _case(classes, prototypes, X, y, *, target="outcome", metric="accuracy", **options):
    dtype = np.asarray(classes).dtype.str
    model = SMaLLModel(tuple(classes), dtype, X.shape[1], tuple(prototypes), **options)
    steps = tuple(Step(n, 1, 1.0 - 0.5 / n, 0.01) for n in range(1, model.n_terms + 1))
    selection = Selection(metric, (steps[-1].score,) * 5, model.n_terms, steps)
    ranges = tuple(
        Range(term.feature, float(X.iloc[:, term.feature].min()), float(X.iloc[:, term.feature].max()))
        for term in model.features
        if X.dtypes.iloc[term.feature].kind in "if"
    )
    model = replace(model.trained_on(X, y, target=target), selection=selection, ranges=ranges)
    return Case(model, X, np.asarray(y))


def _of_centres(X, y, n_terms, **options):
    """A prototype for each class, whose terms are the features that tell the class apart from the others the most."""
    spread = X.std().to_numpy() + 1e-9
    prototypes = []
    for number, label in enumerate(np.unique(y)):
        apart = (X[y == label].mean().to_numpy() - X.mean().to_numpy()) / spread
        best = np.argsort(-np.abs(apart), kind="stable")[:n_terms]
        terms = [Term(int(at), float(apart[at] / spread[at]), X.columns[at]) for at in best]
        constant = -sum(term.weight * X.iloc[:, term.feature].mean() for term in terms)
        prototypes.append(Prototype(number, constant, tuple(terms)))
    return _case(np.unique(y).tolist(), prototypes, X, y, **options)


def _long_names():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N, 3)), columns=[LONG, f"{LONG}_2", "Share of Income Spent on Rent (in %)" * 3])
    X.iloc[0, 1] = 400.0
    names = ("the customer stays with the bank " * 3, "the customer leaves the bank " * 3)
    terms = [Term(at, weight, name) for at, (weight, name) in enumerate(zip((1.5, -0.4, 1e-7), X.columns, strict=True))]
    y = np.where(X.iloc[:, 0] - 0.3 * X.iloc[:, 1] > rng.normal(size=N), *names[::-1])
    metric = "the harmonic mean of precision and recall, weighted by value"
    return _case(names, [Prototype(1, -0.25, tuple(terms))], X, y, target=LONG, metric=metric)


def _six_classes():
    rng = np.random.default_rng(1)
    y = rng.choice(["oak woodland", "pine", "spruce and fir", "birch", "krummholz", "cottonwood / willow"], N)
    centre = {label: rng.normal(size=4) * 2.0 for label in np.unique(y)}
    X = pd.DataFrame(np.array([centre[label] for label in y]) + rng.normal(size=(N, 4)))
    X.columns = ["elevation (m)", "slope", "horizontal distance to water", "shade at noon"]
    return _of_centres(X, y, 3, target="cover_type")


def _ten_classes():
    X, y = load_digits(return_X_y=True, as_frame=True)
    return _of_centres(X[::4].reset_index(drop=True), y[::4].to_numpy(), 4, target="digit")


def _ten_long_classes():
    case = _ten_classes()
    names = tuple(f"{word} things of the {n}th kind, as described" for n, word in enumerate("abcdefghij"))
    model = replace(case.model, classes=names, class_dtype=np.asarray(names).dtype.str)
    return Case(model, case.X, np.asarray(names)[case.y])


def _many_terms():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({f"measurement of the cell nucleus {n}": rng.normal(size=N) * (n + 1) for n in range(24)})
    terms = [Term(n, (-1) ** n / (n + 1), name) for n, name in enumerate(X.columns)]
    score = X.to_numpy() @ [term.weight for term in terms]
    y = np.where(score > rng.normal(size=N), "malignant", "benign")
    return _case(("benign", "malignant"), [Prototype(1, 0.1, tuple(terms))], X, y, target="diagnosis")


def _whole_numbers():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"children": rng.integers(0, 4, N), "rooms": rng.integers(1, 8, N)})
    y = (X["children"] + rng.normal(size=N) > 0.5 * X["rooms"]).to_numpy()
    terms = (Term(0, 1.0, "children"), Term(1, -0.5, "rooms"))
    return _case((False, True), [Prototype(1, 0.2, terms)], X, y, target="crowded")


def _booleans():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.random((N, 3)) < 0.4, columns=["has a phone", "is married", "owns the house"])
    y = np.where(X.iloc[:, 0] ^ (rng.random(N) < 0.2), "yes", "no")
    terms = (Term(0, 2.0, X.columns[0], "equals", True), Term(1, -1.0, X.columns[1]), Term(2, 0.5, X.columns[2]))
    return _case(("no", "yes"), [Prototype(1, -0.6, terms)], X, y)


def _card():
    rng = np.random.default_rng(5)
    jobs = ["management", "self-employed and freelance", "retired"]
    X = pd.DataFrame(
        {
            "age in years": rng.integers(18, 90, N),
            "job": rng.choice(jobs, N),
            "balance of the current account": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N) * 1e4),
        }
    )
    terms = (
        Term(0, 3.0, "age in years", "above", 61.5),
        Term(0, -2.0, "age in years", "at_most", 24.5),
        *(Term(1, weight, "job", "equals", job) for weight, job in zip((2.0, -1.0, 5.0), jobs, strict=True)),
        Term(2, 4.0, "balance of the current account", "above", 1234.567),
        Term(2, -3.0, "balance of the current account", "missing"),
    )
    y = np.where((X["age in years"] > 60) | (X["job"] == "retired"), "buys", "does not")
    return _case(("buys", "does not"), [Prototype(0, -4.0, terms)], X, y, scale=0.4)


def _japanese():
    rng = np.random.default_rng(6)
    X = pd.DataFrame({"収縮期血圧の平均値": rng.normal(size=N), "最後の診察からの日数": rng.normal(size=N)})
    y = np.where(X.sum(axis=1) > rng.normal(size=N), "再入院あり", "再入院なし")
    terms = tuple(Term(at, 1.0, name) for at, name in enumerate(X.columns))
    return _case(("再入院なし", "再入院あり"), [Prototype(1, 0.1, terms)], X, y, target="三十日以内の再入院")


def _no_font():
    """Names of signs that no font has, which are escaped and so longer than they seem."""
    rng = np.random.default_rng(7)
    first, second, no, yes = ("".join(chr(0xF0000 + 40 * n + k) for k in range(24)) for n in range(4))
    X = pd.DataFrame({first: rng.normal(size=N), second: rng.normal(size=N)})
    y = np.where(X.sum(axis=1) > rng.normal(size=N), yes, no)
    return _case((no, yes), [Prototype(1, 0.1, (Term(0, 1.0, first), Term(1, 1.0, second)))], X, y, target=first)


CASES = {
    "long names": _long_names,
    "six classes": _six_classes,
    "ten classes": _ten_classes,
    "ten classes with long names": _ten_long_classes,
    "24 terms": _many_terms,
    "whole numbers": _whole_numbers,
    "Booleans": _booleans,
    "score card": _card,
    "Japanese": _japanese,
    "signs without a font": _no_font,
}


@cache
def case(name):
    """The case of this name, made once."""
    return CASES[name]()
