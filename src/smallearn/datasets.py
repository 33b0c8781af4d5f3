"""Data with a known answer, made here: games, hidden formulas, Friedman's function, unions of half-spaces.

Real data show how well a method does, made data whether it finds what is there: the rule behind the labels is known.
All draw from ``random_state`` alone (an integer, a numpy Generator, or None for other data each time) and return a
`sklearn.utils.Bunch` with ``data``, ``target`` and ``feature_names``, or ``(data, target)`` with ``return_X_y=True``.
"""

from math import ceil, comb
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import Bunch

__all__ = ["friedman", "half_space_union", "random_dnf", "tic_tac_toe"]

__all__ = ["friedman", "half_space_union", "random_dnf", "tic_tac_toe"]

_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_SQUARES = [f"{row}-{column}" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right")]
_MARKS = "xob"  # b for blank, as in the UCI file

# Dependent features of `friedman` in the order they are computed: degree from which on, feature, parents and weights.
# The remaining weight is an own uniform draw. Chosen to give the correlations measured in the published fri_c sets.
_DEPENDENT = (
    (2, 2, {3: 0.42}),
    (3, 4, {2: 0.78}),
    (1, 0, {1: 0.65, 2: 0.30}),
    (4, 5, {6: 0.35, 7: 0.17, 9: 0.17}),
)


def tic_tac_toe(*, one_hot: bool = True, return_X_y: bool = False) -> Any:
    """Tic-tac-toe at the end: the 958 positions a game can end in, x having begun; class 1 where x has won (626).

    They are found by playing every game. ``data`` has 27 columns, three for each square (x, o or b for blank), or, with
    ``one_hot=False``, nine columns of the letters themselves. The positions are those of the UCI data set of this name;
    won ones come first, each class in the order x < o < b.

    The concept is a DNF of eight terms of three literals, the lines of x: no half-space has it, a union of eight does.

    Examples
    --------
    >>> from smallearn.datasets import tic_tac_toe
    >>> board = tic_tac_toe()
    >>> board.data.shape, int(board.target.sum())
    ((958, 27), 626)
    >>> board.feature_names[:3]
    ['top-left=x', 'top-left=o', 'top-left=b']
    """
    ends: set[str] = set()
    _play("b" * 9, "x", ends, set())
    boards = sorted(ends, key=lambda board: (not _has_won(board, "x"), [_MARKS.index(mark) for mark in board]))
    letters = np.array([list(board) for board in boards])
    y = np.array([int(_has_won(board, "x")) for board in boards])
    if not one_hot:
        return _result(letters, y, list(_SQUARES), return_X_y)
    X = (letters[:, :, None] == np.array(list(_MARKS))).reshape(len(boards), -1).astype(float)
    return _result(X, y, [f"{square}={mark}" for square in _SQUARES for mark in _MARKS], return_X_y)


def _play(board: str, player: str, ends: set[str], seen: set[str]) -> None:
    """Play on in every way; note where games end."""
    if board in seen:
        return
    seen.add(board)
    other = "o" if player == "x" else "x"
    if _has_won(board, other) or "b" not in board:
        ends.add(board)
        return
    for square, mark in enumerate(board):
        if mark == "b":
            _play(board[:square] + player + board[square + 1 :], other, ends, seen)


def _has_won(board: str, player: str) -> bool:
    return any(all(board[square] == player for square in line) for line in _LINES)


def random_dnf(
    n_terms: int = 3,
    n_literals: int = 3,
    n_inputs: int = 20,
    n_samples: int = 1000,
    *,
    noise: float = 0.0,
    balance: float = 0.2,
    random_state: Any = None,
    return_X_y: bool = False,
) -> Any:
    """Boolean rows labelled by a hidden formula: an OR of ``n_terms`` ANDs of ``n_literals`` literals each.

    A literal is an input or its negation; no term has an input twice, no two terms are the same, no single literal
    is another's negation. Rows are uniform given
    their class. The classes are as frequent as in uniform rows (a single term of three literals holds for 12.5 %), but
    where one would have less than ``balance`` of the rows, it has that share: uniform rows are then drawn and dropped
    until there are as many of either class as are due.

    ``noise`` is the share of labels that are flipped afterwards, exactly; ``balance`` speaks of those before.

    The Bunch also has ``concept``, a list of terms, each a list of pairs (feature, value it must have), and
    ``clean_target``, the labels before the noise.

    Examples
    --------
    >>> from smallearn.datasets import random_dnf
    >>> hidden = random_dnf(n_terms=1, n_literals=2, n_inputs=5, n_samples=100, random_state=0)
    >>> (feature, value), (other, its_value) = hidden.concept[0]
    >>> bool(((hidden.data[:, feature] == value) & (hidden.data[:, other] == its_value) == hidden.target).all())
    True
    """
    _whole(n_terms=n_terms, n_literals=n_literals, n_inputs=n_inputs)
    _whole(least=2, n_samples=n_samples)
    _within(0.0, 0.5, "a share of the rows from 0 to 0.5", noise=noise, balance=balance)
    if n_literals > n_inputs:
        raise ValueError(f"n_literals={n_literals} is more than n_inputs={n_inputs}; a term has an input only once.")
    if n_terms > comb(n_inputs, n_literals) * 2**n_literals:
        raise ValueError(
            f"There are no n_terms={n_terms} different terms of {n_literals} literals over {n_inputs} inputs; "
            "take fewer terms, or more inputs."
        )
    rng = np.random.default_rng(random_state)
    features, values = _draw_terms(rng, n_terms, n_literals, n_inputs)
    natural = int(_satisfied(rng.integers(0, 2, (n_samples, n_inputs)), features, values).any(axis=1).sum())
    fewest = ceil(balance * n_samples)
    n_positive = int(np.clip(natural, fewest, n_samples - fewest)) if 2 * fewest <= n_samples else n_samples // 2
    positive = _positive_rows(rng, n_positive, n_inputs, features, values)
    negative = _negative_rows(rng, n_samples - n_positive, n_inputs, features, values)
    X = rng.permutation(np.vstack([positive, negative]))
    clean = _satisfied(X, features, values).any(axis=1).astype(int)
    concept = [[(int(f), int(v)) for f, v in zip(*term, strict=True)] for term in zip(features, values, strict=True)]
    names = [f"x{i}" for i in range(n_inputs)]
    return _result(X.astype(float), _flipped(rng, clean, noise), names, return_X_y, concept=concept, clean_target=clean)


def _draw_terms(rng, n_terms: int, n_literals: int, n_inputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Features and the values they must have, both n_terms × n_literals, no two terms alike. Of single literals none
    is another's negation, as long as there are inputs enough: "x or not x" holds for every row."""
    terms: dict[tuple, None] = {}  # in the order drawn
    while len(terms) < n_terms:
        features = tuple(np.sort(rng.choice(n_inputs, n_literals, replace=False)).tolist())
        values = tuple(rng.integers(0, 2, n_literals).tolist())
        negation = (features, (1 - values[0],)) if n_literals == 1 else None
        if negation not in terms or n_terms > n_inputs:
            terms[features, values] = None
    return np.array([f for f, _ in terms]), np.array([v for _, v in terms])


def _satisfied(X: np.ndarray, features: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Which rows satisfy which terms."""
    return (X[:, features] == values).all(axis=2)


def _positive_rows(rng, n: int, n_inputs: int, features: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Draw n uniform rows that satisfy a term: make one true, keep the row with probability 1 / true terms.

    A row is made by as many terms as it satisfies, so that this undoes its greater chance.
    """
    parts = [np.empty((0, n_inputs), dtype=int)]
    while sum(map(len, parts)) < n:
        rows = rng.integers(0, 2, (n, n_inputs))
        term = rng.integers(len(features), size=n)
        np.put_along_axis(rows, features[term], values[term], axis=1)
        parts.append(rows[rng.random(n) * _satisfied(rows, features, values).sum(axis=1) < 1.0])
    return np.vstack(parts)[:n]


def _negative_rows(rng, n: int, n_inputs: int, features: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Draw n uniform rows that satisfy no term, by drawing again; there must be a fair number of them."""
    parts = [np.empty((0, n_inputs), dtype=int)]
    for _ in range(1000):
        if sum(map(len, parts)) >= n:
            break
        rows = rng.integers(0, 2, (max(n, 1000), n_inputs))
        parts.append(rows[~_satisfied(rows, features, values).any(axis=1)])
    else:
        raise ValueError(
            f"The formula drawn, {len(features)} terms of {features.shape[1]} literals, holds for nearly every row; "
            "take fewer terms, more literals, or another random_state."
        )
    return np.vstack(parts)[:n]


def friedman(
    n_samples: int = 1000,
    n_features: int = 50,
    collinearity: int = 0,
    *,
    noise: float = 1.0,
    random_state: Any = None,
    return_X_y: bool = False,
) -> Any:
    r"""Friedman's function of five features among many, in two classes: in the manner of OpenML's fri_c sets.

    .. math:: t = 10 \sin(\pi x_1 x_2) + 20 (x_3 - 1/2)^2 + 10 x_4 + 5 x_5 + \varepsilon

    with x in [0, 1] and ε normal with standard deviation ``noise``. Class 1 are the rows where t lies below its mean,
    as on OpenML. ``collinearity``, 0 to 4, is how many features depend on others: x1 on x2 and x3; x3 on x4; x5 on x3;
    x6, which t does not use, on x7, x8 and x10. Each is a weighted mean of those and a uniform draw of its own. The
    published sets do not say how theirs were made; the weights are such that the correlations come out alike.

    The Bunch also has ``value``, the number t, and ``relevant``, the five features it depends on.
    """
    _whole(least=2, n_samples=n_samples)
    if not _is_whole(collinearity) or not 0 <= collinearity <= 4:
        raise ValueError(f"collinearity={collinearity!r} is not a number of dependent features from 0 to 4.")
    _whole(least=10 if collinearity == 4 else 5, n_features=n_features)
    _within(0.0, float(np.finfo(float).max), "a standard deviation, a finite number of 0 or more", noise=noise)
    rng = np.random.default_rng(random_state)
    X = rng.random((n_samples, n_features))
    for degree, feature, parents in _DEPENDENT:
        if collinearity >= degree:
            X[:, feature] *= 1.0 - sum(parents.values())
            X[:, feature] += sum(weight * X[:, parent] for parent, weight in parents.items())
    value = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2 + 10.0 * X[:, 3] + 5.0 * X[:, 4]
    value += noise * rng.standard_normal(n_samples)
    names = [f"x{i + 1}" for i in range(n_features)]
    return _result(X, (value < value.mean()).astype(int), names, return_X_y, value=value, relevant=list(range(5)))


def half_space_union(
    n_samples: int = 1000,
    n_features: int = 20,
    n_half_spaces: int = 3,
    n_nonzero: int = 2,
    *,
    share: float = 0.5,
    margin: float = 0.0,
    noise: float = 0.0,
    random_state: Any = None,
    return_X_y: bool = False,
) -> Any:
    r"""Normal rows labelled by what smallearn itself can say: class 1 where one of several sparse scores is positive.

    .. math:: y = 1 \iff \max_j (w_j \cdot x + b) > 0

    Each :math:`w_j` has length 1 and ``n_nonzero`` entries that are not zero; b is such that about ``share`` of the
    rows are of class 1. Rows whose greatest score is within ``margin`` of zero are drawn again. ``noise`` is the share
    of labels that are flipped afterwards, exactly.

    The Bunch also has ``weights`` (n_half_spaces × n_features), ``intercept`` and ``clean_target``.
    """
    _whole(n_half_spaces=n_half_spaces, n_features=n_features, n_nonzero=n_nonzero)
    _whole(least=2, n_samples=n_samples)
    _within(0.0, 0.5, "a share of the rows from 0 to 0.5", noise=noise)
    _within(0.01, 0.99, "from 0.01 to 0.99; it is how much of the rows class 1 has", share=share)
    if n_nonzero > n_features:
        raise ValueError(f"n_nonzero={n_nonzero} is more than n_features={n_features}; take fewer.")
    _within(0.0, 1.0, "from 0 to 1; it is a distance, and the rows' spread is 1", margin=margin)
    rng = np.random.default_rng(random_state)
    W = np.zeros((n_half_spaces, n_features))
    for row in W:
        row[rng.choice(n_features, n_nonzero, replace=False)] = rng.standard_normal(n_nonzero)
    W /= np.linalg.norm(W, axis=1, keepdims=True)
    trial = (rng.standard_normal((10_000, n_features)) @ W.T).max(axis=1)
    intercept = -float(np.quantile(trial, 1.0 - share))
    X = np.empty((0, n_features))
    while len(X) < n_samples:
        rows = rng.standard_normal((n_samples, n_features))
        X = np.vstack([X, rows[np.abs((rows @ W.T).max(axis=1) + intercept) > margin]])
    X = X[:n_samples]
    clean = ((X @ W.T).max(axis=1) + intercept > 0.0).astype(int)
    names = [f"x{i}" for i in range(n_features)]
    return _result(
        X, _flipped(rng, clean, noise), names, return_X_y, weights=W, intercept=intercept, clean_target=clean
    )


def _flipped(rng, y: np.ndarray, noise: float) -> np.ndarray:
    flipped = y.copy()
    chosen = rng.choice(len(y), round(noise * len(y)), replace=False)
    flipped[chosen] = 1 - flipped[chosen]
    return flipped


def _result(X: np.ndarray, y: np.ndarray, names: list[str], return_X_y: bool, **more: Any) -> Any:
    return (X, y) if return_X_y else Bunch(data=X, target=y, feature_names=names, **more)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _whole(least: int = 1, **values: Any) -> None:
    for name, value in values.items():
        if not _is_whole(value) or value < least:
            raise ValueError(f"{name}={value!r} is not a whole number of at least {least}; give one.")


def _within(low: float, high: float, allowed: str, **values: Any) -> None:
    for name, value in values.items():
        if not isinstance(value, Real) or not low <= float(value) <= high:
            raise ValueError(f"{name}={value!r} is not {allowed}.")
