"""The rule that chooses a candidate model from the scores of all folds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn._learn.choose.families import CandidateModel, Family
from smallearn._learn.choose.results import Results, best
from smallearn._learn.choose.scores import FoldScore, RowScores, score_fold
from smallearn._learn.data.problem import build_problem


def candidate_of(n_terms, n_prototypes=1, alpha=0.01):
    family = Family(literals="raw", n_prototypes=n_prototypes, owner=1, alphas=(0.1, 0.01))
    return CandidateModel(family=family, alpha=alpha, n_terms=n_terms)


def score_of(correct, bonus=0.0):
    """The score of a fold by which rows are correct; every one of them gets ``bonus`` more."""
    correct = np.array(correct, dtype=bool)
    each, weight = correct + bonus, np.full(len(correct), 1.0 / len(correct))
    rows = RowScores(score=each, weight=weight, n_rows=len(correct))
    return FoldScore(reported=correct.mean(), deciding=each.mean(), rows=rows, correct=correct)


def results_of(correct, bonus=0.05, n_prototypes=1):
    """Results by number of terms: which rows are correct in each fold; every term adds ``bonus``."""
    first = next(iter(correct.values()))
    results = Results(len(first), float(sum(len(rows) for rows in first)))
    for fold in range(len(first)):
        for n_terms, folds in correct.items():
            candidate = candidate_of(n_terms, n_prototypes)
            results.enter(fold, {candidate: score_of(folds[fold], bonus * n_terms)})
    return results


# --- the folds that were run -----------------------------------------------------------------------------------------


def entered(n_folds, by_fold):
    """Results with the scores of each fold: 0.5 + 0.1 × fold for each of its candidate models."""
    results = Results(n_folds, 10.0)
    for fold, candidates in by_fold.items():
        score = FoldScore(reported=0.5 + 0.1 * fold, deciding=0.5)
        results.enter(fold, dict.fromkeys(candidates, score))
    return results


def test_results_on_all_folds_stay_as_they_are_and_dropped_candidates_have_gaps():
    one, two = candidate_of(1), candidate_of(2)
    results = entered(2, {0: [one, two], 1: [one]})
    assert results.on_folds_run() is results


def test_folds_that_no_candidate_was_run_on_are_left_out():
    one, two = candidate_of(1), candidate_of(2)
    run = entered(5, {0: [one, two], 2: [one]}).on_folds_run()
    assert run.n_folds == 2
    assert run.n_rows == 10.0
    assert run.complete() == [one]
    np.testing.assert_allclose(run.reported(one), [0.5, 0.7])
    np.testing.assert_allclose(run.reported(two), [0.5, np.nan])


def test_folds_that_leave_no_candidate_with_all_scores_are_left_out_and_candidates_without_a_score_too():
    one, two = candidate_of(1), candidate_of(1, n_prototypes=2)
    run = entered(3, {0: [one], 1: [two]}).on_folds_run()
    assert run.n_folds == 1
    assert list(run.scores) == run.complete() == [one]


# --- error rates -----------------------------------------------------------------------------------------------------


def test_the_least_error_is_that_of_the_best_candidate_on_the_folds_that_it_was_run_on():
    results = results_of({1: [[1, 1, 1, 0], [1, 1, 0, 0]], 2: [[1, 1, 0, 0], [1, 1, 1, 0]]})
    assert results.least_error() == pytest.approx(3 / 8)
    results.enter(1, {candidate_of(3): score_of([1, 1, 1, 1, 0])})
    assert results.least_error() == pytest.approx(1 / 5)


def test_the_least_error_is_1_where_it_is_not_known():
    assert Results(2, 10.0).least_error() == 1.0
    assert entered(2, {0: [candidate_of(1)], 1: [candidate_of(1)]}).least_error() == 1.0


def test_the_least_error_counts_a_row_of_weight_2_as_two_rows():
    problem = build_problem(np.arange(3.0)[:, None], np.array([0, 0, 1]), np.array([2.0, 1.0, 1.0]))
    decision = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])  # the first row is misclassified
    results = Results(1, 4.0)
    results.enter(0, {candidate_of(1): score_fold(None, decision, problem, 4.0)})
    assert results.least_error() == pytest.approx(2 / 4)


# --- choosing --------------------------------------------------------------------------------------------------------


def test_a_candidate_that_is_better_beyond_chance_needs_no_good_neighbours():
    half, nearly, all_rows = [1, 0] * 50, [1] * 93 + [0] * 7, [1] * 100
    correct = {5: [half] * 4, 4: [all_rows] * 4, 3: [half] * 4, 2: [nearly] * 4, 1: [nearly] * 4}
    results = results_of(correct, bonus=0.0)
    assert best(results.smoothed(results.complete())).n_terms == 1
    assert results.choose(results.complete()).n_terms == 4
    results = results_of({**correct, 4: [[*nearly[1:], 1]] * 4}, bonus=0.0)  # by luck: one row more in a hundred
    assert results.choose(results.complete()).n_terms == 1


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8))
def test_smoothing_stays_within_the_scores(values):
    results = Results(1, 10.0)
    for n_terms, value in enumerate(values):
        results.enter(0, {candidate_of(n_terms): FoldScore(reported=value, deciding=value)})
    smoothed = results.smoothed(results.complete())
    assert min(values) - 1e-12 <= min(smoothed.values())
    assert max(smoothed.values()) <= max(values) + 1e-12


def test_among_equals_fewer_prototypes_then_fewer_terms_then_the_larger_alpha_win():
    ranked = [candidate_of(3), candidate_of(3, alpha=0.001), candidate_of(4), candidate_of(1, n_prototypes=2)]
    for place in range(len(ranked)):
        assert best(dict.fromkeys(ranked[place:][::-1], 0.5)) == ranked[place]


def test_several_prototypes_must_beat_one_by_more_than_a_standard_error():
    one, two = candidate_of(2), candidate_of(2, n_prototypes=2)
    base = [1] * 80 + [0] * 20
    for won, lost, chosen in ((3, 2, one), (15, 2, two)):
        results = Results(1, 100.0)
        better = [0] * lost + [1] * (80 - lost + won) + [0] * (20 - won)
        results.enter(0, {one: score_of(base), two: score_of(better)})
        assert results.choose([one, two]) == chosen


def test_one_standard_error_takes_the_fewest_terms_within_it():
    correct = {1: [[1] * 70 + [0] * 30], 2: [[0, 0] + [1] * 88 + [0] * 10], 3: [[1] * 89 + [0] * 11]}
    results = results_of(correct, bonus=0.0)
    every = results.complete()
    assert results.choose(every).n_terms == 3
    assert results.choose(every, one_standard_error=True).n_terms == 2


def test_the_advantage_is_antisymmetric_and_repeated_rows_are_no_new_evidence():
    rng = np.random.default_rng(0)
    correct = {n_terms: (rng.random((2, 50)) < 0.7).tolist() for n_terms in (1, 2)}
    results = results_of(correct, bonus=0.0)
    one, two = results.complete()
    mean, error = results.advantage(one, two)
    assert results.advantage(two, one) == pytest.approx((-mean, error))
    results.n_rows = 50.0  # both folds held out the same 50 rows
    assert results.advantage(one, two) == pytest.approx((mean, error * np.sqrt(2.0)))


def test_scores_that_are_no_mean_over_rows_have_the_standard_error_of_their_folds():
    one, two = candidate_of(1), candidate_of(2)
    results = Results(3, 30.0)
    differences = [0.1, 0.2, 0.6]
    for fold, more in enumerate(differences):
        scores = {one: FoldScore(reported=more, deciding=more), two: FoldScore(reported=0.0, deciding=0.0)}
        results.enter(fold, scores)
    mean, error = results.advantage(one, two)
    assert mean == pytest.approx(0.3)
    assert error == pytest.approx(np.std(differences, ddof=1) / np.sqrt(3))


# --- folds that lack a candidate -------------------------------------------------------------------------------------


def test_only_candidates_with_a_score_on_every_fold_are_complete():
    results = results_of({2: [[1, 0], [1, 1]], 1: [[1, 1], [1, 1]]})
    results.enter(0, {candidate_of(5): score_of([1, 1])})
    assert [candidate.n_terms for candidate in results.complete()] == [2, 1]
    assert np.isnan(results.reported(candidate_of(5))).tolist() == [False, True]
    assert sorted(results.best_of_each_size()) == [1, 2]


@given(st.lists(st.sets(st.integers(0, 6), min_size=1), min_size=1, max_size=5))
def test_a_fold_without_a_model_of_some_size_counts_its_largest_smaller_one(sizes):
    results = Results(len(sizes), 10.0)
    for fold, found in enumerate(sizes):
        results.enter(fold, {candidate_of(n): FoldScore(reported=n, deciding=n) for n in sorted(found)})
    filled = results.with_smaller_models()
    for n_terms in range(7):
        smaller = [max((n for n in found if n <= n_terms), default=None) for found in sizes]
        if None not in smaller and any(n_terms in found for found in sizes):
            assert filled.reported(candidate_of(n_terms)).tolist() == smaller
    assert candidate_of(max(n for found in sizes for n in found)) in filled.complete()
    assert set(results.complete()) <= set(filled.complete())


# --- against training ------------------------------------------------------------------------------------------------


def test_candidates_with_the_same_errors_are_found_row_by_row():
    results = results_of({4: [[1, 0], [1, 1]], 3: [[1, 0], [1, 1]], 2: [[0, 1], [1, 1]], 1: [[0, 0], [1, 1]]})
    chosen = results.choose(results.complete())
    assert chosen.n_terms == 4
    same = results.with_same_errors(chosen)
    assert [candidate.n_terms for candidate in same] == [4, 3]  # 2 is as accurate, on other rows


def test_a_model_that_is_worse_on_its_own_rows_than_on_held_out_rows_is_noticed():
    results = results_of({2: [[1] * 100] * 4})
    (candidate,) = results.complete()
    assert not results.beats_training(candidate, 0.0)
    assert results.beats_training(candidate, 0.04)
    results.enter(0, {candidate: results.scores[candidate][0]._replace(correct=None)})  # not a score of correct rows
    assert not results.beats_training(candidate, 0.04)
