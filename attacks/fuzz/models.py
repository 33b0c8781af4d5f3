"""Damaged model files: each is refused with a sentence, or the model works everywhere.

Any file is either refused by `SMaLLModel.from_json` with a ValueError, or the model predicts, prints, is written as
JSON and read again, and its decisions are explained, without a warning. Of the models that load, a share is shown in a
report and exported as text, a smaller share compiled.
"""

import random
import sys
import time

from attacks.findings import Findings, complaint
from attacks.fuzz import extremes
from attacks.fuzz.loaded import check_model
from attacks.fuzz.mutation import mutant
from attacks.fuzz.outputs import check_compiled, check_texts
from attacks.pool import Attempt, Outcome, Tally, as_findings, attempt_all, attempt_one
from smallearn import SMaLLModel
from tests.helpers.tools import marks

TEXTS, COMPILED = 0.025, 0.0025  # shares of the models that load that are exported, and compiled
LONGEST = 2000  # characters of a refusal that a person may be asked to read


def attack(count: int, seed: int, first: int, jobs: int) -> Findings:
    """Attack with the damaged files of these numbers."""
    findings = Findings(f"Damaged model files, seed {seed}, numbers {first} to {first + count - 1}")
    tally = attempt_all(prepare, seed, range(first, first + count), jobs, seconds=60.0, progress=progress(count))
    findings.count("files", tally.tried)
    for name in sorted(tally.reached, key=lambda name: -tally.reached[name]):
        findings.count(name, tally.reached[name])
    findings.add(as_findings(tally, lambda i: f"python -m attacks fuzz --models 1 --seed {seed} --first {i} --jobs 0"))
    if jobs and first == 0 and tally.is_complete:
        huge = attempt_all(
            extremes.prepare, seed, range(extremes.count()), 1, memory=4 * 2**30, seconds=extremes.SECONDS
        )
        for name, number in huge.reached.items():
            findings.count(name, number)
        findings.add(as_findings(huge, lambda _: f"python -m attacks fuzz --models 1 --seed {seed} --jobs 1"))
    if jobs:
        findings.notes.append(f"slowest {tally.slowest:.2f} s of processor time; peak {tally.peak / 2**20:.0f} MB")
    return findings


def progress(count: int):
    """Say now and then how far it is."""
    begin, said = time.monotonic(), [time.monotonic()]

    def say(tally: Tally) -> None:
        if time.monotonic() - said[0] > 60.0:
            said[0] = time.monotonic()
            done = tally.tried
            print(f"  … {done:,} of {count:,} after {said[0] - begin:.0f} s", file=sys.stderr, flush=True)

    return say


def prepare() -> Attempt:
    """The attempt, with everything imported and compiled that the first model would wait for."""
    marks.update(("tools", "browser"))  # the tests' helpers may run compilers
    for number in range(20):
        attempt_one(attempt, 0, number)
    return attempt


def attempt(dice: random.Random, number: int) -> Outcome:
    """One damaged file."""
    data = mutant(dice)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return Outcome(("refused, not UTF-8",))
    return judge(text, dice.random())


def judge(text: str, draw: float = 1.0) -> Outcome:
    """Whether the text is refused, or the model works; a small ``draw`` asks for exports and compilers too."""
    try:
        model = SMaLLModel.from_json(text)
    except ValueError as error:
        refusal = str(error)
        if not isinstance(error, UnicodeError) and refusal and len(refusal) < LONGEST:
            return Outcome(("refused",))
        return Outcome(("refused",), ((complaint(error, "refused badly"), refusal[:500]),))
    reached: tuple[str, ...] = ("loaded",)
    doing = "loads, then fails"
    try:
        check_model(model)
        if draw < TEXTS:
            reached, doing = (*reached, "loaded, in a report and text exports"), "loads, then fails in exports"
            check_texts(model)
        if draw < COMPILED:
            reached, doing = (*reached, "loaded, compiled"), "loads, then fails compiled"
            check_compiled(model)
    except Exception as error:
        return Outcome(reached, ((complaint(error, doing), f"{error}"[-700:]),))
    return Outcome(reached)
