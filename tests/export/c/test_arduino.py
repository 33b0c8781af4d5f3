"""Arduino: the library folder is whole, and its example compiles and links against the Arduino core."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from smallearn.export._c.arduino import to_arduino
from smallearn.export._flat import flatten
from smallearn.model import Prototype, Range, SMaLLModel, Term
from tests.helpers.c_programs import run
from tests.helpers.exports import MIXED, MODELS, edge_rows, full_table
from tests.helpers.tools import missing, need

CORE = Path("/usr/share/arduino/hardware/arduino/avr")
FILES = ["CMakeLists.txt", "examples/TestDemo/TestDemo.ino", "keywords.txt", "library.json", "library.properties"]
FILES += ["src/Test.h", "zephyr/module.yml"]
FLAGS = ["-Os", "-mmcu=atmega328p", "-DF_CPU=16000000L", "-DARDUINO=10819", "-DARDUINO_ARCH_AVR"]
# C++11 has no DECIMAL_DIG in this compiler's headers; the core expects it.
CPP = ["-std=gnu++11", "-fno-exceptions", "-fno-threadsafe-statics", "-DDECIMAL_DIG=__DECIMAL_DIG__"]
YES = replace(MODELS["yes"], ranges=(Range(0, -1.0, 3.0), Range(2, 0.0, 2.0)))
HOSTILE = 'x"); } */ int injected; /* \n#error no\\'


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """The Arduino core, compiled once: what every sketch is linked with."""
    compiler = need("avr-g++")
    if not CORE.is_dir():
        missing(f"there is no {CORE} (Debian: arduino-core-avr)")
    folder = tmp_path_factory.mktemp("core")
    names = "main.cpp wiring.c wiring_analog.c wiring_digital.c hooks.c HardwareSerial.cpp HardwareSerial0.cpp "
    names += "Print.cpp Stream.cpp WString.cpp abi.cpp new.cpp WMath.cpp"
    sources = [str(CORE / "cores/arduino" / name) for name in names.split()]
    for kind, program in ((".c", [need("avr-gcc")]), (".cpp", [compiler, *CPP])):
        run([*program, *FLAGS, *includes(), "-w", "-c", *(s for s in sources if s.endswith(kind))], cwd=folder)
    run([need("avr-ar"), "rcs", "core.a", *sorted(path.name for path in folder.glob("*.o"))], cwd=folder)
    return folder / "core.a"


def includes():
    return [f"-I{CORE / 'cores/arduino'}", f"-I{CORE / 'variants/standard'}"]


def link_example(library, core):
    """The symbols of the example, compiled as the IDE does: with Arduino.h in front, as C++."""
    sketch = next(library.glob("examples/*/*.ino"))
    elf = library.parent / "sketch.elf"
    command = [need("avr-g++"), *FLAGS, *CPP, "-Wall", "-Wextra", "-Werror", *includes()]
    command += [f"-I{library / 'src'}", "-include", "Arduino.h", "-x", "c++", str(sketch), "-x", "none", str(core)]
    run([*command, "-o", str(elf)])
    return run([need("avr-nm"), str(elf)])


def read(folder):
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


CASES = {
    "int16": (YES, {}),
    "int8 of counts": (YES, {"number": "int8", "counts": {"a": (0.01, -1.0, 0, 1023)}}),
    "float32 in tables": (MIXED, {"number": "float32", "layout": "table"}),
    "every kind of term, as arguments": (MIXED, {"arguments": True}),
    "three classes": (replace(MODELS["three"], ranges=(Range(0, -1.0, 1.0), Range(1, -1.0, 1.0))), {"number": "int32"}),
    "a constant": (MODELS["constant"], {}),
    "with its conformance test": (MIXED, {"conformance": full_table(flatten(MIXED), edge_rows(flatten(MIXED), 5))}),
    "probabilities and names": (YES, {"probabilities": True, "class_names": True}),
    "probabilities of three, as arguments": (
        replace(MODELS["three"], ranges=(Range(0, -1.0, 1.0), Range(1, -1.0, 1.0))),
        {"probabilities": True, "arguments": True},
    ),
    "probabilities in float32": (MIXED, {"number": "float32", "probabilities": True, "class_names": True}),
    "hostile names in flash": (
        replace(YES, classes=(HOSTILE, "??/"), class_dtype="|O"),
        {"class_names": True, "readings": "codes"},
    ),
    "hostile names": (
        replace(YES, classes=(HOSTILE, "??/"), class_dtype="|O").with_feature_names([HOSTILE, "b", "//\\"]),
        {"layout": "table"},
    ),
}


@pytest.mark.tools
@pytest.mark.parametrize(("model", "options"), CASES.values(), ids=CASES)
def test_the_example_sketch_compiles_and_links(tmp_path, core, model, options):
    symbols = link_example(to_arduino(model, tmp_path / "test", **options), core)
    assert " T main" in symbols
    assert "injected" not in symbols


def test_the_folder_holds_a_library_of_that_name(tmp_path):
    folder = to_arduino(YES, tmp_path / "test")
    assert sorted(read(folder)) == FILES
    properties = dict(line.split("=", 1) for line in read(folder)["library.properties"].splitlines())
    assert properties["name"] == "Test"
    assert properties["includes"] == "Test.h"
    assert flatten(YES).hash in properties["paragraph"]
    assert "test_predict\tKEYWORD2" in read(folder)["keywords.txt"]
    assert os.listdir(tmp_path) == ["test"]


@pytest.mark.parametrize(
    ("folder", "name", "header", "function"),
    [
        ("leaf detector-2", None, "LeafDetector2", "leafdetector2_predict"),
        ("3", None, "Model3", "model3_predict"),
        ("ü*/", None, "U", "u_predict"),
        ("a", "LeafDetector", "LeafDetector", "leaf_detector_predict"),
    ],
)
def test_names_follow_from_the_folder_or_are_given(tmp_path, folder, name, header, function):
    made = read(to_arduino(YES, tmp_path / folder.replace("/", ""), name=name))
    assert function.replace("leafdetector2", "leaf_detector2") in made[f"src/{header}.h"]


def test_the_sketch_says_which_feature_is_on_which_pin_and_reads_it_there(tmp_path):
    names = ["motor temperature", "site", "light", *(f"s{l}" for l in range(5))]
    terms = [Term(l, 1.0, name, mean=0.0) for l, name in enumerate(names) if name != "site"]
    terms.append(Term(1, 1.0, "site", "equals", "north"))
    ranges = tuple(Range(l, 0.0, 1023.0) for l, name in enumerate(names) if name != "site")
    model = SMaLLModel(("no", "yes"), "<U3", len(names), (Prototype(1, -1.0, tuple(terms)),), ranges=ranges)
    counts = {name: (1.0, 0.0, 0, 1023) for name in names if name != "site"}
    sketch = read(to_arduino(model, tmp_path / "test", counts=counts))["examples/TestDemo/TestDemo.ino"]
    pins = re.findall(r"^static const uint8_t (\w+) = (A\d); // (.+)$", sketch, flags=re.MULTILINE)
    assert [(pin, label) for _, pin, label in pins] == [
        *[("A0", "motor temperature"), ("A1", "light")],
        *((f"A{l + 2}", f"s{l}") for l in range(4)),
    ]
    for constant, _, label in pins:
        reader = re.search(rf"^// {label}: .*\n.*\n.*$", sketch, flags=re.MULTILINE).group(0)
        assert re.findall(r"analogRead\((\w+)\)", reader) == [constant]
    assert "change these to your wiring" in sketch
    assert sketch.count("no analog pin is left") == 1


def test_an_earlier_export_is_replaced_and_nothing_of_it_is_left(tmp_path):
    to_arduino(YES, tmp_path / "here", name="Old")
    to_arduino(YES, tmp_path / "here", name="Test")
    assert sorted(read(tmp_path / "here")) == FILES
    assert os.listdir(tmp_path) == ["here"]


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "test").mkdir()
    assert sorted(read(to_arduino(YES, tmp_path / "test"))) == FILES


@pytest.mark.parametrize("foreign", ["notes.txt", "src/mine.cpp", "library.properties"])
def test_a_folder_with_other_files_is_left_alone(tmp_path, foreign):
    folder = tmp_path / "test"
    if foreign != "library.properties":
        to_arduino(YES, folder)
    (folder / foreign).parent.mkdir(parents=True, exist_ok=True)
    (folder / foreign).write_text("mine")
    before = read(folder)
    with pytest.raises(FileExistsError, match="not an earlier export"):
        to_arduino(YES, folder)
    assert read(folder) == before
    assert os.listdir(tmp_path) == ["test"]


def test_a_file_in_the_place_of_the_folder_is_left_alone(tmp_path):
    (tmp_path / "test").write_text("mine")
    with pytest.raises(FileExistsError, match="not a folder"):
        to_arduino(YES, tmp_path / "test")


@pytest.mark.parametrize("broken_step", ["write_text", "rename"])
def test_a_failure_leaves_the_earlier_export_as_it_was(tmp_path, monkeypatch, broken_step):
    folder = to_arduino(YES, tmp_path / "test")
    before = read(folder)
    real = getattr(Path, broken_step)

    def fail(self, *arguments, **options):
        if self.name in ("new", "keywords.txt"):
            raise OSError("disk full")
        return real(self, *arguments, **options)

    monkeypatch.setattr(Path, broken_step, fail)
    with pytest.raises(OSError, match="disk full"):
        to_arduino(replace(YES, scale=2.0), folder)
    monkeypatch.undo()
    assert read(folder) == before
    assert os.listdir(tmp_path) == ["test"]


def test_options_that_it_has_not_and_names_that_are_none_are_refused(tmp_path):
    with pytest.raises(TypeError, match="unexpected keyword argument 'form'"):
        to_arduino(YES, tmp_path / "a", form="c")
    with pytest.raises(ValueError, match="must be a letter"):
        to_arduino(YES, tmp_path / "a", name="../x")
    with pytest.raises(ValueError, match="range of 'a' is not known"):
        to_arduino(MODELS["yes"], tmp_path / "a")
    assert os.listdir(tmp_path) == []
