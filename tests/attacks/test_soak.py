"""Short versions of parallel and long use; the long ones are ``make soak``."""

import os

import pytest

from attacks import soak


@pytest.mark.parametrize("name", ["one model in 16 threads", "fits in 16 threads", "fits by joblib (threading)"])
def test_in_threads_every_answer_is_that_of_a_call_alone(name):
    calls, _ = soak.PARALLEL[name](1)
    assert calls > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fits in 8 processes (spawn)", "searches in processes, in processes"])
def test_in_processes_every_answer_is_that_of_a_call_alone(name):
    calls, _ = soak.PARALLEL[name](1)
    assert calls > 0


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read as Linux tells it")
def test_memory_is_flat_over_fits_and_predictions():
    assert soak.flat_fits(60)[0] == 60
    assert soak.flat_predictions(3000)[0] == 3000


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read as Linux tells it")
def test_a_leak_is_found():
    kept = []
    with pytest.raises(AssertionError, match="memory grows by"):
        soak.flat(100, lambda _: kept.append(bytes(range(256)) * 1000), "calls")
