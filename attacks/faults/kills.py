"""Commands that are killed while they work, and what must be true afterwards."""

import os
import signal
import subprocess
import time
from pathlib import Path

from attacks.faults.workshop import Workshop, end_session, files_below, wait_until_gone
from smallearn import load_model

Wrong = list[tuple[str, str]]
OLD = b"what was there before"


class Victim:
    """A command that writes files.

    Parameters
    ----------
    workshop : Workshop
        Where its inputs are.
    """

    name = ""
    output = ""  # the file that it replaces, in the folder of work

    def __init__(self, workshop: Workshop):
        self.workshop = workshop
        self.expected: dict[str, bytes] = {}

    def arguments(self) -> list[str]:
        """The command."""
        raise NotImplementedError

    def prepare(self, place: Path) -> None:
        """What lies in the folder before the command runs."""
        (place / "work" / self.output).write_bytes(OLD)

    def undisturbed(self) -> float:
        """Run it twice, with compiled functions that are there the second time; the seconds of that."""
        for _ in range(2):
            place = self.workshop.place(self.name)
            self.prepare(place)
            begin = time.monotonic()
            self.workshop.must(place, *self.arguments())
            seconds = time.monotonic() - begin
        self.expected = self.result(place)
        self.left = sorted(path for folder in ("tmp", "cache") for path in files_below(place / folder))
        return seconds

    def result(self, place: Path) -> dict[str, bytes]:
        """The files that the command is for, without what differs from run to run."""
        return files_below(place / "work")

    def killed_after(self, moment: float) -> tuple[bool, Wrong]:
        """Whether it was done by then, and what is wrong after a kill and after the next run."""
        place = self.workshop.place(self.name)
        self.prepare(place)
        process = self.workshop.start(place, *self.arguments())
        finished = True
        try:
            process.communicate(timeout=moment)
        except subprocess.TimeoutExpired:
            finished = False
            os.kill(process.pid, signal.SIGKILL)
        left = wait_until_gone(process.pid)
        end_session(process.pid)
        process.communicate()
        wrong = [(f"{self.name}: processes live on", "\n".join(left))] if left else []
        wrong += self.half_written(place)
        code, _, err = self.workshop.run(place, *self.arguments())
        if code != 0:
            return finished, [*wrong, (f"{self.name}: the next run fails with {code}", err[-1500:])]
        return finished, wrong + self.differences(place)

    def half_written(self, place: Path) -> Wrong:
        """What is wrong right after the kill: the file is neither old nor new."""
        path = place / "work" / self.output
        if not path.exists():
            return [(f"{self.name}: {self.output} is gone", "")]
        content = path.read_bytes()
        if content != OLD and {self.output: content}.items() - self.result(place).items():
            return [(f"{self.name}: {self.output} cannot be read", content[:200].decode(errors="replace"))]
        if content != OLD and self.result(place)[self.output] != self.expected[self.output]:
            return [(f"{self.name}: {self.output} is neither old nor new", f"{len(content)} bytes")]
        return []

    def differences(self, place: Path) -> Wrong:
        """What is wrong after the next run: another result, or something left behind."""
        wrong: Wrong = []
        found = self.result(place)
        for name in sorted({*found, *self.expected}):
            if name not in self.expected:
                wrong.append((f"{self.name}: the next run leaves something behind", name))
            elif name not in found:
                wrong.append((f"{self.name}: the next run does not write {name}", ""))
            elif found[name] != self.expected[name]:
                wrong.append((f"{self.name}: after a kill {name} is another", f"{len(found[name])} bytes"))
        left = sorted(path for folder in ("tmp", "cache") for path in files_below(place / folder))
        if left != self.left:
            more = sorted({*left} - {*self.left}) or left
            wrong.append((f"{self.name}: temporary files stay", "\n".join(more[:5])))
        return wrong


class Fit(Victim):
    """``fit`` in two processes."""

    name, output = "fit", "fitted.json"

    def arguments(self) -> list[str]:
        """The command."""
        data = str(self.workshop.inputs / "data.csv")
        quick = ["--max-terms", "2", "--prototypes", "1", "--folds", "3", "--jobs", "2"]
        return ["fit", data, "--target", "answer", *quick, "-o", self.output]

    def half_written(self, place: Path) -> Wrong:
        """A model is old, or it loads."""
        path = place / "work" / self.output
        if path.read_bytes() != OLD:
            load_model(path)
        return super().half_written(place)


class Predict(Victim):
    """``predict -o``, of many rows."""

    name, output = "predict", "scored.csv"

    def arguments(self) -> list[str]:
        """The command."""
        return ["predict", str(self.workshop.model), str(self.workshop.inputs / "many.csv"), "-o", self.output]


class Report(Victim):
    """``report``."""

    name, output = "report", "report.html"

    def arguments(self) -> list[str]:
        """The command."""
        data = str(self.workshop.inputs / "data.csv")
        return ["report", str(self.workshop.model), data, "--no-compare", "-o", self.output]


class Cache(Victim):
    """``fit`` of a table that is converted to mapped files first."""

    name, output = "cache", "fitted.json"

    def arguments(self) -> list[str]:
        """The command."""
        data = str(self.workshop.inputs / "large.parquet")
        quick = ["--on-disk", "--max-terms", "2", "--prototypes", "1", "--folds", "2", "--sample-rows", "500"]
        return ["fit", data, "--target", "answer", *quick, "--no-frontier", "-o", self.output]


class Paper(Victim):
    """``paper``, which goes on where it was."""

    name, output = "paper", "results/scores.csv"

    def arguments(self) -> list[str]:
        """The command."""
        sets = str(self.workshop.inputs / "sets")
        return ["paper", "surfaces", "--data", sets, "--output", "results", "--splits", "1", "--jobs", "2"]

    def prepare(self, place: Path) -> None:
        """Nothing."""

    def half_written(self, place: Path) -> Wrong:
        """Results so far are read by the next run."""
        return []

    def result(self, place: Path) -> dict[str, bytes]:
        """The names of the files: seconds are among the results."""
        return dict.fromkeys(files_below(place / "work"), b"")


class App(Victim):
    """``app``, which has a folder for uploads and a second process."""

    name = "app"

    def arguments(self) -> list[str]:
        """The command."""
        return ["app", str(self.workshop.inputs / "data.csv"), "--no-browser"]

    def undisturbed(self) -> float:
        """The seconds that it takes to start, and a little more."""
        self.expected, self.left = {}, []
        return 8.0

    def killed_after(self, moment: float) -> tuple[bool, Wrong]:
        """What is wrong after a kill, and after another app that ends as it should."""
        place = self.workshop.place(self.name)
        process = self.workshop.start(place, *self.arguments())
        time.sleep(moment)
        process.kill()
        left = wait_until_gone(process.pid)
        end_session(process.pid)
        process.communicate()
        wrong = [(f"{self.name}: processes live on", "\n".join(left))] if left else []
        again = self.workshop.start(place, *self.arguments())
        first = again.stdout.readline() if again.stdout else b""
        again.send_signal(signal.SIGTERM)
        _, err = again.communicate(timeout=120)
        if not first or b"Traceback" in err:
            wrong.append((f"{self.name}: it does not start again", err[-1000:].decode(errors="replace")))
        return False, wrong + self.differences(place)


VICTIMS = {victim.name: victim for victim in (Fit, Predict, Report, Cache, Paper, App)}
