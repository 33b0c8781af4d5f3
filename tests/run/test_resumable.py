"""Experiments that are resumed: what is finished is kept, what failed or was cut off is done again."""

import os
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from smallearn._run.resumable import ForeignFileError, Scores, run


def scores_in(folder, columns=("set", "score"), key=("set",), **options):
    return Scores(folder / "scores.csv", columns, key, **options)


def trial(name, score=0.5):
    return [{"set": name, "score": score}]


def fail():
    raise ArithmeticError("no solution")


def die():
    os._exit(1)


# --- the file --------------------------------------------------------------------------------------------------------


def test_a_file_of_something_else_is_not_written_to(tmp_path):
    scores = scores_in(tmp_path)
    scores.path.write_text("a,b\n1,2\n")
    with pytest.raises(ForeignFileError, match=r"does not hold these results \(its first line is 'a,b', not 'set,scor"):
        run({"x": lambda: []}, scores, 1)
    assert scores.path.read_text() == "a,b\n1,2\n"


def test_an_empty_file_gets_its_header(tmp_path):
    scores = scores_in(tmp_path)
    scores.path.touch()
    scores.prepare()
    assert scores.path.read_text() == "set,score\n"
    assert scores.done() == set()


def test_a_missing_folder_is_made(tmp_path):
    scores = scores_in(tmp_path / "new" / "folder")
    scores.prepare()
    assert os.listdir(tmp_path / "new" / "folder") == ["scores.csv"]


def test_an_incomplete_last_line_is_no_result_and_is_cut_off(tmp_path):
    scores = scores_in(tmp_path)
    scores.path.write_bytes("set,score\na,0.5\nb ±".encode()[:-1])  # cut within a character
    assert scores.done() == {("a",)}
    scores.prepare()
    scores.append(trial("c"))
    assert scores.path.read_text() == "set,score\na,0.5\nc,0.500000\n"


def test_the_last_result_of_a_trial_counts_and_numbers_are_numbers_unless_declared_text(tmp_path):
    scores = scores_in(tmp_path, ("set", "version", "score"), ("set",), text=("version",))
    scores.path.write_text("set,version,score\na,1.0,0.25\na,2.0,0.75\nb,2.0,\n")
    frame = scores.read()
    assert frame["set"].tolist() == ["a", "b"]
    assert frame["version"].tolist() == ["2.0", "2.0"]
    assert frame["score"].tolist()[0] == 0.75
    assert frame["score"].isna().tolist() == [False, True]


def test_rows_of_a_method_can_be_forgotten(tmp_path):
    scores = scores_in(tmp_path, ("set", "method", "score"), ("set", "method"))
    scores.prepare()
    scores.append([{"set": "a", "method": name, "score": 0.5} for name in ("x", "y")])
    scores.forget("method", ["x"])
    assert scores.done() == {("a", "y")}
    assert os.listdir(tmp_path) == ["scores.csv"]


@pytest.mark.parametrize("name", ["a,b", "a\nb"])
def test_a_value_that_would_break_the_line_is_refused(tmp_path, name):
    scores = scores_in(tmp_path)
    scores.prepare()
    with pytest.raises(ValueError, match="contains a comma or a line break"):
        scores.append(trial(name))
    assert scores.path.read_text() == "set,score\n"


def test_a_full_disk_leaves_no_partial_line(tmp_path, monkeypatch):
    scores = scores_in(tmp_path)
    scores.prepare()

    class Full:
        """A file on a disk that takes three more bytes."""

        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def __getattr__(self, name):
            return getattr(self.file, name)

        def write(self, data):
            return self.file.write(data[:3])

    path_type = type(scores.path)
    opened = path_type.open
    monkeypatch.setattr(path_type, "open", lambda self, *args, **options: Full(opened(self, *args, **options)))
    with pytest.raises(OSError, match="could not be written completely; is the disk full"):
        scores.append(trial("a"))
    monkeypatch.undo()
    assert scores.path.read_text() == "set,score\n"


# --- runs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_is_reported_and_leaves_no_line_and_the_others_run(tmp_path, capsys, jobs):
    scores = scores_in(tmp_path)
    failures = run({"a": partial(trial, "a"), "bad": fail, "b": partial(trial, "b", None)}, scores, jobs)
    assert failures == ["bad: ArithmeticError: no solution"]
    assert capsys.readouterr().err == "Failed: bad: ArithmeticError: no solution\n"
    assert scores.done() == {("a",), ("b",)}


def test_a_worker_that_dies_ends_the_run_and_says_what_was_not_done(tmp_path):
    failures = run({str(number): die for number in range(5)}, scores_in(tmp_path), 2)
    assert failures == ["a worker process died (out of memory?); 5 fits were not run"]


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot send Ctrl-C to one process")
def test_an_interrupted_run_stops_its_workers_and_keeps_what_is_finished(tmp_path):
    program = """
import sys, time
from functools import partial
from pathlib import Path
from smallearn._run.resumable import Scores, run

def trial(number):
    time.sleep(0 if number < 3 else 60)
    return [{"set": f"s{number}"}]

if __name__ == "__main__":
    scores = Scores(Path(sys.argv[1]), ("set",), ("set",))
    run({str(number): partial(trial, number) for number in range(6)}, scores, 2)
"""
    script, path = tmp_path / "long.py", tmp_path / "scores.csv"
    script.write_text(program)
    child = subprocess.Popen([sys.executable, str(script), str(path)], stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if child.poll() is not None or (path.exists() and len(path.read_text().splitlines()) == 4):
            break
        time.sleep(0.1)
    begin = time.monotonic()
    child.send_signal(signal.SIGINT)
    errors = child.communicate(timeout=50)[1]
    assert time.monotonic() - begin < 40
    assert errors.count("Traceback") == 1  # that of the run itself; its workers print nothing
    assert sorted(path.read_text().splitlines()) == ["s0", "s1", "s2", "set"]
