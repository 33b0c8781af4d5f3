"""Fails unless a tag, the package, its citation, recipe and changelog have the same version: version.py v0.1.0"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Where the version stands. In the changelog it has a date once it is released.
PLACES = {
    "src/smallearn/_version.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "recipe/recipe.yaml": r'^  version: "(.+)"$',
    "CHANGELOG.md": r"^## (\S+) \(\d{4}-\d\d-\d\d\)$",
}


def versions(root: Path) -> dict[str, str | None]:
    """The version that each place has first."""
    found = {
        name: re.search(pattern, (root / name).read_text("utf-8"), re.MULTILINE) for name, pattern in PLACES.items()
    }
    return {name: match and match.group(1) for name, match in found.items()}


def main() -> None:
    """Compare with the tag."""
    (tag,) = sys.argv[1:]
    wrong = {name: version for name, version in versions(ROOT).items() if f"v{version}" != tag}
    for name, version in wrong.items():
        print(f"{name} has {version or 'no version with a date'}, the tag is {tag}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
