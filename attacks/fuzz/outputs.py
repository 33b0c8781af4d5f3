"""What a sample of the models that load must do besides: a report, text exports that agree, and compiled ones."""

import struct
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from attacks.fuzz.loaded import full_rows, rows_of
from attacks.fuzz.names import output_of
from smallearn import SMaLLModel
from smallearn.export import to_c, to_javascript, to_pmml, to_python, to_rust, to_sql
from smallearn.report import report_html
from tests.helpers.c_programs import Library, device_rows
from tests.helpers.rust_programs import FLOATS, answers, floats_arm

MOST_FEATURES = 200  # of a model whose rows are written out
TEXTS: dict[str, Callable[[SMaLLModel], str]] = {
    "c": to_c,
    "c in whole numbers": lambda model: to_c(model, "int16"),
    "python": to_python,
    "javascript": to_javascript,
    "rust": to_rust,
    "sql": lambda model: to_sql(model, "postgresql"),
    "pmml": to_pmml,
}


def table_of(model: SMaLLModel) -> np.ndarray:
    """A few rows with all features."""
    return full_rows(model, rows_of(model))


def check_texts(model: SMaLLModel) -> None:
    """A report is written, and every text export is written or refused with a ValueError; that in Python agrees."""
    if model.n_features > MOST_FEATURES:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=UserWarning)  # few bits change decisions
        for write in TEXTS.values():
            try:
                assert write(model)
            except ValueError:
                continue
        table = table_of(model)
        labels = model.predict(table)
        _agrees_in_python(model, table)
        report_html(model, np.vstack([table] * 4), np.concatenate([labels] * 4))


def _agrees_in_python(model: SMaLLModel, table: np.ndarray) -> None:
    try:
        text = to_python(model)
    except ValueError:
        return
    module: dict[str, Any] = {}
    exec(compile(text, "export", "exec"), module)
    found = [module["predict"](row) for row in table.tolist()]
    assert found == model.predict(table).tolist(), "the export to Python answers otherwise"


def check_compiled(model: SMaLLModel) -> None:
    """C and Rust compile without an error, and they and JavaScript answer as the model does, or are refused."""
    if model.n_features > MOST_FEATURES:
        return
    table = table_of(model)
    right = [model.classes.index(label) for label in model.predict(table).tolist()]
    for name, answer in (("C", in_c), ("JavaScript", in_javascript), ("Rust", in_rust)):
        with tempfile.TemporaryDirectory(prefix="smallearn-outputs-") as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = answer(model, table, Path(folder))
            except ValueError:
                continue
        assert found == right, f"the export to {name} answers otherwise: {found} for {right}"


def in_c(model: SMaLLModel, table: np.ndarray, folder: Path) -> list[int]:
    """Compiled by gcc, in doubles."""
    library = Library(folder)
    name = library.add(model, "float64")
    library.build()
    return library.call(name, device_rows(model, library.models[name], table)).predict.tolist()


JAVASCRIPT = """
const m = require("./m.cjs");
const rows = JSON.parse(require("fs").readFileSync("rows.json", "utf-8"));
process.stdout.write(JSON.stringify(rows.map((x) => m.CLASSES.indexOf(m.predict(x)))));
"""


def in_javascript(model: SMaLLModel, table: np.ndarray, folder: Path) -> list[int]:
    """Run by node."""
    import json

    (folder / "m.cjs").write_text(to_javascript(model, form="commonjs"), encoding="ascii")
    (folder / "rows.json").write_text(json.dumps(table.tolist(), allow_nan=False))
    (folder / "host.cjs").write_text(JAVASCRIPT)
    return json.loads(output_of(["node", "host.cjs"], folder))


def in_rust(model: SMaLLModel, table: np.ndarray, folder: Path) -> list[int]:
    """Compiled by rustc."""
    text = to_rust(model, "float64", inputs="all", probabilities=True)  # not the numbers of the chip in the file
    lines = answers(folder, FLOATS, [text], [(0, [_cell(cell) for cell in row]) for row in table.tolist()], floats_arm)
    return [int(line.partition(";")[0]) for line in lines]


def _cell(value: Any) -> str:
    """As the program reads it: missing, text or a number."""
    if value is None:
        return "m"
    return f"t{value.encode().hex()}" if isinstance(value, str) else f"n{struct.pack('>d', float(value)).hex()}"
