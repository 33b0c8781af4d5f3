"""Writes wheel and source distribution to dist/ and tries them: `make dist`.

Both are built twice and must have the same bytes: timestamps are those of the commit (SOURCE_DATE_EPOCH). The wheel is
built from the source distribution, which must have every file of src, tests, attacks, benchmarks and docs that Git
knows. Then each is installed in an empty environment, where `smoke.py` must pass, for the wheel with the extra cli too.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTAINED = ("src", "tests", "attacks", "benchmarks", "docs")


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """What a command prints; its output is shown if it fails."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=kept | environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def build(folder: Path, epoch: str) -> list[Path]:
    """The files of one build."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, SOURCE_DATE_EPOCH=epoch)
    return sorted(folder.iterdir())


def check_contents(archive: Path) -> None:
    """Every file that Git knows in some folders is in the source distribution."""
    with tarfile.open(archive) as file:
        found = {name.partition("/")[2] for name in file.getnames()}
    lacking = [name for name in run("git", "ls-files", *CONTAINED).splitlines() if name not in found]
    if lacking:
        sys.exit(f"{archive.name} lacks {len(lacking)} files: {', '.join(lacking[:5])}")


def try_out(file: Path, folder: Path) -> None:
    """Install a distribution in an environment of its own, and run the smoke test there."""
    environment = folder / file.name.replace(".", "_")
    run(sys.executable, "-m", "venv", environment)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    smoke = shutil.copy(Path(__file__).with_name("smoke.py"), folder)
    with_tables = [("[cli]", ["--tables"])] if file.suffix == ".whl" else []  # the other becomes the same wheel
    for extra, options in [("", []), *with_tables]:
        requirement = f"smallearn{extra} @ {file.as_uri()}"
        run(python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", requirement)
        run(python, smoke, *options, cwd=folder)
        print(f"{file.name}{extra} installs in an empty environment, and works", flush=True)


def main() -> None:
    """Build twice, compare, check, try."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct").strip()
    with tempfile.TemporaryDirectory() as name:
        first, second = (build(Path(name, number), epoch) for number in ("first", "second"))
        for one, other in zip(first, second, strict=True):
            if one.name != other.name or one.read_bytes() != other.read_bytes():
                sys.exit(f"{one.name}: two builds of the same commit differ")
            print(f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {one.name}, the same bytes twice", flush=True)
            if one.suffix == ".gz":
                check_contents(one)
        run(sys.executable, "-m", "twine", "check", "--strict", *first)
        for file in first:
            try_out(file, Path(name))
        target = ROOT / "dist"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for file in first:
            shutil.copy(file, target)
    print(f"{len(first)} files are in dist/")


if __name__ == "__main__":
    main()
