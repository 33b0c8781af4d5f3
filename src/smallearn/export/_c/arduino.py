"""A model as a library for the Arduino IDE: a folder with the header, its description and a sketch that uses it."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from smallearn._errors import Parameter, ParameterError
from smallearn._text import listed
from smallearn.export._c.identifiers import NAME, Words
from smallearn.export._c.writer import to_c, words_of
from smallearn.export._fixed.codes import Count
from smallearn.export._fixed.quantise import IntegerModel
from smallearn.export._names import identifier, remark
from smallearn.model import SMaLLModel

SENTENCE = "sentence=A small classifier, made by smallearn."  # by which an earlier export is known
OPTIONS = ("layout", "arguments", "ranges", "counts", "conformance")


def to_arduino(
    model: SMaLLModel,
    folder: str | os.PathLike,
    number: str = "int16",
    name: str | None = None,
    **options: Any,
) -> Path:
    """Write the library to ``folder``, whole or not at all, and return its path.

    ``name`` is what the library and its header are called, by default after the folder; the functions are called
    the same in lower case. ``options`` are those of `to_c`: layout, arguments, ranges, counts, conformance. An earlier
    export in ``folder`` is replaced; any other file there is left alone, with an error.
    """
    strange = [option for option in options if option not in OPTIONS]
    if strange:
        raise TypeError(f"to_arduino has no option {listed(strange)}; there are {', '.join(OPTIONS)}.")
    place = Path(folder).absolute()
    library = _called(place.name) if name is None else name
    if not isinstance(library, str) or not NAME.fullmatch(library):
        raise ParameterError(
            Parameter("name", library), " must be a letter, then at most 39 letters, digits or underscores."
        )
    files = _files(model, library, number, options)
    _refuse_to_overwrite(place)
    _write(place, files)
    return place


def _called(text: str) -> str:
    """``leaf-detector 2`` as ``LeafDetector2``."""
    joined = "".join(part.capitalize() for part in identifier(text, "model").split("_"))
    return joined if joined[0].isalpha() else f"Model{joined}"


def _prefix(library: str) -> str:
    """``LeafDetector`` as ``leaf_detector``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", library).lower()[:40]


# --- what is in the files --------------------------------------------------------------------------------------------


def _files(model: SMaLLModel, library: str, number: str, options: dict[str, Any]) -> dict[str, str]:
    prefix = _prefix(library)
    header = to_c(model, number, name=prefix, **options)
    words = words_of(model, number, prefix, *(options.get(option) for option in ("arguments", "ranges", "counts")))
    return {
        "library.properties": "\n".join(_properties(words, library)) + "\n",
        "keywords.txt": "\n".join(_keywords(words, library)) + "\n",
        f"src/{library}.h": header,
        f"examples/{library}Demo/{library}Demo.ino": "\n".join(_sketch(words, library, options)) + "\n",
    }


def _properties(words: Words, library: str) -> Iterator[str]:
    yield f"name={library}"
    yield f"version={'.'.join(re.findall(r'[0-9]+', words.target.flat.version)[:3])}"
    yield "author=smallearn"
    yield "maintainer=smallearn"
    yield SENTENCE
    yield f"paragraph={words.target.flat.stamp}"
    yield "category=Data Processing"
    yield "url=https://arxiv.org/abs/1803.02388"
    yield "architectures=*"
    yield f"includes={library}.h"


def _keywords(words: Words, library: str) -> Iterator[str]:
    functions = ["predict", "score", "reason"] + ["scores"] * (not words.target.flat.is_binary)
    constants = ["INPUTS", "CLASSES", "PROTOTYPES", "TERMS"]
    types = ["input_t", "score_t", "reason_t"]
    yield f"{library}\tKEYWORD1"
    yield from (f"{words.prefix}_{kind}\tKEYWORD1" for kind in types)
    yield from (f"{words.prefix}_{function}\tKEYWORD2" for function in functions)
    yield from (f"{words.upper}_{constant}\tLITERAL1" for constant in constants)
    yield from (f"{name}\tLITERAL1" for name in words.classes)


def _sketch(words: Words, library: str, options: dict[str, Any]) -> Iterator[str]:
    yield f"// {words.target.flat.stamp}"
    yield "// Reads the inputs, predicts, and prints the class once a second. Put your sensors in place of analogRead:"
    yield "// values are in the units of the training data, whose ranges are in the library's header."
    if isinstance(words.target, IntegerModel):
        yield f"#define {words.upper}_WITH_FLOAT"
    yield f"#include <{library}.h>\n"
    yield f"const __FlashStringHelper *nameOf({words.position_type} position) {{"
    yield "  switch (position) {"
    *first, last = enumerate(words.target.flat.classes)
    yield from (f"    case {words.classes[position]}: return F({_text(label)});" for position, label in first)
    yield f"    default: return F({_text(last[1])});\n  }}\n}}\n"
    if any(isinstance(coder, Count) for coder in getattr(words.target, "coders", ())):
        yield "long within(long count, long least, long greatest) {"
        yield "  return count < least ? least : count > greatest ? greatest : count;\n}\n"
    yield "void setup() {\n  Serial.begin(9600);"
    if options.get("conformance") is not None:
        yield f'  Serial.print(F("wrong answers: "));\n  Serial.println({words.prefix}_test());'
    yield "}\n\nvoid loop() {"
    yield f"  {words.prefix}_input_t x[{max(1, len(words.inputs))}] = {{0}};"
    for position, given in enumerate(words.target.flat.inputs):
        yield f"  x[{position}] = {_reading(words, position)}; // {remark(given.label)}"
    passed = ", ".join(f"x[{i}]" for i in range(len(words.inputs))) if words.arguments else "x"
    yield f"  Serial.println(nameOf({words.prefix}_predict({passed})));"
    yield "  delay(1000);\n}"


def _reading(words: Words, position: int) -> str:
    """An expression for the value of an input."""
    given = words.target.flat.inputs[position]
    if given.is_text:
        return next(name for at, _, name, _ in words.categories if at == position) if given.categories else "0"
    reading = f"analogRead(A{position % 6})"
    if not isinstance(words.target, IntegerModel):
        return reading
    coder = words.target.coders[position]
    if isinstance(coder, Count):
        return f"within({reading}, {coder.least}, {coder.greatest})"
    return f"{words.prefix}_code_{given.name}({reading})"


def _text(label: object) -> str:
    """A label as a C string: a remark has no backslash, so that quotes are all there is to escape."""
    return '"' + remark(label).replace('"', '\\"') + '"'


# --- to disk ---------------------------------------------------------------------------------------------------------


def _refuse_to_overwrite(place: Path) -> None:
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise FileExistsError(f"{place} is not a folder: choose another place.")
    if not place.exists() or not any(place.iterdir()):
        return
    properties = place / "library.properties"
    found = sorted(path.relative_to(place).as_posix() for path in place.rglob("*") if not path.is_dir())
    ours = r"library\.properties|keywords\.txt|src/(\w+)\.h|examples/(\w+)Demo/(\w+)Demo\.ino"
    foreign = [path for path in found if not re.fullmatch(ours, path)]
    if foreign or not properties.is_file() or SENTENCE not in properties.read_text(errors="replace").splitlines():
        shown = listed(foreign[:3] or found[:3])
        raise FileExistsError(f"{place} is not empty and not an earlier export ({shown}): choose another folder.")


def _write(place: Path, files: dict[str, str]) -> None:
    """Into a new folder beside it, which then takes its name."""
    place.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{place.name[:40]}-", dir=place.parent))
    try:
        new, old = work / "new", work / "old"
        for path, text in files.items():
            (new / path).parent.mkdir(parents=True, exist_ok=True)
            (new / path).write_text(text, encoding="ascii", newline="\n")
        if place.exists():
            place.rename(old)
        try:
            new.rename(place)
        except OSError:
            if old.exists():
                old.rename(place)
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
