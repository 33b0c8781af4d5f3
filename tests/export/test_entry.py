"""Every public function takes a model or a fitted estimator, and refuses what is neither."""

from functools import partial
from inspect import signature

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smallearn import SMaLLClassifier
from smallearn.export import (
    TARGETS,
    export,
    flatten,
    float32_error_bound,
    model_hash,
    quantise,
    register,
    to_arduino,
    to_c,
)

X, Y = load_breast_cancer(return_X_y=True)
ROWS = X[:20].astype(np.float32)


def parameters(target):
    return signature(TARGETS[target]).parameters


def write(model, target):
    """An export, with test vectors where the target has them."""
    return export(model, target, **({"conformance": ROWS} if "conformance" in parameters(target) else {}))


FUNCTIONS = {
    "flatten": flatten,
    "model_hash": model_hash,
    "quantise": quantise,
    "float32_error_bound": lambda model: float32_error_bound(model, ROWS).tolist(),
    "whole numbers": lambda model: to_c(model, "int8", conformance=ROWS),
    **{target: partial(write, target=target) for target in TARGETS if "folder" not in parameters(target)},
}


@pytest.fixture(scope="module")
def clf():
    return SMaLLClassifier(2, 2, literals="both", random_state=0).fit(X, Y)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_fitted_estimator_gives_the_same_as_its_model(clf, function):
    assert function(clf) == function(clf.model_)


def test_an_arduino_library_of_a_fitted_estimator_is_that_of_its_model(clf, tmp_path):
    folders = [to_arduino(one, tmp_path / str(i), name="Same") for i, one in enumerate((clf, clf.model_))]
    texts = [[path.read_text() for path in sorted(folder.rglob("*.*"))] for folder in folders]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_what_is_no_model_is_refused_with_what_to_do(clf, function):
    for wrong, kind, message in (
        (SMaLLClassifier(), ValueError, "not fitted yet"),
        (
            make_pipeline(StandardScaler(), clf),
            ValueError,
            r"Step 'standardscaler' \(StandardScaler\) is not fitted yet",
        ),
        ("model.json", TypeError, "load_model"),
        (None, TypeError, "pass a SMaLLModel"),
    ):
        with pytest.raises(kind, match=message):
            function(wrong)


def test_an_unfitted_estimator_leaves_no_folder(tmp_path):
    with pytest.raises(ValueError, match="not fitted yet"):
        to_arduino(SMaLLClassifier(), tmp_path / "library")
    assert list(tmp_path.iterdir()) == []


def test_a_registered_target_gets_the_model_and_its_options(clf, monkeypatch):
    monkeypatch.setattr("smallearn.export.TARGETS", dict(TARGETS))
    register("terms", lambda model, extra: len(model.terms) + extra)
    assert export(clf, "terms", extra=1) == len(clf.model_.terms) + 1


@pytest.mark.parametrize(("name", "message"), [("no word", "must be an identifier"), ("c", "a target 'c' already")])
def test_a_target_needs_a_name_of_its_own(name, message):
    with pytest.raises(ValueError, match=message):
        register(name, print)


def test_an_unknown_target_is_refused_with_those_there_are(clf):
    with pytest.raises(ValueError, match="target='cobol' is not one of 'arduino', 'c'"):
        export(clf, "cobol")
