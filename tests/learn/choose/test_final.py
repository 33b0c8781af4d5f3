"""The training of the chosen model on all rows."""

import numpy as np
import pytest

from smallearn import SMaLLClassifierCV
from smallearn._learn.choose import final


@pytest.mark.parametrize(("max_terms", "every_kind"), [(4, True), (30, False)])
def test_a_large_model_starts_as_it_did_in_the_folds(monkeypatch, max_terms, every_kind):
    seen = []
    train = final.train_family
    monkeypatch.setattr(final, "train_family", lambda *a, **k: seen.append(k["every_kind"]) or train(*a, **k))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 40))
    y = (np.abs(X[:, 0]) + X[:, 1] > 1.0).astype(int)
    SMaLLClassifierCV(
        max_terms, n_prototypes=2, literals="raw", alphas=(0.01,), cv=2, certificate=False, random_state=0, verbose=-1
    ).fit(X, y)
    assert set(seen) == {every_kind}
