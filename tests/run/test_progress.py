"""Progress on stderr: on a terminal a line that overwrites itself and is cleared, elsewhere nothing or plain lines."""

import io

import pytest

from smallearn._run import progress
from smallearn._run.progress import Bar, Status


class Screen(io.StringIO):
    """Standard error that is a terminal, or says that it is."""

    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests set: clock[0] is the time in seconds."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def stderr(monkeypatch):
    def replace(terminal):
        screen = Screen(terminal)
        monkeypatch.setattr(progress.sys, "stderr", screen)
        return screen

    return replace


def test_a_bar_shows_what_is_done_and_how_long_the_rest_takes(clock, stderr):
    screen = stderr(terminal=True)
    with Bar(8, "fits") as bar:
        bar.step()
        assert screen.getvalue() == ""  # not within the first second
        clock[0] += 4.0
        bar.step()
        assert screen.getvalue() == f"\r{'[' + '█' * 6 + '·' * 18 + '] 2/8 fits, 12 s left':<78}"
    assert screen.getvalue().endswith("\r" + " " * 78 + "\r")  # the line is cleared


@pytest.mark.parametrize(("terminal", "shown"), [(False, True), (True, False)])
def test_a_bar_is_silent_without_a_terminal_or_when_not_wanted(clock, stderr, terminal, shown):
    screen = stderr(terminal)
    with Bar(2, "fits", shown) as bar:
        clock[0] += 9.0
        bar.step(2)
    assert bar.done == 2
    assert screen.getvalue() == ""


def test_a_bar_without_anything_to_do_or_done_is_no_error(clock, stderr):
    screen = stderr(terminal=True)
    with Bar(0, "rows") as bar:
        clock[0] += 2.0
        bar.step(0)
        assert screen.getvalue() == ""
        bar.step(3)
    assert "3/0 rows" in screen.getvalue()


def test_the_line_is_cleared_after_an_error_too(clock, stderr):
    screen = stderr(terminal=True)

    def interrupted():
        with Bar(2, "fits") as bar:
            clock[0] += 2.0
            bar.step()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert screen.getvalue().endswith("\r" + " " * 78 + "\r")


def test_a_status_overwrites_itself_at_most_twice_a_second(clock, stderr):
    screen = stderr(terminal=True)
    with Status(verbose=False) as status:
        for number in range(6):
            clock[0] += 0.25
            status.update(f"step {number}")
    assert [text.strip() for text in screen.getvalue().split("\r")] == ["", "step 1", "step 3", "step 5", "", ""]


@pytest.mark.parametrize(("verbose", "expected"), [(True, "one\n"), (False, "")])
def test_without_a_terminal_a_status_is_a_line_if_verbose(clock, stderr, verbose, expected):
    screen = stderr(terminal=False)
    with Status(verbose) as status:
        clock[0] += 1.0
        status.update("one")
    assert screen.getvalue() == expected
