"""Generated data follow their rules: every game once, labels equal to the concept, exact shares."""

import numpy as np
import pytest

from smallearn import datasets

GENERATORS = [datasets.random_dnf, datasets.friedman, datasets.half_space_union]


def holds(X, concept):
    return np.array([any(all(row[f] == v for f, v in term) for term in concept) for row in X])


def test_tic_tac_toe_has_every_end_of_the_game_once():
    board = datasets.tic_tac_toe()
    assert board.data.shape == (958, 27)
    assert board.target.sum() == 626
    assert len(np.unique(board.data, axis=0)) == 958
    assert len(set(board.feature_names)) == 27
    np.testing.assert_array_equal(board.data.reshape(958, 9, 3).sum(axis=2), 1.0)


def test_tic_tac_toe_positions_are_legal_and_labelled_by_the_lines_of_x():
    letters, y = datasets.tic_tac_toe(one_hot=False, return_X_y=True)
    assert set(letters.ravel()) == {"x", "o", "b"}
    ahead = (letters == "x").sum(axis=1) - (letters == "o").sum(axis=1)
    boards = letters.reshape(-1, 3, 3)
    for mark, lead in (("x", 1), ("o", 0)):
        own = boards == mark
        diagonals = np.stack([own[:, [0, 1, 2], [0, 1, 2]].all(axis=1), own[:, [0, 1, 2], [2, 1, 0]].all(axis=1)])
        won = own.all(axis=1).any(axis=1) | own.all(axis=2).any(axis=1) | diagonals.any(axis=0)
        np.testing.assert_array_equal(ahead[won], lead)  # who has won has moved last
        if mark == "x":
            np.testing.assert_array_equal(won, y == 1)
    assert ((letters == "b").sum(axis=1)[y == 0] == 0).sum() == 16  # draws


def test_one_hot_columns_are_the_letters():
    letters = datasets.tic_tac_toe(one_hot=False)
    columns = datasets.tic_tac_toe()
    for number, name in enumerate(columns.feature_names):
        square, mark = name.split("=")
        column = letters.data[:, letters.feature_names.index(square)]
        np.testing.assert_array_equal(columns.data[:, number] == 1.0, column == mark)


@pytest.mark.parametrize("generator", GENERATORS)
def test_the_same_seed_gives_the_same_data(generator):
    one, same, other = (generator(n_samples=60, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.data, same.data)
    np.testing.assert_array_equal(one.target, same.target)
    assert not np.array_equal(one.data, other.data)
    X, y = generator(n_samples=60, random_state=3, return_X_y=True)
    np.testing.assert_array_equal(X, one.data)
    np.testing.assert_array_equal(y, one.target)
    assert len(one.feature_names) == X.shape[1]


@pytest.mark.parametrize(("n_terms", "n_literals"), [(1, 1), (1, 3), (2, 3), (8, 3), (1, 8), (4, 2), (10, 2)])
def test_dnf_labels_equal_the_concept_and_both_classes_are_there(n_terms, n_literals):
    for seed in range(5):
        hidden = datasets.random_dnf(n_terms, n_literals, 12, 500, random_state=seed)
        assert len(hidden.concept) == n_terms
        assert len({tuple(term) for term in hidden.concept}) == n_terms
        assert all(len({f for f, _ in term}) == n_literals for term in hidden.concept)
        np.testing.assert_array_equal(hidden.target, holds(hidden.data, hidden.concept))
        np.testing.assert_array_equal(np.unique(hidden.data), [0.0, 1.0])
        assert 0.2 <= hidden.target.mean() <= 0.8


def test_single_literals_never_make_a_formula_that_always_holds():
    for seed in range(40):
        hidden = datasets.random_dnf(4, 1, 5, 200, random_state=seed)
        assert len({feature for ((feature, _),) in hidden.concept}) == 4
        assert 0.2 <= hidden.target.mean() <= 0.8


def test_dnf_rows_are_uniform_given_their_class():
    hidden = datasets.random_dnf(2, 2, 4, 40_000, random_state=1)
    every = (np.arange(16)[:, None] >> np.arange(4)) & 1
    counts = np.bincount((hidden.data @ (1 << np.arange(4))).astype(int), minlength=16)
    for label in (False, True):
        of_class = counts[holds(every, hidden.concept) == label]
        expected = of_class.mean()
        assert np.all(np.abs(of_class - expected) < 5.0 * np.sqrt(expected))


def test_dnf_has_the_natural_share_where_it_is_balanced_enough():
    y = datasets.random_dnf(1, 1, 5, 20_000, random_state=0).target
    assert abs(y.mean() - 0.5) < 0.02
    assert datasets.random_dnf(1, 3, 5, 20_000, balance=0.0, random_state=0).target.mean() == pytest.approx(
        0.125, abs=0.01
    )
    assert datasets.random_dnf(1, 3, 5, 20_000, balance=0.3, random_state=0).target.mean() == 0.3
    assert datasets.random_dnf(1, 3, 5, 7, balance=0.5, random_state=0).target.sum() == 3


@pytest.mark.parametrize("generator", [datasets.random_dnf, datasets.half_space_union])
def test_noise_flips_exactly_its_share(generator):
    made = generator(n_samples=200, noise=0.15, random_state=0)
    assert (made.target != made.clean_target).sum() == 30


@pytest.mark.parametrize("collinearity", range(5))
def test_friedman_is_the_function_and_collinearity_counts_dependent_features(collinearity):
    made = datasets.friedman(2000, 20, collinearity, noise=0.0, random_state=0)
    x = made.data.T
    t = 10 * np.sin(np.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]
    np.testing.assert_allclose(made.value, t)
    np.testing.assert_array_equal(made.target, t < t.mean())
    assert made.data.min() >= 0.0
    assert made.data.max() <= 1.0
    # A feature that depends on others is no longer uniform: its variance is below 1/12.
    assert (x.var(axis=1) < 0.9 / 12.0).sum() == collinearity


def test_friedman_correlations_are_those_of_the_published_sets():
    R = np.corrcoef(datasets.friedman(20_000, 10, 4, random_state=0).data.T)
    published = {(0, 1): 0.88, (2, 3): 0.61, (2, 4): 0.93, (3, 4): 0.49, (5, 6): 0.72, (5, 7): 0.33, (5, 9): 0.32}
    for pair, value in published.items():
        assert R[pair] == pytest.approx(value, abs=0.1)
    assert abs(R[8, :8]).max() < 0.05


def test_half_spaces_label_the_rows_and_keep_their_margin():
    made = datasets.half_space_union(3000, 10, 4, 3, share=0.3, margin=0.1, random_state=0)
    score = (made.data @ made.weights.T).max(axis=1) + made.intercept
    np.testing.assert_array_equal(made.target, score > 0.0)
    assert np.abs(score).min() > 0.1
    np.testing.assert_array_equal((made.weights != 0.0).sum(axis=1), 3)
    np.testing.assert_allclose(np.linalg.norm(made.weights, axis=1), 1.0)
    assert made.target.mean() == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize(
    ("generator", "arguments", "message"),
    [
        ("random_dnf", {"n_terms": 0}, "n_terms=0 is not an integer of at least 1"),
        ("random_dnf", {"n_samples": 2.5}, "n_samples=2.5 is not an integer of at least 2"),
        ("random_dnf", {"n_literals": True}, "n_literals=True"),
        ("random_dnf", {"n_literals": 5, "n_inputs": 4}, "more than n_inputs=4"),
        (
            "random_dnf",
            {"n_terms": 5, "n_literals": 1, "n_inputs": 2},
            "fewer than n_terms=5 different clauses.*use fewer",
        ),
        ("random_dnf", {"n_terms": 4, "n_literals": 1, "n_inputs": 2}, "nearly every row; use fewer clauses"),
        ("random_dnf", {"noise": 0.6}, "noise=0.6 is not a share of the rows from 0 to 0.5"),
        ("random_dnf", {"balance": "half"}, "balance='half' is not a share"),
        ("friedman", {"n_features": 4}, "n_features=4 is not an integer of at least 5"),
        ("friedman", {"n_features": 9, "collinearity": 4}, "n_features=9 is not an integer of at least 10"),
        ("friedman", {"collinearity": 5}, "collinearity=5 is not an integer from 0 to 4"),
        ("friedman", {"noise": -1.0}, "noise=-1.0 is not a standard deviation"),
        ("half_space_union", {"share": 1.0}, "share=1.0 is not from 0.01 to 0.99"),
        ("half_space_union", {"n_nonzero": 21}, "n_nonzero=21 is more than n_features=20"),
        ("half_space_union", {"margin": 2.0}, "margin=2.0 is not from 0 to 1"),
    ],
)
def test_bad_arguments_are_refused_with_a_reason(generator, arguments, message):
    with pytest.raises(ValueError, match=message):
        getattr(datasets, generator)(**arguments)
