"""Whole-file writes: complete or not at all, through links, into pipes and standard output."""

import os
import subprocess
import sys
import threading

import pytest

from smallearn._run.files import DRAFT, draft_of, folder_draft_of, write_whole

posix_only = pytest.mark.skipif(os.name == "nt", reason="pipes, file modes and symbolic links of POSIX")


def test_text_and_bytes_are_written_as_they_are(tmp_path):
    write_whole(tmp_path / "text", "a\r\n±\n")
    write_whole(str(tmp_path / "bytes"), b"\x00\r\n")
    assert (tmp_path / "text").read_bytes() == "a\r\n±\n".encode()
    assert (tmp_path / "bytes").read_bytes() == b"\x00\r\n"


def test_the_file_appears_when_the_block_ends_and_the_draft_is_gone(tmp_path):
    path = tmp_path / "file"
    with draft_of(path) as draft:
        assert draft.parent == tmp_path
        assert draft.name.startswith(DRAFT)
        assert draft.read_bytes() == b""
        draft.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt(), SystemExit(1)])
@pytest.mark.parametrize("exists", [True, False])
def test_a_block_that_fails_leaves_everything_as_it_was(tmp_path, error, exists):
    path = tmp_path / "file"
    if exists:
        path.write_text("old")
    before = {name: (tmp_path / name).read_text() for name in os.listdir(tmp_path)}

    def write_half():
        with draft_of(path) as draft:
            draft.write_text("half")
            raise error

    with pytest.raises(type(error)):
        write_half()
    assert {name: (tmp_path / name).read_text() for name in os.listdir(tmp_path)} == before


def test_a_folder_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "none" / "file", "text")
    assert os.listdir(tmp_path) == []


@posix_only
def test_a_link_stays_a_link_and_the_file_behind_it_keeps_its_mode(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to("real")
    write_whole(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["link", "real"]


@posix_only
def test_a_pipe_is_written_into_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    received = []
    reader = threading.Thread(target=lambda: received.append(path.read_text()))
    reader.start()
    write_whole(path, "through")
    reader.join(10)
    assert received == ["through"]
    assert path.is_fifo()


@posix_only
@pytest.mark.parametrize("to_file", [True, False], ids=["a file", "a pipe"])
def test_standard_output_keeps_its_place(tmp_path, to_file):
    """What was printed before comes before, and a file that output goes to is neither replaced nor cut."""
    program = """if True:
        from smallearn._run.files import write_whole
        print("before")
        write_whole("/dev/fd/1", "whole\\n")
        print("after")
    """
    path = tmp_path / "output"
    path.write_text("earlier\n")
    with path.open("a") if to_file else open(os.devnull, "w") as file:
        ran = subprocess.run(
            [sys.executable, "-c", program], stdout=file if to_file else subprocess.PIPE, text=True, check=True
        )
    expected = "before\nwhole\nafter\n"
    assert (path.read_text() if to_file else ran.stdout) == ("earlier\n" + expected if to_file else expected)


def test_importing_it_needs_the_standard_library_alone():
    program = """if True:
        import sys
        import smallearn._run.files, smallearn._run.hashing, smallearn._run.progress
        print([name for name in ("numpy", "pandas", "threadpoolctl") if name in sys.modules])
    """
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


@pytest.mark.parametrize("exists", [False, True])
def test_a_folder_appears_when_the_block_ends_and_replaces_the_earlier_one(tmp_path, exists):
    path = tmp_path / "above" / "folder"
    if exists:
        path.mkdir(parents=True)
        (path / "old").touch()
    with folder_draft_of(path) as draft:
        (draft / "new").touch()
        assert path.exists() == exists
    assert [entry.name for entry in path.iterdir()] == ["new"]
    assert [entry.name for entry in path.parent.iterdir()] == ["folder"]


def test_a_block_that_fails_leaves_the_earlier_folder_as_it_was(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "old").touch()

    def fail():
        with folder_draft_of(tmp_path / "folder") as draft:
            (draft / "new").touch()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [entry.name for entry in tmp_path.rglob("*")] == ["folder", "old"]
