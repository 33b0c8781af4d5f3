"""Deadlines: when time is up, who can ask, and what is said of the work that was cut short."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from math import inf

import pytest

from smallearn._run import deadline as deadlines
from smallearn._run.deadline import NEVER, Deadline, enforce, present


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(deadlines, "time", clock)
    return clock


def test_time_is_up_once_the_seconds_have_passed(clock):
    deadline = Deadline(5.0)
    assert (deadline.left(), deadline.passed()) == (5.0, False)
    clock.now += 4.0
    assert (deadline.left(), deadline.passed()) == (1.0, False)
    clock.now += 1.0
    assert (deadline.left(), deadline.passed()) == (0.0, True)
    clock.now += 9.0
    assert (deadline.left(), deadline.passed()) == (0.0, True)


def test_without_seconds_it_never_passes(clock):
    deadline = Deadline(None)
    clock.now += 1e12
    assert (deadline.left(), deadline.passed(), deadline.stops("the search")) == (inf, False, False)
    assert deadline.cut_short == []


def test_zero_seconds_have_passed_at_once():
    assert Deadline(0.0).passed()


def test_work_that_is_stopped_is_named_once_in_order(clock):
    deadline = Deadline(5.0)
    assert not deadline.stops("the search")
    clock.now += 5.0
    assert deadline.stops("the search")
    assert deadline.stops("the proof")
    assert deadline.stops("the search")
    assert deadline.cut_short == ["the search", "the proof"]
    assert deadline.sentence() == "Time was up after 5 seconds. Cut short: the search, the proof."


def test_nested_work_finds_the_innermost_deadline():
    assert present() is NEVER
    with enforce(Deadline(5.0)) as outer:
        assert present() is outer
        with enforce(Deadline(1.0)) as inner:
            assert present() is inner
        assert present() is outer
    assert present() is NEVER


def test_a_deadline_ends_with_the_work_even_if_that_fails():
    with pytest.raises(KeyboardInterrupt), enforce(Deadline(5.0)):
        raise KeyboardInterrupt
    assert present() is NEVER


def test_the_deadline_of_one_thread_is_none_of_another():
    with enforce(Deadline(5.0)), ThreadPoolExecutor(1) as other:
        assert other.submit(present).result() is NEVER


def test_a_copy_sent_to_a_process_ends_at_the_same_moment(clock):
    with enforce(Deadline(5.0)) as deadline:
        clock.now += 2.0
        assert pickle.loads(pickle.dumps(deadline)).left() == deadline.left() == 3.0
