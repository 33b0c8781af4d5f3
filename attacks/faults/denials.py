"""Commands that are denied something: space, a folder, a stream, memory, the rights of root."""

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from attacks.faults.kills import OLD, Wrong
from attacks.faults.workshop import Workshop, files_below

NOBODY = 65534
# Another user, who may read everything: Python itself may lie below a folder that only root can enter.
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
AS_NOBODY += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]


class Denial:
    """Something that commands have to do without.

    Parameters
    ----------
    workshop : Workshop
        Where the inputs are.
    """

    name = ""
    must_work = False  # whether commands have to succeed all the same

    def __init__(self, workshop: Workshop):
        self.workshop = workshop

    @staticmethod
    def impossible() -> str | None:
        """Why this cannot be tried here, if so."""
        return None

    def options(self, place: Path) -> dict:
        """What is different when the command is started."""
        return {}

    def prepare(self, place: Path) -> None:
        """What is different in the folder."""

    def clean(self, place: Path) -> None:
        """Undo that."""

    def each(self) -> Iterator[tuple[str, Wrong]]:
        """Every command, and what is wrong with how it ended."""
        for name, arguments, output in commands(self.workshop):
            place = self.workshop.place(f"denied-{self.name.replace(' ', '-')}")
            if output:
                (place / "work" / output).write_bytes(OLD)
            self.prepare(place)
            try:
                code, out, err = self.workshop.run(place, *arguments, **self.options(place))
                yield name, self.judged(place, output, code, out, err)
            finally:
                self.clean(place)

    def judged(self, place: Path, output: str, code: int | None, out: str, err: str) -> Wrong:
        """What is wrong."""
        wrong: Wrong = []
        if "Traceback" in err or "Traceback" in out:
            wrong.append(("a traceback", err[-1500:]))
        if code not in (0, 1, 141):
            wrong.append((f"exit code {code}", err[-800:]))
        if code == 1 and not (err + out).strip() and self.name != "closed stdout":
            wrong.append(("it fails without a word", ""))
        if code != 0 and self.must_work:
            wrong.append(("it fails", err[-800:]))
        if output and code not in (0, 141):  # who closes the pipe may have got the file before
            path = place / "work" / output
            if not path.exists() or path.read_bytes() != OLD:
                wrong.append(("the old file is gone", err[-300:]))
        drafts = [name for name in files_below(place / "work") if Path(name).name.startswith(".smallearn-")]
        if drafts:
            wrong.append(("a draft stays", "\n".join(drafts)))
        return wrong


def commands(workshop: Workshop) -> list[tuple[str, list[str], str]]:
    """Name, arguments and output of what is run."""
    data, model = str(workshop.inputs / "data.csv"), str(workshop.model)
    quick = ["--max-terms", "2", "--prototypes", "1", "--folds", "2", "--no-frontier"]
    return [
        ("fit", ["fit", data, "--target", "answer", *quick, "-o", "fitted.json"], "fitted.json"),
        ("predict", ["predict", model, data, "-o", "scored.csv"], "scored.csv"),
        ("predict to stdout", ["predict", model, data], ""),
        ("evaluate", ["evaluate", model, data], ""),
        ("explain", ["explain", model, data, "--row", "3"], ""),
        ("report", ["report", model, data, "--no-compare", "-o", "report.html"], "report.html"),
        ("export", ["export", model, "--to", "c", "-o", "model.h"], "model.h"),
        ("doctor", ["doctor"], ""),
    ]


class FullDisk(Denial):
    """A file system of 16 kB that is full."""

    name = "full disk"

    @staticmethod
    def impossible() -> str | None:
        """It has to be mounted."""
        return None if os.geteuid() == 0 and shutil.which("mount") else "only root can mount a small file system"

    def prepare(self, place: Path) -> None:
        """Mount it, with the old file and no room for another."""
        old = files_below(place / "work")
        options = "size=16k,mode=0777"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place / "work"], check=True)
        for name, content in old.items():
            (place / "work" / name).write_bytes(content)
        with (place / "work" / "filler").open("wb", buffering=0) as file:
            try:
                while file.write(b"x" * 4096) == 4096:
                    pass
            except OSError:
                pass

    def clean(self, place: Path) -> None:
        """Unmount it."""
        subprocess.run(["umount", place / "work"], check=True)

    def judged(self, place: Path, output: str, code: int | None, out: str, err: str) -> Wrong:
        """A command that writes has to fail."""
        wrong = super().judged(place, output, code, out, err)
        if output and code == 0:
            wrong.append(("it says that it wrote to a full disk", ""))
        return wrong


class FullTemporary(FullDisk):
    """No space for temporary files."""

    name = "full temporary folder"

    def prepare(self, place: Path) -> None:
        """Mount it."""
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k,mode=0777", "tmpfs", place / "tmp"], check=True)
        (place / "tmp" / "filler").touch()

    def clean(self, place: Path) -> None:
        """Unmount it."""
        subprocess.run(["umount", place / "tmp"], check=True)

    def judged(self, place: Path, output: str, code: int | None, out: str, err: str) -> Wrong:
        """Work, or a sentence."""
        return Denial.judged(self, place, output, code, out, err)


class AsNobody(Denial):
    """Another user than root, who may write to the folder of work alone: no home, no cache of compiled functions."""

    name = "another user"
    must_work = True

    @staticmethod
    def impossible() -> str | None:
        """Only root can become another user."""
        if os.geteuid() != 0:
            return "only root can become another user"
        return None if shutil.which("setpriv") else "setpriv (util-linux) is not installed"

    def prepare(self, place: Path) -> None:
        """Let the user write there."""
        for path in (place / "work", place / "tmp", *(place / "work").iterdir()):
            os.chown(path, NOBODY, NOBODY)

    def options(self, place: Path) -> dict:
        """As that user."""
        home = {"HOME": "/nonexistent", "XDG_CACHE_HOME": None, "NUMBA_CACHE_DIR": None}
        return {"prefix": AS_NOBODY, "environment": home}


class ReadOnlyFolder(AsNobody):
    """A folder of work that cannot be written."""

    name = "read-only folder"
    must_work = False

    def prepare(self, place: Path) -> None:
        """Not writable."""
        os.chown(place / "tmp", NOBODY, NOBODY)
        (place / "work").chmod(0o555)

    def clean(self, place: Path) -> None:
        """Writable again."""
        (place / "work").chmod(0o755)

    def judged(self, place: Path, output: str, code: int | None, out: str, err: str) -> Wrong:
        """What writes fails; all else works."""
        wrong = super().judged(place, output, code, out, err)
        if (code == 0) is bool(output):
            wrong.append((f"exit code {code}", err[-800:]))
        return wrong


class NoHome(Denial):
    """No home folder."""

    name = "no home"
    must_work = True

    def options(self, place: Path) -> dict:
        """A home that is not there."""
        return {"environment": {"HOME": str(place / "none"), "XDG_CACHE_HOME": None}}


class NoCompilerCache(Denial):
    """No folder in which compiled functions can be kept."""

    name = "no compiler cache"
    must_work = True

    def prepare(self, place: Path) -> None:
        """A file is in the way."""
        (place / "no-folder").touch()

    def options(self, place: Path) -> dict:
        """The cache would lie below a file."""
        return {"environment": {"NUMBA_CACHE_DIR": str(place / "no-folder" / "cache")}}


class ClosedStdout(Denial):
    """Standard output is closed."""

    name = "closed stdout"
    must_work = True

    def options(self, place: Path) -> dict:
        """Closed before the command starts."""

        def close() -> None:
            os.close(1)

        return {"preexec_fn": close, "stdout": None}


class ClosedPipe(Denial):
    """The reader of standard output has gone."""

    name = "closed pipe"

    def options(self, place: Path) -> dict:
        """A pipe without a reader."""
        reader, writer = os.pipe()
        os.close(reader)
        return {"stdout": writer}


class LittleMemory(Denial):
    """512 MB of memory."""

    name = "512 MB of memory"

    def options(self, place: Path) -> dict:
        """A limit on the data of the process; one thread, whose stacks would count."""
        limit = 512 * 2**20
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
        return {
            "environment": one,
            "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
        }


class LittleAddressSpace(LittleMemory):
    """600 MB of address space, as ``ulimit -v 600000`` gives: less than some libraries need to load."""

    name = "600 MB of addresses"

    def options(self, place: Path) -> dict:
        """A limit on all addresses."""
        limit = 600_000 * 1024
        given = super().options(place)
        return given | {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))}


class SmallFiles(Denial):
    """No file may be larger than 1 kB."""

    name = "small files"

    def options(self, place: Path) -> dict:
        """``ulimit -f``; Python ignores the signal and gets an error."""
        return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))}


EVERY = (FullDisk, FullTemporary, AsNobody, ReadOnlyFolder, NoHome, NoCompilerCache, ClosedStdout, ClosedPipe)
DENIALS = {denial.name: denial for denial in (*EVERY, LittleMemory, LittleAddressSpace, SmallFiles)}
