"""The rivals of the benchmark of flash are what their compiled code computes."""

import numpy as np
import pytest

pytest.importorskip("resource")  # Windows has none

from benchmarks.flash.__main__ import OURS, Line, report
from benchmarks.flash.found import CHIP
from benchmarks.flash.mlp import INPUTS, LARGEST, mlp

from smallearn.devices._measure import measure
from tests.helpers.tools import need_chip

pytestmark = [pytest.mark.tools, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def rows():
    need_chip(CHIP)
    X = np.random.default_rng(0).uniform(size=(300, INPUTS[1]))
    return X, (X[:, :6].sum(axis=1) > 3.0).astype(int)


def test_the_network_answers_as_its_compiled_code(rows):
    X, y = rows
    found = mlp(X, y, 512)
    network = found.predict.args[0]
    measured = measure(network.program, CHIP, np.round(X[:50, network.used] * LARGEST))
    assert measured.flash == found.flash <= 512
    assert list(measured.answers) == found.predict(X[:50]).tolist()


def test_a_target_that_is_missed_is_named(capsys):
    lines = [
        Line("usps_odd_even", 0, 512, method, "", accuracy, 500, 1.0)
        for method, accuracy in ((OURS, 0.96), ("better", 0.97), ("worse", 0.9))
    ]
    report(lines)
    printed = capsys.readouterr().out
    assert "[MISSED] usps_odd_even in 512 bytes: ahead of better" in printed
    assert "[met] usps_odd_even in 512 bytes: ahead of worse" in printed
