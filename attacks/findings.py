"""What an attack found: the same complaint once, with how often it came and how to repeat the first."""

import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = f"{Path('src', 'smallearn')}"


@dataclass(frozen=True)
class Finding:
    """A complaint.

    Parameters
    ----------
    what : str
        What is wrong; the same for all inputs that break the same thing.
    where : str
        How to repeat it: the options that give this input alone.
    detail : str, default=""
        More about this input.
    """

    what: str
    where: str
    detail: str = ""


@dataclass
class Findings:
    """What an attack tried and found.

    Parameters
    ----------
    title : str
        What is attacked.
    """

    title: str
    tried: dict[str, int] = field(default_factory=dict)
    found: dict[str, list[Finding]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def count(self, what: str, number: int = 1) -> None:
        """Add to how many inputs came this far."""
        self.tried[what] = self.tried.get(what, 0) + number

    def add(self, findings: Iterable[Finding]) -> None:
        """Add complaints."""
        for finding in findings:
            self.found.setdefault(finding.what, []).append(finding)

    def report(self) -> int:
        """Print all this; 1 if anything was found."""
        print(f"{self.title}")
        for what, number in self.tried.items():
            print(f"  {number:>12,}  {what}")
        for note in self.notes:
            print(f"  {note}")
        if not self.found:
            print("  Nothing found.", flush=True)
            return 0
        for what, same in sorted(self.found.items(), key=lambda item: -len(item[1])):
            print(f"  FOUND {len(same):,} times: {what}")
            for line in f"repeat: {same[0].where}\n{same[0].detail}".strip().splitlines()[:12]:
                print(f"      {line[:200]}")
        print(f"  {len(self.found)} different findings.", flush=True)
        return 1


def complaint(error: BaseException, doing: str) -> str:
    """An exception in a line that is the same wherever the same line of smallearn raises it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if SOURCE in frame.filename]
    place = f" in {SOURCE}{ours[-1].filename.rpartition(SOURCE)[2]}: {ours[-1].name}" if ours else ""
    return f"{doing}: {type(error).__name__}{place}"
