"""``python -m attacks ATTACK [options]``: run one of the attacks below; ``--help`` lists its options."""

import argparse
import sys
from collections.abc import Sequence

from attacks import faults, fuzz, mutants, soak

ATTACKS = {"fuzz": fuzz, "faults": faults, "soak": soak, "mutants": mutants}


def main(argv: Sequence[str] | None = None) -> int:
    """Run an attack; 1 if it found something."""
    parser = argparse.ArgumentParser(prog="python -m attacks", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="ATTACK")
    for name, attack in ATTACKS.items():
        summary = attack.__doc__.partition("\n")[0]
        added = commands.add_parser(
            name, help=summary, description=attack.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        attack.add(added)
        added.set_defaults(run=attack.run)
    arguments = parser.parse_args(argv)
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
