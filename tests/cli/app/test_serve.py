"""The command as a process: where it listens, what it prints, and that nothing is left of it."""

import signal
import socket
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from smallearn._run.files import DRAFT, scratch_folder
from tests.helpers.app import served
from tests.helpers.commands import run


def fetched(address, **headers):
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60) as answer:
        return answer


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_server_answers_its_address_and_leaves_nothing_behind(tmp_path, number):
    with served(TMPDIR=str(tmp_path)) as (address, process):
        assert [path.name.startswith(DRAFT) for path in tmp_path.iterdir()] == [True]
        assert fetched(address).status == 200
        with pytest.raises(urllib.error.HTTPError, match="403"):
            fetched(address.partition("?")[0])
        process.send_signal(number)
        error = process.communicate(timeout=60)[1]
    assert process.returncode == (0 if number == signal.SIGINT else 128 + number)
    assert "Traceback" not in error
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_server_leaves_is_removed_by_the_next(tmp_path):
    with served(TMPDIR=str(tmp_path)) as (_, process):
        process.kill()
        process.communicate(timeout=60)
    left = [path.name for path in tmp_path.iterdir() if path.name.startswith(DRAFT)]
    assert len(left) == 1
    with scratch_folder(tmp_path) as folder:
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(DRAFT)] == [folder.name]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(DRAFT)] == []


def test_it_listens_on_this_machine_alone():
    with served() as (address, process):
        port = int(address.rpartition(":")[2].partition("/")[0])
        listening = Path(f"/proc/{process.pid}/net/tcp")
        if not listening.exists():
            pytest.skip("this system does not tell who listens")
        lines = [line.split() for line in listening.read_text().splitlines()[1:]]
        here = [line[1] for line in lines if line[3] == "0A" and int(line[1].partition(":")[2], 16) == port]
        assert here == [f"0100007F:{port:04X}"]


def test_a_port_that_is_in_use_is_refused_with_what_to_do(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        error = run(capsys, "app", "--no-browser", "--port", port, code=1).err
    assert error.startswith(f"smallearn app: port {port} of 127.0.0.1 cannot be used (")
    assert "choose another --port" in error


def test_a_table_that_is_not_there_is_refused_before_the_server_starts(capsys, tmp_path):
    error = run(capsys, "app", str(tmp_path / "no.csv"), code=1).err
    assert "there is no file" in error


def test_a_missing_package_is_named_with_its_extra(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    error = run(capsys, "app", code=1).err
    assert (
        error == "smallearn app: smallearn app needs uvicorn, which is not installed: pip install 'smallearn[app]'.\n"
    )
