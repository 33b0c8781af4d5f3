"""The race: which families go on, what is run where, and that dropping families leaves the scores of the others."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn._learn.choose import race as racing
from smallearn._learn.choose.families import ALL_ROWS, CandidateModel, Family, RowLimits, Task, list_families
from smallearn._learn.choose.folds import make_folds
from smallearn._learn.choose.race import contenders, count_rows, race, survivors
from smallearn._learn.choose.results import Results
from smallearn._learn.choose.scores import FoldScore, RowScores
from smallearn._learn.data.problem import build_problem
from smallearn._learn.solve.budgets import Budget
from smallearn._learn.solve.support_search import MANY_PROTOTYPES
from smallearn._run.deadline import NEVER, Deadline, enforce

MANY_ALPHAS = [10.0**-power for power in range(1, 9)]


def task_of(seed=0, m=60, n_terms=2, weight=None, limits=ALL_ROWS, noise=0.5, deadline=NEVER):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    y = (X[:, 0] + noise * rng.normal(size=m) > 0.0).astype(int)
    problem = build_problem(X, y, np.ones(m) if weight is None else weight)
    budget = Budget(limit=float(n_terms), pooling="total")
    options = {"scoring": None, "seed": 0, "limits": limits, "deadline": deadline}
    return Task(problem=problem, budget=budget, min_terms=1, max_terms=n_terms, **options)


def folds_of(task, cv):
    return make_folds(task.problem, cv, np.ones(len(task.problem.code), dtype=bool), np.random.RandomState(0))


def families_of(task, alphas=(0.1, 0.01), n_prototypes=(1, 2)):
    options = {"n_prototypes": n_prototypes, "alphas": alphas, "literals": ["raw"], "owners": [1, 0]}
    return list_families(task.problem, task.max_terms, **options)


def test_every_family_of_a_short_list_is_run_until_it_is_out():
    task = task_of()
    families, folds = families_of(task), folds_of(task, 4)
    results = race(task, families, folds, None, -1)
    assert results.n_folds == 4
    so_far, left = Results(4, results.n_rows), families
    for fold in range(4):
        scored = {c: scores[fold] for c, scores in results.scores.items() if scores[fold] is not None}
        left = contenders(so_far, left, fold)
        assert {candidate.family for candidate in scored} == set(left)
        so_far.enter(fold, scored)
    assert 1 <= len(left) < len(families)
    for candidate in results.scores:
        assert candidate.alpha in candidate.family.alphas
        assert 0 <= candidate.n_terms <= task.max_terms
        assert np.nanmax(results.reported(candidate)) <= 1.0 + 1e-12


def test_of_a_long_list_the_best_go_on_and_their_scores_are_those_of_a_race_of_their_own(monkeypatch):
    monkeypatch.setattr(racing, "FIRST_ROWS", 15)
    task = task_of()
    families = families_of(task, alphas=MANY_ALPHAS)
    folds = folds_of(task, 4)
    assert len(families) > racing.AFTER_LOOK
    results = race(task, families, folds, None, -1)
    finished = {candidate.family for candidate in results.complete()}
    assert 1 <= len(finished) <= racing.AFTER_FIRST + racing.AFTER_FIRST // 2
    dropped = [c for c in results.scores if c.family not in finished]
    assert dropped
    assert all(np.isnan(results.reported(candidate)[-1]) for candidate in dropped)
    alone = race(task, sorted(finished, key=families.index), folds, None, -1)
    for candidate in alone.complete():
        np.testing.assert_array_equal(results.reported(candidate), alone.reported(candidate))


def test_folds_without_a_size_in_common_are_still_compared(monkeypatch):
    task = task_of()
    family = Family(literals="raw", n_prototypes=1, owner=1, alphas=(0.01,))
    sizes = iter([1, 2, 0])

    def one_model(_track, family, _look):
        return {CandidateModel(family=family, alpha=0.01, n_terms=next(sizes)): FoldScore(reported=0.5, deciding=0.5)}

    monkeypatch.setattr(racing._Track, "score", one_model)
    results = race(task, [family], folds_of(task, 3), None, -1)
    assert [candidate.n_terms for candidate in results.complete()] == [2]


@given(st.lists(st.tuples(st.integers(1, 3), st.floats(0.0, 1.0)), min_size=1, max_size=15), st.integers(1, 8))
def test_survivors_are_the_best_families_and_some_of_one_prototype(entries, count):
    results = Results(2, 10.0)
    families = [
        Family(literals="raw", n_prototypes=p, owner=1, alphas=(float(place),)) for place, (p, _) in enumerate(entries)
    ]
    for family, (_, score) in zip(families, entries, strict=True):
        candidate = CandidateModel(family=family, alpha=family.alphas[0], n_terms=1)
        results.enter(0, {candidate: FoldScore(reported=score, deciding=score)})
    left = survivors(results, families, count)
    score = dict(zip(families, (score for _, score in entries), strict=True))
    assert left == [family for family in families if family in left]  # in their order
    assert min(count, len(families)) <= len(left) <= count + count // 2
    gone = [family for family in families if family not in left]
    assert all(score[family] <= sorted(score.values())[-count:][0] for family in gone)
    single = sorted((score[f] for f in families if f.n_prototypes == 1), reverse=True)[: count // 2]
    assert sum(f.n_prototypes == 1 for f in left) >= len(single)


@pytest.mark.parametrize(("weight", "expected"), [(2.0, 120.0), (0.5, 60.0), (1e9, 60.0)])
def test_weights_count_rows_if_they_are_whole_and_not_too_many(weight, expected):
    problem = task_of(weight=np.full(60, weight)).problem
    assert count_rows(problem, problem) == expected


@pytest.mark.parametrize("limits", [ALL_ROWS, RowLimits(30, 30, 30), RowLimits(20, 30, 30)], ids=str)
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_scores_and_their_order_are_the_same_bit_for_bit_for_any_number_of_processes(n_jobs, limits, monkeypatch):
    monkeypatch.setattr(racing, "FIRST_ROWS", 15)
    monkeypatch.setattr(racing, "MOST_HELD_OUT", 12)
    task = task_of(limits=limits)
    families = families_of(task, alphas=MANY_ALPHAS)
    folds = folds_of(task, 4)
    one, several = (race(task, families, folds, jobs, -1) for jobs in (1, n_jobs))
    assert list(one.scores) == list(several.scores)
    for candidate, scores in one.scores.items():
        for a, b in zip(scores, several.scores[candidate], strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                assert (a.reported, a.deciding) == (b.reported, b.deciding)
                np.testing.assert_array_equal(a.rows.score, b.rows.score)


class Calls:
    """Looks at and trains families as the race does, and notes each call."""

    def __init__(self, monkeypatch):
        self.looks, self.trained = [], []
        for name, calls in (("look_at_family", self.looks), ("train_family", self.trained)):
            monkeypatch.setattr(racing, name, self._noted(getattr(racing, name), calls))

    @staticmethod
    def _noted(real, calls):
        def call(task, training, family, *arguments, **options):
            calls.append((family, len(training.problem.code), options.get("thorough", False)))
            return real(task, training, family, *arguments, **options)

        return call


def test_a_fold_trains_on_a_sample_and_is_scored_on_a_sample_of_the_held_out_rows(monkeypatch):
    monkeypatch.setattr(racing, "MOST_HELD_OUT", 12)
    task = task_of(m=200, limits=RowLimits(first=40, folds=40, search=40))
    calls = Calls(monkeypatch)
    results = race(task, families_of(task, alphas=[0.01], n_prototypes=[1]), folds_of(task, 4), None, -1)
    assert len(calls.trained) == 4
    assert all(36 <= rows <= 50 for _, rows, _ in calls.trained)
    for scores in results.scores.values():
        assert all(10 <= len(score.rows.score) <= 15 for score in scores)
        assert all(score.rows.n_rows == pytest.approx(50.0) for score in scores)  # the sample stands for all of them


def test_the_best_families_are_compared_anew_on_more_rows(monkeypatch):
    monkeypatch.setattr(racing, "FIRST_ROWS", 50)
    task = task_of(m=200, limits=RowLimits(first=40, folds=100, search=100))
    families, folds = families_of(task, alphas=MANY_ALPHAS), folds_of(task, 4)
    calls = Calls(monkeypatch)
    results = race(task, families, folds, None, -1)
    assert [family for family, _, _ in calls.looks] == families  # one fold has as many rows as the first folds need
    assert all(36 <= rows <= 50 for _, rows, _ in calls.looks)
    few = [family for family, rows, _ in calls.trained if rows <= 50]
    many = [family for family, rows, _ in calls.trained if 90 <= rows <= 120]
    assert len(few) + len(many) == len(calls.trained)
    assert set(many) < set(few) < set(families)
    assert len(few) == len(set(few)) <= racing.AFTER_LOOK + racing.AFTER_LOOK // 2
    assert len(set(many)) <= racing.AFTER_FIRST + racing.AFTER_FIRST // 2
    assert {candidate.family for candidate in results.scores} == set(many)  # no score is of few rows
    assert not any(thorough for _, _, thorough in calls.trained)


def test_where_hardly_a_row_is_misclassified_all_families_left_are_run_thoroughly_on_all_folds(monkeypatch):
    monkeypatch.setattr(racing, "FIRST_ROWS", 50)
    monkeypatch.setattr(racing, "TELLING_ROWS", 100)
    task = task_of(m=200, limits=RowLimits(first=60, folds=60, search=60), noise=0.0)
    families, folds = families_of(task, alphas=MANY_ALPHAS), folds_of(task, 4)
    calls = Calls(monkeypatch)
    results = race(task, families, folds, None, -1)
    first = [family for family, _, thorough in calls.trained if not thorough]
    again = [(family, rows) for family, rows, thorough in calls.trained if thorough]
    assert racing.AFTER_FIRST + racing.AFTER_FIRST // 2 < len(first) == len(set(first)) < len(families)
    assert Counter(family for family, _ in again) == Counter(4 * first)
    assert all(90 <= rows <= 120 for _, rows in again)
    assert {candidate.family for candidate in results.complete()} == set(first)


# --- when time is up -------------------------------------------------------------------------------------------------


COMPARISON = "the comparison of models"


class Countdown(Deadline):
    """A deadline that has passed once so many parts of the race have ended."""

    def __init__(self, n_parts):
        super().__init__(1e6)
        self.n_parts = n_parts

    def passed(self):
        return self.n_parts <= 0

    def stops(self, work):
        self.n_parts -= work == COMPARISON
        return super().stops(work)


def race_for(n_parts, **options):
    """A race of three families on four folds that ends when so many (fold, family) are done; what was cut short."""
    with enforce(Countdown(n_parts)) as deadline:
        task = task_of(deadline=deadline, **options)
        families = families_of(task, alphas=[0.01])
        assert len(families) == 3
        return race(task, families, folds_of(task, 4), None, -1), deadline.cut_short


@pytest.mark.parametrize(("n_parts", "n_folds"), [(1, 1), (3, 1), (6, 2)])
def test_when_time_is_up_the_scores_are_of_fewer_folds(n_parts, n_folds):
    results, cut_short = race_for(n_parts)
    assert cut_short == [COMPARISON]
    assert results.n_folds == n_folds
    whole, _ = race_for(1000)
    assert whole.n_folds == 4
    for candidate in results.complete():
        np.testing.assert_array_equal(results.reported(candidate), whole.reported(candidate)[:n_folds])


@pytest.mark.parametrize("n_parts", [4, 5])
def test_a_fold_that_was_not_finished_does_not_decide_for_the_families_that_were_run_on_it(n_parts):
    results, _ = race_for(n_parts)
    assert results.n_folds == 1
    assert len({candidate.family for candidate in results.complete()}) == 3


def test_when_time_is_up_during_the_quick_look_one_family_at_least_is_trained(monkeypatch):
    monkeypatch.setattr(racing, "FIRST_ROWS", 15)
    with enforce(Countdown(1)) as deadline:
        task = task_of(deadline=deadline)
        results = race(task, families_of(task, alphas=MANY_ALPHAS), folds_of(task, 4), None, -1)
    assert COMPARISON in deadline.cut_short
    assert results.n_folds == 1
    assert results.complete()


# --- who goes on after some folds ------------------------------------------------------------------------------------


def family_of(n_prototypes=1, alpha=0.1):
    return Family(literals="raw", n_prototypes=n_prototypes, owner=1, alphas=(alpha,))


def results_of(scores, n_folds=5, m=100):
    """Results in which each family has one candidate model: its mean score on the first folds, and how even it is."""
    results = Results(n_folds, float(m * n_folds))
    for family, (mean, spread, count) in scores.items():
        candidate = CandidateModel(family=family, alpha=family.alphas[0], n_terms=1)
        for fold in range(count):
            each = mean + spread * np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
            rows = RowScores(score=each, weight=np.full(m, 1.0 / m), n_rows=float(m))
            results.enter(fold, {candidate: FoldScore(reported=mean, deciding=mean, rows=rows)})
    return results


def test_after_one_fold_nobody_is_out_and_families_of_many_prototypes_stay_for_more():
    good, bad, many = family_of(1, 0.1), family_of(1, 0.01), family_of(MANY_PROTOTYPES)
    every = [good, bad, many]
    for n_folds, left in ((1, every), (2, [good, many]), (3, [good, many]), (4, [good])):
        results = results_of({good: (0.9, 0.0, n_folds), bad: (0.1, 0.0, n_folds), many: (0.1, 0.0, n_folds)})
        assert contenders(results, every, n_folds) == left


def test_a_family_that_is_behind_beyond_chance_is_out():
    leader, near, far = family_of(1, 0.1), family_of(1, 0.01), family_of(1, 0.001)
    # The scores of 300 rows differ by 0 or 0.4 from those of the leader: the standard error is 0.2/√300, about 0.012.
    results = results_of({leader: (0.9, 0.0, 3), near: (0.89, 0.2, 3), far: (0.85, 0.2, 3)})
    assert contenders(results, [far, near, leader], 3) == [near, leader]


def test_several_prototypes_are_out_if_they_are_behind_the_best_single_one():
    single, behind, ahead = family_of(1), family_of(2), family_of(3)
    results = results_of({single: (0.9, 0.0, 3), behind: (0.899, 0.2, 3), ahead: (0.901, 0.2, 3)})
    assert contenders(results, [single, behind, ahead], 3) == [single, ahead]
    results = results_of({single: (0.9, 0.0, 3), ahead: (0.9 + 1e-15, 0.0, 3)})
    assert contenders(results, [single, ahead], 3) == [single]  # equal but for rounding is not ahead
    results = results_of({behind: (0.899, 0.0, 3), ahead: (0.901, 0.2, 3)})
    assert contenders(results, [behind, ahead], 3) == [behind, ahead]  # no single one to beat


def test_a_family_without_a_model_on_all_folds_so_far_is_out_unless_all_are():
    whole, gap = family_of(1, 0.1), family_of(1, 0.01)
    assert contenders(results_of({whole: (0.5, 0.0, 3), gap: (0.9, 0.0, 2)}), [whole, gap], 3) == [whole]
    assert contenders(results_of({whole: (0.5, 0.0, 2), gap: (0.9, 0.0, 2)}), [whole, gap], 3) == [whole, gap]
