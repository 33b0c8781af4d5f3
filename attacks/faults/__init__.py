"""What goes wrong around a command: it is killed, the disk is full, folders cannot be written, memory is short.

After a kill every file is the old one or the new one, the same command runs again and gives what it always does, and
after that nothing is left of the first run: no draft, no process. Where something is denied, a command works all the
same or says in a sentence why not; it never ends in a traceback.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

from attacks.faults import crowds, denials, kills
from attacks.faults.workshop import Workshop
from attacks.findings import Finding, Findings, complaint


def add(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--kills", type=int, default=20, help="of each command that writes (default 20)")
    parser.add_argument("--commands", help=f"to kill, of {', '.join(kills.VICTIMS)} (default all)")
    parser.add_argument("--denials", help="names of them (default all; none: no)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default 0)")
    parser.add_argument("--first", type=int, default=0, help="number of the first kill, to repeat one (default 0)")


def run(arguments: argparse.Namespace) -> int:
    """Attack; 1 if something was found."""
    if os.name != "posix":
        sys.exit("The faults are those of POSIX: signals, file modes, limits.")
    folder = Path(tempfile.mkdtemp(prefix="smallearn-faults-"))
    folder.chmod(0o755)  # another user looks in
    try:
        workshop = Workshop(folder)
        found = 0
        names = list(kills.VICTIMS) if arguments.commands is None else arguments.commands.split(",")
        if arguments.kills and names != ["none"]:
            found |= killed(workshop, names, arguments).report()
        asked = list(denials.DENIALS) if arguments.denials is None else arguments.denials.split(",")
        if asked != ["none"]:
            found |= denied(workshop, asked).report()
            found |= crowded(workshop).report()
        return found
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def killed(workshop: Workshop, names: list[str], arguments: argparse.Namespace) -> Findings:
    """Kill each command at random moments."""
    findings = Findings(f"Commands killed (SIGKILL) at random moments, seed {arguments.seed}")
    for name in names:
        victim = kills.VICTIMS[name](workshop)
        usual = victim.undisturbed()
        for number in range(arguments.first, arguments.first + arguments.kills):
            moment = random.Random(f"{arguments.seed}/{name}/{number}").uniform(0.0, 1.05 * usual)
            options = f"--kills 1 --commands {name} --denials none --seed {arguments.seed} --first {number}"
            repeat = f"python -m attacks faults {options}"
            try:
                finished, wrong = victim.killed_after(moment)
            except Exception as error:
                finished, wrong = False, [(complaint(error, f"{name}: after a kill"), str(error))]
            findings.count(f"{name}: killed" if not finished else f"{name}: done before the kill")
            findings.add(Finding(what, repeat, f"after {moment:.2f} of {usual:.2f} s\n{more}") for what, more in wrong)
            print(f"  {name} {number}: after {moment:.2f} s{' FOUND' if wrong else ''}", file=sys.stderr, flush=True)
    return findings


def denied(workshop: Workshop, names: list[str]) -> Findings:
    """Deny each command disk, folders, memory."""
    findings = Findings("Commands without disk, folders, streams or memory")
    for name in names:
        reason = denials.DENIALS[name].impossible()
        if reason is not None:
            findings.notes.append(f"{name}: not tried, {reason}")
            continue
        for command, wrong in denials.DENIALS[name](workshop).each():
            findings.count(f"{name}: commands")
            repeat = f"python -m attacks faults --kills 0 --denials {name}"
            findings.add(Finding(f"{name}: {command}: {what}", repeat, more) for what, more in wrong)
        print(f"  {name}", file=sys.stderr, flush=True)
    return findings


def crowded(workshop: Workshop) -> Findings:
    """Let two processes write the same file."""
    findings = Findings("Processes that write the same file at once")
    for name, wrong in crowds.each(workshop):
        findings.count(f"{name}: pairs")
        findings.add(Finding(f"{name}: {what}", "python -m attacks faults --kills 0", more) for what, more in wrong)
    return findings
