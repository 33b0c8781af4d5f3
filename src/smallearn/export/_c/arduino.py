"""A model as a library for the Arduino IDE: a folder with the header, its description and a sketch that uses it."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from smallearn._errors import Parameter, ParameterError
from smallearn._run.files import folder_draft_of
from smallearn._text import listed
from smallearn.export._c.model import NAME, CModel, real
from smallearn.export._c.readings import has_readings, readings_type
from smallearn.export._c.writer import c_text
from smallearn.export._fixed.codes import Count
from smallearn.export._fixed.form import form_of
from smallearn.export._fixed.loss import warn_if_much
from smallearn.export._fixed.probability import ONE
from smallearn.export._fixed.quantise import BITS, IntegerModel, target_of
from smallearn.export._flat import Input, flatten
from smallearn.export._names import comment_text, identifier
from smallearn.model import SMaLLModel
from smallearn.model._arguments import as_model

ANALOG_PINS = 6  # of an Arduino Uno
SENTENCE = "sentence=A small classifier, made by smallearn."  # marks an earlier export


def to_arduino(
    model: Any,
    folder: str | os.PathLike,
    number: str | None = None,
    name: str | None = None,
    *,
    layout: str = "auto",
    arguments: bool = False,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    counts: Mapping[str, tuple[float, float, int, int]] | None = None,
    readings: str | None = None,
    conformance: Any = None,
    probabilities: bool = False,
    class_names: bool = False,
) -> Path:
    """Write a model as a library for the Arduino IDE, PlatformIO and Zephyr, with an example sketch.

    The folder is written whole or not at all. An earlier export in its place is replaced; if there is any other file,
    nothing is changed.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    folder : path
        Where the library goes.
    number : {"float32", "float64", "int8", "int8x16", "int16", "int32"} or None, default=None
        The type of the weights, as in `to_c`. None: what was chosen for a chip, otherwise "int16".
    name : str, default=None
        The name of the library and its header; functions have it in lower case. Default: after the folder.
    layout, arguments, ranges, counts
        As in `to_c`.
    readings : {"codes", "counts", "float"} or None, default=None
        As in `to_c`. None: "counts" if `counts` has every number that the model uses, "float" if there are no counts,
        otherwise "codes".
    conformance : array or table, default=None
        As in `to_c`.
    probabilities, class_names : bool, default=False
        As in `to_c`; the sketch then prints the probability as well, and the class by that function.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FileExistsError
        If the folder has other files than an earlier export.

    Warns
    -----
    FormatLossWarning
        As in `to_c`.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import to_arduino
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> with tempfile.TemporaryDirectory() as scratch:
    ...     library = to_arduino(clf, f"{scratch}/Tumour")
    ...     sorted(path.name for path in library.rglob("*.*"))
    ['CMakeLists.txt', 'Tumour.h', 'TumourDemo.ino', 'keywords.txt', 'library.json', 'library.properties', 'module.yml']
    """
    place = Path(folder).absolute()
    library = _library_name(place.name) if name is None else name
    if not isinstance(library, str) or not NAME.fullmatch(library):
        raise ParameterError(
            Parameter("name", library), " must be a letter, then at most 39 letters, digits or underscores."
        )
    model = as_model(model)
    formed = form_of(model, "int16", number=number, layout=layout, readings=readings, counts=counts)
    readings = formed.readings or default_readings(model, formed.number, formed.counts)
    target = target_of(model, formed.number, ranges=ranges, counts=formed.counts, readings=readings)
    if not formed.is_chosen:
        warn_if_much(target, formed.counts)
    c = CModel(
        prefix=_prefix(library),
        target=target,
        arguments=bool(arguments),
        probabilities=bool(probabilities),
        class_names=bool(class_names),
    )
    files = _files(c, library, formed.layout, conformance)
    _refuse_to_overwrite(place)
    with folder_draft_of(place) as draft:
        for path, text in files.items():
            (draft / path).parent.mkdir(parents=True, exist_ok=True)
            (draft / path).write_text(text, encoding="ascii", newline="\n")
    return place


def default_readings(model: SMaLLModel, number: str, counts: Mapping | None) -> str:
    """What a device passes if nothing is said."""
    if not counts or number not in BITS:
        return "float"
    numeric = {input_.label for input_ in flatten(model).inputs if not input_.is_text}
    return "counts" if numeric <= set(counts) else "codes"


def _library_name(text: str) -> str:
    """``leaf-detector 2`` as ``LeafDetector2``."""
    joined = "".join(part.capitalize() for part in identifier(text, "model").split("_"))
    return joined if joined[0].isalpha() else f"Model{joined}"


def _prefix(library: str) -> str:
    """``LeafDetector`` as ``leaf_detector``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", library).lower()[:40]


# --- the files -------------------------------------------------------------------------------------------------------


def _files(c: CModel, library: str, layout: str, conformance: Any) -> dict[str, str]:
    """The text of each file by its path in the folder."""
    return {
        "library.properties": "\n".join(_properties(c, library)) + "\n",
        "keywords.txt": "\n".join(_keywords(c, library)) + "\n",
        "library.json": json.dumps(_platformio(c, library), indent=2) + "\n",
        "CMakeLists.txt": "zephyr_include_directories(src)\n",
        "zephyr/module.yml": f"name: {c.prefix}\nbuild:\n  cmake: .\n",
        f"src/{library}.h": c_text(c, "header", layout, conformance),
        f"examples/{library}Demo/{library}Demo.ino": "\n".join(_sketch(c, library, conformance is not None)) + "\n",
    }


def _platformio(c: CModel, library: str) -> dict[str, Any]:
    """The description for PlatformIO."""
    return {
        "name": library,
        "version": _version(c),
        "description": SENTENCE.removeprefix("sentence="),
        "headers": f"{library}.h",
        "frameworks": "*",
        "platforms": "*",
    }


def _version(c: CModel) -> str:
    return ".".join(re.findall(r"[0-9]+", c.target.flat.version)[:3])


def _properties(c: CModel, library: str) -> Iterator[str]:
    yield f"name={library}"
    yield f"version={_version(c)}"
    yield "author=smallearn"
    yield "maintainer=smallearn"
    yield SENTENCE
    yield f"paragraph={c.target.flat.stamp}"
    yield "category=Data Processing"
    yield "url=https://arxiv.org/abs/1803.02388"
    yield "architectures=*"
    yield f"includes={library}.h"


def _keywords(c: CModel, library: str) -> Iterator[str]:
    functions = ["predict", "predict_readings", "score", "reason"] + ["scores"] * (not c.target.flat.has_one_owner)
    functions += ["predict_proba", "predict_proba_readings"] * c.probabilities + ["class_name"] * c.class_names
    constants = ["INPUTS", "CLASSES", "PROTOTYPES", "TERMS"]
    types = ["input_t", "score_t", "reason_t"] + ["probability_t"] * c.probabilities + ["text_t"] * c.class_names
    yield f"{library}\tKEYWORD1"
    yield from (f"{c.prefix}_{kind}\tKEYWORD1" for kind in types)
    yield from (f"{c.prefix}_{function}\tKEYWORD2" for function in functions)
    yield from (f"{c.upper}_{constant}\tLITERAL1" for constant in constants)
    yield from (f"{name}\tLITERAL1" for name in c.classes)


def _sketch(c: CModel, library: str, has_test: bool) -> Iterator[str]:
    """A sketch that reads the inputs, one function for each, and prints the class."""
    yield f"// {c.target.flat.stamp}"
    yield "// Reads the inputs, predicts, and prints the class once a second."
    if isinstance(c.target, IntegerModel) and c.target.readings == "codes":
        yield f"#define {c.upper}_WITH_FLOAT"
    yield f"#include <{library}.h>\n"
    yield from _pins(c)
    if not c.class_names:
        yield from _names(c)
    if any(isinstance(coder, Count) for coder in getattr(c.target, "coders", ())):
        yield "long within(long count, long least, long greatest) {"
        yield "  return count < least ? least : count > greatest ? greatest : count;\n}\n"
    kind = readings_type(c)
    for position, input_ in enumerate(c.target.flat.inputs):
        note, value = _reading(c, position)
        yield f"// {comment_text(input_.label)}: {note}"
        yield f"static {kind} read_{input_.name}() {{\n  return {value};\n}}\n"
    yield "void setup() {\n  Serial.begin(9600);"
    if has_test:
        yield f'  Serial.print(F("wrong answers: "));\n  Serial.println({c.prefix}_test());'
    yield "}\n\nvoid loop() {"
    yield f"  {kind} x[{max(1, len(c.inputs))}] = {{0}};"
    yield from (f"  x[{i}] = read_{name}();" for i, name in enumerate(c.inputs))
    passed = ", ".join(f"x[{i}]" for i in range(len(c.inputs))) if c.arguments else "x"
    readings = "_readings" * has_readings(c)
    name = f"{c.prefix}_class_name" if c.class_names else "nameOf"
    yield f"  Serial.println({name}({c.prefix}_predict{readings}({passed})));"
    if c.probabilities:
        yield from _print_probabilities(c, f"{c.prefix}_predict_proba{readings}", passed)
    yield "  delay(1000);\n}"


def _pins(c: CModel) -> Iterator[str]:
    """A constant for the pin of each input that is a number, for the user to set."""
    numbers = [input_ for input_ in c.target.flat.inputs if not input_.is_text]
    if numbers:
        yield "// The pin that each feature is read from: change these to your wiring."
        for place, input_ in enumerate(numbers[:ANALOG_PINS]):
            yield f"static const uint8_t {_pin(input_)} = A{place}; // {comment_text(input_.label)}"
        yield ""


def _pin(input_: Input) -> str:
    return f"pin_{input_.name}"


def _names(c: CModel) -> Iterator[str]:
    """A function from the position of a class to its name."""
    yield f"const __FlashStringHelper *nameOf({c.position_type} position) {{"
    yield "  switch (position) {"
    *first, last = enumerate(c.target.flat.classes)
    yield from (f"    case {c.classes[position]}: return F({_text(label)});" for position, label in first)
    yield f"    default: return F({_text(last[1])});\n  }}\n}}\n"


def _print_probabilities(c: CModel, function: str, passed: str) -> Iterator[str]:
    """Statements that print the probability of the second of two classes, or that of each of more."""
    if len(c.target.flat.classes) == 2:
        yield f"  Serial.println({function}({passed}));{'' if c.is_float else f' // of {ONE}'}"
        return
    yield f"  {c.prefix}_probability_t p[{c.upper}_CLASSES];"
    yield f"  {function}({f'{passed}, p' if passed else 'p'});"
    yield f"  for ({c.position_type} k = 0; k < {c.upper}_CLASSES; k++) Serial.println(p[k]);"


def _reading(c: CModel, position: int) -> tuple[str, str]:
    """What to know about an input, and an expression for its value."""
    input_, kind = c.target.flat.inputs[position], readings_type(c)
    if input_.is_text:
        first = next((name for at, _, name, _ in c.categories if at == position), "0")
        return f"one of {c.upper}_CATEGORY_..., or 0 for any other text", first
    place = sum(not other.is_text for other in c.target.flat.inputs[:position])
    analog = f"analogRead({_pin(input_)})" if place < ANALOG_PINS else "0 /* no analog pin is left */"
    coder = c.target.coders[position] if isinstance(c.target, IntegerModel) else None
    if isinstance(coder, Count):
        ends = f"{coder.least} to {coder.greatest}"
        return f"a count from {ends}", f"({kind})within({analog}, {coder.least}, {coder.greatest})"
    low, high = (input_.low, input_.high) if input_.low is not None and input_.high is not None else (0.0, 1023.0)
    slope, start = real((high - low) / 1023.0, "float32"), real(low, "float32")
    value = f"{start} + {slope} * {analog}"
    note = "in the units of the training data. Set these numbers to those of your sensor: 0 to 1023 is read as "
    note += f"{low:.6g} to {high:.6g}"
    converted = isinstance(c.target, IntegerModel) and c.target.readings == "codes"
    return note, f"{c.prefix}_code_{input_.name}({value})" if converted else value


def _text(label: object) -> str:
    """A label as a C string; `comment_text` leaves no backslash, so that only quotes have to be escaped."""
    return '"' + comment_text(label).replace('"', '\\"') + '"'


# --- to disk ---------------------------------------------------------------------------------------------------------


def _refuse_to_overwrite(place: Path) -> None:
    """Only an earlier export is replaced."""
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise FileExistsError(f"{place} is not a folder: choose another path.")
    if not place.exists() or not any(place.iterdir()):
        return
    properties = place / "library.properties"
    found = sorted(path.relative_to(place).as_posix() for path in place.rglob("*") if not path.is_dir())
    ours = r"library\.(properties|json)|keywords\.txt|CMakeLists\.txt|zephyr/module\.yml|"
    ours += r"src/(\w+)\.h|examples/(\w+)Demo/(\w+)Demo\.ino"
    foreign = [path for path in found if not re.fullmatch(ours, path)]
    if foreign or not properties.is_file() or SENTENCE not in properties.read_text(errors="replace").splitlines():
        shown = listed(foreign[:3] or found[:3])
        raise FileExistsError(f"{place} is not empty and not an earlier export ({shown}): choose another folder.")
