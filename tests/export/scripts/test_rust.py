"""Exports to Rust, compiled by rustc: many models in one program, and all of them in a library without std."""

import struct
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from smallearn.export._flat import flatten
from smallearn.export._scripts.rust import to_rust
from tests.helpers import scripts
from tests.helpers.exports import MIXED, MODELS, full_table, trained_models
from tests.helpers.models import CARD, ROWS, THREE, YES
from tests.helpers.rust_programs import FLOATS, answers, compiled, floats_arm
from tests.helpers.scripts import Answer, all_features, assert_agrees, few

STRICT = ["-D", "warnings"]


def run(folder, texts, rows):
    """Compile the modules into one program, and give it rows: pairs of a module's position and cells."""
    return answers(folder, FLOATS, texts, [(i, map(_cell, cells)) for i, cells in rows], floats_arm)


def _cell(value):
    if value is None:
        return "m"
    return f"t{value.encode().hex()}" if isinstance(value, str) else f"n{struct.pack('>d', value).hex()}"


def assert_all_agree(folder, cases):
    """Of rows of the features in use alone and of rows of all, by turns."""
    texts, rows = [], []
    for i, (model, some) in enumerate(cases):
        flat = flatten(model)
        rows += [(i, all_features(flat, row) if i % 2 else row) for row in some]
        texts.append(to_rust(model, inputs="all" if i % 2 else "used", probabilities=True))
    found = iter(run(folder, texts, rows))
    for model, some in cases:
        flat = flatten(model)
        assert_agrees(model, some, [_answer(flat, next(found)) for _ in some])


def _answer(flat, line):
    label, scores, decision, prototype, parts, chances = line.split(";")
    labels = [flat.inputs[term.input].label for term in flat.of(int(prototype))]
    terms = list(zip(labels, _numbers(parts), strict=True))
    return Answer(int(label), _numbers(scores), _numbers(decision), int(prototype), terms, _numbers(chances))


def _numbers(text):
    return [struct.unpack(">d", bytes.fromhex(digits))[0] for digits in text.split(",") if digits]


@pytest.mark.tools
def test_every_row_of_real_data_and_every_edge_is_predicted_as_by_the_model(tmp_path):
    cases = [*scripts.with_rows(trained_models()), *scripts.by_hand()]
    assert_all_agree(tmp_path, [case for case in cases for _ in ("used", "all")])


@pytest.mark.tools
def test_any_model_is_predicted_as_by_the_model(tmp_path_factory):
    @few
    @given(scripts.batches)
    def check(cases):
        assert_all_agree(tmp_path_factory.mktemp("rust"), cases)

    check()


@pytest.mark.tools
def test_names_can_do_no_harm(tmp_path):
    assert_all_agree(tmp_path, [(scripts.hostile_model(), scripts.hostile_rows())])


def test_a_category_that_no_text_of_rust_equals_is_refused():
    terms = (scripts.Term(0, 1.0, "a", "equals", "b"),)
    model = scripts.SMaLLModel(("no", "yes"), "<U3", 1, (scripts.Prototype(1, 0.0, terms),))
    with pytest.raises(ValueError, match="surrogate"):
        to_rust(replace(model, prototypes=(scripts.Prototype(1, 0.0, (replace(terms[0], value="\ud800"),)),)))
    with pytest.raises(ValueError, match="surrogates"):
        to_rust(model, conformance=[["\ud800"]])


@pytest.mark.tools
def test_a_number_that_only_a_term_of_weight_zero_needs_is_read_as_a_number_beside_text(tmp_path):
    terms = (
        scripts.Term(0, 0.0, "a"),
        scripts.Term(0, 1.0, "a", "equals", 3.0),
        scripts.Term(1, 2.0, "b", "equals", "x"),
    )
    model = scripts.replace(YES, n_features=2, prototypes=(scripts.Prototype(1, -1.5, terms),))
    assert_all_agree(tmp_path, [(model, [[3.0, "x"], [3.0, "y"], [2.0, "x"], [2.0, None]])])


@pytest.mark.tools
def test_features_are_named_by_their_labels_and_reasons_too(tmp_path):
    text = to_rust(MIXED)
    (tmp_path / "model.rs").write_text(text)
    source = """
mod model;
use model::*;
fn main() {
    let mut x = [Value::Missing; INPUTS];
    x[X_BLOOD_PRESSURE] = Value::Number(150.0);
    x[X_WARD] = Value::Text("A");
    let reason = reason(&x).unwrap();
    println!("{} {}", CLASSES[reason.class], reason.score);
    for (feature, term, part) in reason.terms() { println!("{}|{}|{}", feature, term, part); }
}
"""
    found = subprocess.run([compiled(tmp_path, source)], capture_output=True, text=True, check=True).stdout.splitlines()
    assert found == [
        "ill 42",
        "age|age|37.5",
        "age|age is missing|2",
        "blood pressure|blood pressure <= 0.1|0",
        "ward|ward = 'A'|4",
        "count|count = 3|0",
    ]


@pytest.mark.tools
def test_a_row_without_an_answer_gives_none(tmp_path):
    """With numbers alone, and with a text among the features."""
    texts = {why: row for why, row in scripts.REFUSED.items() if "7" in row}
    numbers = [row for why, row in scripts.REFUSED.items() if why not in texts]
    term = scripts.Term(1, 1.0, "b", "equals", "7")
    first, second = scripts.NEEDY.prototypes
    prototypes = (scripts.replace(first, terms=(*first.terms, term)), second)
    with_text = scripts.replace(scripts.NEEDY, prototypes=prototypes)
    infinite = [[np.inf, "A", 0.0, 1.0], [1.0, np.inf, 0.0, 1.0], [1.0, "A", 0.0, -np.inf]]
    found = run(
        tmp_path,
        [to_rust(model, inputs="all", probabilities=True) for model in (scripts.NEEDY, with_text, CARD)],
        [
            (0, scripts.FULL),
            (1, scripts.FULL),
            *((0, row) for row in numbers),
            *((1, row) for row in scripts.REFUSED.values()),
            *((2, row) for row in infinite),
        ],
    )
    assert "none" not in found[:2]
    assert set(found[2:]) == {"none"}
    assert len(found) == 2 + len(numbers) + len(scripts.REFUSED) + len(infinite)


@pytest.mark.tools
def test_log_odds_that_overflow_are_none_and_the_class_is_not(tmp_path):
    models = [scripts.replace(model, scale=1e300) for model in (YES, THREE)]
    rows = [[1e10] * model.n_features for model in models]
    found = run(tmp_path, [to_rust(model, inputs="all", probabilities=True) for model in models], list(enumerate(rows)))
    for model, row, line in zip(models, rows, found, strict=True):
        label, _, decision, *_, chances = line.split(";")
        assert model.classes[int(label)] == model.predict_one(row)
        assert decision == chances == "none"


@pytest.mark.tools
def test_the_modules_need_no_std_and_pass_as_tests(tmp_path):
    """One library without std, alloc and unsafe code, of models and classes of all kinds; its tests are run, too."""
    models = [*MODELS.values(), *(scripts.labelled(labels) for labels in scripts.LABELS.values())]
    lines = ["#![cfg_attr(not(test), no_std)]", "#![forbid(unsafe_code)]"]
    for i, model in enumerate(models):
        rows = full_table(flatten(model), scripts.edge_rows(flatten(model), 10))
        text = to_rust(model, inputs=("used", "all")[i % 2], conformance=rows, probabilities=i % 3 == 0)
        (tmp_path / f"m{i}.rs").write_text(text, encoding="ascii")
        lines.append(f"pub mod m{i};")
    compiled(tmp_path, "\n".join(lines), "--crate-type", "rlib", *STRICT)
    tests = compiled(tmp_path, "\n".join(lines), "--test")
    found = subprocess.run([tests], capture_output=True, text=True)
    assert f"{len(models)} passed; 0 failed" in found.stdout


@pytest.mark.tools
def test_conformance_counts_the_rows_that_differ(tmp_path):
    text = to_rust(YES, inputs="all", conformance=ROWS)
    (tmp_path / "right.rs").write_text(text)
    (tmp_path / "wrong.rs").write_text(text.replace("], 1),", "], 0),"))
    source = 'mod right;\nmod wrong;\nfn main() { println!("{} {}", right::test(), wrong::test()); }'
    found = subprocess.run([compiled(tmp_path, source)], capture_output=True, text=True, check=True).stdout.split()
    differ = np.count_nonzero(YES.predict(ROWS) == "yes")
    assert found == ["0", str(differ)]
    assert differ > 0


@pytest.mark.parametrize(
    ("labels", "table"),
    [
        (scripts.LABELS["int"], "[i64; N_CLASSES] = [-9223372036854775808, 9223372036854775807]"),
        (scripts.LABELS["unsigned"], "[u64; N_CLASSES] = [0, 18446744073709551615]"),
        (scripts.LABELS["huge"], '[&str; N_CLASSES] = ["18446744073709551616", "1'),
        (scripts.LABELS["float"], "[f64; N_CLASSES] = [-0.0, 0.1, 5e-324, -1.7976931348623157e+308]"),
        (scripts.LABELS["bool"], "[bool; N_CLASSES] = [false, true]"),
        (scripts.LABELS["mixed"], '[&str; N_CLASSES] = ["1", "1", "2.5", "-9007199254740993"]'),
    ],
)
def test_classes_have_a_type_that_holds_them(labels, table):
    assert f"pub static CLASSES: {table}" in to_rust(scripts.labelled(labels))


def test_the_text_says_where_it_comes_from_and_what_it_does():
    text = to_rust(CARD)
    assert text.startswith(f"// {flatten(CARD).stamp}\n// Predict 'yes' if the score is above 0, otherwise 'no'.\n")
    assert "// colour = 'red'" in text


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="neither 'all'"):
        to_rust(YES, inputs="some")
    counting = scripts.replace(
        YES, n_features=1, prototypes=(scripts.Prototype(1, 0.0, (scripts.Term(0, 1.0, "a", "equals", 3),)),)
    )
    with pytest.raises(ValueError, match="reads only numbers"):
        to_rust(counting, conformance=[["3"]])
