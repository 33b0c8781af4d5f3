"""Hostile parameters, assignments and weights, and failed fits: refused by name, and nothing is lost."""

import linecache
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from smallearn import SMaLLClassifier
from smallearn._learn.solve.solvers import SOLVERS
from tests.helpers.hostile import (
    X3,
    Y3,
    X,
    Y,
    both,
    check_refused,
    classifier,
    dense_or_sparse,
    fit_and_check,
    spoiled,
)

# --- parameters ------------------------------------------------------------------------------------------------------

NO_COUNT = [0, -1, 2.5, 2.0, True, "3", np.nan, np.inf, [2]]
NO_SWITCH = [0, 1, None, "yes", 1.0]
WRONG = {
    "n_prototypes": [*NO_COUNT, None],
    "n_nonzero": NO_COUNT,
    "max_iter": [*NO_COUNT, None],
    "alpha": [0, 0.0, -1, True, "3", np.nan, np.inf, None, 1e-11, 1e11, 1j, [0.1]],
    "tol": [-1, -1e-9, True, "3", np.nan, np.inf, 1.5, 1j, [0.1]],
    "reassign": [-1, 2.5, "yes", None, np.nan, [1]],
    "refit_support": NO_SWITCH,
    "fit_intercept": NO_SWITCH,
    "standardize": NO_SWITCH,
    "solver": ["newton", "Accelerated", "", None, 1, ["accelerated"], np.array(["accelerated"])],
    "solver_options": [3, [], "average", True],
    "assignment": ["k-means", "", "tree"],
    "positive_class": [2, "1", "yes", -1, np.nan, 0.5, [1], np.array([0, 1]), np.array([1])],
    "class_weight": ["auto", 3, [1.0, 2.0]],
    "decision_threshold": [0, 1, 0.0, 1.0, -0.1, 1.5, True, "best", None, np.nan, [0.5]],
    "n_jobs": ["a", 2.5, 0, True, np.nan, [1]],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in WRONG.items() for value in values],
    ids=lambda part: part if isinstance(part, str) else repr(part),
)
def test_a_wrong_parameter_is_refused_with_its_name_and_value(name, value):
    check_refused(f"^{name}={re.escape(repr(value))} ", **{name: value})


@pytest.mark.parametrize(
    ("parameters", "hint"),
    [
        ({"n_nonzero": 0}, "None means every feature may be used"),
        ({"tol": -1.0}, "None means to run max_iter iterations"),
        ({"alpha": 0.0}, r"from 1e-10 to 1e\+10"),
        ({"solver": "sgd"}, "not one of 'accelerated', 'mirror-prox'"),
        ({"assignment": "tree"}, "'kmeans', 'splits', 'random', 'auto' or an array"),
        ({"positive_class": 2}, r"not one of \[0, 1\], None, 'auto' or 'both'"),
        ({"class_weight": "auto"}, "neither None, 'balanced' nor a dict"),
        ({"solver_options": 3}, "not a dict or None"),
        ({"n_jobs": 0}, "not None or an integer other than 0"),
        ({"random_state": "first"}, "not None, a whole number from 0 to 4294967295 or a numpy.random.RandomState"),
        ({"random_state": -1}, "not None, a whole number from 0"),
        ({"random_state": np.random.default_rng(0)}, "or a numpy.random.RandomState"),
    ],
)
def test_a_refusal_says_what_is_allowed(parameters, hint):
    check_refused(hint, **parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_prototypes": np.int8(2)},
        {"n_nonzero": None},
        {"n_nonzero": 10**30},
        {"n_nonzero": np.int64(1)},
        {"alpha": 1e-10},
        {"alpha": 1e10},
        {"alpha": np.float32(0.1)},
        {"alpha": 1},
        {"tol": 1.0},
        {"tol": None, "max_iter": 20},
        {"max_iter": 10**30},
        {"reassign": 0},
        {"reassign": 1},
        {"reassign": np.True_},
        {"fit_intercept": np.False_},
        {"positive_class": "auto"},
        {"positive_class": np.int64(0)},
        {"class_weight": {}},
        {"class_weight": {0: 0.0}},
        {"class_weight": {1: 5}},
        {"class_weight": "balanced"},
        {"solver_options": {}},
        {"refit_support": False},
        {"standardize": False},
        {"n_jobs": 2},
        {"random_state": np.uint32(2**32 - 1)},
    ],
    ids=repr,
)
def test_every_allowed_extreme_works(parameters):
    fit_and_check(X, Y, **parameters)


@pytest.mark.parametrize("random_state", [np.random.RandomState(0), np.random], ids=["RandomState", "numpy.random"])
def test_generators_of_numpy_are_allowed(random_state):
    fit_and_check(X, Y, n_prototypes=2, random_state=random_state)


@pytest.mark.parametrize("max_iter", [1, 2])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_solver_that_stops_short_warns_and_keeps_the_promises(solver, max_iter):
    message = rf"{solver} solver stopped .*max_iter={max_iter}\b.* short of tol=1e-09"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        clf = classifier(solver=solver, max_iter=max_iter, tol=1e-9).fit(X, Y)
    assert [warning.filename for warning in caught] == [__file__]
    assert clf.duality_gap_ > 1e-9
    with pytest.warns(ConvergenceWarning):
        fit_and_check(X, Y, solver=solver, max_iter=max_iter, tol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"geometry": "entropy"},
            r"solver_options has \['geometry'\].*solver='accelerated' does not know; it takes none",
        ),
        ({"step_sizes": "adaptive", "momentum": 1}, r"solver_options has \['step_sizes', 'momentum'\].*'accelerated'"),
        ({1: 2, "a": 3}, r"solver_options has \[1, 'a'\].*'accelerated'"),
    ],
)
def test_the_accelerated_solver_takes_no_options(options, message):
    check_refused(message, solver="accelerated", solver_options=options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"momentum": 1}, r"solver_options has \['momentum'\].*'mirror-prox'.*it takes geometry, step_sizes, average"),
        ({"Geometry": "entropy"}, r"solver_options has \['Geometry'\]"),
        ({1: 2, "a": 3}, r"solver_options has \[1, 'a'\].*'mirror-prox'"),
        *(
            (
                {"geometry": geometry},
                f"solver_options: geometry={re.escape(repr(geometry))} is neither 'entropy' nor 'euclidean'",
            )
            for geometry in ("hyperbolic", None, 1, ["entropy"])
        ),
        *(
            ({"average": average}, f"solver_options: average={average!r} is not True or False")
            for average in ("no", None, 1, 0.5)
        ),
        *(
            (
                {"step_sizes": steps},
                f"solver_options: step_sizes={re.escape(repr(steps))} is neither 'adaptive' nor a pair of positive",
            )
            for steps in [
                *("constant", "", None, 0.1, (0.1,), (0.1, 0.1, 0.1), (), (0.0, 0.1), (0.1, -0.1), (np.nan, 0.1)),
                *((0.1, np.inf), ("0.1", "0.1"), (None, 0.1), (1j, 0.1), {"alpha": 0.1, "beta": 0.1}),
                *((True, 1), (1, True)),
            ]
        ),
    ],
)
def test_mirror_prox_refuses_options_that_it_does_not_know(options, message):
    check_refused(message, solver="mirror-prox", solver_options=options)


@pytest.mark.parametrize("geometry", ["entropy", "euclidean"])
@pytest.mark.parametrize(
    "step_sizes", ["adaptive", (0.01, 0.001), [1e-3, 1], (1e-300, 1e-300), (1e300, 1e300)], ids=str
)
@pytest.mark.parametrize("average", [True, False])
def test_mirror_prox_keeps_the_promises_whatever_its_steps(geometry, step_sizes, average):
    options = {"geometry": geometry, "step_sizes": step_sizes, "average": average}
    fit_and_check(X, Y, solver="mirror-prox", solver_options=options, tol=None, max_iter=30)


# --- assignment, orientation, weights --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        (np.zeros(59, dtype=int), r"assignment has shape \(59,\).*one integer for each of the 60 rows"),
        (np.zeros(61, dtype=int), r"assignment has shape \(61,\)"),
        (np.zeros((60, 1), dtype=int), r"assignment has shape \(60, 1\)"),
        ([], r"assignment has shape \(0,\)"),
        (0, r"assignment has shape \(\)"),
        (None, "assignment has shape .* type object"),
        (np.zeros(60), "assignment has .* type float64"),
        (np.zeros(60, dtype=bool), "assignment has .* type bool"),
        (["0"] * 60, "assignment has .* type <U1"),
        (np.full(60, 2), r"assignment has prototype indices from 2 to 2 .* must lie in 0\.\.1"),
        (np.full(60, -1), r"assignment has prototype indices from -1 to -1 .* must lie in 0\.\.1"),
        (np.arange(60), r"assignment has prototype indices .* must lie in 0\.\.1"),
    ],
)
def test_an_assignment_that_does_not_fit_is_refused(assignment, message):
    check_refused(message, assignment=assignment)


@both
def test_an_assignment_in_range_works_and_may_leave_a_prototype_empty(X, y):
    for start in (np.zeros(60, dtype=int), (np.arange(60) % 2).tolist(), np.ones(60, dtype=np.uint8)):
        fit_and_check(X, y, assignment=start)


def test_an_assignment_is_ignored_where_the_class_owns_no_prototype():
    start = np.where(Y == 1, np.arange(60) % 2, -99)
    clf = fit_and_check(X, Y, assignment=start, reassign=False)
    same = fit_and_check(X, Y, assignment=np.where(Y == 1, start, 0), reassign=False)
    np.testing.assert_array_equal(clf.prototypes_, same.prototypes_)
    check_refused("assignment has prototype indices from -99 to -99", assignment=start, positive_class=0)


@pytest.mark.parametrize("positive_class", [0, "auto", 7])
def test_with_three_classes_all_own_prototypes_so_that_positive_class_is_refused(positive_class):
    check_refused(
        f"positive_class={positive_class!r} is for two classes, but y has 3.*leave it None",
        X=X3,
        y=Y3,
        positive_class=positive_class,
    )


@pytest.mark.parametrize("n_prototypes", [23, 1000])
@pytest.mark.parametrize("reassign", [True, False])
def test_more_prototypes_than_rows_warns_and_takes_as_many_as_there_are_rows(n_prototypes, reassign):
    few = int(Y.sum())
    assert few < n_prototypes
    with pytest.warns(UserWarning, match=rf"n_prototypes={n_prototypes}, but class 1 has .*\b{few}\b"):
        clf = fit_and_check(X, Y, n_prototypes=n_prototypes, reassign=reassign)
    assert len(clf.prototypes_) <= few
    if not reassign:
        assert len(clf.prototypes_) == few


@pytest.mark.parametrize(
    ("X", "y", "positive_class", "n_warnings"),
    [(X, Y, None, 1), (X, Y, 0, 1), (X, Y, "auto", 2), (X3, Y3, None, 3)],
    ids=["greater label", "lesser label", "auto", "three classes"],
)
def test_the_warning_of_too_few_rows_points_at_the_line_that_calls_fit(X, y, positive_class, n_warnings):
    X, y = X[:12], y[:12]
    clf = classifier(n_prototypes=13, positive_class=positive_class, reassign=False)
    with pytest.warns(UserWarning, match="n_prototypes=13") as caught:
        clf.fit(X, y)
    assert [warning.filename for warning in caught] == [__file__] * n_warnings
    assert {linecache.getline(__file__, warning.lineno).strip() for warning in caught} == {"clf.fit(X, y)"}


def test_with_three_classes_every_class_short_of_rows_is_warned_of():
    kept = np.concatenate([np.flatnonzero(label == Y3)[:count] for label, count in enumerate([2, 3, 20])])
    with pytest.warns(UserWarning, match="n_prototypes=4") as caught:
        clf = fit_and_check(X3[kept], Y3[kept], n_prototypes=4, reassign=False)
    for warning, words in zip(caught, (r"class 0 has .*\b2\b", r"class 1 has .*\b3\b"), strict=True):
        assert re.search(words, str(warning.message))
    assert np.bincount(clf.prototype_classes_).tolist() == [2, 3, 4]


def test_two_rows_are_enough():
    rows = np.unique(Y, return_index=True)[1]
    clf = fit_and_check(X[rows], Y[rows], n_prototypes=1)
    assert clf.predict(X[rows]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({2: 1.0}, r"class_weight names \[2\], not among the classes \[0, 1\]"),
        ({"0": 1.0, 1: 1.0}, r"class_weight names \['0'\]"),
        ({0: 1.0, 1: -0.5}, r"^class_weight gives class 1 the weight -0\.5, not a finite number of 0 or more"),
        *(
            (
                {0: bad},
                f"^class_weight gives class 0 the weight {re.escape(repr(bad))}, not a finite number of 0 or more",
            )
            for bad in (-1.0, np.nan, np.inf, None, "2", "heavy", True, [2.0], 1j)
        ),
        ({0: 0.0, 1: 0.0}, "^sample_weight sums to 60, and times class_weight to 0; both sums must be positive"),
    ],
)
def test_class_weights_that_mean_nothing_are_refused(class_weight, message):
    check_refused(message, class_weight=class_weight)


@pytest.mark.parametrize(
    ("sample_weight", "message"),
    [
        (np.where(np.arange(60) == 5, -0.5, 1.0), r"sample_weight has a negative entry \(-0\.5\)"),
        (np.ones(59), r"sample_weight has shape \(59,\); it must have one number for each of the 60 rows"),
        (np.ones((60, 1)), r"sample_weight has shape \(60, 1\)"),
        (np.ones((60, 2)), r"sample_weight has shape \(60, 2\)"),
        (5.0, "^sample_weight must have one finite number for each row: .*scalar"),
        (np.zeros(60), "Every sample_weight is zero"),
        ((Y == 1).astype(float), "y has one class, 1, among the rows of positive weight"),
        (np.full(60, np.nan), "sample_weight contains NaN"),
        (np.full(60, np.inf), "sample_weight contains infinity"),
        (["heavy"] * 60, "^sample_weight must have .*'heavy'"),
        ("heavy", "^sample_weight must have .*'heavy'"),
        ([], r"^sample_weight must have .*0 sample\(s\)"),
    ],
    ids=[
        *("negative", "short", "2-D", "wide", "number", "zero", "one class", "NaN", "infinity", "text", "one text"),
        "empty",
    ],
)
def test_sample_weights_that_mean_nothing_are_refused(sample_weight, message):
    check_refused(message, sample_weight=sample_weight)


@pytest.mark.parametrize(
    ("sample_weight", "class_weight", "sums"),
    [
        (1e308, None, ("inf", "inf")),
        (1e308, "balanced", ("inf", "nan")),
        (1e308, {0: 1e-308, 1: 1e-308}, ("inf", "60")),
        (1.0, {0: 1e308, 1: 1e308}, ("60", "inf")),
        (1.0, {1: 1e308}, ("60", "inf")),
        (1e200, {0: 1e200}, ("6e+201", "inf")),
        (1e308, {0: 1e308, 1: 1e308}, ("inf", "inf")),
    ],
)
def test_weights_whose_sum_overflows_are_refused_with_the_sums(sample_weight, class_weight, sums):
    message = f"^sample_weight sums to {re.escape(sums[0])}, and times class_weight to {sums[1]}; .*finite"
    check_refused(message, sample_weight=np.full(60, sample_weight), class_weight=class_weight)


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200, 1e300])
def test_only_the_ratio_of_sample_weights_matters(scale):
    plain = fit_and_check(X, Y)
    clf = fit_and_check(X, Y, sample_weight=np.full(60, scale))
    assert clf.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_array_equal(clf.predict(X), plain.predict(X))


@dense_or_sparse
def test_rows_of_weight_zero_count_for_nothing_in_any_check(convert):
    extreme = X.copy()
    extreme[0] = 1e305
    weight = np.ones(60)
    weight[0] = 0.0
    clf = fit_and_check(convert(X), Y, sample_weight=weight)
    same = classifier().fit(convert(extreme), Y, sample_weight=weight)
    np.testing.assert_array_equal(clf.prototypes_, same.prototypes_)


# --- the certificate -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_nonzero", [1, 2, None])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_lower_bound_never_exceeds_the_objective_not_even_by_rounding(n_classes, n_nonzero):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(30, 3))
        y = np.append(np.arange(n_classes), rng.integers(n_classes, size=30 - n_classes))
        alpha = float(10.0 ** rng.integers(-3, 2))
        clf = classifier(n_prototypes=1, n_nonzero=n_nonzero, alpha=alpha, tol=1e-10).fit(rows, y)
        assert clf.lower_bound_ <= clf.objective_
        assert clf.optimality_gap_ >= 0.0
        assert clf.model_.training.lower_bound <= clf.model_.training.objective
        assert clf.model_.training.optimality_gap >= 0.0


# --- a failed fit ----------------------------------------------------------------------------------------------------

TABLE = pd.DataFrame(X, columns=["a", "b", "c", "d"])
OTHERS = {
    "the same table": TABLE,
    "other width": TABLE[["a", "b", "c"]],
    "other names": TABLE.rename(columns={"a": "z"}),
    "other order": TABLE[["d", "c", "b", "a"]],
    "no names": X,
    "no names and other width": X[:, :2],
}
FAILURES = {
    "one class": ({}, np.zeros(60)),
    "bad positive_class": ({"positive_class": 7}, Y),
    "bad class_weight": ({"class_weight": {7: 1.0}}, Y),
    "bad assignment": ({"assignment": [9] * 60}, Y),
}


@pytest.mark.parametrize(("parameters", "y"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_a_failed_fit_on_another_table_leaves_the_earlier_width_and_names(other, parameters, y):
    clf = classifier().fit(TABLE, Y)
    model, probability, predicted = clf.model_, clf.predict_proba(TABLE), clf.predict(TABLE)
    with pytest.raises(ValueError):
        clf.set_params(**parameters).fit(other, y)
    assert clf.n_features_in_ == 4
    assert clf.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert clf.model_ is model
    np.testing.assert_array_equal(clf.predict_proba(TABLE), probability)
    np.testing.assert_array_equal(clf.predict(TABLE), predicted)
    assert clf.score(TABLE, Y) > 0.9


@pytest.mark.parametrize(("parameters", "y"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("table", [X, TABLE], ids=["array", "table"])
def test_a_first_fit_that_fails_leaves_an_estimator_that_is_not_fitted(table, parameters, y):
    clf = classifier(**parameters)
    with pytest.raises(ValueError):
        clf.fit(table, y)
    assert [name for name in vars(clf) if name.endswith("_")] == []
    for method in (clf.predict, clf.predict_proba, clf.decision_function):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            method(table)


@pytest.mark.parametrize(
    ("parameters", "arguments"),
    [
        ({"n_nonzero": 0}, {}),
        ({"solver": "sgd"}, {}),
        ({"positive_class": 7}, {}),
        ({"assignment": [0]}, {}),
        ({"assignment": [9] * 60}, {}),
        ({"class_weight": {7: 1.0}}, {}),
        ({"standardize": False}, {"X": X * 1e150}),
        ({}, {"X": spoiled(np.nan)}),
        ({}, {"X": X * 1e305}),
        ({}, {"X": np.empty((0, 4))}),
        ({}, {"y": np.zeros(60)}),
        ({}, {"y": X[:, 0]}),
        ({}, {"sample_weight": -np.ones(60)}),
        ({}, {"sample_weight": np.zeros(60)}),
    ],
)
def test_a_failed_fit_leaves_an_earlier_fit_as_it_was(parameters, arguments):
    clf = classifier().fit(X, Y)
    before, model = {name: value for name, value in vars(clf).items() if name.endswith("_")}, clf.model_
    decision = clf.decision_function(X)
    with pytest.raises(ValueError):
        clf.set_params(**parameters).fit(**{"X": X, "y": Y, **arguments})
    after = {name: value for name, value in vars(clf).items() if name.endswith("_")}
    assert after.keys() == before.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value)
    assert clf.model_ is model
    np.testing.assert_array_equal(clf.decision_function(X), decision)


def test_a_failed_first_fit_can_be_mended():
    clf = classifier(positive_class=7)
    with pytest.raises(ValueError, match="positive_class=7"):
        clf.fit(X, Y)
    assert not hasattr(clf, "model_")
    assert clf.set_params(positive_class=1).fit(X, Y).score(X, Y) > 0.9


def test_a_fit_does_not_change_the_parameters():
    clf = classifier(
        solver="mirror-prox", solver_options={"average": False}, assignment=[0] * 60, class_weight={0: 2.0}
    )
    before = clf.get_params()
    clf.fit(X, Y)
    assert clf.get_params() == before


def test_a_given_assignment_may_use_every_index_though_a_class_has_fewer_rows():
    X, y = np.arange(10.0)[:, None], np.array([0] * 8 + [1] * 2)
    start = np.array([0] * 8 + [0, 2])
    with pytest.warns(UserWarning, match="n_prototypes=3"):
        clf = SMaLLClassifier(3, 1, assignment=start, reassign=False).fit(X, y)
    assert len(clf.prototypes_) == 2


def test_groups_far_from_zero_are_told_apart_without_standardising():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=80) * 0.1 + np.repeat([0.0, 5.0, 2.5], [20, 20, 40]), np.full(80, 1e9)])
    y = np.repeat([1, 0], 40)
    clf = SMaLLClassifier(2, 1, standardize=False, reassign=False, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        clf.fit(X, y)
    assert len(clf.prototypes_) == 2


def test_class_weights_may_name_a_class_that_a_fold_lacks():
    clf = classifier(class_weight={0: 1.0, 1: 2.0, 2: 3.0}).fit(X, Y)
    same = classifier(class_weight={0: 1.0, 1: 2.0}).fit(X, Y)
    assert clf.objective_ == same.objective_
