"""Data and models that several tests of explanations share."""

import pytest
from sklearn.datasets import load_breast_cancer

from smallearn import SMaLLClassifier


@pytest.fixture(scope="package")
def tumours():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, y.map({0: "malignant", 1: "benign"})


@pytest.fixture(scope="package", params=["raw", "thresholds"])
def tumour_model(request, tumours):
    return SMaLLClassifier(2, 3, literals=request.param, random_state=3, positive_class="benign").fit(*tumours).model_
