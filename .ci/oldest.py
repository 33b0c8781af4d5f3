"""Says which of the lower bounds in pyproject.toml are installed, for `make test-oldest`.

A bound of which there is no wheel for this Python is printed with the version that is tested instead.
"""

import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version


def lower_bounds(project: dict) -> dict[str, Version]:
    """The lowest version that is declared of each package that users may need."""
    declared = [project["dependencies"], *project["optional-dependencies"].values()]
    bounds = {}
    for requirement in map(Requirement, (text for group in declared for text in group)):
        for bound in requirement.specifier:
            if bound.operator == ">=":
                bounds[requirement.name] = max(bounds.get(requirement.name, Version("0")), Version(bound.version))
    return bounds


def installed(name: str) -> Version | None:
    """The version that is installed, if any."""
    try:
        return Version(version(name))
    except PackageNotFoundError:
        return None


def main() -> None:
    """Print a line for each bound; fail if a package is missing or older than its bound."""
    file = Path(__file__).resolve().parent.parent / "pyproject.toml"
    failed = False
    print(f"Python {sys.version.split()[0]}")
    for name, bound in sorted(lower_bounds(tomllib.loads(file.read_text(encoding="utf-8"))["project"]).items()):
        found = installed(name)
        failed |= found is None or found < bound
        same = found is not None and found.release[: len(bound.release)] == bound.release
        print(
            f"{name:<16} >={bound}: {found or 'missing'}{'' if same else ', the lowest with a wheel for this Python'}"
        )
    sys.exit(failed)


if __name__ == "__main__":
    main()
