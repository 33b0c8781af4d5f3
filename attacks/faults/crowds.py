"""Two processes that write the same file: in the end it is whole, and one of the two."""

from collections.abc import Iterator

from attacks.faults.kills import Cache, Fit, Predict, Report, Victim, Wrong
from attacks.faults.workshop import HANG, Workshop

TOGETHER = 2


def each(workshop: Workshop) -> Iterator[tuple[str, Wrong]]:
    """Each command twice at once, and what is wrong then."""
    for kind in (Fit, Predict, Report, Cache):
        victim = kind(workshop)
        victim.undisturbed()
        yield victim.name, at_once(victim)


def at_once(victim: Victim) -> Wrong:
    """Both must succeed, with the result of one, and nothing else left."""
    workshop = victim.workshop
    place = workshop.place(victim.name)
    victim.prepare(place)
    processes = [workshop.start(place, *victim.arguments()) for _ in range(TOGETHER)]
    wrong: Wrong = []
    for process in processes:
        _, err = process.communicate(timeout=HANG)
        if process.returncode != 0:
            wrong.append((f"one of two fails with {process.returncode}", err[-1500:].decode(errors="replace")))
    return wrong + victim.differences(place)
