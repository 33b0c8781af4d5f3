"""Rows whose labels follow a concept: tic-tac-toe, hidden formulas, Friedman's function, half-spaces."""

from math import ceil, comb
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from smallearn.datasets._checks import check_integers, check_range, is_integer

_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_SQUARES = [f"{row}-{column}" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right")]
_MARKS = "xob"  # b for blank, as in the UCI file

# Dependent features of `friedman` in the order of computation: the least collinearity that includes it, the feature,
# the weights of the features it depends on. The remaining weight is that of an independent uniform value. The weights
# are chosen to reproduce the correlations in the published fri_c data sets.
_DEPENDENT = (
    (2, 2, {3: 0.42}),
    (3, 4, {2: 0.78}),
    (1, 0, {1: 0.65, 2: 0.30}),
    (4, 5, {6: 0.35, 7: 0.17, 9: 0.17}),
)


def tic_tac_toe(*, one_hot: bool = True, return_X_y: bool = False) -> Any:
    """Generate the 958 final positions of tic-tac-toe; class 1 where x, who moves first, has won.

    The positions are those of the UCI data set of the same name: 626 wins of x, then 332 losses and draws, each sorted
    with x < o < b. The true rule has eight clauses of three literals, one for each winning line. No single half-space
    represents it; a union of eight does.

    Parameters
    ----------
    one_hot : bool, default=True
        If True, ``data`` has 27 columns of 0 and 1, three for each square (x, o and b for blank). If False, it has nine
        columns of the letters.
    return_X_y : bool, default=False
        If True, return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch or tuple of (ndarray, ndarray)
        A `sklearn.utils.Bunch` with ``data``, ``target`` and ``feature_names``, or ``(data, target)``.

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
    """Play every continuation and collect the final positions in ``ends``."""
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
    """Generate Boolean rows labelled by a hidden formula in disjunctive normal form (DNF).

    The formula is an OR of ``n_terms`` clauses, each an AND of ``n_literals`` literals. A literal is an input or its
    negation. No clause contains an input twice, and no two clauses are equal. Clauses of a single literal are never
    negations of each other, unless there are more clauses than inputs.

    Given their class, rows are uniformly distributed. The classes are as frequent as among uniform rows (one clause
    of three literals is true for 12.5%), unless a class would have less than the share ``balance`` of the rows: then it
    has that share.

    Parameters
    ----------
    n_terms : int, default=3
        Number of clauses.
    n_literals : int, default=3
        Number of literals in each clause.
    n_inputs : int, default=20
        Number of features.
    n_samples : int, default=1000
        Number of rows.
    noise : float, default=0.0
        Share of the labels that are flipped, from 0 to 0.5. Exactly ``round(noise * n_samples)`` are.
    balance : float, default=0.2
        Least share of the rows in each class before noise, from 0 to 0.5.
    random_state : int, numpy Generator or None, default=None
        Source of randomness. None gives different data each time.
    return_X_y : bool, default=False
        If True, return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch or tuple of (ndarray, ndarray)
        A `sklearn.utils.Bunch` with ``data``, ``target``, ``feature_names``, ``concept`` (a list of clauses, each a
        list of pairs of a feature and the value that it must have) and ``clean_target`` (the labels without noise), or
        ``(data, target)``.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if the formula is true for nearly every row.

    Examples
    --------
    >>> from smallearn.datasets import random_dnf
    >>> hidden = random_dnf(n_terms=1, n_literals=2, n_inputs=5, n_samples=100, random_state=0)
    >>> (feature, value), (other, its_value) = hidden.concept[0]
    >>> bool(((hidden.data[:, feature] == value) & (hidden.data[:, other] == its_value) == hidden.target).all())
    True
    """
    check_integers(n_terms=n_terms, n_literals=n_literals, n_inputs=n_inputs)
    check_integers(least=2, n_samples=n_samples)
    check_range(0.0, 0.5, "a share of the rows from 0 to 0.5", noise=noise, balance=balance)
    if n_literals > n_inputs:
        raise ValueError(
            f"n_literals={n_literals} is more than n_inputs={n_inputs}; a clause contains an input only once."
        )
    if n_terms > comb(n_inputs, n_literals) * 2**n_literals:
        raise ValueError(
            f"There are fewer than n_terms={n_terms} different clauses of {n_literals} literals over {n_inputs} "
            "inputs; use fewer clauses or more inputs."
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


def _draw_terms(
    rng: np.random.Generator, n_terms: int, n_literals: int, n_inputs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw clauses: features and the values they must have, both of shape (n_terms, n_literals).

    No two clauses are equal. A single literal is never the negation of another while there are enough inputs: "x or
    not x" is true for every row.
    """
    terms: dict[tuple[Any, Any], None] = {}  # an ordered set
    while len(terms) < n_terms:
        features = tuple(np.sort(rng.choice(n_inputs, n_literals, replace=False)).tolist())
        values = tuple(rng.integers(0, 2, n_literals).tolist())
        negation = (features, (1 - values[0],)) if n_literals == 1 else None
        if negation not in terms or n_terms > n_inputs:
            terms[features, values] = None
    return np.array([f for f, _ in terms]), np.array([v for _, v in terms])


def _satisfied(X: np.ndarray, features: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Which rows satisfy which clauses, of shape (rows, clauses)."""
    return (X[:, features] == values).all(axis=2)


def _positive_rows(
    rng: np.random.Generator, n: int, n_inputs: int, features: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Draw n uniform rows that satisfy a clause, by rejection.

    A random clause is made true in a uniform row. A row with c true clauses is c times as likely to be drawn this way,
    so it is kept with probability 1 / c.
    """
    parts = [np.empty((0, n_inputs), dtype=int)]
    while sum(map(len, parts)) < n:
        rows = rng.integers(0, 2, (n, n_inputs))
        term = rng.integers(len(features), size=n)
        np.put_along_axis(rows, features[term], values[term], axis=1)
        parts.append(rows[rng.random(n) * _satisfied(rows, features, values).sum(axis=1) < 1.0])
    return np.vstack(parts)[:n]


def _negative_rows(
    rng: np.random.Generator, n: int, n_inputs: int, features: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Draw n uniform rows that satisfy no clause, by rejection; fails where such rows are very rare."""
    parts = [np.empty((0, n_inputs), dtype=int)]
    for _ in range(1000):
        if sum(map(len, parts)) >= n:
            break
        rows = rng.integers(0, 2, (max(n, 1000), n_inputs))
        parts.append(rows[~_satisfied(rows, features, values).any(axis=1)])
    else:
        raise ValueError(
            f"The formula drawn, {len(features)} clauses of {features.shape[1]} literals, is true for nearly every "
            "row; use fewer clauses, more literals, or another random_state."
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
    r"""Generate Friedman's function of five features, in two classes, like OpenML's fri_c data sets.

    .. math:: t = 10 \sin(\pi x_1 x_2) + 20 (x_3 - 1/2)^2 + 10 x_4 + 5 x_5 + \varepsilon

    with features in [0, 1] and normal noise ε. Class 1 are the rows where t is below its mean, as on OpenML.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_features : int, default=50
        Number of features; all but the first five are irrelevant. At least 5, or 10 if ``collinearity=4``.
    collinearity : int, default=0
        Number of features that depend on others, from 0 to 4: x1 on x2 and x3; x3 on x4; x5 on x3; x6, which is
        irrelevant, on x7, x8 and x10. Each is a weighted mean of these and of an independent uniform value, with
        weights that reproduce the correlations of the published data sets, whose exact recipe is not known.
    noise : float, default=1.0
        Standard deviation of ε.
    random_state : int, numpy Generator or None, default=None
        Source of randomness. None gives different data each time.
    return_X_y : bool, default=False
        If True, return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch or tuple of (ndarray, ndarray)
        A `sklearn.utils.Bunch` with ``data``, ``target``, ``feature_names``, ``value`` (the number t) and ``relevant``
        (the positions of the five features), or ``(data, target)``.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from smallearn.datasets import friedman
    >>> made = friedman(n_samples=200, n_features=10, random_state=0)
    >>> made.data.shape, made.relevant
    ((200, 10), [0, 1, 2, 3, 4])
    >>> bool(((made.value < made.value.mean()) == made.target).all())
    True
    """
    check_integers(least=2, n_samples=n_samples)
    if not is_integer(collinearity) or not 0 <= collinearity <= 4:
        raise ValueError(
            f"collinearity={collinearity!r} is not an integer from 0 to 4, the number of dependent features."
        )
    check_integers(least=10 if collinearity == 4 else 5, n_features=n_features)
    check_range(
        0.0, float(np.finfo(float).max), "a standard deviation: give a finite number of at least 0", noise=noise
    )
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
    r"""Generate normal rows labelled by a union of sparse half-spaces, the rule of a smallearn model.

    .. math:: y = 1 \iff \max_j (w_j \cdot x + b) > 0

    Each :math:`w_j` has norm 1 and ``n_nonzero`` non-zero entries.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_features : int, default=20
        Number of features, independent and standard normal.
    n_half_spaces : int, default=3
        Number of half-spaces.
    n_nonzero : int, default=2
        Number of features that each half-space depends on.
    share : float, default=0.5
        Approximate share of class 1 before noise, from 0.01 to 0.99; determines b.
    margin : float, default=0.0
        Rows whose greatest score is within ``margin`` of 0 are left out. From 0 to 1.
    noise : float, default=0.0
        Share of the labels that are flipped, from 0 to 0.5. Exactly ``round(noise * n_samples)`` are.
    random_state : int, numpy Generator or None, default=None
        Source of randomness. None gives different data each time.
    return_X_y : bool, default=False
        If True, return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch or tuple of (ndarray, ndarray)
        A `sklearn.utils.Bunch` with ``data``, ``target``, ``feature_names``, ``weights`` (of shape
        (n_half_spaces, n_features)), ``intercept`` and ``clean_target`` (the labels without noise), or
        ``(data, target)``.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from smallearn.datasets import half_space_union
    >>> made = half_space_union(n_samples=500, n_features=5, n_half_spaces=2, random_state=0)
    >>> scores = made.data @ made.weights.T + made.intercept
    >>> bool(((scores.max(axis=1) > 0) == made.target).all())
    True
    """
    check_integers(n_half_spaces=n_half_spaces, n_features=n_features, n_nonzero=n_nonzero)
    check_integers(least=2, n_samples=n_samples)
    check_range(0.0, 0.5, "a share of the rows from 0 to 0.5", noise=noise)
    check_range(0.01, 0.99, "from 0.01 to 0.99, the share of class 1", share=share)
    if n_nonzero > n_features:
        raise ValueError(f"n_nonzero={n_nonzero} is more than n_features={n_features}; use fewer.")
    check_range(0.0, 1.0, "from 0 to 1; scores have about unit standard deviation", margin=margin)
    rng = np.random.default_rng(random_state)
    W = np.zeros((n_half_spaces, n_features))
    for row in W:
        row[rng.choice(n_features, n_nonzero, replace=False)] = rng.standard_normal(n_nonzero)
    W /= np.linalg.norm(W, axis=1, keepdims=True)
    scores = (rng.standard_normal((10_000, n_features)) @ W.T).max(axis=1)
    intercept = -float(np.quantile(scores, 1.0 - share))
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


def _flipped(rng: np.random.Generator, y: np.ndarray, noise: float) -> np.ndarray:
    """The labels with a share of them flipped."""
    flipped = y.copy()
    chosen = rng.choice(len(y), round(noise * len(y)), replace=False)
    flipped[chosen] = 1 - flipped[chosen]
    return flipped


def _result(X: np.ndarray, y: np.ndarray, names: list[str], return_X_y: bool, **more: Any) -> Any:
    """A Bunch, or ``(X, y)``."""
    return (X, y) if return_X_y else Bunch(data=X, target=y, feature_names=names, **more)
