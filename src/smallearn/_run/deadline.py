"""A time limit for work that can end early with the best result so far.

Whoever sets the limit enforces a `Deadline`. Nested work asks for it and says what it cuts short::

    with enforce(Deadline(seconds)) as deadline:
        train()  # in there: `if present().stops("the search"): break`
    if deadline.cut_short: ...

A deadline can be sent to other processes of the same machine, whose clock they share, and be enforced there; what they
cut short they have to return.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf


class Deadline:
    """The moment at which work has to end, ``seconds`` from now; None: never."""

    def __init__(self, seconds: float | None = None):
        self.seconds = seconds
        self.cut_short: list[str] = []
        """The work that ended early, each named once."""
        self._ends = inf if seconds is None else time.monotonic() + seconds

    def left(self) -> float:
        """The seconds that are left, 0 once time is up; infinity if there is no limit."""
        return max(0.0, self._ends - time.monotonic())

    def passed(self) -> bool:
        """Whether time is up."""
        return time.monotonic() >= self._ends

    def stops(self, work: str) -> bool:
        """Whether time is up, so that ``work`` has to end early; if so this is noted in ``cut_short``."""
        passed = self.passed()
        if passed and work not in self.cut_short:
            self.cut_short.append(work)
        return passed

    def sentence(self) -> str:
        """What was cut short: ``Time was up after 5 seconds. Cut short: the search, the proof.``"""
        return f"Time was up after {self.seconds:g} seconds. Cut short: {', '.join(self.cut_short)}."


NEVER = Deadline()
_present: ContextVar[Deadline] = ContextVar("deadline", default=NEVER)


def present() -> Deadline:
    """The deadline of the work that this is part of; without one, `NEVER`."""
    return _present.get()


@contextmanager
def enforce(deadline: Deadline) -> Iterator[Deadline]:
    """Make a deadline the present one, for this thread."""
    token = _present.set(deadline)
    try:
        yield deadline
    finally:
        _present.reset(token)
