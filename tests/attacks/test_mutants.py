"""Mutation testing: what is changed, what is left out, and how the score is told."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from attacks import mutants
from attacks.mutants.covering import Covering
from attacks.mutants.sites import compiles, mutants_of

ROOT = Path(__file__).parents[2]
SOURCE = '''"""Doc."""

from typing import Literal

__all__ = ["f"]
CHUNK_ROWS = 7
Kind = Literal["a", "b"]


def f(x: int | None, y: float = 0.5) -> int:
    """Doc."""
    if x is None:
        raise ValueError("message " + "text")
    for i in range(2):
        if i < y and not x:
            break
    return -x + 1
'''


@pytest.fixture
def found(tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    return {(one.old, one.new): one for one in mutants_of(tmp_path / "m.py", tmp_path)}


def test_operators_constants_conditions_and_statements_are_changed(found, tmp_path):
    assert {old for old, _ in found} == {
        *(
            "0.5",
            "x is None",
            'raise ValueError("message " + "text")',
            "2",
            "i < y",
            "i < y and not x",
            "not x",
            "break",
        ),
        *("return -x + 1", "-x + 1", "-x", "1"),
    }
    assert ("i < y", "((i) <= (y))") in found
    assert ("-x + 1", "((-x) - (1))") in found
    assert all(compiles(one, tmp_path) for one in found.values())


def test_a_mutant_changes_its_place_alone(found):
    mutant = found["break", "continue"]
    assert mutant.applied(SOURCE) == SOURCE.replace("break", "continue")
    assert str(mutant) == "m.py:16: break  →  continue"


def test_each_group_has_its_share_of_the_sample_and_the_seed_decides():
    sample = mutants.sample(["objective", "geometry"], 60, seed=1)
    assert [len(some) for some in sample.values()] == [6, 6]
    assert sample == mutants.sample(["objective", "geometry"], 60, seed=1)
    assert sample != mutants.sample(["objective", "geometry"], 60, seed=2)
    assert min(share for _, share in mutants.GROUPS.values()) >= 60
    assert sum(share for _, share in mutants.GROUPS.values()) >= 600


def test_the_quickest_tests_of_a_line_run_first_within_the_time():
    lines = {
        "smallearn/model/_x.py": {3: {"tests/model/test_a.py::a", "tests/model/test_a.py::b"}, 4: {"tests/t.py::c"}}
    }
    seconds = {"tests/model/test_a.py::a": 2.0, "tests/model/test_a.py::b": 0.1, "tests/t.py::c": 0.2}
    known = Covering(lines, seconds)
    assert known.tests_of("smallearn/model/_x.py", 3, 3, 9.0) == [
        "tests/model/test_a.py::b",
        "tests/model/test_a.py::a",
    ]
    assert known.tests_of("smallearn/model/_x.py", 3, 3, 1.0) == ["tests/model/test_a.py::b"]
    assert known.tests_of("smallearn/model/_x.py", 1, 1, 9.0) == known.tests_of("smallearn/model/_x.py", 3, 3, 9.0)


def test_the_interval_is_that_of_wilson():
    low, high = mutants.interval(90, 100)
    assert low == pytest.approx(0.8256, abs=1e-4)
    assert high == pytest.approx(0.9448, abs=1e-4)


@pytest.mark.slow
def test_a_mutant_that_a_test_notices_is_killed_and_what_is_not_changed_survives(tmp_path):
    program = """if True:
        import sys
        from pathlib import Path
        from attacks.mutants.sites import Mutant
        from attacks.mutants.trial import Copy, judge, preload
        preload()
        folder = Path(sys.argv[1])
        copy, tests = Copy(folder / "src"), ["tests/test_text.py"]
        source = (copy.folder / "smallearn/_text.py").read_text().splitlines()
        line = next(i for i, text in enumerate(source, 1) if "return" in text)
        column = source[line - 1].index("return")
        for new in ("return", "raise KeyError;"):
            mutant = Mutant("smallearn/_text.py", line, column, line, column + 6, new, "return")
            print(judge(mutant, tests, 10.0, copy, folder / "log"))
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["survived", "killed"], done.stderr


def test_survivors_are_listed_and_a_low_score_is_a_finding(found, capsys):
    some = list(found.values())
    assert mutants.report({"m": some}, dict.fromkeys(some, mutants.KILLED) | {some[0]: "survived"}) == 1
    shown = capsys.readouterr().out
    assert "Survivors: 1" in shown
    assert str(some[0]) in shown
    many = dict.fromkeys(mutants.sample(["rounding"], 600, 0)["rounding"], mutants.KILLED)
    assert mutants.report({"rounding": list(many)}, many) == 0
