"""True concepts are learned exactly: the budget is given and nothing else is tuned."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from smallearn import SMaLLClassifierCV, datasets

LINES = {(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)}


@pytest.mark.slow  # test_estimator.py learns it at once, with the number of prototypes given
def test_tic_tac_toe_is_learned_as_one_prototype_for_each_winning_line():
    board = datasets.tic_tac_toe()
    X, X_test, y, y_test = train_test_split(
        board.data, board.target, test_size=0.3, stratify=board.target, random_state=0
    )
    found = SMaLLClassifierCV(max_terms=24, random_state=0).fit(X, y)
    assert found.score(X_test, y_test) == 1.0
    assert [len(prototype.terms) for prototype in found.model_.prototypes] == [3] * 8
    # A line is "all three are x" or, the same on end positions where the diagonals are concerned, "none is o".
    lines = {tuple(term.feature // 3 for term in prototype.terms) for prototype in found.model_.prototypes}
    assert lines == LINES


@pytest.mark.slow  # tests/explain/test_dnf.py finds smaller ones and writes them down
@pytest.mark.parametrize(("n_terms", "n_literals", "n_inputs"), [(2, 3, 50), (4, 3, 20), (3, 2, 30)])
def test_a_hidden_dnf_is_found(n_terms, n_literals, n_inputs):
    data = datasets.random_dnf(n_terms, n_literals, n_inputs, 4000, random_state=1)
    X, y = data.data, data.target
    found = SMaLLClassifierCV(max_terms=n_terms * n_literals, random_state=1).fit(X[:2000], y[:2000])
    assert np.mean(found.predict(X[2000:]) == y[2000:]) == 1.0


def test_a_hidden_dnf_is_found_under_noise():
    data = datasets.random_dnf(3, 2, 30, 4000, noise=0.1, random_state=2)
    X, y = data.data, data.target
    found = SMaLLClassifierCV(max_terms=6, random_state=2).fit(X[:2000], y[:2000])
    assert np.mean(found.predict(X[2000:]) == data.clean_target[2000:]) >= 0.99
