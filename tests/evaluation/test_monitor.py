"""Monitoring: the index by its definition, what chance explains, missing values, new categories, periods, labels."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn import SMaLLClassifier, SMaLLClassifierCV
from smallearn.evaluation import Period, evaluate, monitor
from smallearn.evaluation._monitor import RunningMonitor
from smallearn.evaluation._periods import periods_of
from smallearn.evaluation._stability import stability
from smallearn.model import Prototype, SMaLLModel, Term, read_rows
from tests.helpers.models import CARD, THREE, YES


def table(n=2000, seed=0, shift=0.0, colours=("red", "blue")):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.normal(40.0 + shift, 10.0, n).round(1), "colour": rng.choice(colours, n)})


@pytest.fixture(scope="module")
def model():
    terms = (Term(0, 0.1, "age", mean=40.0), Term(1, 1.0, "colour", "equals", "red"))
    return SMaLLModel(("no", "yes"), "<U3", 2, (Prototype(1, -4.5, terms),)).with_reference(table())


def drift_of(result, name):
    return next(one for one in result.overall.drifts if one.name == name)


def index(p, q):
    """The population stability index as textbooks have it."""
    return sum((b - a) * np.log(b / a) for a, b in zip(p, q, strict=True))


def test_the_index_is_that_of_the_textbooks(model):
    new = table(1500, seed=1, shift=4.0)
    result = monitor(model, new)
    known = model.reference.features[0]
    ends = [-np.inf, *known.cuts, np.inf]
    now = np.histogram(-new["age"], bins=-np.array(ends[::-1]))[0][::-1] / 1500  # above a cut, up to the next
    age = drift_of(result, "age")
    assert age.psi == pytest.approx(index(np.array(known.counts) / 2000, now))
    assert [one.now for one in age.bins] == pytest.approx(now)
    share = np.array([np.mean(new["colour"] == value) for value in model.reference.features[1].categories])
    assert drift_of(result, "colour").psi == pytest.approx(
        index(np.array(model.reference.features[1].counts) / 2000, share)
    )


def test_the_training_rows_have_not_moved_and_others_of_their_kind_are_stable(model):
    same = monitor(model, table())
    assert [one.psi for one in same.overall.drifts] == [0.0] * 3
    assert same.summary() == ("2,000 rows, compared with 2,000 training rows: stable.",)
    others = monitor(model, table(300, seed=5))
    assert {one.reading for one in others.overall.drifts} == {"stable"}
    assert others.is_stable()


def test_few_rows_of_the_same_kind_are_stable_whatever_their_index(model):
    stable = 0
    for seed in range(40):
        result = monitor(model, table(25, seed=100 + seed))
        age = drift_of(result, "age")
        assert age.reading == ("stable" if age.psi <= max(0.1, age.by_chance) else age.reading)
        stable += age.reading == "stable"
    assert any(drift_of(monitor(model, table(25, seed=100 + seed)), "age").psi > 0.25 for seed in range(10))
    assert stable >= 34


@given(st.integers(2, 12), st.integers(0, 1000))
def test_what_chance_explains_is_exceeded_about_once_in_twenty(n_bins, seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(n_bins, 20.0))
    exceeded = 0
    for _ in range(60):
        psi, limit = stability(rng.multinomial(4000, p).astype(float), rng.multinomial(1000, p), 4000)
        exceeded += psi > limit
    assert exceeded <= 14


def test_a_shift_is_found_and_where_it_is(model):
    result = monitor(model, table(2000, seed=1, shift=12.0))
    assert result.shifted() == ("score", "age")
    assert not result.is_stable()
    assert drift_of(result, "age").reading == "large shift"
    assert drift_of(result, "colour").reading == "stable"
    most = drift_of(result, "age").moved()[0]
    assert most.now > most.before
    assert result.summary()[0].endswith("training rows: large shift of score and age.")
    assert result.shifted(limit=50.0) == ()
    assert ("age", most.text, f"{most.before:.1%}", f"{most.now:.1%}") in result.change_lines()


def test_new_categories_missing_values_and_values_outside_the_range_are_told(model):
    new = table(1000, seed=1, colours=("red", "blue", "green", "pink", "green"))
    new.loc[:99, "age"] = np.nan
    new.loc[100:149, "age"] = 1000.0
    new.loc[0, "colour"] = None
    result = monitor(model, new)
    age, colour = drift_of(result, "age"), drift_of(result, "colour")
    assert age.missing == (0.0, 0.1)
    assert age.outside == pytest.approx(0.05, abs=0.002)
    counted = new["colour"].value_counts()
    assert colour.new_categories == (("green", counted["green"]), ("pink", counted["pink"]))
    assert colour.n_new == counted["green"] + counted["pink"]
    assert colour.outside is None
    assert np.isfinite([one.psi for one in result.overall.drifts]).all()
    line = next(line for line in result.stability_lines() if line[0] == "colour")
    assert "'green' and 'pink'" in line[-1]


def test_a_category_beyond_those_that_are_listed_is_not_called_new():
    X = pd.DataFrame({"code": [f"c{i % 80}" for i in range(8000)]})
    terms = (Term(0, 1.0, "code", "equals", "c1"),)
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, 0.0, terms),)).with_reference(X)
    result = monitor(model, X)
    assert drift_of(result, "code").psi == 0.0
    assert drift_of(result, "code").n_new == 0
    assert drift_of(result, "code").bins[-1].text == "other categories"


def test_the_blocks_that_rows_come_in_do_not_matter(model):
    new = table(1000, seed=2, shift=3.0, colours=("red", "blue", "green"))
    months = np.where(np.arange(1000) % 3 == 0, "b", "a").astype(object)
    months[:7] = None
    code = np.where(np.arange(1000) % 5, 1, -1)
    running = RunningMonitor(model)
    for begin in range(0, 1000, 130):
        part = slice(begin, begin + 130)
        running.add(new[part], code[part], months[part])
    whole = RunningMonitor(model)
    whole.add(new, code, months)
    one, other = running.result(), whole.result()
    assert str(one) == str(other)
    assert [period.name for period in one.periods] == ["no date", "a", "b"]
    assert [period.n_rows for period in one.periods] == [7, *np.unique(months[7:], return_counts=True)[1]]
    assert one.overall.confusion.sum() == np.sum(code == 1)


def test_the_latest_period_counts_by_itself(model):
    new = pd.concat([table(5000, seed=3), table(300, seed=4, shift=15.0)], ignore_index=True)
    dates = np.array(["2024-01-15"] * 5000 + ["2024-02-15"] * 300, dtype="datetime64[D]")
    assert monitor(model, new).is_stable()
    result = monitor(model, new, periods=dates)
    assert result.shifted() == ("score", "age")
    assert [one.name for one in result.periods] == ["2024-01", "2024-02"]
    earlier = monitor(model, new[::-1], periods=np.where(dates[::-1] < dates[-1], dates[-1], dates[0]))
    assert earlier.is_stable()  # the shift is in the past
    assert result.period_lines()[2][:2] == ("2024-02", "300")
    assert "!!" in result.period_lines()[2][2]


def test_dates_fall_into_months_quarters_iso_weeks_and_days():
    dates = np.array(["2024-01-01", "2024-12-30", "2021-01-03", "NaT"], dtype="datetime64[D]")
    assert periods_of(dates, "month").tolist() == ["2024-01", "2024-12", "2021-01", None]
    assert periods_of(dates, "quarter").tolist() == ["2024-Q1", "2024-Q4", "2021-Q1", None]
    assert periods_of(dates, "week").tolist() == ["2024-W01", "2025-W01", "2020-W53", None]
    assert periods_of(dates, "day").tolist() == ["2024-01-01", "2024-12-30", "2021-01-03", None]


def test_periods_may_be_dates_of_any_type_or_names(model):
    new = table(4, seed=1)
    dates = pd.to_datetime(["2024-03-31", "2024-04-01", None, "2024-04-02"])
    for given_as in (dates, pd.Series(dates), dates.to_numpy(), list(dates.to_pydatetime())):
        names = [one.name for one in monitor(model, new, periods=given_as, period="quarter").periods]
        assert names == ["no date", "2024-Q1", "2024-Q2"]
    assert [one.name for one in monitor(model, new, periods=[10, 9, 10, 9]).periods] == ["9", "10"]
    with pytest.raises(ValueError, match="period='year' is not one of 'month', 'week', 'quarter', 'day'"):
        monitor(model, new, periods=dates, period="year")
    with pytest.raises(ValueError, match=r"periods has shape \(2,\); it must have one value for each of the 4 rows"):
        monitor(model, new, periods=["a", "b"])


def test_with_labels_the_performance_is_that_of_evaluate(model):
    new = table(600, seed=6)
    y = np.where(new["age"] + 10.0 * (new["colour"] == "red") > 44.0, "yes", "no")
    result = monitor(model, new, y, periods=np.repeat(["a", "b"], 300))
    judged = evaluate(model, new, y)
    assert result.evaluation.accuracy == judged.accuracy
    assert result.overall.confusion.tolist() == judged.confusion.tolist()
    assert sum(one.confusion for one in result.periods).tolist() == judged.confusion.tolist()
    assert result.overall.accuracy == judged.accuracy
    assert sum(result.overall.predicted) == 600
    assert result.predicted_before == tuple(np.array(model.reference.predicted) / 2000)
    assert result.summary()[1] == f"Accuracy {judged.accuracy}."


def test_the_score_in_training_stands_beside_that_of_now():
    X, y = table(400), np.where(table(400)["age"] > 40.0, "yes", "no")
    clf = SMaLLClassifierCV(max_terms=2, cv=3, categorical_features=["colour"], random_state=0).fit(X, y)
    result = monitor(clf, X, y)
    assert result.expected == f"{clf.model_.selection.text} by cross-validation"
    assert result.observed_before == (np.mean(y == "no"), np.mean(y == "yes"))
    assert all(one.psi == 0.0 for one in result.overall.drifts)
    assert f"in training {result.expected}" in result.summary()[1]


def test_another_score_of_training_is_not_passed_off_as_accuracy():
    X, y = table(400), np.where(table(400)["age"] > 40.0, "yes", "no")
    settings = {"cv": 3, "scoring": "balanced_accuracy", "categorical_features": ["colour"], "random_state": 0}
    result = monitor(SMaLLClassifierCV(max_terms=2, **settings).fit(X, y), X, y)
    said = result.summary()[1]
    assert said.startswith(
        f"Accuracy {result.evaluation.accuracy}. The score by which the model was chosen, in training: "
    )
    assert said.endswith("by cross-validation (balanced_accuracy).")


@pytest.mark.parametrize("base", [YES, THREE, CARD])
def test_any_model_can_be_monitored(base):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, base.n_features)).astype(object)
    if base is CARD:
        X[:, 1], X[:, 3] = rng.choice(["red", "blue"], 200), rng.random(200) < 0.5
    model = base.with_reference(X)
    result = monitor(model, read_rows(model, X), periods=np.arange(200) % 2)
    assert len(result.overall.scores) == (1 if len(base.classes) == 2 else 3)
    assert {one.psi for one in result.overall.drifts} == {0.0}
    for lines in (result.stability_lines(), result.class_lines(), result.period_lines()):
        assert len({len(line) for line in lines}) == 1


def test_a_model_without_histograms_is_refused_with_advice(model):
    with pytest.raises(ValueError, match=r"no histograms of its training rows.*model.with_reference\(X\)"):
        monitor(replace(model, reference=None), table())
    with pytest.raises(ValueError, match="X has no rows"):
        monitor(model, table()[:0])


def test_a_model_that_was_changed_says_what_cannot_be_compared(model):
    moved = monitor(replace(model, decision_threshold=0.2), table())
    assert moved.predicted_before is None
    assert len(moved.overall.scores) == 1
    other = replace(model, prototypes=(replace(model.prototypes[0], intercept=-4.0),))
    result = monitor(other, table())
    assert result.overall.scores == ()
    assert "The model was changed after its training" in result.summary()[-1]
    assert result.shifted() == ()
    fewer = replace(model, reference=replace(model.reference, features=()))
    assert monitor(fewer, table()).notes == ("The model has no histogram of age and colour.",)


def test_a_term_may_be_taken_away(model):
    fewer = replace(model, prototypes=(replace(model.prototypes[0], terms=model.prototypes[0].terms[:1]),))
    result = monitor(SMaLLModel.from_json(fewer.to_json()), table(seed=1, shift=9.0))
    assert [one.name for one in result.overall.features] == ["age"]
    assert result.shifted() == ("age",)


def test_a_model_without_terms_is_monitored_by_its_score():
    clf = SMaLLClassifier(1, 1).fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    bare = replace(clf.model_, prototypes=(Prototype(1, 1.0, ()),), ranges=(), reference=None)
    result = monitor(bare.with_reference([[1.0], [2.0]]), [[5.0]])
    assert [one.psi for one in result.overall.drifts] == [0.0]


def test_a_period_without_labels_has_no_accuracy():
    assert Period("a", 3, (), (), (1, 2), None).accuracy is None
    assert Period("a", 3, (), (), (1, 2), None).worst() is None
