"""For pytest: how long each test takes, written to the file that SMALLEARN_DURATIONS names."""

import json
import os
from collections import defaultdict
from pathlib import Path

_seconds: dict[str, float] = defaultdict(float)
_failed: set[str] = set()


def pytest_runtest_logreport(report):
    """Add the time of a phase."""
    _seconds[report.nodeid] += report.duration
    if report.outcome != "passed":
        _failed.add(report.nodeid)


def pytest_sessionfinish(session):
    """Write them, unless this is one of several processes of pytest-xdist."""
    if not hasattr(session.config, "workerinput"):
        passed = {name: seconds for name, seconds in _seconds.items() if name not in _failed}
        Path(os.environ["SMALLEARN_DURATIONS"]).write_text(json.dumps(passed))
