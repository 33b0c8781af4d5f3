"""What killed processes left behind is cleared by the next write into the folder, and nothing else is."""

import os
import signal
import subprocess
import sys

import pytest

from smallearn._run import leftovers
from smallearn._run.files import DRAFT, draft_of, folder_draft_of, write_whole

pytestmark = pytest.mark.skipif(os.name == "nt", reason="locks of POSIX")

KILLED = """
import os, signal, sys
from pathlib import Path
from smallearn._run import files
path = Path(sys.argv[1])
def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)
{code}
"""
FILE = """
with files.draft_of(path) as draft:
    draft.write_text("half")
    kill()
"""
FOLDER = """
with files.folder_draft_of(path) as draft:
    (draft / "half").touch()
    kill()
"""
BETWEEN_RENAMES = """
rename = Path.rename
def kill_second(self, target):
    kill() if self.name == "new" else rename(self, target)
Path.rename = kill_second
with files.folder_draft_of(path) as draft:
    (draft / "whole").touch()
"""


def draft_name(number):
    return f"{leftovers.HERE}{number:016x}.tmp"


def kill_while_writing(path, code):
    killed = subprocess.run([sys.executable, "-c", KILLED.format(code=code), path], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [name for name in os.listdir(path.parent) if name.startswith(DRAFT)]


@pytest.mark.parametrize("code", [FILE, FOLDER], ids=["a file", "a folder"])
@pytest.mark.parametrize("write", [write_whole, None], ids=["then a file", "then a folder"])
def test_the_next_run_clears_what_a_killed_one_left(tmp_path, code, write):
    kill_while_writing(tmp_path / "old", code)
    if write is not None:
        write_whole(tmp_path / "new", "text")
    else:
        with folder_draft_of(tmp_path / "new"):
            pass
    assert os.listdir(tmp_path) == ["new"]


def test_a_folder_that_was_set_aside_when_its_process_was_killed_is_put_back(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "kept").touch()
    kill_while_writing(tmp_path / "folder", BETWEEN_RENAMES)
    assert not (tmp_path / "folder").exists()
    leftovers.clear(tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == ["folder", "folder/kept"]


def test_a_draft_that_another_process_writes_is_left_alone(tmp_path):
    code = KILLED.format(code="with files.draft_of(path) as draft:\n    print(draft.name, flush=True)\n    input()")
    with subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "theirs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        name = other.stdout.readline().strip()
        with draft_of(tmp_path / "ours") as draft:
            assert sorted(os.listdir(tmp_path)) == sorted([name, draft.name])
        assert sorted(os.listdir(tmp_path)) == sorted([name, "ours"])
        other.communicate("\n")
    assert sorted(os.listdir(tmp_path)) == ["ours", "theirs"]


def test_a_draft_that_looked_dead_before_it_was_locked_is_made_anew(tmp_path):
    created = []

    def create(draft):
        draft.touch()
        if not created:
            draft.unlink()
        created.append(draft)

    with leftovers.locked_draft(tmp_path, create) as draft:
        assert draft == created[1]
        assert draft.exists()


def test_links_and_pipes_that_are_named_like_drafts_are_left_alone(tmp_path):
    (tmp_path / "precious").write_text("text")
    (tmp_path / draft_name(1)).symlink_to("precious")
    os.mkfifo(tmp_path / draft_name(2))
    write_whole(tmp_path / "new", "text")
    assert len(os.listdir(tmp_path)) == 4


def test_only_what_is_named_like_a_draft_of_this_machine_is_cleared(tmp_path):
    others = [f"{DRAFT}notes.txt", f"{DRAFT}settings", f"{DRAFT}0123abcd-{'0' * 16}.tmp", f"{DRAFT}{'0' * 16}.tmp"]
    for name in [*others, draft_name(1)]:
        (tmp_path / name).touch()
    write_whole(tmp_path / "new", "text")
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "new"])


def test_without_locks_nothing_is_cleared(tmp_path, monkeypatch):
    monkeypatch.setattr(leftovers, "fcntl", None)
    (tmp_path / draft_name(1)).touch()
    write_whole(tmp_path / "new", "text")
    assert sorted(os.listdir(tmp_path)) == sorted([draft_name(1), "new"])
