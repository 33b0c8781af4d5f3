"""Progress on stderr: on a terminal a line that overwrites itself and is cleared, elsewhere lines now and then."""

import io

import numpy as np
import pytest

from smallearn._run import progress
from smallearn._run.progress import Bar, Passes, Progress, Status, passes, watched


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


def run_steps(bar, clock, seconds, work=None):
    """Make steps that take these seconds, and have this work; returns the forecast after each, in seconds."""
    forecasts = []
    for took, amount in zip(seconds, work or [None] * len(seconds), strict=True):
        clock[0] += took
        bar.step(work=amount)
        forecasts.append(bar._forecast.left)
    return forecasts


def test_a_bar_shows_what_is_done_and_how_long_the_rest_takes(clock, stderr):
    screen = stderr(terminal=True)
    with Bar(8, "fits") as bar:
        bar.step()
        assert screen.getvalue() == ""  # not within the first second
        clock[0] += 4.0
        bar.step()
        assert screen.getvalue() == f"\r{'[' + '█' * 6 + '·' * 18 + '] 2/8 fits, 24 s left':<78}"
    assert screen.getvalue().endswith("\r" + " " * 78 + "\r")  # the line is cleared


def test_a_notebook_shows_a_bar_as_a_terminal_does(clock, monkeypatch):
    stream = type("OutStream", (Screen,), {"__module__": "ipykernel.iostream"})
    screen = stream(terminal=False)
    monkeypatch.setattr(progress.sys, "stderr", screen)
    with Bar(4, "fits") as bar:
        run_steps(bar, clock, [2.0, 2.0])
    assert screen.getvalue().startswith("\r[")
    assert "\n" not in screen.getvalue()


def test_a_log_gets_a_line_now_and_then_at_growing_intervals(clock, stderr):
    log = stderr(terminal=False)
    with Bar(200, "fits") as bar:
        run_steps(bar, clock, [1.0] * 200)
    assert log.getvalue() == (
        "smallearn: 10/200 fits, 3 min left\nsmallearn: 30/200 fits, 3 min left\n"
        "smallearn: 70/200 fits, 2 min left\nsmallearn: 150/200 fits, 50 s left\n"
    )


@pytest.mark.parametrize(
    ("terminal", "shown", "seconds"), [(False, True, 9.0), (True, False, 60.0), (False, False, 60.0)]
)
def test_nothing_is_printed_of_short_work_in_a_log_or_when_not_wanted(clock, stderr, terminal, shown, seconds):
    screen = stderr(terminal)
    with Bar(3, "fits", shown) as bar:
        clock[0] += seconds
        bar.step(2)
    assert bar.done == 2
    assert screen.getvalue() == ""


def test_a_forecast_does_not_count_a_first_step_that_compiles(clock):
    with Bar(20, "fits", shown=False) as bar:
        forecasts = run_steps(bar, clock, [30.0] + [1.0] * 19)
    assert forecasts == [None, *range(18, -1, -1)]


def test_slow_steps_at_the_beginning_are_soon_forgotten(clock):
    with Bar(100, "fits", shown=False) as bar:
        forecasts = run_steps(bar, clock, [5.0, 8.0, 8.0, 1.0, 8.0] + [0.5] * 95)
    for done in range(25, 100):
        assert forecasts[done - 1] == pytest.approx(0.5 * (100 - done), rel=0.25)


def test_a_forecast_knows_that_steps_differ_in_their_work(clock):
    work = [1.0] * 40 + [10.0] * 6
    with Bar(len(work), "fits", shown=False, work=sum(work)) as bar:
        forecasts = run_steps(bar, clock, [0.5 * amount for amount in work], work)
    for done in range(1, len(work)):
        assert forecasts[done] == pytest.approx(0.5 * sum(work[done + 1 :]))


def test_a_forecast_never_jumps_whatever_steps_take(clock):
    rng = np.random.default_rng(0)
    seconds = rng.lognormal(sigma=2.0, size=300)
    with Bar(300, "fits", shown=False) as bar:
        forecasts = run_steps(bar, clock, seconds)[1:]
    since, passed = forecasts[0], 0.0
    for left, took in zip(forecasts[1:], seconds[2:], strict=True):
        passed += took
        if left != since:
            assert (since - passed) / 1.501 <= left <= 1.501 * max(since, passed) + 1.0
            since, passed = left, 0.0


def test_what_there_is_to_do_may_change_on_the_way(clock, stderr):
    screen = stderr(terminal=True)
    with Bar(100, "fits", work=1000.0) as bar:
        run_steps(bar, clock, [1.0] * 4, [10.0] * 4)
        bar.total, bar.work = 8, 80.0
        run_steps(bar, clock, [1.0] * 2, [10.0] * 2)
    assert "█" * 18 + "·" * 6 + "] 6/8 fits, " in screen.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"), [(8.4, "8 s"), (99.0, "99 s"), (100.0, "2 min"), (3600.0, "60 min"), (7500.0, "2 h 05 min")]
)
def test_durations_are_short(seconds, text):
    assert progress._duration(seconds) == text


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


# --- passes over all rows ---------------------------------------------------------------------------------------------


def passing(clock, seconds, n_rows=1000):
    """Go through blocks that take these seconds."""

    def blocks():
        for took in seconds:
            clock[0] += took
            yield took

    assert list(passes().through(blocks(), n_rows, len(seconds))) == seconds


def test_passes_show_the_stage_the_pass_the_loss_and_the_speed(clock, stderr):
    screen = stderr(terminal=True)
    with Passes() as shown:
        assert passes() is shown
        passes().begin("reading")
        passing(clock, [0.5])
        assert screen.getvalue() == ""  # not within the first second
        passing(clock, [1.0, 1.0])
        assert screen.getvalue() == f"\r{'reading: pass 2, 500 rows/s':<78}" * 2
        passes().begin("settling the weights")
        passes().begin("settling the weights")  # it goes on
        for loss in (0.5, 0.4375):
            passing(clock, [0.5], n_rows=10_000_000)
            passes().reached(loss)
        passing(clock, [100.0], n_rows=340_000)
        assert "\rsettling the weights: pass 1, 20 M rows/s " in screen.getvalue()
        assert "\rsettling the weights: pass 2, loss 0.5, 20 M rows/s " in screen.getvalue()
        assert "\rsettling the weights: pass 3, loss 0.4375 (-6.2e-02), 3.4 k rows/s " in screen.getvalue()
    assert screen.getvalue().endswith("\r" + " " * 78 + "\r")
    assert passes() is not shown


def test_a_log_gets_lines_about_passes_at_growing_intervals(clock, stderr):
    log = stderr(terminal=False)
    with Passes():
        passes().begin("reading")
        for _ in range(40):
            passing(clock, [1.0])
    assert log.getvalue() == ("smallearn: reading: pass 10, 1 k rows/s\nsmallearn: reading: pass 30, 1 k rows/s\n")


def test_passes_that_are_not_to_be_shown_print_nothing(clock, stderr):
    screen = stderr(terminal=True)
    with Passes(shown=False):
        passes().begin("reading")
        passing(clock, [100.0])
    passing(clock, [100.0])
    assert screen.getvalue() == ""


def test_who_watches_is_told_of_every_step_and_of_the_time_left_even_if_nothing_is_shown(clock, stderr):
    screen, told = stderr(terminal=True), []
    with watched(told.append), Bar(4, "fits", shown=False) as bar:
        for _ in range(4):
            clock[0] += 2.0
            bar.step()
    assert [(one.done, one.total, one.unit) for one in told] == [(n, 4, "fits") for n in (1, 2, 3, 4)]
    assert told[0].left is None
    assert [one.left for one in told[1:]] == [4.0, 2.0, 0.0]
    with Bar(2, "fits", shown=False) as bar:
        bar.step()
    assert told[-1] == Progress(4, 4, "fits", 0.0)
    assert screen.getvalue() == ""
