"""Terms that prototypes share: whatever the language, each literal is evaluated once."""

import re
from dataclasses import replace

import pytest

from smallearn.export import to_c, to_javascript, to_onnx, to_python, to_rust, to_sql
from smallearn.export._flat import flatten
from smallearn.model import Prototype, Range, SMaLLModel, Term

CUTS = (0.125, 0.25, 0.375, 0.625, 0.75)
PROTOTYPES = tuple(
    Prototype(j, 0.5 * j, tuple(Term(0, 1.5 + i - j, "size", "above", cut) for i, cut in enumerate(CUTS)))
    for j in range(3)
)
MODEL = SMaLLModel(("a", "b", "c"), "<U1", 1, PROTOTYPES, ranges=(Range(0, 0.0, 1.0),))
ONCE = {
    "C": lambda: _function(to_c(MODEL, "float32"), "sums"),
    "table in C": lambda: _function(to_c(MODEL, "float32", layout="table"), "value"),
    "whole numbers in C": lambda: _function(to_c(MODEL, "int32", layout="code"), "sums"),
    "JavaScript": lambda: to_javascript(MODEL),
    "Rust": lambda: to_rust(MODEL),
    **{f"SQL of {name}": lambda name=name: to_sql(MODEL, name) for name in ("postgresql", "duckdb")},
}


def _function(text, name):
    """The text from the definition of this name to the end of it."""
    begin = re.search(rf"^.*model_{name}[\[(]", text, flags=re.MULTILINE).start()
    return text[begin : text.index("\n}", begin)]


def _comparisons(text, cut):
    """How often a number is compared with; in comments the sign and the number are the same."""
    text = re.sub(r"float8 '([^']*)'", r"\1", text)
    code = re.sub(r"/\*.*?\*/|(//|--).*|\"[^\"\n]*\"|'[^'\n]*'", "", text)
    return len(re.findall(rf"\b{re.escape(cut)}", code))


@pytest.mark.parametrize("language", ONCE)
def test_each_literal_is_evaluated_once(language):
    text = ONCE[language]()
    whole = "whole" in language
    codes = [f"{cut!r}" for cut in CUTS]
    if whole:
        codes = re.findall(r"\] > (-?\d+)", text)
        assert len(codes) == len(set(codes)) == len(CUTS)
        return
    assert {cut: _comparisons(text, cut) for cut in codes} == dict.fromkeys(codes, 1)


def test_python_evaluates_each_literal_once_in_each_function():
    module, functions = to_python(MODEL), ("predict", "contributions")
    for name in functions:
        begin = module.index(f"def {name}(")
        text = re.sub(r"#.*", "", module[begin : module.index("\n\n\n", begin)])
        assert [text.count(f"> {cut!r}") for cut in CUTS] == [1] * len(CUTS)


def test_onnx_has_a_column_for_each_literal():
    onnx = pytest.importorskip("onnx")
    graph = to_onnx(MODEL).graph
    shapes = [tuple(constant.dims) for constant in graph.initializer]
    assert (len(CUTS), 3) in shapes  # weights, terms × prototypes
    assert onnx.checker.check_model(to_onnx(MODEL)) is None


@pytest.mark.parametrize("number", ["int8", "int16", "int32"])
def test_a_table_in_whole_numbers_has_a_row_for_each_literal(number):
    text = to_c(MODEL, number, layout="table")
    begin = text.index("model_rows[]")
    table = text[begin : text.index("};", begin)]
    assert table.count("MODEL_X_SIZE") in (0, len(CUTS))
    assert len(re.findall(r"^    \{", table, flags=re.MULTILINE)) == len(CUTS)


def test_shared_terms_are_a_table_in_whole_numbers_unless_code_is_asked_for():
    assert to_c(MODEL, "int8") == to_c(MODEL, "int8", layout="table") != to_c(MODEL, "int8", layout="code")
    assert to_c(MODEL) == to_c(MODEL, layout="code")
    alone = replace(MODEL, classes=("a", "b"), prototypes=(replace(PROTOTYPES[0], owner=1),))
    assert to_c(alone, "int8") == to_c(alone, "int8", layout="code")


def test_rows_of_the_card_are_those_of_the_flat_model():
    rows = flatten(MODEL).rows
    assert [[term.weight for term in row] for row in rows] == [list(row.weights) for row in MODEL.card]
