"""Progress on a terminal: one line that is written over, on stderr, and nothing when it is not a terminal."""

import sys
import time


class Bar:
    """``with Bar(total, "fits", shown) as bar: bar.step()``. Shown after a second, on a terminal, unless not wanted."""

    def __init__(self, total: int, what: str, shown: bool = True):
        self.total, self.what, self.done = total, what, 0
        self._shown = shown and sys.stderr.isatty()
        self._begin = time.monotonic()
        self._written = False

    def __enter__(self) -> "Bar":
        return self

    def step(self, count: int = 1) -> None:
        """So many more are done."""
        self.done += count
        spent = time.monotonic() - self._begin
        if self._shown and self.done and spent > 1.0:
            share = self.done / max(1, self.total)
            filled = int(24 * share)
            left = spent / share - spent
            line = f"[{'█' * filled}{'·' * (24 - filled)}] {self.done}/{self.total} {self.what}, {left:.0f} s left"
            print(f"\r{line:<78}", end="", file=sys.stderr, flush=True)
            self._written = True

    def __exit__(self, *problem: object) -> None:
        if self._written:
            print(f"\r{'':<78}\r", end="", file=sys.stderr, flush=True)


class Status:
    """``with Status(verbose) as status: status.show("…")``: a line of words about work under way, over itself on a
    terminal; else line by line if ``verbose``; at most twice a second."""

    def __init__(self, verbose: bool):
        self._terminal, self._verbose = sys.stderr.isatty(), verbose
        self._last = time.monotonic()
        self._written = False

    def __enter__(self) -> "Status":
        return self

    def show(self, line: str) -> None:
        """Say how far it got."""
        now = time.monotonic()
        if now - self._last < 0.5:
            return
        self._last = now
        if self._terminal:
            print(f"\r{line:<78}", end="", file=sys.stderr, flush=True)
            self._written = True
        elif self._verbose:
            print(line, file=sys.stderr)

    def __exit__(self, *problem: object) -> None:
        if self._written:
            print(f"\r{'':<78}\r", end="", file=sys.stderr, flush=True)
