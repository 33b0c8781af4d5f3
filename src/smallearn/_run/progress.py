"""Progress of long work, on stderr: a line that overwrites itself on terminals and in notebooks; lines in a log.

Who runs such work can also be told of it, see `watched`.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

Answer = TypeVar("Answer")

_WIDTH = 78  # of the line, in characters
_BAR = 24
_FIRST_SECONDS, _REDRAW_SECONDS = 1.0, 0.1  # a bar appears after the first, and changes no more often than the second
_LOG_SECONDS, _MOST_LOG_SECONDS = 10.0, 600.0  # a log gets its first line after the first, then at twice the interval
_FORECAST_SECONDS, _FORECAST_CHANGE = 0.5, 1.5  # a forecast changes once in this time, and by no more than this factor


@dataclass(frozen=True)
class Progress:
    """How far some work is: ``done`` of ``total``, counted in ``unit``, with the seconds ``left`` if they are known."""

    done: int
    total: int
    unit: str
    left: float | None = None


_watcher: ContextVar[Callable[[Progress], None] | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(tell: Callable[[Progress], None]) -> Iterator[None]:
    """Call ``tell`` at each step of every `Bar` in this block and thread, whether it is shown or not."""
    token = _watcher.set(tell)
    try:
        yield
    finally:
        _watcher.reset(token)


class _Line:
    """A context manager with a line that is written again and again, and cleared at the end."""

    def __init__(self) -> None:
        notebook = type(sys.stderr).__module__.startswith("ipykernel.")  # it is no terminal but goes back on \r too
        self._overwrites = notebook or sys.stderr.isatty()
        self._written = False

    def _write(self, text: str) -> None:
        print(f"\r{text:<{_WIDTH}}", end="", file=sys.stderr, flush=True)
        self._written = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._written:
            print(f"\r{'':<{_WIDTH}}\r", end="", file=sys.stderr, flush=True)


class _Paced(_Line):
    """A line that appears on a terminal after a second. Elsewhere there is one after ten seconds, then at growing
    intervals. ``shown=False``: there is none."""

    def __init__(self, shown: bool):
        super().__init__()
        self._shown = shown
        self._interval = _REDRAW_SECONDS if self._overwrites else _LOG_SECONDS
        self._due = time.monotonic() + (_FIRST_SECONDS if self._overwrites else _LOG_SECONDS)

    def _is_due(self, now: float) -> bool:
        return self._shown and now >= self._due

    def _say(self, now: float, line: str, log: str) -> None:
        """Write the line on a terminal, or that for a log elsewhere, unless it is empty."""
        if self._overwrites:
            self._write(line)
        elif log:
            print(f"smallearn: {log}", file=sys.stderr, flush=True)
            self._interval = min(2.0 * self._interval, _MOST_LOG_SECONDS)
        self._due = now + self._interval


class Bar(_Paced):
    """A progress bar: ``with Bar(total, "fits") as bar: bar.step()``.

    On a terminal and in notebooks it appears after a second. Elsewhere there is a line after ten seconds, then at
    growing intervals. It says how long the rest will take, see `_Forecast`.

    Parameters
    ----------
    total : int
        How many steps there are. May be assigned later.
    unit : str
        What is counted.
    shown : bool, default=True
        False: print nothing.
    work : float or None, default=None
        The work of all steps, if they differ: see `step`. May be assigned later. None: ``total``.
    """

    def __init__(self, total: int, unit: str, shown: bool = True, work: float | None = None):
        super().__init__(shown)
        self.total, self.unit, self.done = total, unit, 0
        self.work, self._worked = work, 0.0
        self._last = time.monotonic()
        self._forecast = _Forecast()

    def step(self, count: int = 1, work: float | None = None) -> None:
        """Count ``count`` more as done; ``work`` is theirs, by default ``count``."""
        now = time.monotonic()
        amount = float(count if work is None else work)
        self._forecast.step(self._worked, amount, now - self._last)
        self.done, self._worked, self._last = self.done + count, self._worked + amount, now
        total_work = float(self.total if self.work is None else self.work)
        self._forecast.update(total_work - self._worked, now)
        tell = _watcher.get()
        if tell is not None:
            tell(Progress(self.done, self.total, self.unit, self._forecast.left))
        if self.done and self._is_due(now):
            self._show(now, min(1.0, self._worked / total_work) if total_work > 0.0 else 1.0)

    def _show(self, now: float, share: float) -> None:
        text = f"{self.done}/{self.total} {self.unit}"
        if self._forecast.left is not None:
            text += f", {_duration(self._forecast.left)} left"
        filled = int(_BAR * share)
        line = f"[{'█' * filled}{'·' * (_BAR - filled)}] {text}"
        self._say(now, line, text if self.done != self.total else "")


class _Forecast:
    """How long the rest of the work takes, at the speed of late.

    The speed is an average in which a step counts by the cube of the work done before it. So the first one, which may
    compile, does not count, and other early ones soon hardly do. From one update to the next the forecast changes by no
    more than half, besides the time that has passed.
    """

    def __init__(self) -> None:
        self.left: float | None = None  # seconds; None: there is nothing yet to tell it from
        self._updated = 0.0
        self._seconds = self._work = 0.0  # weighted sums over the steps

    def step(self, before: float, work: float, seconds: float) -> None:
        """Learn from a step: the work done before it, its own, and the seconds that it took."""
        self._seconds += before**3 * seconds
        self._work += before**3 * work

    def update(self, work: float, now: float) -> None:
        """Forecast the seconds that the ``work`` left takes."""
        if self._work <= 0.0 or (self.left is not None and now < self._updated + _FORECAST_SECONDS):
            return
        left = max(0.0, work) * self._seconds / self._work
        if self.left is not None:
            passed = now - self._updated
            least = (self.left - passed) / _FORECAST_CHANGE
            most = max(self.left, passed) * _FORECAST_CHANGE + 1.0
            left = min(max(left, least), most)
        self.left, self._updated = left, now


def _duration(seconds: float) -> str:
    """``8 s``, ``3 min``, ``2 h 05 min``."""
    if seconds < 100.0:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60.0)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02d} min"


class Status(_Line):
    """A line of text about work in progress: ``with Status(verbose) as status: status.update("…")``.

    At most two updates a second are printed: on a terminal and in notebooks each overwrites the one before; elsewhere
    each is a line of its own, if ``verbose``.
    """

    def __init__(self, verbose: bool):
        super().__init__()
        self._verbose = verbose
        self._last = time.monotonic()

    def update(self, text: str) -> None:
        """Print the text, unless the last one was printed less than half a second ago."""
        now = time.monotonic()
        if now - self._last < 0.5:
            return
        self._last = now
        if self._overwrites:
            self._write(text)
        elif self._verbose:
            print(text, file=sys.stderr)


class Passes(_Paced):
    """Passes over all rows of a large data set: ``settling the weights: pass 7, loss 0.4312 (-1.3e-05), 21 M rows/s``.

    Nested work finds the one in whose context it is by `passes`, and goes through its rows in `through`.

    Parameters
    ----------
    shown : bool, default=True
        False: print nothing.
    """

    def __init__(self, shown: bool = True):
        super().__init__(shown)
        self.stage, self.number = "", 0
        self._loss: float | None = None
        self._fall = self._speed = ""
        self._token: Token | None = None

    def __enter__(self) -> Self:
        self._token = _passes.set(self)
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        if self._token is not None:
            _passes.reset(self._token)
        super().__exit__(*error)

    def begin(self, stage: str) -> None:
        """Say what is done from now on; its passes are counted from 1."""
        if stage != self.stage:
            self.stage, self.number, self._loss, self._fall = stage, 0, None, ""
            self._update(time.monotonic())

    def through(self, answers: Iterable[Answer], n_rows: int, n_blocks: int) -> Iterator[Answer]:
        """The answers of all blocks of rows, in one pass."""
        self.number += 1
        began = time.monotonic()
        for done, answer in enumerate(answers, start=1):
            yield answer
            now = time.monotonic()
            if now > began:
                self._speed = f", {_rows(n_rows * done / n_blocks / (now - began))}/s"
            self._update(now)

    def reached(self, loss: float) -> None:
        """Note the loss that a pass found."""
        self._fall = "" if self._loss is None else f" ({loss - self._loss:+.1e})"
        self._loss = loss

    def _update(self, now: float) -> None:
        if self.stage and self._is_due(now):
            text = self.stage
            if self.number:
                loss = "" if self._loss is None else f", loss {self._loss:.5g}{self._fall}"
                text = f"{text}: pass {self.number}{loss}{self._speed}"
            self._say(now, text, text)


_passes: ContextVar[Passes] = ContextVar("passes")


def passes() -> Passes:
    """That of the work which this is part of; without one, passes are not shown."""
    found = _passes.get(None)
    return Passes(shown=False) if found is None else found


def _rows(number: float) -> str:
    """``950 rows``, ``12 k rows``, ``3.4 M rows``."""
    for factor, unit in ((1e6, "M"), (1e3, "k")):
        if number >= factor:
            return (
                f"{number / factor:.2g} {unit} rows" if number < 100 * factor else f"{number / factor:.0f} {unit} rows"
            )
    return f"{number:.0f} rows"
