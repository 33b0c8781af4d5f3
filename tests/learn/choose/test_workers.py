"""Processes that share the work of a choice end when this one does, also if it is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from joblib import Parallel, parallel_config
from joblib import delayed as joblib_delayed

from smallearn._learn.choose.workers import delayed, in_processes
from smallearn._run.processes import begin_spawned_worker

PARENT = """
import sys
from smallearn._learn.choose.workers import delayed, in_processes
from tests.learn.choose.test_workers import wait
in_processes(2, (delayed(wait)(sys.argv[1]) for _ in range(2)))
"""


def wait(folder):
    """Say that the work has begun, by a file named like the process, and never end."""
    (Path(folder) / f"{os.getpid()}").touch()
    time.sleep(600)


def lives(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks at processes as Linux shows them")
def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    with subprocess.Popen([sys.executable, "-c", PARENT, tmp_path]) as parent:
        until(lambda: len(os.listdir(tmp_path)) == 2)
        workers = [int(name) for name in os.listdir(tmp_path)]
        assert all(map(lives, workers))
        assert parent.pid not in workers
        parent.kill()
    until(lambda: not any(map(lives, workers)))


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_results_are_in_order_whatever_shares_the_work(backend):
    before = signal.getsignal(signal.SIGINT)
    with parallel_config(backend):
        assert in_processes(2, (delayed(abs)(-number) for number in range(5))) == list(range(5))
    assert signal.getsignal(signal.SIGINT) is before


def test_processes_that_the_user_works_with_too_are_not_started_anew():
    with parallel_config("loky"):
        ours = set(in_processes(2, (delayed(os.getpid)() for _ in range(8))))
        theirs = set(Parallel(n_jobs=2)(joblib_delayed(os.getpid)() for _ in range(8)))
        again = set(in_processes(2, (delayed(os.getpid)() for _ in range(8))))
    assert len(ours | theirs | again) <= 2


def test_a_process_that_nobody_started_is_not_ended():
    before = signal.getsignal(signal.SIGINT)
    begin_spawned_worker()
    assert signal.getsignal(signal.SIGINT) is before
