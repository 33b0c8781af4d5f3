"""The certificate of a chosen model: computed where it is asked for or cheap; where it is not, everything says so."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from smallearn import SMaLLClassifier, SMaLLClassifierCV, frontier, load_model
from smallearn._learn.choose import certificate as certificates

ATTRIBUTES = ("lower_bound_", "optimality_gap_", "duality_gap_")
QUICK = {"n_prototypes": 1, "alphas": [0.01], "literals": "raw", "cv": 2, "n_init": 1, "random_state": 0}


def quick(max_terms=2, **parameters):
    return SMaLLClassifierCV(max_terms, **{**QUICK, **parameters})


@pytest.fixture(scope="module")
def without(cancer):
    return quick(certificate=False).fit(*cancer)


def has_certificate(fitted):
    """Whether there is a certificate; all places agree."""
    training = getattr(fitted, "model_", fitted).training
    found = {training.lower_bound is not None, training.optimality_gap is not None}
    if not hasattr(fitted, "scores"):  # an estimator
        found |= {hasattr(fitted, name) for name in ATTRIBUTES}
    assert len(found) == 1
    return found.pop()


# --- as asked --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [True, False])
def test_the_certificate_is_computed_as_asked(cancer, asked):
    clf = quick(certificate=asked).fit(*cancer)
    assert has_certificate(clf) == asked
    assert has_certificate(clf.model_) == asked
    assert [has_certificate(point.model) for point in frontier(*cancer, 2, **QUICK, certificate=asked)] == [asked] * 2


def test_a_device_follows_the_same_parameter(cancer):
    chip = {"device": "cortex-m0", "min_terms": 2}
    assert has_certificate(quick(certificate=True, **chip).fit(*cancer))
    assert not has_certificate(quick(certificate=False, **chip).fit(*cancer))


def test_the_model_is_the_same_with_and_without(cancer, without):
    X, _ = cancer
    with_one = quick(certificate=True).fit(*cancer)
    np.testing.assert_array_equal(with_one.decision_function(X), without.decision_function(X))
    assert with_one.objective_ == without.objective_
    assert 0.0 < with_one.lower_bound_ <= with_one.objective_
    assert (with_one.n_iter_ > 0, without.n_iter_) == (True, 0)


def test_a_classifier_that_is_not_chosen_always_has_one(cancer):
    assert has_certificate(SMaLLClassifier(1, 2).fit(*cancer))


@pytest.mark.parametrize("certificate", ["yes", 1, 0, None, 0.5, "Auto"])
def test_other_values_are_refused(cancer, certificate):
    with pytest.raises(ValueError, match=rf"certificate={certificate!r} is not 'auto', True or False\."):
        quick(certificate=certificate).fit(*cancer)


# --- where there is none ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_the_error_says_how_to_have_it_computed(without, name):
    for clf in (without, pickle.loads(pickle.dumps(without))):
        assert not hasattr(clf, name)
        with pytest.raises(AttributeError, match=rf"The certificate was not computed.* no '{name}'.*certificate=True"):
            getattr(clf, name)


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_without_a_model_the_error_asks_for_a_fit(cancer, without, name):
    for clf in (quick(), SMaLLClassifier(), clone(without), quick(refit=False).fit(*cancer)):
        with pytest.raises(AttributeError, match=rf"has no model yet and so no '{name}'; call fit"):
            getattr(clf, name)


def test_a_later_fit_without_a_certificate_forgets_the_earlier_one(cancer):
    clf = quick(certificate=True).fit(*cancer)
    assert has_certificate(clf)
    assert not has_certificate(clf.set_params(certificate=False).fit(*cancer))
    assert has_certificate(clf.set_params(certificate=True).fit(*cancer))


def test_the_file_and_the_printed_model_say_that_it_was_not_computed(without, tmp_path):
    without.model_.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded == without.model_
    assert "ertificate" not in str(loaded)


# --- where it is cheap -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "computed"), [(0.999, False), (1.001, True)])
def test_by_default_it_is_computed_if_it_takes_at_most_a_tenth_of_the_work(cancer, monkeypatch, share, computed):
    n, d = cancer[0].shape
    enough = 10.0 * certificates.work_of_certificate(n, 1, d + 1)  # one column is for the constant
    monkeypatch.setattr(certificates, "work_of_search", lambda *_: share * enough)
    assert has_certificate(quick().fit(*cancer)) == computed
    monkeypatch.setattr(certificates, "work_of_search", lambda *_: 2 * share * enough)  # a tenth for two of them
    assert [has_certificate(point.model) for point in frontier(*cancer, 2, **QUICK)] == [computed] * 2


def test_by_default_many_columns_after_a_short_search_have_none_and_few_after_a_longer_one_have(cancer):
    assert not has_certificate(quick(literals="both").fit(*cancer))
    assert has_certificate(quick(4, literals="raw", n_prototypes=[1, 2], cv=5).fit(*cancer))
