"""Many C exports compiled into one library, and called from Python: what the tests of C share."""

import ctypes
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from smallearn.export._c.writer import to_c
from smallearn.export._fixed.float32 import in_floats
from smallearn.export._fixed.numbers import read_inputs
from smallearn.export._fixed.quantise import BITS, quantise
from smallearn.export._flat import flatten
from smallearn.model import Range
from tests.helpers.exports import edge_rows, full_table
from tests.helpers.tools import need

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
FORMS = [(layout, arguments) for layout in ("code", "table") for arguments in (False, True)]
# As on an 8-bit machine, where a sum of 16 bits has no more: what would overflow there gives another answer here.
NARROW = "#include <stdint.h>\n#define int_fast8_t int8_t\n#define int_fast16_t int16_t\n#define int_fast32_t int32_t\n"


@dataclass
class Answers:
    """What the compiled functions return, row by row."""

    predict: np.ndarray
    score: np.ndarray
    scores: np.ndarray
    prototype: np.ndarray
    contribution: np.ndarray


@dataclass
class Library:
    """Exports, each under a name of its own; `build` compiles them, `call` runs one on rows."""

    folder: Path
    models: dict = field(default_factory=dict)
    texts: list = field(default_factory=list)
    loaded: ctypes.CDLL | None = None

    def add(self, model, number, arguments=False, ranges=None, counts=None, **options):
        name = f"m{len(self.models)}"
        given = {"ranges": ranges, "counts": counts} if number in BITS else {}
        text = to_c(model, number, name=name, arguments=arguments, **given, **options)
        target = quantise(model, number, **given) if number in BITS else in_floats(model, number)
        self.models[name] = target
        self.texts += [f"#define {name.upper()}_WITH_FLOAT\n", text, _runner(name, target, arguments)]
        return name

    def build(self, before="", *flags):
        source = self.folder / "all.c"
        source.write_text("\n".join([before, *self.texts]))
        made = self.folder / f"all{len(list(self.folder.iterdir()))}.so"
        run([need("gcc"), *STRICT, *flags, "-shared", "-fPIC", "-O0", str(source), "-lm", "-o", str(made)])
        self.loaded = ctypes.CDLL(str(made))
        return self

    def call(self, name, rows) -> Answers:
        target = self.models[name]
        flat = target.flat
        kind, score = _types(target)
        rows = np.ascontiguousarray(rows, dtype=kind)
        n, k = len(rows), max([1, *(len(target.of(j)) for j in range(len(flat.owners)))])
        found = Answers(
            np.full(n, 255, np.uint8),
            np.zeros(n, score),
            np.zeros((n, len(flat.classes)), score),
            np.full(n, 255, np.uint8),
            np.zeros((n, k), score),
        )
        arrays = [rows, *vars(found).values()]
        getattr(self.loaded, f"{name}_run")(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
        return found

    def wrong(self, name) -> int:
        """What the conformance test of an export returns."""
        return getattr(self.loaded, f"{name}_check")()

    def code(self, name, position, values) -> np.ndarray:
        """The conversion of an input, on float32 values."""
        function = getattr(self.loaded, f"{name}_encode_{position}")
        function.argtypes, function.restype = [ctypes.c_float], ctypes.c_int64
        return np.array([function(value) for value in np.asarray(values, dtype=np.float32)])


def with_ranges(model):
    """The same with a range for every feature: the models of the tests have not all of them."""
    known = {extent.feature for extent in model.ranges}
    more = tuple(Range(term.feature, -2.0, 3.0) for term in model.features if term.feature not in known)
    return replace(model, ranges=model.ranges + more)


def rows_of(model, count=40):
    flat = flatten(model)
    return full_table(flat, edge_rows(flat, count))


def _types(target):
    if target.number in BITS:
        return np.dtype(f"int{target.input_bits}"), np.dtype(f"int{target.sum_bits}")
    return np.dtype(target.number), np.dtype(target.number)


def _runner(name, target, arguments) -> str:
    flat = target.flat
    width = len(flat.inputs)
    passed = ", ".join(f"x[{i}]" for i in range(width)) if arguments else "x"
    comma = f"{passed}, " if passed else ""
    up = name.upper()
    scores = "" if flat.has_one_owner else f"{name}_scores({comma}scores + i * {up}_CLASSES);"
    encoders = ""
    if target.number in BITS:
        has = [i for i, coder in enumerate(target.coders) if hasattr(coder, "cuts") or hasattr(coder, "Q")]
        encoders = "\n".join(
            f"int64_t {name}_encode_{i}(float x); "
            f"int64_t {name}_encode_{i}(float x) {{ return {name}_code_{flat.inputs[i].name}(x); }}"
            for i in has
        )
    head = (
        f"void {name}_run(int n, const {name}_input_t *rows, uint8_t *predict, {name}_score_t *score, "
        f"{name}_score_t *scores, uint8_t *prototype, {name}_score_t *contribution)"
    )
    return f"""
{head};
{head} {{
    {name}_reason_t reason;
    int i, t;
    for (i = 0; i < n; i++) {{
        const {name}_input_t *x = rows + i * {up}_INPUTS;
        (void)x;
        predict[i] = {name}_predict({passed});
        score[i] = {name}_score({passed});
        {scores or "(void)scores;"}
        {name}_reason({comma}&reason);
        prototype[i] = reason.prototype;
        for (t = 0; t < {up}_TERMS; t++) contribution[i * {up}_TERMS + t] = reason.contribution[t];
        if (reason.score != score[i]) prototype[i] = 255;
    }}
}}
{encoders}
"""


def device_rows(model, target, X):
    """Rows as the model takes them in the numbers of the device: codes, or floats with NaN for missing."""
    if target.number in BITS:
        return target.codes(X)
    return read_inputs(model, target.flat, X).astype(target.number)


def run(command, **options) -> str:
    """Run a program; what it complained of is in the failure."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, **options)
    assert done.returncode == 0, f"{command[0]}: {done.stderr[-3000:]}"
    return done.stdout
