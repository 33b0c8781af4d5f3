"""The list of gaps and weights: what it holds, when it is used, and what compiled code answers from it."""

from dataclasses import replace

import numpy as np
import pytest

from smallearn.export._c.gaps import Gaps
from smallearn.export._c.model import CModel
from smallearn.export._fixed.quantise import quantise
from smallearn.model import Prototype, Range, SMaLLModel, Term
from tests.export.c.test_writer import check_whole_numbers
from tests.helpers.c_programs import FORMS, NARROW, Library, device_rows


def model_of(owners, n_features=300, step=7):
    """Prototypes of raw terms on every ``step``-th feature, each from another on."""
    rng = np.random.default_rng(0)
    prototypes = tuple(
        Prototype(owner, float(rng.normal()), tuple(Term(f, float(rng.normal())) for f in range(j, n_features, step)))
        for j, owner in enumerate(owners)
    )
    used = sorted({term.feature for prototype in prototypes for term in prototype.terms})
    return SMaLLModel(("no", "yes"), "<U3", n_features, prototypes, ranges=tuple(Range(f, -1.0, 3.0) for f in used))


def gaps_of(model, number="int8"):
    return Gaps.of(CModel(prefix="model", target=quantise(model, number), arguments=False))


def test_the_bytes_are_the_terms():
    found = gaps_of(model_of((0, 0, 1)))
    left, terms = list(found.bytes), []
    for j in range(3):
        position = 0
        for _ in range(left.pop(0)):
            position += left.pop(0)
            weight = left.pop(0)
            terms.append((j, position, weight - 256 if weight > 127 else weight))
    assert not left
    assert terms == [(term.prototype, term.input, term.weight) for term in found.target.terms]


@pytest.mark.parametrize(
    "other",
    [
        model_of((1, 1), n_features=100),  # one class owns all, and an index is a byte
        model_of((1, 0)),  # out of order
        replace(model_of((0, 1)), decision_threshold=0.3),
        SMaLLModel(
            ("no", "yes"), "<U3", 2, tuple(Prototype(j, 0.5, (Term(0, 1.0, None, "above", 2.0),)) for j in (0, 1))
        ),
    ],
)
def test_other_models_keep_their_tables(other):
    assert gaps_of(other) is None
    assert gaps_of(model_of((0, 1)), "int16") is None


@pytest.mark.tools
def test_compiled_it_answers_as_the_integer_model(tmp_path):
    rng = np.random.default_rng(1)
    library, found = Library(tmp_path), []
    for owners in ((0, 1), (0, 0, 1, 1, 1), (1, 1), (0, 0, 0)):
        model = model_of(owners, step=len(owners))
        assert gaps_of(model) is not None
        X = rng.uniform(-1.5, 3.5, size=(60, 300))
        found += [(library.add(model, "int8", arguments, layout=layout), model, X) for layout, arguments in FORMS[2:]]
    for before in ("", NARROW):  # and with the narrowest types that C allows, where an overflow would show
        library.build(before)
        for name, model, X in found:
            check_whole_numbers(library, name, device_rows(model, library.models[name], X))
