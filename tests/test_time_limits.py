"""Time limits: the best model so far when time is up, with a warning that says what was cut short."""

import re
import time
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

from smallearn import SMaLLClassifier, SMaLLClassifierCV, frontier
from smallearn._run import deadline as deadlines


@pytest.fixture
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :6], y


class Clock:
    """A clock that goes on by a second whenever it is read."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        self.now += 1.0
        return self.now


def fit_within(monkeypatch, seconds, clf, X, y):
    """Fit as if every question for the time took a second. Returns what was cut short."""
    monkeypatch.setattr(deadlines, "time", Clock())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.set_params(time_limit=seconds).fit(X, y)
    messages = [str(warning.message) for warning in caught if "Time was up" in str(warning.message)]
    if not messages:
        return []
    assert len(messages) == 1
    return re.fullmatch(r"Time was up after \d+ seconds\. Cut short: (.*?)\. The result .*", messages[0])[1].split(", ")


# --- one model -------------------------------------------------------------------------------------------------------


def test_with_more_time_the_model_and_its_bound_are_never_worse(monkeypatch, cancer):
    clf = SMaLLClassifier(2, 2, 1e-3, assignment="auto", n_init=3, local_search=True, random_state=0)
    whole = SMaLLClassifier(**clf.get_params()).fit(*cancer)
    objectives = []
    for seconds in (0, 3, 6, 12, 24, 1000):
        fit_within(monkeypatch, seconds, clf, *cancer)
        assert 0.0 <= clf.lower_bound_ <= clf.objective_
        objectives.append(clf.objective_)
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[0] > objectives[-1] == whole.objective_


@pytest.mark.parametrize(
    ("parameters", "cut"),
    [
        ({"n_prototypes": 1}, ["the relaxation"]),
        ({"n_prototypes": 1, "solver": "mirror-prox"}, ["the relaxation"]),
        ({"n_prototypes": 1, "certify": True}, ["the relaxation", "the proof"]),
        ({"n_prototypes": 1, "local_search": True}, ["the relaxation", "the swaps of terms"]),
        ({"n_prototypes": 2}, ["the relaxation", "the reassignment of rows"]),
        ({"n_prototypes": 2, "reassign": False}, ["the relaxation"]),
        (
            {"n_prototypes": 2, "reassign": False, "n_init": 2, "assignment": "random"},
            ["the comparison of starts", "the relaxation"],
        ),
        ({"n_prototypes": 2, "reassign": False, "positive_class": "auto"}, ["the relaxation", "further starts"]),
    ],
)
def test_a_warning_names_what_was_cut_short_and_nothing_else(monkeypatch, cancer, parameters, cut):
    clf = SMaLLClassifier(n_nonzero=2, random_state=0, **parameters)
    assert fit_within(monkeypatch, 0, clf, *cancer) == cut
    assert not clf.model_.training.certified
    assert fit_within(monkeypatch, 10**9, clf, *cancer) == []


@pytest.mark.parametrize(
    "parameters",
    [
        {"literals": "both", "alpha": 1e-4, "tol": 1e-8},
        {"solver": "mirror-prox", "tol": 1e-8},
        {"literals": "both", "assignment": "auto", "n_init": 4},
    ],
)
def test_a_fit_ends_within_the_limit_though_one_relaxation_takes_longer(parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 30))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=20_000) > 0.0
    clf = SMaLLClassifier(2, 5, random_state=0, **parameters).fit(X[:200], y[:200])  # compiles
    clf.set_params(time_limit=0.4)
    begin = time.process_time()  # not the wall clock, which goes on while other processes run
    with pytest.warns(ConvergenceWarning, match=r"Time was up .* Cut short: .*the relaxation") as caught:
        clf.fit(X, y)
    assert time.process_time() - begin < 0.8
    assert len(caught) == 1
    assert 0.0 <= clf.lower_bound_ <= clf.objective_
    assert clf.score(X, y) > 0.6


def test_a_limit_that_is_not_reached_changes_nothing(cancer):
    fits = [SMaLLClassifier(2, 2, time_limit=limit, random_state=0).fit(*cancer) for limit in (None, 1e6)]
    assert fits[0].model_ == fits[1].model_


def test_the_proof_ends_within_the_limit_of_the_whole_fit():
    X, y = load_breast_cancer(return_X_y=True)
    clf = SMaLLClassifier(2, 4, 1e-3, literals="both", certify=True, time_limit=0.5, random_state=0)
    begin = time.monotonic()
    with pytest.warns(ConvergenceWarning, match=r"Time was up after 0\.5 seconds\. Cut short: .*the proof\."):
        clf.fit(X, y)
    assert time.monotonic() - begin < 30.0  # far from what the proof would take
    assert not clf.model_.training.certified
    assert clf.lower_bound_ < clf.objective_


def test_the_warning_points_to_the_call_of_fit(cancer):
    with pytest.warns(ConvergenceWarning, match="Time was up") as caught:
        SMaLLClassifier(2, 2, time_limit=0.0, random_state=0).fit(*cancer)
    assert caught[0].filename == __file__


# --- a chosen model --------------------------------------------------------------------------------------------------


def small_selection():
    return SMaLLClassifierCV(2, n_prototypes=1, alphas=(0.01,), literals="raw", cv=2, random_state=0)


def test_when_time_is_up_a_selection_still_has_a_model_and_names_the_certificate_as_cut_short(monkeypatch, cancer):
    clf = small_selection().set_params(certificate=True)
    assert "the certificate" in fit_within(monkeypatch, 0, clf, *cancer)
    assert clf.model_.training.lower_bound is None
    assert not hasattr(clf, "lower_bound_")
    assert len(clf.model_.terms) <= 2
    assert fit_within(monkeypatch, 10**9, clf, *cancer) == []
    assert hasattr(clf, "lower_bound_")


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("budget", [{}, {"budget": "prototype"}, {"feature_costs": [3, 1, 1, 1, 1, 1], "max_cost": 2}])
def test_with_hardly_any_time_a_selection_gives_a_model_within_its_budget_and_warns(cancer, budget, n_jobs):
    clf = SMaLLClassifierCV(4, cut_points=3, time_limit=1e-9, n_jobs=n_jobs, random_state=0, **budget)
    with pytest.warns(
        ConvergenceWarning, match=r"Time was up after 1e-09 seconds\. Cut short: .*the comparison of models"
    ):
        clf.fit(*cancer)
    terms = clf.model_.terms
    assert 1 <= len(terms) <= 4
    if "max_cost" in budget:
        assert sum({term.feature: budget["feature_costs"][term.feature] for term in terms}.values()) <= 2
    assert clf.score(*cancer) > 0.8
    assert np.isfinite(clf.best_score_)


def n_folds_of(clf):
    return len([name for name in clf.cv_results_ if name.startswith("split")])


def test_a_limit_that_cuts_the_comparison_short_leaves_scores_of_fewer_folds(monkeypatch, cancer):
    clf = small_selection().set_params(cv=4)
    assert fit_within(monkeypatch, 10**9, clf, *cancer) == []
    assert n_folds_of(clf) == len(clf.model_.selection.scores) == 4
    whole = dict(clf.cv_results_)
    assert "the comparison of models" in fit_within(monkeypatch, 0, clf, *cancer)
    assert n_folds_of(clf) == len(clf.model_.selection.scores) == 1
    counts = []
    for seconds in range(0, 150, 3):
        fit_within(monkeypatch, seconds, clf, *cancer)
        counts.append(n_folds_of(clf))
    assert counts == sorted(counts)
    assert {1, 2, 3, 4} <= set(counts)
    for fold in range(4):  # with time for all folds, all is as without a limit
        np.testing.assert_array_equal(clf.cv_results_[f"split{fold}_test_score"], whole[f"split{fold}_test_score"])


def test_a_certificate_that_nobody_asked_for_is_not_cut_short(monkeypatch, cancer):
    assert "the certificate" not in fit_within(monkeypatch, 0, small_selection().set_params(certificate=False), *cancer)


def test_a_selection_within_its_limit_is_as_it_would_be_without(cancer):
    fits = [small_selection().set_params(time_limit=limit).fit(*cancer) for limit in (None, 1e6)]
    assert fits[0].model_ == fits[1].model_


def test_the_frontier_has_the_same_limit(cancer):
    parameters = small_selection().get_params() | {"certificate": True, "time_limit": 0.0}
    del parameters["max_terms"]
    with pytest.warns(ConvergenceWarning, match="Time was up after 0 seconds") as caught:
        points = frontier(*cancer, 2, **parameters)
    assert caught[0].filename == __file__
    assert points[0].n_terms == 1


@pytest.mark.parametrize("limit", [-1.0, np.nan, np.inf, "60", True])
def test_a_limit_is_a_number_of_seconds(cancer, limit):
    for clf in (SMaLLClassifier(time_limit=limit), SMaLLClassifierCV(time_limit=limit)):
        with pytest.raises(ValueError, match=r"^time_limit=.* is not a number from 0 to .* \(seconds\)"):
            clf.fit(*cancer)


# --- interrupted -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "solver"),
    [
        (lambda: SMaLLClassifier(2, 2, random_state=0), "smallearn._learn.solve.rounding.refit"),
        (small_selection, "smallearn._learn.search_kernels.fit_entries"),
    ],
)
@pytest.mark.parametrize("fitted", [False, True])
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(monkeypatch, cancer, make, solver, fitted):
    (X, y), clf = cancer, make()
    if fitted:
        clf.fit(X, y)
    before = dict(vars(clf))

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    for function in (solver, "smallearn._learn.assemble._weights", "smallearn._base.remember_rows"):
        with monkeypatch.context() as patched:
            patched.setattr(function, interrupt)
            with pytest.raises(KeyboardInterrupt):
                clf.fit(X[:, :4], np.where(y, "b", "a"))
        assert list(vars(clf)) == list(before)
        assert all(vars(clf)[name] is before[name] for name in before)
