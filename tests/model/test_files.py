"""Model files: whole or not at all, and read without anything but numpy."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from smallearn import load_model
from tests.helpers.models import THREE, WHOLE, YES

posix_only = pytest.mark.skipif(os.name == "nt", reason="file modes and symbolic links of POSIX")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xfe\x00", "not UTF-8 text"),
        (WHOLE.to_json().encode("utf-16"), "not UTF-8 text"),
        (b"", "not valid JSON"),
        (b"{}", '"format" is not'),
        (WHOLE.to_json().replace('"version": 6', '"version": 99').encode(), "format 99"),
        (
            WHOLE.to_json().replace("2.0", "1e999").encode(),
            r"prototypes\[0\].terms\[0\].weight: expected a finite number",
        ),
    ],
)
def test_load_model_names_the_file_that_it_refuses(tmp_path, content, reason):
    path = tmp_path / "broken model.json"
    path.write_bytes(content)
    for spelling in (path, str(path)):
        with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: .*{reason}"):
            load_model(spelling)


def test_a_missing_file_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "none.json")


def test_saving_replaces_an_older_model(tmp_path):
    path = tmp_path / "model.json"
    THREE.save(path)
    YES.save(str(path))
    assert load_model(path) == YES
    assert os.listdir(tmp_path) == ["model.json"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("problem", [OSError("disk full"), KeyboardInterrupt()], ids=["OSError", "KeyboardInterrupt"])
def test_a_save_that_fails_midway_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, call, problem):
    def fail(*_):
        raise problem

    path = tmp_path / "model.json"
    YES.save(path)
    monkeypatch.setattr(os, call, fail)
    for target in (path, tmp_path / "new.json"):
        with pytest.raises(type(problem)):
            THREE.save(target)
    assert os.listdir(tmp_path) == ["model.json"]
    assert load_model(path) == YES


@pytest.mark.parametrize(("label", "message"), [(None, "JSON holds"), ("\ud800", "half of a surrogate pair")])
def test_a_model_that_cannot_be_written_leaves_the_old_file_and_no_other(tmp_path, label, message):
    path = tmp_path / "model.json"
    YES.save(path)
    with pytest.raises(ValueError, match=message):
        replace(YES, classes=("no", label), class_dtype="|O").save(path)
    assert os.listdir(tmp_path) == ["model.json"]
    assert load_model(path) == YES


def test_a_folder_that_is_not_there_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        YES.save(tmp_path / "none" / "model.json")
    assert os.listdir(tmp_path) == []


def test_the_longest_file_name_that_the_disk_takes_will_do(tmp_path):
    path = tmp_path / ("m" * 255)
    YES.save(path)
    assert load_model(path) == YES


def test_a_file_name_of_many_long_characters_will_do(tmp_path):
    path = tmp_path / ("模" * 84)
    for model in (THREE, YES):
        model.save(path)
        assert load_model(path) == model
    assert os.listdir(tmp_path) == [path.name]


def test_saving_onto_a_folder_is_an_error_and_leaves_nothing_behind(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    for target in (folder, str(folder), f"{folder}{os.sep}"):
        with pytest.raises(ValueError, match=f"^{re.escape(str(folder))} is a folder; a model is written to a file"):
            YES.save(target)
    assert os.listdir(tmp_path) == ["models"]
    assert os.listdir(folder) == []


@posix_only
@pytest.mark.parametrize("exists", [True, False], ids=["to a file", "to nothing yet"])
@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
def test_saving_through_a_symbolic_link_keeps_the_link(tmp_path, exists, relative):
    (tmp_path / "models").mkdir()
    real, link = tmp_path / "models" / "v1.json", tmp_path / "latest.json"
    if exists:
        THREE.save(real)
    link.symlink_to(Path("models", "v1.json") if relative else real)
    YES.save(link)
    assert link.is_symlink()
    assert not real.is_symlink()
    assert load_model(real) == load_model(link) == YES
    assert sorted(os.listdir(tmp_path)) == ["latest.json", "models"]
    assert os.listdir(real.parent) == ["v1.json"]


@posix_only
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_mode_of_the_umask(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        YES.save(tmp_path / "model.json")
    finally:
        os.umask(before)
    assert (tmp_path / "model.json").stat().st_mode & 0o777 == mode


@posix_only
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "model.json"
    THREE.save(path)
    path.chmod(mode)
    YES.save(path)
    assert load_model(path) == YES
    assert path.stat().st_mode & 0o777 == mode


def test_a_program_that_only_predicts_loads_numpy_alone(tmp_path):
    YES.save(tmp_path / "model.json")
    program = """if True:
        import sys
        import smallearn
        model = smallearn.load_model("model.json")
        print(model.predict([[0.0, 9.0, 0.0]])[0], model.predict_one({"a": 0.75, "c": 1.0}))
        print(model.predict_proba([[0.5, 9.0, 0.0]]), str(model).splitlines()[0])
        heavy = {"numba", "llvmlite", "sklearn", "scipy", "joblib", "pandas"}
        print(sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
    """
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == ["yes no", f"[[0.5 0.5]] {str(YES).splitlines()[0]}", "[]"]
