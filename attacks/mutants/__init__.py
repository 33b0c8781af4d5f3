"""Mutation testing: do the tests notice small changes of the code?

A random sample of mutants (see `sites` for the changes and what is left out) of the objective, the geometry, the
rounding, the model and the exports. For each, the tests run that run the changed line, the quickest first.
"""

import argparse
import json
import math
import os
import random
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path

from attacks.mutants.covering import ROOT, Covering, covering
from attacks.mutants.sites import Mutant, compiles, mutants_of
from attacks.mutants.trial import KILLED, SLOW, SURVIVED, Copy, judge, preload

SOURCE = ROOT / "src"
SOLVE = SOURCE / "smallearn" / "_learn" / "solve"
# What is sampled, and how many mutants of 600: each at least 60, the rest by the size of the code.
GROUPS = {
    "objective": ([SOLVE / "objective.py"], 60),
    "geometry": ([SOLVE / "geometry.py"], 60),
    "rounding": ([SOLVE / "rounding.py"], 60),
    "model": (sorted((SOURCE / "smallearn" / "model").rglob("*.py")), 170),
    "export": (sorted((SOURCE / "smallearn" / "export").rglob("*.py")), 250),
}
WANTED = 0.80  # of the mutants killed, at the lower end of the interval


def add(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--count", type=int, default=600, help="mutants in the sample (default 600)")
    parser.add_argument("--groups", default=",".join(GROUPS), help=f"of {', '.join(GROUPS)} (default all)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default 0)")
    parser.add_argument("--seconds", type=float, default=40.0, help="of tests for each mutant (default 40)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default all cores)")
    parser.add_argument("--keep", type=Path, default=ROOT / ".mutants", help="folder for the coverage and the results")
    parser.add_argument("--list", action="store_true", help="print the sample and end")


def run(arguments: argparse.Namespace) -> int:
    """Judge the sample; 1 if the score is lower than wanted."""
    chosen = sample(arguments.groups.split(","), arguments.count, arguments.seed)
    total = sum(map(len, chosen.values()))
    print(f"Mutants: a sample of {total}, seed {arguments.seed}")
    if arguments.list:
        for name, mutants in chosen.items():
            print(f"{name}:", *mutants, sep="\n  ")
        return 0
    known = covering(arguments.keep, arguments.jobs)
    judged = judge_all([mutant for mutants in chosen.values() for mutant in mutants], known, arguments)
    return report(chosen, judged)


def sample(groups: list[str], count: int, seed: int) -> dict[str, list[Mutant]]:
    """The mutants of each group that are judged."""
    whole = sum(share for _, share in GROUPS.values())
    chosen = {}
    for name in groups:
        files, share = GROUPS[name]
        every = [mutant for path in files for mutant in mutants_of(path, SOURCE)]
        random.Random(f"{seed}/{name}").shuffle(every)
        python = (mutant for mutant in every if compiles(mutant, SOURCE))
        chosen[name] = sorted(islice(python, math.ceil(share * count / whole)))
    return chosen


def judge_all(mutants: list[Mutant], known: Covering, arguments: argparse.Namespace) -> dict[Mutant, str]:
    """What becomes of each. Results are kept: a run that is interrupted goes on where it was."""
    results = arguments.keep / "results.json"
    stamp = (arguments.keep / "stamp").read_text()
    kept = json.loads(results.read_text()) if results.exists() else {}
    kept = kept.get("judged", {}) if kept.get("stamp") == stamp else {}
    order = [mutant for mutant in mutants if str(mutant) not in kept]
    random.Random(0).shuffle(order)
    preload()
    begin = time.monotonic()
    for position, part in enumerate(_judged_in_processes(order, known, arguments)):
        mutant, verdict, tests = part
        kept[str(mutant)] = verdict
        results.write_text(json.dumps({"stamp": stamp, "judged": kept}, indent=1))
        minutes = (time.monotonic() - begin) / 60.0
        said = f"{position + 1}/{len(order)} {minutes:.1f} min: {verdict} ({tests} tests) {mutant}"
        print(said, file=sys.stderr, flush=True)
    return {mutant: kept[str(mutant)] for mutant in mutants}


def _judged_in_processes(order: list[Mutant], known: Covering, arguments: argparse.Namespace):
    """Each mutant with its verdict and the number of its tests, as they come; each process has its own sources."""
    folder = Path(tempfile.mkdtemp(prefix="smallearn-mutants-"))
    jobs = max(1, arguments.jobs)
    try:
        receive, send = os.pipe()
        processes = []
        for job in range(jobs):
            process = os.fork()
            if process == 0:
                os.close(receive)
                _judge_part(order[job::jobs], known, arguments.seconds, folder / str(job), send)
            processes.append(process)
        os.close(send)
        with os.fdopen(receive, encoding="utf-8") as lines:
            for line in lines:
                position, verdict, tests = json.loads(line)
                yield Mutant(*position), verdict, tests
        for process in processes:
            _, status = os.waitpid(process, 0)
            if status != 0:
                raise RuntimeError("A process that judges mutants has failed; see above.")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _judge_part(part: list[Mutant], known: Covering, seconds: float, folder: Path, send: int) -> None:
    """In a new process: judge these, and say so in a line each."""
    code = 1
    try:
        copy = Copy(folder)
        for position, mutant in enumerate(part):
            tests = known.tests_of(mutant.path, mutant.line, mutant.end_line, seconds)
            usual = sum(known.seconds[name] for name in tests)
            log = folder.with_suffix(".log")
            if position == 0 and tests:  # what is not changed must pass, or every mutant would be called killed
                verdict = judge(replace(mutant, new=mutant.old), tests, usual, copy, log)
                if verdict != SURVIVED:
                    print(f"The tests fail on what is not changed:\n{log.read_text()[-3000:]}", file=sys.stderr)
                    raise RuntimeError(verdict)
            verdict = judge(mutant, tests, usual, copy, log)
            values = [getattr(mutant, name) for name in mutant.__dataclass_fields__]
            os.write(send, (json.dumps([values, verdict, len(tests)]) + "\n").encode())
        code = 0
    finally:
        os._exit(code)


def interval(killed: int, total: int, z: float = 1.959964) -> tuple[float, float]:
    """The 95% interval of Wilson for a share."""
    share, slack = killed / total, z * z / total
    middle = share + slack / 2.0
    width = z * math.sqrt(share * (1.0 - share) / total + slack / (4.0 * total))
    return (middle - width) / (1.0 + slack), (middle + width) / (1.0 + slack)


def report(chosen: dict[str, list[Mutant]], judged: dict[Mutant, str]) -> int:
    """Print the score of each group, and every survivor; 1 if the score is lower than wanted."""
    groups = {**chosen, "all": [mutant for mutants in chosen.values() for mutant in mutants]}
    low = 0.0
    print(f"  {'':<10} {'mutants':>7} {'killed':>7} {'score':>7}   95% interval")
    for name, mutants in groups.items():
        killed = sum(judged[mutant] in (KILLED, SLOW) for mutant in mutants)
        low, high = interval(killed, len(mutants))
        print(f"  {name:<10} {len(mutants):>7} {killed:>7} {killed / len(mutants):>7.1%}   {low:.1%} to {high:.1%}")
    print(f"  (killed: {sum(verdict == SLOW for verdict in judged.values())} by taking too long)")
    survivors = [mutant for mutant in judged if judged[mutant] not in (KILLED, SLOW)]
    print(f"Survivors: {len(survivors)}")
    for mutant in survivors:
        print(f"  {mutant}" + ("" if judged[mutant] == SURVIVED else f"   ({judged[mutant]})"))
    return int(low < WANTED)
