"""Progress of long work: one line on stderr that overwrites itself, on a terminal only."""

import sys
import time
from types import TracebackType
from typing import Self

_WIDTH = 78  # of the line, in characters
_BAR = 24


class _Line:
    """A context manager with a line of the terminal, which is cleared at the end."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
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


class Bar(_Line):
    """A progress bar: ``with Bar(total, "fits") as bar: bar.step()``.

    It appears after a second, on a terminal, if ``shown``. ``unit`` is what is counted.
    """

    def __init__(self, total: int, unit: str, shown: bool = True):
        super().__init__()
        self.total, self.unit, self.done = total, unit, 0
        self._shown = shown and self._terminal
        self._start = time.monotonic()

    def step(self, count: int = 1) -> None:
        """Count ``count`` more as done."""
        self.done += count
        elapsed = time.monotonic() - self._start
        if self._shown and self.done and elapsed > 1.0:
            share = self.done / max(1, self.total)
            filled = int(_BAR * share)
            left = elapsed / share - elapsed
            self._write(
                f"[{'█' * filled}{'·' * (_BAR - filled)}] {self.done}/{self.total} {self.unit}, {left:.0f} s left"
            )


class Status(_Line):
    """A line of text about work in progress: ``with Status(verbose) as status: status.update("…")``.

    At most two updates a second are printed: on a terminal each overwrites the one before; elsewhere each is a line
    of its own, if ``verbose``.
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
        if self._terminal:
            self._write(text)
        elif self._verbose:
            print(text, file=sys.stderr)
