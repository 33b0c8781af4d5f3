"""Models as ONNX graphs, run by onnxruntime, against the models themselves."""

import json
import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smallearn import SMaLLClassifier, SMaLLClassifierCV, SMaLLModel
from smallearn.export._fixed.float32 import certain, float32_error_bound, in_floats
from smallearn.export._fixed.numbers import float32_at_most
from smallearn.export._flat import flatten
from smallearn.export._onnx.writer import register_onnx, to_onnx
from smallearn.model import Prototype, Term
from tests.helpers.exports import (
    EXPECTED_COSTS,
    MIXED,
    MODELS,
    edge_rows,
    exportable,
    full_table,
    magnitudes,
    trained_models,
    used_rows,
)
from tests.helpers.models import CARD, NO, THREE, YES
from tests.helpers.tools import need_module

onnx = need_module("onnx")
runtime = need_module("onnxruntime")
skl2onnx = need_module("skl2onnx")
UNIT = 2.0**-24


def session(proto):
    """Checked by onnx, then loaded by onnxruntime."""
    onnx.checker.check_model(proto, full_check=True)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return runtime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(proto, feeds):
    """The outputs by name."""
    loaded = session(proto)
    return dict(zip([output.name for output in loaded.get_outputs()], loaded.run(None, feeds), strict=True))


def feeds_of(flat, rows, number="float32", inputs="all"):
    """Rows of the inputs in use as the graph takes them."""
    if not any(entry.is_text for entry in flat.inputs):
        X = full_table(flat, rows) if inputs == "all" or not flat.inputs else np.array(rows, dtype=object)
        return {"X": X.astype(number)}
    feeds = {}
    for position, entry in enumerate(flat.inputs):
        values = [row[position] for row in rows]
        column = ["" if v is None else v for v in values] if entry.is_text else np.array(values, dtype=number)
        feeds[f"x_{entry.name}"] = np.array(column, dtype=object if entry.is_text else number).reshape(-1, 1)
    return feeds


def in_float32(flat, rows):
    """Numbers rounded to float32; no numbers for text; no empty text where the model asks what is missing."""
    asked = {term.input for term in flat.terms if term.kind == "missing"}
    kept = []
    for row in rows:
        new = []
        for position, (value, entry) in enumerate(zip(row, flat.inputs, strict=True)):
            if entry.is_text:
                if not (value is None or isinstance(value, str)) or (value == "" and position in asked):
                    break
                new.append(value)
            else:
                new.append(value if value is None else float(np.float32(value)))
        else:
            kept.append(new)
    return kept


def check(model, rows, inputs="all"):
    """Scores within the proven bound, the same class wherever that leaves no doubt, and the rule kept exactly."""
    flat = flatten(model)
    rows = in_float32(flat, rows)
    X = full_table(flat, rows)
    found = run(to_onnx(model, inputs=inputs), feeds_of(flat, rows, inputs=inputs))
    assert found["scores"].dtype == np.float32
    z, bound = model.scores(X), float32_error_bound(model, X)
    assert (np.abs(found["scores"] - z) <= bound).all()
    sure = certain(flat, z, bound)
    positions = replace(model, classes=tuple(range(len(model.classes))), class_dtype="<i8")
    expected = positions.predict(X)
    labels = label_list(model)
    assert [labels[place] for place in expected[sure]] == found["label"][sure].tolist()
    follow_the_rule(model, found, labels)
    return sure


def follow_the_rule(model, found, labels):
    """The label and the probabilities are those of the scores that come with them, ties included."""
    scores = found["scores"].astype(float)
    owners = np.array([prototype.owner for prototype in model.prototypes])
    if model.sole_owner is not None:
        best = scores.max(axis=1)
        own = np.column_stack([np.zeros_like(best), best if owners[0] == 1 else -best])
    else:
        own = np.column_stack([scores[:, owners == label].max(axis=1) for label in range(len(model.classes))])
    target = in_floats(model, found["scores"].dtype.name)
    merits = own.astype(found["scores"].dtype)
    if model.sole_owner is not None:
        merits[:, 0] = target.cut if owners[0] == 1 else -target.cut
    elif target.offsets:
        merits = merits + np.array(target.offsets, dtype=merits.dtype)
    if model.decision.costs is None:
        assert [labels[place] for place in merits.argmax(axis=1)] == found["label"].tolist()
    odds = model.scale * own
    chance = np.exp(odds - odds.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    rounding = 4.0 * UNIT * np.abs(odds).max(axis=1, keepdims=True)
    assert (np.abs(found["probabilities"] - chance) <= rounding + 1e-6).all()


def label_list(model):
    """Whole numbers and booleans as int64, anything else as text."""
    whole = all(not isinstance(c, str) and c == int(c) and -(2**63) <= c < 2**63 for c in model.classes)
    return [int(label) if whole else str(label) for label in model.classes]


@pytest.fixture(scope="session")
def learned():
    return trained_models()


@pytest.mark.parametrize("name", ["breast cancer", "breast cancer literals", "iris", "wine"])
@pytest.mark.parametrize("inputs", ["all", "used"])
def test_every_row_of_real_data_gets_the_answer_of_the_model(learned, name, inputs):
    model, X = learned[name]
    sure = check(model, used_rows(flatten(model), X), inputs)
    assert sure.mean() > 0.98


@pytest.mark.parametrize("name", [*MODELS, *EXPECTED_COSTS])
def test_edge_rows_get_the_answer_of_the_model(name):
    model = (MODELS | EXPECTED_COSTS)[name]
    check(model, edge_rows(flatten(model), 100))


def test_edge_rows_of_trained_models_get_the_answer_of_the_model(learned):
    for model, _ in learned.values():
        check(model, edge_rows(flatten(model), 50))


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(exportable())
def test_random_models_get_the_answer_of_the_model(case):
    model, rows = case
    flat = flatten(model)
    labels = label_list(model)
    if any("" in entry.categories for entry in flat.inputs) or len(set(labels)) < len(labels):
        with pytest.raises(ValueError, match=r"for missing text|several types"):
            to_onnx(model)
    elif in_float32(flat, rows):
        check(model, rows)
        check_double(model, [row for row in rows if in_float32(flat, [row])])


def check_double(model, rows):
    flat = flatten(model)
    found = run(to_onnx(model, number="float64"), feeds_of(flat, rows, "float64"))
    assert found["scores"].dtype == found["probabilities"].dtype == np.float64
    assert (np.abs(found["scores"] - model.scores(full_table(flat, rows))) <= 1e-12 * magnitudes(flat, rows)).all()
    follow_the_rule(model, found, label_list(model))


@pytest.mark.parametrize("name", MODELS)
def test_double_precision_agrees_to_twelve_digits(name):
    flat = flatten(MODELS[name])
    asked = [row for row in edge_rows(flat, 50) if in_float32(flat, [row])]
    check_double(MODELS[name], asked)


# --- numbers ---------------------------------------------------------------------------------------------------------


def literal(kind, value, weight=1.0):
    return SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -0.5, (Term(0, weight, None, kind, value),)),))


@pytest.mark.parametrize("cut", [0.1, -0.1, 1 / 3, 1e-45, -1e-50, 1e39, -1e39, 3.0, 5e-324, 16777217.0])
@pytest.mark.parametrize("kind", ["at_most", "above"])
def test_cut_points_are_exact_for_every_float32(cut, kind):
    below = np.float32(float32_at_most(cut))
    with np.errstate(over="ignore"):
        near = [
            below,
            np.nextafter(below, np.float32(np.inf)),
            np.nextafter(below, np.float32(-np.inf)),
            np.float32(0.0),
        ]
    X = np.array([value for value in near if np.isfinite(value)], dtype=np.float32).reshape(-1, 1)
    model = literal(kind, cut)
    np.testing.assert_array_equal(run(to_onnx(model), {"X": X})["label"], model.predict(X.astype(float)))


def test_a_number_that_float32_cannot_hold_equals_none():
    assert run(to_onnx(literal("equals", 0.1)), {"X": np.array([[0.1]], dtype=np.float32)})["label"] == ["no"]
    assert run(to_onnx(literal("equals", 0.5)), {"X": np.array([[0.5]], dtype=np.float32)})["label"] == ["yes"]


def test_a_weight_beyond_float32_is_an_error_and_none_in_float64():
    huge = literal("raw", None, 1e39)
    with pytest.raises(ValueError, match="beyond what float32 can hold"):
        to_onnx(huge)
    assert run(to_onnx(huge, number="float64"), {"X": np.array([[1.0]])})["scores"] == 1e39
    with pytest.raises(ValueError, match="scale 1e\\+39 is beyond what float32 can hold"):
        to_onnx(replace(YES, scale=1e39))


def test_ties_go_to_the_first_class():
    tied = {"X": np.array([[0.5, 9.0, 0.0]], dtype=np.float32)}
    assert run(to_onnx(YES), tied)["label"] == ["no"]
    assert run(to_onnx(NO), tied)["label"] == ["no"]
    assert run(to_onnx(THREE), {"X": np.array([[1.0, 1.0]], dtype=np.float32)})["label"] == ["a"]


@pytest.mark.parametrize("model", [YES, NO, THREE], ids=["yes", "no", "three"])
def test_a_row_without_a_value_that_the_model_needs_has_scores_that_are_no_number(model):
    X = np.zeros((2, model.n_features), dtype=np.float32)
    X[1, 0] = np.nan
    found = run(to_onnx(model), {"X": X})
    assert np.isnan(found["scores"]).any(axis=1).tolist() == [False, True]
    assert np.isnan(found["probabilities"]).all(axis=1).tolist() == [False, True]


def test_no_rows_give_no_answers():
    found = run(to_onnx(THREE), {"X": np.zeros((0, 2), dtype=np.float32)})
    assert [found[name].shape for name in ("label", "probabilities", "scores")] == [(0,), (0, 3), (0, 4)]


# --- names and labels ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "classes",
    [
        (False, True),
        (-(2**63), 2**63 - 1),
        (2**63, 1),
        (1.0, 2.0),
        (-0.5, 1e-300),
        ("", "it's"),
        ("a", 1),
        ("a\0b", "é"),
    ],
    ids=repr,
)
def test_labels_are_whole_numbers_or_text(classes):
    check(replace(YES, classes=classes, class_dtype="|O"), [[0.0, 0.0], [0.5, 0.0], [0.75, 1.0]])


HOSTILE = ["", "a b", "\x00", "</script>", "π", "class", "\n", "x" * 10**6, 'q"uote', "a b!"]


def test_no_name_of_a_feature_breaks_the_graph_or_is_taken_for_another():
    terms = [Term(l, float(l + 1), name, "missing") for l, name in enumerate(HOSTILE)]
    terms.append(Term(len(HOSTILE), 0.5, "text", "equals", "it's\0"))
    model = SMaLLModel(("no", "yes"), "<U3", len(HOSTILE) + 1, (Prototype(1, -20.5, tuple(terms)),))
    flat = flatten(model)
    rows = np.random.default_rng(0).choice([None, 1.0], (30, len(HOSTILE))).tolist()
    rows = [[*row, text] for row in rows for text in ("it's\0", "it's", "other")]
    check(model, rows)
    proto = to_onnx(model)
    names = [entry.name for entry in proto.graph.input]
    assert len(set(names)) == len(names) == len(HOSTILE) + 1
    assert all(name.isidentifier() and name.isascii() and name.startswith("x_") for name in names)
    assert all(entry.doc_string.isprintable() for entry in proto.graph.input)
    stored = {entry.key: entry.value for entry in proto.metadata_props}
    assert json.loads(stored["smallearn_features"]) == [entry.label for entry in flat.inputs]


def test_text_that_onnx_cannot_hold_or_tell_apart_is_an_error():
    with pytest.raises(ValueError, match="surrogate"):
        to_onnx(replace(YES, classes=("no", "\ud800")))
    text = [Term(0, 1.0, "t", "equals", "\ud800"), Term(0, 1.0, "t", "equals", "")]
    with pytest.raises(ValueError, match="surrogate"):
        to_onnx(replace(YES, prototypes=(Prototype(1, 0.0, tuple(text[:1])),)))
    with pytest.raises(ValueError, match="for missing text"):
        to_onnx(replace(YES, prototypes=(Prototype(1, 0.0, tuple(text[1:])),)))
    with pytest.raises(ValueError, match="several types"):
        to_onnx(replace(YES, classes=("1", 1), class_dtype="|O"))


def test_the_graph_says_where_it_comes_from_and_asks_for_no_more_than_it_needs():
    proto = to_onnx(YES)
    flat = flatten(YES)
    stored = {entry.key: entry.value for entry in proto.metadata_props}
    assert stored == {
        "smallearn_version": flat.version,
        "smallearn_model": flat.hash,
        "smallearn_features": '["a", "c"]',
    }
    assert proto.doc_string == flat.stamp
    assert proto.graph.doc_string == "yes if any score is above 0, otherwise no."
    assert [(entry.domain, entry.version) for entry in proto.opset_import] == [("", 13)]
    assert [(entry.domain, entry.version) for entry in to_onnx(CARD).opset_import] == [("", 19)]


def test_wrong_arguments_are_errors_that_say_what_is_allowed():
    with pytest.raises(ValueError, match=r"inputs='some' .* 'all', 'used'"):
        to_onnx(YES, inputs="some")
    with pytest.raises(ValueError, match=r"number='int8' .* 'float32', 'float64'"):
        to_onnx(YES, number="int8")


@pytest.mark.parametrize(("package", "call"), [("onnx", lambda: to_onnx(YES)), ("skl2onnx", register_onnx)])
def test_a_package_that_is_not_there_is_an_error_that_names_the_extra(monkeypatch, package, call):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"needs {package} .* pip install 'smallearn\[onnx\]'"):
        call()


# --- pipelines -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def registered():
    register_onnx()
    register_onnx()  # a second time changes nothing


def pipeline(load, names=None, **parameters):
    X, y = load(return_X_y=True)
    y = y if names is None else np.array(names)[y]
    classifier = SMaLLClassifier(n_prototypes=2, n_nonzero=3, random_state=0, **parameters)
    return make_pipeline(StandardScaler(), classifier).fit(X, y), X


def answers(steps, X, **options):
    """All outputs of the converted pipeline, in order."""
    proto = skl2onnx.to_onnx(steps, X[:1], options={id(steps[-1]): options} if options else None)
    return session(proto).run(None, {"X": X})


def spread(steps, X):
    """How far scores can be off: scaling in float32, then the bound of the model."""
    scaler, model = steps[0], steps[-1].model_
    scaled = scaler.transform(X.astype(float)).astype(np.float32).astype(float)
    shift = 4.0 * UNIT * (np.abs(X.astype(float)) + np.abs(scaler.mean_)) / scaler.scale_
    bound = float32_error_bound(model, scaled)
    for j, prototype in enumerate(model.prototypes):
        for term in prototype.terms:
            bound[:, j] += abs(term.weight) * shift[:, term.feature]
    return model.scores(scaled), bound


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
@pytest.mark.parametrize("names", [None, ["zero", "one", "two"]])
def test_a_pipeline_is_converted_with_its_scaling(load, names):
    steps, X = pipeline(load, names)
    X = X.astype(np.float32)
    label, probability = answers(steps, X, zipmap=False)
    z, bound = spread(steps, X)
    sure = certain(flatten(steps[-1].model_), z, bound)
    assert sure.mean() > 0.98
    np.testing.assert_array_equal(label[sure], steps.predict(X.astype(float))[sure])
    allowed = 2.0 * bound.max(axis=1, keepdims=True) + 4.0 * UNIT * np.abs(z).max(axis=1, keepdims=True) + 1e-6
    assert (np.abs(probability - steps.predict_proba(X.astype(float))) <= allowed).all()


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_double_inputs_are_answered_in_double_precision(load):
    steps, X = pipeline(load)
    label, probability = answers(steps, X, zipmap=False)
    assert probability.dtype == np.float64
    np.testing.assert_array_equal(label, steps.predict(X))
    np.testing.assert_allclose(probability, steps.predict_proba(X), rtol=0.0, atol=1e-9)


def test_zipmap_gives_dictionaries_by_default_and_columns_if_asked():
    steps, X = pipeline(load_iris)
    X = X.astype(np.float32)
    label, plain = answers(steps, X, zipmap=False)
    same, mapped = answers(steps, X)
    np.testing.assert_array_equal(label, same)
    assert [list(row) for row in mapped[:1]] == [[0, 1, 2]]
    np.testing.assert_array_equal([list(row.values()) for row in mapped], plain)
    columns = answers(steps, X, zipmap="columns")
    np.testing.assert_array_equal(np.column_stack([column.ravel() for column in columns[1:]]), plain)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_other_options_of_classifiers_are_kept(load):
    steps, X = pipeline(load, ["zero", "one", "two"])
    _, raw = answers(steps, X, zipmap=False, raw_scores=True)
    decision = steps.decision_function(X)
    decision = decision if decision.ndim == 2 else np.column_stack([-decision, decision])
    np.testing.assert_allclose(raw, decision, rtol=1e-9, atol=1e-9)
    label, _ = answers(steps, X, zipmap=False, nocl=True)
    np.testing.assert_array_equal(steps.classes_[label], steps.predict(X))
    *_, classes = answers(steps, X, zipmap=False, output_class_labels=True)
    np.testing.assert_array_equal(classes, steps.classes_)


def test_the_selecting_estimator_and_one_without_a_pipeline_are_converted():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :6]
    chosen = SMaLLClassifierCV(2, n_prototypes=1, cv=3, random_state=0).fit(X, y)
    proto = skl2onnx.to_onnx(chosen, X[:1], options={"zipmap": False})
    label, _ = session(proto).run(None, {"X": X})
    np.testing.assert_array_equal(label, chosen.predict(X))


def test_whole_numbers_are_taken_as_inputs():
    X, y = load_breast_cancer(return_X_y=True)
    X = np.round(X[:, :4]).astype(np.int64)
    plain = SMaLLClassifier(n_nonzero=2, literals="both", random_state=0).fit(X.astype(float), y)
    label, _ = session(skl2onnx.to_onnx(plain, X[:1], options={"zipmap": False})).run(None, {"X": X})
    sure = certain(flatten(plain.model_), plain.model_.scores(X), float32_error_bound(plain.model_, X))
    assert sure.mean() > 0.98
    np.testing.assert_array_equal(label[sure], plain.predict(X.astype(float))[sure])


def test_columns_of_text_are_inputs_of_their_own():
    pandas = need_module("pandas")
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    rng = np.random.default_rng(0)
    table = pandas.DataFrame(
        {"age": rng.normal(50.0, 20.0, 200), "ward": rng.choice(["A", "B", "it's"], 200), "dose": rng.normal(size=200)}
    )
    y = ((table["ward"] == "A") | (table["age"] > 70.0)).astype(int)
    table.loc[::9, "age"] = math.nan
    fitted = SMaLLClassifier(n_nonzero=3, literals="both", categorical_features=["ward"], random_state=0).fit(table, y)
    assert any(isinstance(term.value, str) for term in fitted.model_.terms)
    types = [
        ("age", FloatTensorType([None, 1])),
        ("ward", StringTensorType([None, 1])),
        ("dose", FloatTensorType([None, 1])),
    ]
    proto = skl2onnx.convert_sklearn(fitted, initial_types=types, options={"zipmap": False})
    feeds = {name: table[[name]].to_numpy(dtype=object if name == "ward" else np.float32) for name in table}
    used = [entry.name for entry in proto.graph.input]
    label, _ = session(proto).run(None, {name: feeds[name] for name in used})
    rounded = table.assign(age=table["age"].astype(np.float32), dose=table["dose"].astype(np.float32))
    np.testing.assert_array_equal(label, fitted.predict(rounded))
    wrong = [(name, FloatTensorType([None, 1])) for name in ("age", "ward", "dose")]
    with pytest.raises(ValueError, match="'ward' has numbers; the model needs text there"):
        skl2onnx.convert_sklearn(fitted, initial_types=wrong, options={"zipmap": False})
    with pytest.raises(ValueError, match="There are 2 columns; the model was trained on 3 features"):
        skl2onnx.convert_sklearn(fitted, initial_types=types[:2], options={"zipmap": False})


def test_mixed_terms_hold_together():
    row = [[None, 150.0, None, 4.0, 1.0]]
    found = run(to_onnx(MIXED), feeds_of(flatten(MIXED), row))
    np.testing.assert_array_equal(found["scores"], [[-1.5 + 37.5 + 2.0, 0.25 + 1.5 - 0.5 - 2.0 - 0.5]])


def test_text_is_never_a_number():
    terms = (Term(0, 1.0, "t", "equals", 2), Term(0, 2.0, "t", "equals", "2"), Term(1, 1.0, "u", "equals", "a"))
    model = SMaLLModel(("no", "yes"), "<U3", 2, (Prototype(1, 0.0, terms),))
    feeds = {"x_t": np.array([["2"], ["3"]], dtype=object), "x_u": np.array([["b"], ["a"]], dtype=object)}
    assert run(to_onnx(model), feeds)["scores"].ravel().tolist() == [2.0, 1.0]
    other = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -1.0, (Term(0, 4.0, "t", "equals", "x"),)),))
    assert run(to_onnx(other), {"x_t": np.array([["x"], [""]], dtype=object)})["scores"].ravel().tolist() == [3.0, -1.0]
