"""A model as a DNF: equal to it wherever that is said, prime and without surplus, the true rule where there is one."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer

from smallearn import SMaLLClassifier, SMaLLClassifierCV, SMaLLModel, datasets
from smallearn.explain._dnf.covers import covers, minimum_cover, prime_cover
from smallearn.explain._dnf.cubes import Space, as_table, primes
from smallearn.explain._dnf.rule import DNF, Condition, dnf
from smallearn.model import Prototype, Term
from tests.helpers.models import CARD, THREE, YES, with_costs, with_decision

SQUARES = [f"{row}-{column}" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right")]
LINES = {(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)}


# --- random models ---------------------------------------------------------------------------------------------------


def owners_of(rng, n_classes, n_prototypes):
    if n_classes == 2:
        return [int(rng.integers(2))] * n_prototypes
    return [*range(n_classes), *rng.integers(n_classes, size=n_prototypes - 1).tolist()]


def boolean_model(rng, most_inputs, n_classes, whole):
    """Weights in whole numbers, or in tenths, which add up to nearly but not quite 0: ties of either kind."""
    n = int(rng.integers(1, most_inputs + 1))
    prototypes = []
    for owner in owners_of(rng, n_classes, int(rng.integers(1, 5))):
        features = rng.choice(n, int(rng.integers(0, n + 1)), replace=False).tolist()
        weights = rng.integers(-3, 4, len(features) + 1) if whole else rng.integers(-15, 16, len(features) + 1) / 10
        terms = tuple(Term(feature, float(weight)) for feature, weight in zip(features, weights, strict=False))
        prototypes.append(Prototype(owner, float(weights[-1]), terms))
    return SMaLLModel(tuple(range(n_classes)), "<i8", n, tuple(prototypes))


def all_rows(n):
    return np.array(list(itertools.product([0.0, 1.0], repeat=n)))


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_on_boolean_inputs_it_is_the_model(n_classes, whole):
    rng = np.random.default_rng([n_classes, whole])
    for trial in range(40):
        model = boolean_model(rng, 12 if trial < 8 else 7, n_classes, whole)
        X = all_rows(model.n_features)
        answer = model.predict(X)
        for label in model.classes:
            found = dnf(model, boolean=True, label=label)
            assert found.exact
            assert "truth table" in found.verified
            assert np.array_equal(found.predict(X), answer == label)


VALUES = {
    "number": [None, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0],
    "text": [None, "a", "b", "c", "something else"],
    "whole": [None, 0, 1, 2.0, True, 9],
    "mixed": [None, 0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0],
}


def literal(rng, kind, feature):
    weight = float(rng.integers(-3, 4))
    if rng.random() < 0.2:
        return Term(feature, weight, kind="missing")
    if kind == "number" or (kind == "mixed" and rng.random() < 0.5):
        return Term(feature, weight, None, str(rng.choice(["at_most", "above"])), float(rng.integers(0, 4)))
    categories = ["a", "b", "c"] if kind == "text" else [0, 1, 2, True]
    return Term(feature, weight, None, "equals", categories[int(rng.integers(len(categories)))])


def literal_model(rng, n_classes):
    """Several literals of one feature, which depend on each other, in any order; and the rows to try it on."""
    kinds = rng.choice(list(VALUES), int(rng.integers(1, 4))).tolist()
    prototypes = []
    for owner in owners_of(rng, n_classes, int(rng.integers(1, 4))):
        terms = [literal(rng, kind, i) for i, kind in enumerate(kinds) for _ in range(int(rng.integers(0, 4)))]
        order = rng.permutation(len(terms)).tolist()
        prototypes.append(Prototype(owner, float(rng.integers(-2, 3)), tuple(terms[i] for i in order)))
    rows = list(itertools.product(*(VALUES[kind] for kind in kinds)))
    X = np.empty((len(rows), len(kinds)), dtype=object)
    X[:] = rows
    return SMaLLModel(tuple("pqr"[:n_classes]), "<U1", len(kinds), tuple(prototypes)), X


@pytest.mark.parametrize("decided", [lambda model, _: model, with_decision, with_costs], ids=["plain", "cut", "costs"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_on_literals_it_is_the_model_missing_values_too(n_classes, decided):
    rng = np.random.default_rng(n_classes)
    for _ in range(60 if decided is not with_costs or n_classes > 2 else 0):
        model, X = literal_model(rng, n_classes)
        model = decided(model, rng)
        answer = model.predict(X)
        for label in model.classes:
            found = dnf(model, label=label)
            assert found.exact
            assert np.array_equal(found.predict(X), answer == label)


def test_on_given_rows_it_is_the_model_and_says_truly_whether_it_is_elsewhere():
    rng = np.random.default_rng(5)
    n_exact = n_shorter = n_complete = 0
    for _ in range(60):
        model, X = literal_model(rng, 2)
        some = X[rng.random(len(X)) < 0.4]
        if not len(some):
            continue
        answer = model.predict(X) == model.classes[model.prototypes[0].owner]
        found, full = dnf(model, some), dnf(model)
        agrees = found.predict(X) == answer
        assert found.fidelity == 1.0
        assert found.n_rows == len(some)
        assert len(found.clauses) <= len(full.clauses)
        complete = np.array([all(value is not None for value in row) for row in X])
        if found.exact:
            assert agrees.all()
        elif found.domain is not None:
            assert found.domain.endswith("without missing values")
            assert agrees[complete].all()
        assert dnf(model, some, simplify=False).clauses == full.clauses
        n_exact += found.exact
        n_complete += found.domain is not None and not found.exact
        n_shorter += not found.exact
    assert min(n_exact, n_complete, n_shorter) > 0


# --- prime, and without surplus --------------------------------------------------------------------------------------


def test_no_condition_and_no_clause_is_superfluous():
    rng = np.random.default_rng(3)
    for _ in range(60):
        model = boolean_model(rng, 8, 2, True)
        X = all_rows(model.n_features)
        found = dnf(model, boolean=True)
        check_irredundant(found, X)
    for _ in range(40):
        model, X = literal_model(rng, 2)
        check_irredundant(dnf(model), X)


def check_irredundant(found, X):
    truth = found.predict(X)
    for i, clause in enumerate(found.clauses):
        others = found.clauses[:i] + found.clauses[i + 1 :]
        assert not np.array_equal(replace(found, clauses=others).predict(X), truth)
        for condition in clause:
            shorter = tuple(other for other in clause if other != condition)
            assert (replace(found, clauses=(shorter,)).predict(X) & ~truth).any()


def primes_by_definition(space, truth):
    """Try every cube."""
    masks = itertools.product(*(range(1, 1 << size) for size in space.sizes))
    cubes = [cube for cube in map(space.pack, masks) if truth[space.points(cube)].all()]
    return sorted(cube for cube in cubes if not any(cube != other and cube | other == other for other in cubes))


def test_primes_and_covers_of_any_function():
    rng = np.random.default_rng(0)
    for sizes in [(2, 2, 2, 2), (3, 2, 2), (4, 3), (2, 3, 3), (1, 4, 2), (5,)] * 4:
        space = Space(sizes)
        truth = rng.random(space.volume) < rng.random()
        found = primes(space, as_table(truth))
        assert found == primes_by_definition(space, truth)
        points = [space.pack(1 << value for value in point) for point in itertools.product(*map(range, sizes))]
        ones = [point for point, true in zip(points, truth, strict=True) if true]
        cover = prime_cover(space, ones, lambda cube: -cube.bit_count())
        assert set(cover) <= set(found)
        assert np.array_equal(np.logical_or.reduce([space.points(cube) for cube in cover] + [~truth & False]), truth)
        for cube in points + found + [space.full]:
            assert covers(space, cover, cube) == bool(truth[space.points(cube)].all())


def test_a_cover_has_the_fewest_sets_and_of_those_the_cheapest():
    rng = np.random.default_rng(1)
    for _ in range(30):
        held = rng.random((7, 12)) < 0.35
        held[rng.integers(7, size=12), np.arange(12)] = True
        costs = rng.integers(1, 5, 7).tolist()
        every = (chosen for size in range(8) for chosen in itertools.combinations(range(7), size))
        best = min((len(c), sum(costs[i] for i in c)) for c in every if held[list(c)].any(axis=0).all())
        chosen = minimum_cover(held, costs)
        assert held[chosen].any(axis=0).all()
        assert (len(chosen), sum(costs[i] for i in chosen)) == best


def test_a_cover_too_large_to_prove_still_has_no_set_too_many(monkeypatch):
    monkeypatch.setattr("smallearn.explain._dnf.covers.MILP_ENTRIES", 0)
    rng = np.random.default_rng(1)
    for _ in range(30):
        held = rng.random((12, 30)) < 0.3
        held[rng.integers(12, size=30), np.arange(30)] = True
        chosen = minimum_cover(held, [1] * 12)
        assert held[chosen].any(axis=0).all()
        assert not any(held[[j for j in chosen if j != i]].any(axis=0).all() for i in chosen)


# --- large ones ------------------------------------------------------------------------------------------------------


def test_eight_prototypes_over_27_inputs_take_no_table():
    rng = np.random.default_rng(0)
    prototypes = tuple(
        Prototype(1, -2.5, tuple(Term(3 * j + i, float(rng.choice([1.0, -1.0]))) for i in range(3))) for j in range(8)
    )
    last = Prototype(1, 0.5, (Term(24, -1.0), Term(25, -1.0), Term(26, -1.0)))
    model = SMaLLModel((0, 1), "<i8", 27, (*prototypes, last))
    found = dnf(model, boolean=True)
    X = rng.integers(0, 2, (20000, 27)).astype(float)
    assert np.array_equal(found.predict(X), model.predict(X) == 1)
    assert (found.exact, found.verified) == (True, "clause by clause")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_large_models_agree_on_a_sample_for_every_class(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.integers(0, 2, (5000, 30)).astype(float)
    verified = set()
    for _ in range(2):
        prototypes = []
        for j in range(8 if n_classes == 2 else 6):
            features = np.sort(rng.choice(30, 4, replace=False)).tolist()
            terms = tuple(Term(feature, float(rng.integers(-20, 21)) / 10) for feature in features)
            prototypes.append(Prototype(1 if n_classes == 2 else j % 3, float(rng.integers(-3, 2)), terms))
        model = SMaLLModel(tuple(range(n_classes)), "<i8", 30, tuple(prototypes))
        for label in model.classes:
            found = dnf(model, boolean=True, label=label)
            assert found.exact
            assert np.array_equal(found.predict(X), model.predict(X) == label)
            verified.add(found.verified)
    assert "clause by clause" in verified


def test_a_rule_that_is_too_long_is_refused_and_a_long_conjunction_is_not():
    majority = Prototype(1, -9.5, tuple(Term(i, 1.0) for i in range(18)))
    model = SMaLLModel((0, 1), "<i8", 18, (majority,))
    with pytest.raises(ValueError, match=r"too long: more than.*fewer terms"):
        dnf(model, boolean=True)
    all_of_them = replace(model, prototypes=(replace(majority, intercept=-17.5),))
    assert [len(clause) for clause in dnf(all_of_them, boolean=True).clauses] == [18]


# --- true rules ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(2, 3, 20), (3, 2, 15)])
def test_the_formula_behind_the_labels_is_written_down(shape):
    hidden = datasets.random_dnf(*shape, 1000, random_state=1)
    model = SMaLLClassifierCV(max_terms=shape[0] * shape[1], random_state=1).fit(hidden.data, hidden.target).model_
    concept = {frozenset(clause) for clause in hidden.concept}
    for found in (dnf(model, boolean=True, label=1), dnf(model, hidden.data, label=1)):
        assert found.exact
        assert {frozenset((c.feature, c.categories[0]) for c in clause) for clause in found.clauses} == concept


def lines_of(found, wanted):
    """The squares of each clause, which must all say what is wanted."""
    assert all(condition.text in wanted for clause in found.clauses for condition in clause)
    return {tuple(wanted.index(condition.text) for condition in clause) for clause in found.clauses}


def by_hand():
    """Six prototypes for "all three are x", and two for a diagonal without o, as training finds them."""
    prototypes = []
    for line in sorted(LINES):
        diagonal = line in {(0, 4, 8), (2, 4, 6)}
        mark, weight, intercept = ("o", -6.4, 3.5) if diagonal else ("x", 4.2, -10.2)
        terms = tuple(Term(square, weight, SQUARES[square], "equals", mark) for square in line)
        prototypes.append(Prototype(1, intercept, terms))
    return SMaLLModel((0, 1), "<i8", 9, tuple(prototypes))


def test_the_winning_lines_are_read_off_a_model_of_categories():
    board = datasets.tic_tac_toe(one_hot=False)
    model = by_hand()
    table = pd.DataFrame(board.data, columns=SQUARES)
    for X in (board.data, table, pl.from_pandas(table)):
        found = dnf(model, X)
        assert lines_of(found, [f"{square} = 'x'" for square in SQUARES]) == LINES
        assert (found.exact, found.fidelity, found.n_rows) == (False, 1.0, 958)
        assert np.array_equal(found.predict(X), board.target == 1)
    assert str(found).splitlines()[1] == "  1. top-left = 'x' and top-middle = 'x' and top-right = 'x'"
    assert str(found).endswith("\nThe same as the model on all 958 rows given.")
    plain = dnf(model)
    assert plain.exact
    assert "3. top-left is not 'o' and middle-middle is not 'o' and bottom-right is not 'o'" in str(plain)
    assert dnf(model, table, simplify=False).clauses == plain.clauses


@pytest.mark.parametrize("one_hot", [True, False])
def test_the_winning_lines_are_read_off_a_trained_model(one_hot):
    board = datasets.tic_tac_toe(one_hot=one_hot)
    X = pd.DataFrame(board.data, columns=board.feature_names)
    categories = None if one_hot else "from_dtype"
    learner = SMaLLClassifier(8, 3, alpha=1e-3, random_state=0, categorical_features=categories)
    model = learner.fit(X, board.target).model_
    found = dnf(model, X)
    assert lines_of(found, [f"{square}=x" if one_hot else f"{square} = 'x'" for square in SQUARES]) == LINES
    assert found.fidelity == 1.0
    assert np.array_equal(found.holds_for(X).any(axis=1), board.target == 1)


# --- numbers that are weighed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(1, 3), (2, 3), (1, 5)])
def test_a_few_clauses_imitate_a_model_of_numbers(size):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = SMaLLClassifier(n_prototypes=size[0], n_nonzero=size[1], random_state=0).fit(X, y).model_
    found = dnf(model, X)
    assert found.fidelity >= 0.97
    assert found.fidelity == np.mean(found.predict(X) == (model.predict(X) == found.label))
    assert (found.exact, found.verified, found.n_rows) == (False, None, 569)
    assert len(found.clauses) <= 4
    assert max(map(len, found.clauses)) <= 3
    assert found == dnf(model, X)
    assert f"Agrees with the model on {found.fidelity:.1%} of the 569 rows given." in str(found)
    short = dnf(model, X, max_clauses=1, max_conditions=1)
    assert [len(clause) for clause in short.clauses] == [1]
    assert short.fidelity < found.fidelity
    other = dnf(model, X, label=1 - found.label)
    assert other.fidelity >= 0.97


def test_imitation_fills_gaps_as_the_model_does_and_takes_categories_as_they_are():
    rng = np.random.default_rng(0)
    colours = rng.choice(np.array(["red", "blue", None], dtype=object), 400)
    X = pd.DataFrame({"age": rng.normal(40.0, 10.0, 400), "colour": colours, "flag": rng.integers(0, 2, 400)})
    X.loc[::7, "age"] = np.nan
    terms = (
        Term(0, 1.0, "age", mean=60.0),
        Term(1, 15.0, "colour", "equals", "red"),
        Term(2, -100.0, "flag"),
    )
    model = SMaLLModel(("no", "yes"), "<U3", 3, (Prototype(1, -50.0, terms),))
    found = dnf(model, X)
    assert found.fidelity == 1.0
    assert sorted(condition.label for clause in found.clauses for condition in clause).count("flag") == 2
    assert "or missing)" in str(found)
    assert "colour = 'red'" in str(found)
    assert "not flag" in str(found)


def test_many_rows_are_counted_one_and_all():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12000, 3))
    model = SMaLLModel((0, 1), "<i8", 3, (Prototype(1, 0.1, (Term(1, 1.0),)),))
    found = dnf(model, X)
    assert (found.n_rows, len(found.clauses)) == (12000, 1)
    assert 0.999 < found.fidelity == np.mean(found.predict(X) == (X[:, 1] > -0.1))


# --- 0 and 1 ---------------------------------------------------------------------------------------------------------


def test_a_feature_is_known_to_be_boolean_from_its_column_or_by_name():
    rows = all_rows(3)
    in_words = ["not a", "not c"]
    for given in ({"X": rows}, {"X": rows.astype(bool)}, {"X": sparse.csr_array(rows)}, {"boolean": ["a", "c"]}):
        found = dnf(YES, **given)
        assert [clause[0].text for clause in found.clauses] == in_words
        assert found.exact
        assert "every input of 0s and 1s (truth table of 4 rows)" in str(found)
    mixed = dnf(
        replace(YES, prototypes=(Prototype(1, -1.5, (Term(0, 1.0, "a"), Term(2, 1.0, "c", "above", 3.0))),)), rows
    )
    assert "Never predict 'yes', always 'no'." in str(mixed)


def test_a_missing_flag_is_the_mean_to_the_model_and_to_the_clauses():
    terms = (Term(0, 2.0, "a", mean=0.75), Term(1, 1.0, "b", mean=0.2))
    model = SMaLLModel((0, 1), "<i8", 2, (Prototype(1, -1.1, terms),))
    X = np.array(list(itertools.product([0.0, 1.0, np.nan], repeat=2)))
    found = dnf(model, X)
    assert (found.exact, found.domain) == (True, "every input of 0s and 1s or missing")
    assert np.array_equal(found.predict(X), model.predict(X) == 1)
    assert {condition.text for clause in found.clauses for condition in clause} == {"a or missing"}


def test_terms_without_weight_need_nothing_of_their_feature():
    model = SMaLLModel((0, 1), "<i8", 2, (Prototype(1, -0.5, (Term(0, 1.0, kind="above", value=2.0), Term(1, 0.0))),))
    assert [clause[0].text for clause in dnf(model).clauses] == ["x0 > 2"]
    nothing = SMaLLModel((0, 1), "<i8", 2, (Prototype(1, 0.0, ()),))
    assert str(dnf(nothing)).startswith("Never predict 1, always 0.\nExactly the model, on every input")
    assert str(dnf(nothing, label=0)).startswith("Always predict 0.")
    assert dnf(nothing, label=0).predict(np.zeros((3, 2))).all()
    assert dnf(nothing).predict(np.zeros((3, 2))).tolist() == [False] * 3


# --- in words --------------------------------------------------------------------------------------------------------


def test_a_card_in_words():
    assert str(dnf(CARD)) == (
        "Predict 'yes' if any of these holds, otherwise 'no':\n"
        "  1. age > 40 and colour is not 'blue' and member = True\n"
        "  2. colour = 'red'\n"
        "Exactly the model, on every input (truth table of 18 rows)."
    )
    assert "(age ≤ 40 or missing) and colour is not 'red'" in str(dnf(CARD, label="no"))
    assert str(dnf(THREE, boolean=True, label="c")).splitlines()[:2] == [
        "Predict 'c' if this holds, otherwise another class:",
        "  1. not x0 and not x1",
    ]


@pytest.mark.parametrize(
    ("fields", "text", "holds"),
    [
        ({"intervals": ((-np.inf, 3.0),)}, "n ≤ 3", [1, 1, 0, 0, 0]),
        ({"intervals": ((3.0, 5.0),), "missing": True}, "3 < n ≤ 5 or missing", [0, 0, 1, 0, 1]),
        ({"intervals": ((-np.inf, 1.0), (5.0, np.inf))}, "n ≤ 1 or n > 5", [1, 0, 0, 1, 0]),
        ({"intervals": ((-np.inf, np.inf),)}, "n is not missing", [1, 1, 1, 1, 0]),
        ({"intervals": ((-np.inf, np.nextafter(3.0, 0)),)}, "n < 3", [1, 0, 0, 0, 0]),
        ({"intervals": ((np.nextafter(3.0, 0), np.inf),)}, "n ≥ 3", [0, 1, 1, 1, 0]),
        ({"intervals": ((np.nextafter(3.0, 0), 3.0),)}, "n = 3", [0, 1, 0, 0, 0]),
        (
            {"intervals": ((-np.inf, np.nextafter(3.0, 0)), (3.0, np.inf)), "missing": True},
            "n is not 3",
            [1, 0, 1, 1, 1],
        ),
        ({"categories": (3, 4)}, "n is 3 or 4", [0, 1, 1, 0, 0]),
        ({"categories": (3,), "missing": True}, "n is 3 or missing", [0, 1, 0, 0, 1]),
        ({"missing": True}, "n is missing", [0, 0, 0, 0, 1]),
        ({"categories": (3,), "negated": True}, "n is neither missing nor 3", [1, 0, 1, 1, 0]),
        ({"categories": (3, 4), "negated": True, "missing": True}, "n is neither 3 nor 4", [1, 0, 0, 1, 1]),
        ({"negated": True}, "n is not missing", [1, 1, 1, 1, 0]),
        ({"categories": (0,), "flag": True}, "not n", [0, 0, 0, 0, 0]),
        ({"categories": (1,), "flag": True, "missing": True}, "n or missing", [1, 0, 0, 0, 1]),
    ],
)
def test_conditions_say_what_they_ask(fields, text, holds):
    condition = Condition(0, "n", **fields)
    assert condition.text == text
    assert condition.holds([1.0, 3.0, 4.0, 6.0, None]).tolist() == list(map(bool, holds))


def test_hostile_names_take_one_line():
    names = ["a\nb", "x and y", "\x1b[31m", "é" * 200, "not"]
    terms = tuple(Term(i, 1.0, name, "equals", "\r\n" if i else "ok") for i, name in enumerate(names))
    model = SMaLLModel(("n\no", "yes"), "<U3", 5, (Prototype(1, -4.5, terms),))
    lines = str(dnf(model)).splitlines()
    assert len(lines) == 3
    assert all(line.isprintable() for line in lines)
    assert r"a\nb = 'ok' and x and y = '\r\n'" in lines[1]
    rows = pd.DataFrame({name: ["ok" if name == names[0] else "\r\n", "ok"] for name in names})
    assert dnf(model).predict(rows[names[::-1]]).tolist() == [True, False]


# --- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        (THREE, {"boolean": True}, "label must be given: one of 'a', 'b', 'c'"),
        (YES, {"boolean": True, "label": "maybe"}, "label='maybe' is none of the classes.*'no', 'yes'"),
        (YES, {}, "weighs numbers \\('a', 'c'\\) and has no exact rule; pass rows X"),
        (YES, {"boolean": ["a"]}, "weighs numbers \\('c'\\)"),
        (YES, {"boolean": ["a", "b"]}, "boolean names 'b'; the features that the model weighs are 'a', 'c'"),
        (YES, {"boolean": "yes"}, "boolean='yes' is not 'auto'"),
        (YES, {"X": np.full((2, 3), 0.5), "boolean": True}, "other values than 0 and 1 for 'a', 'c'"),
        (YES, {"X": np.zeros((0, 3))}, "X has no rows"),
        (YES, {"X": np.zeros((2, 4))}, "trained on 3 features"),
        (YES, {"X": np.full((2, 3), np.nan)}, "NaN"),
        (YES, {"X": np.zeros((2, 3)), "max_clauses": 0}, "max_clauses=0 is not a whole number of at least 1"),
        (YES, {"X": np.zeros((2, 3)), "max_conditions": True}, "max_conditions=True"),
    ],
)
def test_mistakes_are_named(model, arguments, message):
    with pytest.raises(ValueError, match=message):
        dnf(model, **arguments)


def test_numbers_of_too_many_digits_are_refused():
    terms = (Term(0, 1.0, kind="equals", value=2**60), Term(0, 1.0, kind="above", value=3.0))
    with pytest.raises(ValueError, match="that no float holds exactly"):
        dnf(SMaLLModel((0, 1), "<i8", 1, (Prototype(1, -0.5, terms),)))


def test_it_reads_the_columns_it_needs():
    found = dnf(CARD)
    assert isinstance(found, DNF)
    table = pd.DataFrame({"member": [True, False], "colour": ["green", "red"], "age": [50.0, None]})
    assert found.predict(table).tolist() == [True, True]
    assert found.holds_for(table).tolist() == [[True, False], [False, True]]
    with pytest.raises(ValueError, match="lacks the columns 'colour'"):
        found.predict(table[["age", "member"]])


@pytest.mark.parametrize(("intercept", "words"), [(50.0, "Always predict 1."), (-50.0, "Never predict 1, always 0.")])
def test_a_model_that_says_one_thing_of_all_rows_is_imitated_by_saying_it(intercept, words):
    terms = (Term(0, 1.0, "a"), Term(1, -1.0, "b"))
    model = SMaLLModel((0, 1), "<i8", 2, (Prototype(1, intercept, terms),))
    found = dnf(model, np.random.default_rng(0).normal(size=(50, 2)))
    assert str(found).startswith(words)
    assert found.fidelity == 1.0


def test_conditions_that_imitate_say_so_even_where_they_agree_on_every_row():
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -40.5, (Term(0, 1.0, "age"),)),))
    found = dnf(model, [[30.0], [50.0]])
    assert found.imitates
    assert "on all 2 rows given; on others it may differ." in str(found)
    assert not dnf(CARD).imitates


def test_a_rule_comes_as_fields_and_as_text():
    rule = dnf(CARD)
    numbered = [f"  {number}. {text}" for number, text in enumerate(rule.clause_texts, start=1)]
    assert str(rule).splitlines() == [rule.heading, *numbered, rule.note]
    assert len(rule.clause_texts) == len(rule.clauses)
    assert rule.same_as_model
    always = dnf(SMaLLModel((0, 1), "<i8", 1, (Prototype(1, 1.0, ()),)))
    assert (always.heading, always.clause_texts) == ("Always predict 1.", ())
    weighed = SMaLLModel((0, 1), "<i8", 1, (Prototype(1, -1.5, (Term(0, 1.0),)),))
    assert not dnf(weighed, [[1.0], [2.0]]).same_as_model
