"""Eight models with rows for reports: made by hand, so that no test has to train them."""

from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
import pandas as pd

from smallearn.model import Prototype, Range, Selection, SMaLLModel, Step, Term, Training


@dataclass(frozen=True)
class Given:
    """A model with rows and their classes."""

    model: SMaLLModel
    X: pd.DataFrame
    y: np.ndarray


def _trained(model: SMaLLModel, X: pd.DataFrame, y: np.ndarray, target: str) -> SMaLLModel:
    """The model with ranges, and as one that was trained on these rows."""
    weighed = {term.feature: term.label for term in model.terms if term.kind in ("raw", "at_most", "above")}
    ranges = tuple(
        Range(feature, float(X[name].min()), float(X[name].max())) for feature, name in sorted(weighed.items())
    )
    return replace(model, ranges=ranges).trained_on(X, y, target=target, source="train.csv")


def _with_sizes(models: list[SMaLLModel], chosen: int, X: pd.DataFrame, y: np.ndarray) -> SMaLLModel:
    """One of the models, with the others as its other sizes, and a selection."""
    scores = [float((model.predict(X) == y).mean()) for model in models]
    steps = tuple(
        Step(model.n_terms, len(model.prototypes), score, 0.01) for model, score in zip(models, scores, strict=True)
    )
    best = scores[chosen]
    selection = Selection("accuracy", (best - 0.01, best, best + 0.01), models[-1].n_terms, steps)
    return replace(models[chosen], selection=selection, frontier_models=tuple(models))


def _linear(names: list[str], weights: np.ndarray, used: list[int], intercept: float, classes: tuple) -> SMaLLModel:
    terms = tuple(Term(i, float(weights[i]), names[i]) for i in used)
    return SMaLLModel(classes, "<U40", len(names), (Prototype(1, intercept, terms),))


def two_classes() -> Given:
    """Numbers and whole numbers, with three sizes and two alternatives."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 400).astype(float),
            "income": np.round(rng.lognormal(7.0, 0.6, 400), 2),
            "visits": rng.poisson(3.0, 400).astype(float),
        }
    )
    z = 0.06 * (X["age"] - 50) + 0.8 * (X["income"] > 1100) + 0.3 * (X["visits"] - 3) + rng.logistic(size=400)
    y = np.where(z > 0, "stays", "leaves")
    age, income = Term(0, 0.0612345, "age"), Term(1, 0.83127, "income", "above", 1100.004)
    visits, many = Term(2, 0.29876, "visits"), Term(2, 0.7123, "visits", "at_most", 2.5)

    def made(intercept: float, *terms: Term) -> SMaLLModel:
        return _trained(SMaLLModel(("leaves", "stays"), "<U6", 3, (Prototype(1, intercept, terms),)), X, y, "next year")

    sizes = [made(-3.06, age), made(-3.4712, age, income), made(-4.3, age, income, visits)]
    others = (made(-3.9, age, visits), made(-3.1, age, replace(many, weight=-0.7123)))
    return Given(replace(_with_sizes(sizes, 1, X, y), alternatives=others), X, y)


def ten_classes() -> Given:
    """Ten classes that share terms, in two sizes."""
    rng = np.random.default_rng(1)
    names = [f"pixel_{i}" for i in range(6)]
    centres = rng.normal(size=(10, 6)) * 2
    code = np.repeat(np.arange(10), 30)
    X = pd.DataFrame(np.round(centres[code] + rng.normal(size=(300, 6)), 2), columns=names)

    def made(n: int) -> SMaLLModel:
        prototypes = tuple(
            Prototype(
                k,
                -float((centres[k, :n] ** 2).sum()) / 2,
                tuple(Term(i, float(centres[k, i]), names[i]) for i in range(n)),
            )
            for k in range(10)
        )
        return _trained(SMaLLModel(tuple(range(10)), "<i8", 6, prototypes), X, code, "digit")

    def shared(model: SMaLLModel) -> SMaLLModel:
        return replace(model, training=Training("0.1.0", len(X), 0.01, 6, 0.5, None, budget="shared"))

    return Given(_with_sizes([shared(made(4)), shared(made(6))], 1, X, code), X, code)


def many_terms() -> Given:
    """Twenty-four terms, in twenty-four sizes."""
    rng = np.random.default_rng(2)
    names = [f"feature_{i}" for i in range(24)]
    X = pd.DataFrame(rng.normal(size=(300, 24)).round(3), columns=names)
    weights = np.sort(rng.normal(size=24))[::-1]
    order = np.argsort(-np.abs(weights))
    y = np.where(X.to_numpy() @ weights + rng.logistic(size=300) > 0.2, "approve", "decline")
    models = [
        _trained(_linear(names, -weights, sorted(order[:n].tolist()), 0.2, ("approve", "decline")), X, y, "decision")
        for n in range(1, 25)
    ]
    return Given(_with_sizes(models, 23, X, y), X, y)


def long_names() -> Given:
    """Names of features, classes and the target that are longer than a phone is wide."""
    given = two_classes()
    names = [f"average_measurement_of_{name}_over_all_cells_in_the_image" for name in given.X.columns]
    classes = ("malignant_according_to_the_biopsy", "benign_according_to_the_biopsy")

    def renamed(model: SMaLLModel) -> SMaLLModel:
        alone = replace(model, frontier_models=(), alternatives=())
        return replace(alone.with_feature_names(names), classes=classes, class_dtype="<U40")

    model = replace(renamed(given.model), frontier_models=tuple(map(renamed, given.model.frontier_models)))
    X = given.X.set_axis(names, axis=1)
    y = np.where(given.y == "leaves", *classes)
    facts = replace(model.data, target="diagnosis_of_the_pathologist_in_the_first_hospital")
    return Given(replace(model, data=facts), X, y)


def categories() -> Given:
    """Text, truth values and gaps."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue", "a rather long name of a colour"], 300).astype(object),
            "member": rng.random(300) < 0.4,
            "amount": np.round(rng.gamma(2.0, 20.0, 300), 1),
        }
    )
    X.loc[rng.random(300) < 0.1, "colour"] = None
    X.loc[rng.random(300) < 0.1, "amount"] = np.nan
    z = (
        1.4 * (X["colour"] == "red")
        + 1.1 * X["member"]
        - 0.02 * X["amount"].fillna(60.0)
        + rng.logistic(size=300) * 0.5
    )
    y = np.where(z > 0, "buys", "passes")
    terms = (
        Term(0, -1.41, "colour", "equals", "red"),
        Term(0, 0.31, "colour", "missing"),
        Term(1, -1.12, "member", "equals", True),
        Term(2, 0.0213, "amount", mean=60.5),
    )
    model = SMaLLModel(("buys", "passes"), "<U6", 3, (Prototype(1, 0.12, terms),))
    return Given(replace(_trained(model, X, y, "outcome"), decision_threshold=0.4321), X, y)


def tic_tac_toe() -> Given:
    """Eight prototypes, one for each line of the board, which are exactly the rule."""
    lines = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
    names = [f"{row}_{column}" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right")]
    boards = [one for one in product("xo", repeat=9) if sum(cell == "x" for cell in one) in (4, 5)]
    X = pd.DataFrame(boards, columns=names).astype(object)
    y = np.array(["wins" if any(all(one[i] == "x" for i in line) for line in lines) else "not" for one in boards])
    prototypes = tuple(Prototype(1, -2.5, tuple(Term(i, 1.0, names[i], "equals", "x") for i in line)) for line in lines)
    model = SMaLLModel(("not", "wins"), "<U4", 9, prototypes, scale=4.0)
    return Given(_trained(model, X, y, "x"), X, y)


def imbalanced() -> Given:
    """One row in twenty is of the second class."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"amount": rng.lognormal(3.0, 1.0, 600).round(2), "hour": rng.integers(0, 24, 600)})
    z = 1.2 * np.log(X["amount"]) - 0.05 * X["hour"] - 7.0 + rng.logistic(size=600)
    y = np.where(z > 0, 1, 0)
    terms = (Term(0, 0.0213456789, "amount"), Term(1, -0.041234, "hour"), Term(0, 0.5, "amount", "above", 60.0))
    return Given(_trained(SMaLLModel((0, 1), "<i8", 2, (Prototype(1, -3.4, terms),)), X, y, "fraud"), X, y)


def score_card() -> Given:
    """Whole points for conditions."""
    given = two_classes()
    terms = (
        Term(0, 2.0, "age", "above", 45.0),
        Term(0, 1.0, "age", "above", 60.0),
        Term(1, 1.0, "income", "above", 1100.0),
        Term(2, -1.0, "visits", "at_most", 2.0),
    )
    model = SMaLLModel(("leaves", "stays"), "<U6", 3, (Prototype(1, -2.0, terms),), scale=0.9)
    return Given(_trained(model, given.X, given.y, "next year"), given.X, given.y)


GIVEN = {
    one.__name__.replace("_", " "): one
    for one in (two_classes, ten_classes, many_terms, long_names, categories, tic_tac_toe, imbalanced, score_card)
}


@cache
def given(name: str) -> Given:
    """One of the eight, made once."""
    return GIVEN[name]()
