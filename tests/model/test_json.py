"""A model as JSON: every number and name exact, and anything else refused with a reason."""

import copy
import json
import math
import re
import tempfile
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smallearn import SMaLLModel, load_model
from smallearn.model import (
    DataFacts,
    Description,
    HeldOut,
    Histogram,
    Prototype,
    Reference,
    Selection,
    Step,
    TableFacts,
    Term,
)
from smallearn.model._parts import Familiar, StandardModels
from tests.helpers.models import CARD, COSTS, NO, RANGED, THREE, TRAINING, WHOLE, YES, labels_of, models

# --- JSON: the way there and back ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", labels_of)
@given(data=st.data())
def test_json_gives_back_an_equal_model_whose_every_number_and_name_is_exact(kind, data):
    model = data.draw(models(classes=labels_of[kind]))
    text = model.to_json()
    restored = SMaLLModel.from_json(text)
    assert restored == model
    assert repr(restored) == repr(model)  # tells 1 from 1.0 and True, and 0.0 from -0.0
    assert restored.to_json() == text
    json.loads(text, parse_constant=pytest.fail)  # no NaN or Infinity, which other readers refuse


@settings(max_examples=25)
@given(models(classes=labels_of["str"]))
def test_a_saved_model_loads_equal(model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        model.save(path)
        assert path.read_text(encoding="utf-8") == model.to_json()
        assert repr(load_model(path)) == repr(model)
        assert load_model(str(path)) == model


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        (None, "NoneType"),
        (b"x", "bytes"),
        ((1, 2), "tuple"),
        (date(2020, 1, 1), "date"),
        (np.int64(3), "int64"),
        (1j, "complex"),
    ],
)
def test_labels_that_json_cannot_hold_are_refused_by_name(label, kind):
    model = replace(YES, classes=("no", label), class_dtype="|O")
    with pytest.raises(ValueError, match=re.escape(f"Class {label!r} is a {kind}; JSON holds")):
        model.to_json()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_cannot_hold_are_refused(bad):
    for model in (
        replace(YES, classes=(0.0, bad), class_dtype="<f8"),
        replace(YES, prototypes=(Prototype(1, bad, ()),)),
        replace(YES, prototypes=(Prototype(1, 0.0, (Term(0, bad),)),)),
    ):
        with pytest.raises(ValueError, match="JSON"):
            model.to_json()


# --- JSON: damage ----------------------------------------------------------------------------------------------------

GONE = object()


def tree_of(model):
    return json.loads(model.to_json())


def edited(tree, path, value):
    """The tree with the node at ``path`` replaced, or deleted if ``value`` is GONE."""
    if not path:
        return value
    tree = copy.deepcopy(tree)
    node = tree
    for key in path[:-1]:
        node = node[key]
    if value is GONE:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return tree


def paths(node, here=()):
    """Where every node below this one is."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        yield (*here, key)
        yield from paths(child, (*here, key))


def at(place):
    """``prototypes[0].terms[1].weight`` as a path."""
    return tuple(int(key) if key.isdigit() else key for key in re.findall(r"\w+", place))


def check_refused(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        SMaLLModel.from_json(text)
    assert type(caught.value) is ValueError


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("format", "pickle", "\"format\" is not 'smallearn-model'"),
        ("format", GONE, "\"format\" is not 'smallearn-model'"),
        ("format", ["smallearn-model"], "\"format\" is not 'smallearn-model'"),
        (
            "version",
            11,
            "format 11; smallearn .* reads formats 1 to 10. Install a newer smallearn",
        ),
        ("version", 0, "format 0; smallearn .* reads formats 1 to 10"),
        ("version", "1", "format '1'; smallearn .* reads formats 1 to 10"),
        ("version", True, "format True; smallearn .* reads formats 1 to 10"),
        ("version", 1.0, r"format 1\.0; smallearn .* reads formats 1 to 10"),
        ("version", None, "format None"),
        ("version", GONE, "format None"),
        ("classes", [], "^classes: a model needs at least two, found 0"),
        ("classes", [0], "^classes: a model needs at least two, found 1"),
        ("classes[1]", GONE, "^classes: a model needs at least two, found 1"),
        ("prototypes", [], "at least two classes and one prototype"),
        ("prototypes[1].class", 0, "one of them owns all the prototypes"),
        ("prototypes[0].terms[1].feature", 0, r"prototypes\[0\].terms\[1\]: the prototype has the term c twice"),
        ("prototypes[0].terms[0].name", "b", "Feature 0 has two names: 'b', 'a'"),
        ("prototypes[0].terms[0].name", None, "Feature 0 has two names: None, 'a'"),
        ("prototypes[0].terms[1].name", "a", "must have different names, or all none: 'a', 'a'"),
        ("prototypes[0].terms[1].name", None, "must have different names, or all none: 'a', None"),
        (
            "prototypes[0].terms[1].kind",
            "square",
            r"prototypes\[0\].terms\[1\].kind: 'square' is not one of 'raw', 'at_most'",
        ),
        ("prototypes[0].terms[1].kind", None, r"prototypes\[0\].terms\[1\].kind: None is not one of 'raw', 'at_most'"),
        ("classes[1]", 0, r"classes: \[0, 0\] names a class twice"),
        ("training.objective", 0.0, "training: objective and alpha must be positive"),
        ("training.alpha", -1.0, "training: objective and alpha must be positive"),
        ("training.budget", "all", "^training.budget: expected one of 'prototype', 'total', 'shared', found 'all'"),
        ("training.budget", ["total"], "^training.budget: expected one of"),
        ("training.max_cost", 0.0, "^training.max_cost: expected a positive number, found 0.0"),
        ("training.max_cost", "3", "^training.max_cost: expected a finite number, found '3'"),
        ("training.n_nonzero", None, "^training: n_nonzero and max_cost are both null"),
        ("scale", 0, "^scale: expected a positive number, found 0"),
        ("scale", -1.5, "^scale: expected a positive number, found -1.5"),
        ("prototypes[0].terms[1].value", 1.0, r"^prototypes\[0\].terms\[1\].value: a term of kind 'raw' has none"),
        ("prototypes[0].terms[1].mean", "1", r"^prototypes\[0\].terms\[1\].mean: expected a finite number"),
        ("prototypes[0].terms[1].unit", 0.0, r"^prototypes\[0\].terms\[1\].unit: expected a positive number"),
        ("prototypes[0].terms[1].unit", True, r"^prototypes\[0\].terms\[1\].unit: expected a finite number"),
    ],
)
def test_a_file_that_breaks_a_rule_is_refused_with_the_reason(place, value, message):
    check_refused(json.dumps(edited(tree_of(WHOLE), at(place), value)), message)


@pytest.mark.parametrize(
    ("term", "field", "value", "message"),
    [
        (0, "kind", "below", "kind: 'below' is not one of"),
        (0, "kind", ["raw"], r"kind: \['raw'\] is not one of"),
        (0, "kind", "missing", "value: a term of kind 'missing' has none, found 40.0"),
        (0, "kind", "raw", "value: a term of kind 'raw' has none, found 40.0"),
        (0, "value", None, "value: expected a finite number, found None"),
        (0, "value", "40", "value: expected a finite number, found '40'"),
        (0, "value", True, "value: expected a finite number, found True"),
        (0, "value", 10**400, "value: expected a finite number"),
        (0, "mean", 1.0, "mean: a term of kind 'above' has none, found 1.0"),
        (0, "unit", 100.0, "unit: a term of kind 'above' has none, found 100.0"),
        (1, "value", 1, "value: a term of kind 'missing' has none, found 1"),
        (2, "value", None, "value: expected text, a finite number or a boolean, found None"),
        (2, "value", ["red"], r"value: expected text, a finite number or a boolean, found \['red'\]"),
        (2, "value", 10**400, "value: expected a finite number"),
        (3, "value", "red", r"the prototype has the term \[colour = 'red'\] twice"),
    ],
)
def test_a_literal_that_breaks_a_rule_is_refused_with_its_place(term, field, value, message):
    tree = edited(tree_of(CARD), ("prototypes", 0, "terms", term, field), value)
    check_refused(json.dumps(tree), rf"^prototypes\[0\].terms\[{term}\](\.|: ){message}")


def version_5(model):
    """The file before there were thresholds and costs."""
    tree = tree_of(model)
    del tree["decision_threshold"], tree["cost_matrix"]
    return {**tree, "version": 5}


def version_1(model):
    """The file as the first release wrote it."""
    tree = version_5(model)
    del tree["scale"], tree["ranges"], tree["selection"], tree["data"]
    for term in (term for prototype in tree["prototypes"] for term in prototype["terms"]):
        del term["value"], term["mean"], term["unit"]
    for field in ("budget", "max_cost", "certified") if tree["training"] else ():
        del tree["training"][field]
    return {**tree, "version": 1}


@pytest.mark.parametrize("model", [YES, NO, THREE, WHOLE], ids=["yes", "no", "three", "whole"])
def test_a_file_of_version_1_is_read_and_written_as_the_newest(model):
    read = SMaLLModel.from_json(json.dumps(version_1(model)))
    assert repr(read) == repr(model)
    assert read.to_json() == model.to_json()
    assert tree_of(read)["version"] == 6


def test_a_file_of_version_2_is_read_as_a_model_without_ranges():
    tree = {**version_5(RANGED), "version": 2}
    del tree["selection"], tree["data"]
    with pytest.raises(ValueError, match=r"unknown fields \['ranges'\]"):
        SMaLLModel.from_json(json.dumps(tree))
    del tree["ranges"]
    assert SMaLLModel.from_json(json.dumps(tree)) == replace(RANGED, ranges=())


CHOSEN = replace(
    RANGED,
    selection=Selection("accuracy", (0.9, 1.0), 4, (Step(1, 1, 0.8, 0.1), Step(2, 1, 0.95, 0.05))),
    data=DataFacts("5eed", tuple(range(len(RANGED.classes))), "result", "cases.csv"),
)


def test_a_file_of_version_3_is_read_as_a_model_of_unknown_origin():
    tree = {**version_5(CHOSEN), "version": 3}
    with pytest.raises(ValueError, match=r"unknown fields \['data', 'selection'\]"):
        SMaLLModel.from_json(json.dumps(tree))
    del tree["selection"], tree["data"]
    assert SMaLLModel.from_json(json.dumps(tree)) == RANGED


def test_how_a_model_was_chosen_is_kept():
    assert SMaLLModel.from_json(CHOSEN.to_json()) == CHOSEN
    assert CHOSEN.selection.score == 0.95
    assert CHOSEN.selection.spread == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("selection.metric", 3, r"^selection.metric: expected str"),
        ("selection.scores", [], r"^selection.scores: expected the score of at least one fold"),
        ("selection.scores[0]", "1", r"^selection.scores\[0\]: expected a finite number"),
        ("selection.max_terms", -1, r"^selection.max_terms: expected a whole number"),
        ("selection.frontier[1].n_prototypes", 0, r"^selection.frontier\[1\].n_prototypes: expected a whole number"),
        ("selection.frontier[1].bytes", 3, r"^selection.frontier\[1\]: .*unknown fields \['bytes'\]"),
        ("data.class_counts", [1], r"^data.class_counts: expected"),
        ("data.class_counts[0]", -1, r"^data.class_counts\[0\]: expected a whole number"),
        ("data.fingerprint", None, r"^data.fingerprint: expected str"),
        ("data.target", 3, r"^data.target: expected str"),
    ],
)
def test_an_origin_that_makes_no_sense_is_refused(place, value, message):
    check_refused(json.dumps(edited(tree_of(CHOSEN), at(place), value)), message)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("ranges[0].low", 4.0, r"^ranges\[0\].low: 4.0 is above high, 3.0"),
        ("ranges[0].high", "3", r"^ranges\[0\].high: expected a finite number"),
        ("ranges[0].feature", 99, r"^ranges\[0\].feature: expected a whole number from 0"),
        ("ranges[0].feature", 1, "features in use, at most one for each"),
        ("ranges[0].unit", 1.0, r"^ranges\[0\]: .*unknown fields \['unit'\]"),
        ("ranges", None, "^ranges: expected list"),
    ],
)
def test_ranges_that_make_no_sense_are_refused(place, value, message):
    check_refused(json.dumps(edited(tree_of(RANGED), at(place), value)), message)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("scale", 2.0, r"^model: .*unknown fields \['scale'\]"),
        ("prototypes[0].terms[0].value", 1.0, r"terms\[0\]: .*unknown fields \['value'\]"),
        ("prototypes[0].terms[0].kind", "missing", "'missing' is not one of 'raw', the kinds of format 1"),
        ("training.budget", "total", r"^training: .*unknown fields \['budget'\]"),
        ("training.n_nonzero", None, "^training.n_nonzero: expected a whole number"),
    ],
)
def test_a_file_of_version_1_has_nothing_of_version_2(place, value, message):
    check_refused(json.dumps(edited(version_1(WHOLE), at(place), value)), message)


@pytest.mark.parametrize("value", ["'", "x" * 10**6, "\x00\n", "", 1, 1.0, True, False, 0, -0.0, 2**60 + 1, 0.1])
def test_categories_survive_exactly(value):
    terms = (Term(0, 1.0, None, "equals", value),)
    model = replace(YES, prototypes=(Prototype(1, 0.0, terms),))
    assert repr(SMaLLModel.from_json(model.to_json()).terms[0].value) == repr(value)


@pytest.mark.parametrize("value", [np.int64(1), b"red", math.nan, date(2020, 1, 1)])
def test_categories_that_json_cannot_hold_are_refused(value):
    model = replace(YES, prototypes=(Prototype(1, 0.0, (Term(0, 1.0, None, "equals", value),)),))
    with pytest.raises(ValueError, match=r"^Value .* is a .*; JSON holds"):
        model.to_json()


@pytest.mark.parametrize(
    "place",
    [
        *("classes", "class_dtype", "n_features", "prototypes", "training"),
        *(f"prototypes[1].{field}" for field in ("class", "intercept", "terms")),
        *(
            f"prototypes[0].terms[1].{field}"
            for field in ("kind", "feature", "weight", "name", "value", "mean", "unit")
        ),
        *(f"training.{field}" for field in ("smallearn", "n_rows", "alpha", "n_nonzero", "objective", "lower_bound")),
        *("scale", "training.budget", "training.max_cost", "training.certified", "decision_threshold", "cost_matrix"),
    ],
)
def test_a_missing_or_unknown_field_is_named_with_its_place(place):
    owner, _, field = place.rpartition(".")
    where = re.escape(owner or "model")
    check_refused(json.dumps(edited(tree_of(WHOLE), at(place), GONE)), rf"^{where}: missing fields \['{field}'\]")
    extra = (*at(place)[:-1], "extra")
    check_refused(json.dumps(edited(tree_of(WHOLE), extra, 1)), rf"^{where}: .*unknown fields \['extra'\]")


WRONG = {
    "bool": [0, 1, "true", None, []],
    "list": ["01", {}, None, 1, True],
    "str": [1, 1.5, None, True, [], {}],
    "an object": [[], "a", 1, True],
    "a whole number": ["1", 1.0, None, True, [], {}, -1, 10**400 * -1],
    "a finite number": ["1.0", None, True, [], {}, 10**400],
}
EXPECTED = {
    "classes": "list",
    "class_dtype": "str",
    "n_features": "a whole number",
    "prototypes": "list",
    "prototypes[1]": "an object",
    "prototypes[1].class": "a whole number",
    "prototypes[1].intercept": "a finite number",
    "prototypes[1].terms": "list",
    "prototypes[0].terms[1]": "an object",
    "prototypes[0].terms[1].feature": "a whole number",
    "prototypes[0].terms[1].weight": "a finite number",
    "scale": "a finite number",
    "decision_threshold": "a finite number",
    "training": "an object",
    "training.smallearn": "str",
    "training.n_rows": "a whole number",
    "training.alpha": "a finite number",
    "training.n_nonzero": "a whole number",
    "training.objective": "a finite number",
    "training.lower_bound": "a finite number",
    "training.certified": "bool",
}


@pytest.mark.parametrize("place", EXPECTED)
def test_a_value_of_the_wrong_type_is_refused_with_its_place_and_what_was_expected(place):
    for value in WRONG[EXPECTED[place]]:
        if value is None and place in ("training.n_nonzero", "training.lower_bound"):
            continue  # allowed where max_cost is the limit, and where the certificate was not computed
        check_refused(
            json.dumps(edited(tree_of(WHOLE), at(place), value)),
            rf"^{re.escape(place)}: expected {EXPECTED[place]}.*, found ",
        )


def test_a_certificate_that_was_not_computed_is_null_since_format_5():
    model = replace(WHOLE, training=replace(WHOLE.training, lower_bound=None))
    tree = tree_of(model)
    assert (tree["version"], tree["training"]["lower_bound"]) == (6, None)
    assert SMaLLModel.from_json(model.to_json()) == model
    early = {**version_5(model), "version": 4}
    check_refused(json.dumps(early), r"^training\.lower_bound: expected a finite number, found None")


def test_a_proof_without_a_bound_is_refused():
    tree = tree_of(replace(WHOLE, training=replace(WHOLE.training, lower_bound=None, certified=True)))
    check_refused(json.dumps(tree), r"^training: certified is true, but lower_bound is null")


@pytest.mark.parametrize("name", [3, 1.5, True, [], {}])
def test_a_name_that_is_not_text_is_refused(name):
    place = "prototypes[0].terms[0].name"
    check_refused(json.dumps(edited(tree_of(WHOLE), at(place), name)), rf"^{re.escape(place)}: expected str, found ")


@pytest.mark.parametrize(
    ("place", "value", "limits"),
    [
        ("n_features", 0, "of at least 1"),
        ("n_features", -3, "of at least 1"),
        ("prototypes[0].class", 2, "from 0 to 1"),
        ("prototypes[0].class", -1, "from 0 to 1"),
        ("prototypes[0].terms[1].feature", 3, "from 0 to 2"),
        ("prototypes[0].terms[1].feature", -1, "from 0 to 2"),
        ("training.n_rows", 0, "of at least 1"),
        ("training.n_nonzero", 0, "of at least 1"),
    ],
)
def test_a_number_out_of_range_is_refused_with_the_range(place, value, limits):
    message = rf"^{re.escape(place)}: expected a whole number {limits}, found {value}\."
    check_refused(json.dumps(edited(tree_of(WHOLE), at(place), value)), message)


def test_with_three_classes_each_must_own_a_prototype():
    check_refused(json.dumps(edited(tree_of(THREE), at("prototypes[0].class"), 1)), "each of them owns a prototype")


@pytest.mark.parametrize(
    "dtype",
    [
        *("nonsense", "", "|S3", "<c16", "|V8", "<M8[D]", "i4,i4", "(2,)i4", "i8\x00", "\ud800"),
        *("f16", "<f16", "<U500000000", "<U0", "a", "\x07"),
    ],
)
def test_a_class_dtype_that_holds_no_labels_is_refused(dtype):
    message = r"^class_dtype: .* (is not the type of|is no Unicode text)"
    check_refused(json.dumps(edited(tree_of(WHOLE), ("class_dtype",), dtype)), message)


@pytest.mark.parametrize(
    ("classes", "dtype", "message"),
    [
        (["a", "b"], "<i8", r"classes\[0\]: 'a' does not fit the type '<i8'"),
        ([0, True], "<i8", r"classes\[1\]: True does not fit"),
        ([0, 1.0], "<i8", r"classes\[1\]: 1.0 does not fit"),
        ([0, 1], "|b1", r"classes\[0\]: 0 does not fit"),
        ([0, 1], "<U3", r"classes\[0\]: 0 does not fit"),
        ([0.0, "1"], "<f8", r"classes\[1\]: '1' does not fit"),
        ([0.0, False], "<f8", r"classes\[1\]: False does not fit"),
        (["a", None], "|O", r"classes\[1\]: None does not fit"),
        (["a", []], "|O", r"classes\[1\]: \[\] does not fit"),
        ([0, 128], "|i1", r"classes: \[0, 128\] do not fit the type '\|i1'"),
        ([-1, 0], "|u1", r"classes: \[-1, 0\] do not fit"),
        ([0, 2**63], "<i8", "classes: .* do not fit"),
        ([0, 10**400], "<f8", "classes: .* do not fit"),
        ([0, 2**53 + 1], "<f8", "classes: .* do not fit"),
        ([0.5, 0.1], "<f4", "classes: .* do not fit"),
        ([0.0, 1e300], "f4", r"classes: \[0\.0, 1e\+300\] do not fit the type 'f4'"),
        ([-1e300, 0.0], "<f2", "classes: .* do not fit the type '<f2'"),
        (["a", "long"], "<U3", "classes: .* do not fit"),
        (["a", "b\x00"], "<U3", "classes: .* do not fit"),
        ([1, True], "|O", "classes: .* names a class twice"),
        ([1, 1.0], "|O", "classes: .* names a class twice"),
        (["a", "a"], "<U1", "classes: .* names a class twice"),
    ],
)
def test_labels_that_do_not_fit_their_type_are_refused(classes, dtype, message):
    tree = edited(edited(tree_of(WHOLE), ("classes",), classes), ("class_dtype",), dtype)
    check_refused(json.dumps(tree), message)


@pytest.mark.parametrize("dtype", ["<f8", "f4", "|O"])
@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_a_label_beyond_the_range_of_a_float_is_refused_with_its_place(dtype, number):
    tree = edited(edited(tree_of(WHOLE), ("classes",), [0.0, "HERE"]), ("class_dtype",), dtype)
    check_refused(json.dumps(tree).replace('"HERE"', number), rf"^classes\[1\]: {float(number)} is not a finite number")


@pytest.mark.parametrize("place", [place for place, kind in EXPECTED.items() if kind == "a finite number"])
@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" + "0" * 400])
def test_a_number_beyond_the_range_of_a_float_is_refused_with_its_place(place, number):
    text = json.dumps(edited(tree_of(WHOLE), at(place), "HERE")).replace('"HERE"', number)
    check_refused(text, rf"^{re.escape(place)}: expected a finite number, found ")


@pytest.mark.parametrize("place", ["prototypes[0].intercept", "training.objective", "classes[1]", "n_features"])
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_nan_and_infinity_are_refused_by_name(place, number):
    text = json.dumps(edited(tree_of(WHOLE), at(place), "HERE")).replace('"HERE"', number)
    check_refused(text, f"Not a smallearn model: {number} is not a finite number")


@pytest.mark.parametrize("field", ['"version": 6', '"class": 1', '"weight": 2.0', '"alpha": 0.01'])
def test_a_field_that_stands_twice_is_refused(field):
    text = WHOLE.to_json()
    assert field in text
    check_refused(text.replace(field, f"{field}, {field}", 1), "an object has the same field twice")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not JSON",
        WHOLE.to_json()[:-3],
        WHOLE.to_json() + "{}",
        "\ufeff" + WHOLE.to_json(),
        WHOLE.to_json().replace('"', "'"),
        "[" * 100_000,
        '{"a":' * 100_000,
        "[" * 100_000 + "]" * 100_000,
    ],
    ids=["empty", "words", "cut", "more", "BOM", "Python", "deep list", "deep object", "deep and closed"],
)
def test_text_that_is_not_json_is_refused(text):
    check_refused(text, "Not a smallearn model: not valid JSON")


@pytest.mark.parametrize("text", ["null", "1", '"smallearn-model"', "[]", "{}", '[{"format": "smallearn-model"}]'])
def test_json_of_another_kind_is_refused(text):
    check_refused(text, "Not a smallearn model")


@pytest.mark.parametrize("depth", [10, 500, 900])
def test_deep_nesting_inside_a_field_is_refused_with_its_place(depth):
    tree = edited(tree_of(WHOLE), at("prototypes[0].intercept"), "HERE")
    deep = "[" * depth + "]" * depth
    check_refused(
        json.dumps(tree).replace('"HERE"', deep), r"^prototypes\[0\].intercept: expected a finite number, found \["
    )


def valid_or_refused(tree):
    """Reading a damaged tree ends in a ValueError or in a model that works in every way."""
    text = json.dumps(tree)
    try:
        model = SMaLLModel.from_json(text)
    except ValueError:
        return
    assert SMaLLModel.from_json(model.to_json()) == model
    assert str(model).startswith("SMaLL model")
    zeros = {term.label: 0.0 for term in model.terms}
    assert model.predict_one(zeros) in model.classes
    if model.n_features < 100:
        assert set(model.predict(np.zeros((2, model.n_features))).tolist()) == {model.predict_one(zeros)}


NAMED = [f"feature {l}" for l in range(3)]
DAMAGED = {
    "two classes": WHOLE.with_feature_names(NAMED),
    "three classes": replace(THREE, classes=("no", "yes", "maybe"), class_dtype="<U5", training=TRAINING),
    "floats": replace(NO.with_feature_names(NAMED), classes=(0.5, 1.5), class_dtype="<f8"),
    "score card": replace(CARD, training=replace(TRAINING, budget="total", max_cost=3.0)),
    "objects": replace(YES.with_feature_names(NAMED), classes=("no", 1), class_dtype="|O"),
    "threshold": replace(NO.with_feature_names(NAMED), decision_threshold=0.2, scale=2.0),
    "costs": replace(THREE, cost_matrix=COSTS, scale=0.5),
}
REPLACEMENTS = [
    *(None, True, False, 0, 1, -1, 2, 3, 10**30, 0.5, -1.5, 1e308, 5e-324, "", "raw", "x0", "a\nb", "\ud800"),
    *("<i8", "<f8", "|b1", "|O", "<U1", "|S1", [], [[]], [0, 1], [0, 1, 2], ["a", "b"], {}, {"a": 1}, [{}]),
]


@pytest.mark.parametrize("model", DAMAGED.values(), ids=DAMAGED)
def test_deleting_any_node_is_refused_or_leaves_a_valid_model(model):
    tree = tree_of(model)
    for path in paths(tree):
        valid_or_refused(edited(tree, path, GONE))


@pytest.mark.parametrize("model", DAMAGED.values(), ids=DAMAGED)
def test_replacing_any_node_is_refused_or_leaves_a_valid_model(model):
    tree = tree_of(model)
    for path in [(), *paths(tree)]:
        for value in REPLACEMENTS:
            valid_or_refused(edited(tree, path, value))


@pytest.mark.parametrize("model", DAMAGED.values(), ids=DAMAGED)
def test_replacing_any_node_by_any_other_is_refused_or_leaves_a_valid_model(model):
    tree = tree_of(model)
    everywhere = list(paths(tree))
    nodes = []
    for path in everywhere:
        node = tree
        for key in path:
            node = node[key]
        if node not in nodes:
            nodes.append(node)
    for path in everywhere:
        for node in nodes:
            valid_or_refused(edited(tree, path, node))


# --- decisions -------------------------------------------------------------------------------------------------------


def test_a_file_of_version_5_is_read_as_a_model_that_decides_by_the_highest_score():
    for model in (YES, NO, THREE, WHOLE):
        read = SMaLLModel.from_json(json.dumps(version_5(model)))
        assert (read.decision_threshold, read.cost_matrix) == (0.5, None)
        assert read == model


@pytest.mark.parametrize("model", [replace(YES, decision_threshold=1 / 3), replace(THREE, cost_matrix=COSTS)])
def test_a_threshold_and_a_cost_matrix_survive_exactly(model):
    assert repr(SMaLLModel.from_json(model.to_json())) == repr(model)


@pytest.mark.parametrize(
    ("model", "place", "value", "message"),
    [
        (YES, "decision_threshold", 0.0, "^decision_threshold: expected a positive number, found 0.0"),
        (YES, "decision_threshold", 1, "decision threshold is a probability above 0 and below 1, not 1.0"),
        (YES, "cost_matrix", [[0, 1], [1, 0]], "With two classes, costs are a decision threshold"),
        (THREE, "decision_threshold", 0.4, "A decision threshold is for two classes; with 3 it is 0.5, not 0.4"),
        (THREE, "cost_matrix", [[0, 1], [1, 0]], "A cost matrix has 3 rows of 3 numbers"),
        (THREE, "cost_matrix", "[]", "^cost_matrix: expected list"),
        (THREE, "cost_matrix", [0, 1, 2], r"^cost_matrix\[0\]: expected list"),
        (THREE, "cost_matrix", [[0, 1, "2"]] * 3, r"^cost_matrix\[0\]\[2\]: expected a finite number"),
        (THREE, "cost_matrix", [[0, 1, 1e200]] * 3, "finite numbers of at most 1e[+]100"),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused(model, place, value, message):
    check_refused(json.dumps(edited(tree_of(model), at(place), value)), message)


# --- what format 10 added --------------------------------------------------------------------------------------------

OTHERS = replace(
    WHOLE,
    frontier_models=(replace(WHOLE, prototypes=(Prototype(1, 0.5, (Term(0, -1.0, "a"),)),)), WHOLE),
    alternatives=(replace(WHOLE, prototypes=(Prototype(1, 0.5, (Term(2, -1.0, "c"),)),)),),
    descriptions=(Description("a", "amount", "g"),),
    device_limits=(("max_flash", 200.0), ("max_time_us", 1.5)),
    standard_models=StandardModels(
        (Familiar("tree", 0.9, 0.01, "6 splits", 0.5), Familiar("forest", 0.9, 0.0, "?")), 5
    ),
    reference=Reference(
        n_rows=4,
        scores=(Histogram(counts=(3.0, 1.0), edges=(-1.0, 0.5, 2.0)),),
        predicted=(2.5, 1.5),
        features=(
            Histogram(counts=(1.0,), edges=(2.0, 2.0), missing=3.0, feature=0),
            Histogram(counts=(2.0, 1.25), categories=(True, "x"), other=0.75, feature=2),
        ),
        scored_by="0a",
        decided_by="0b",
    ),
)


def test_models_of_other_sizes_and_alternatives_are_kept():
    assert SMaLLModel.from_json(OTHERS.to_json()) == OTHERS
    tree = tree_of(OTHERS)
    assert tree["version"] == 10
    assert "frontier_models" not in tree_of(replace(OTHERS, frontier_models=()))
    del tree["alternatives"], tree["descriptions"], tree["device_limits"], tree["reference"]
    del tree["standard_models"]
    without = replace(OTHERS, alternatives=(), descriptions=(), device_limits=(), reference=None, standard_models=None)
    assert SMaLLModel.from_json(json.dumps(tree)) == without
    renamed = OTHERS.with_feature_names(["x", "y", "z"])
    assert [term.name for term in (*renamed.frontier_models[0].terms, *renamed.alternatives[0].terms)] == ["x", "z"]


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("frontier_models", {}, "^frontier_models: expected list"),
        ("frontier_models[1]", 3, r"^frontier_models\[1\]: model: expected an object"),
        ("frontier_models[1].n_features", 4, r"^frontier_models\[1\]: the classes or the number of features differ"),
        (
            "frontier_models[0].prototypes[0].intercept",
            "1",
            r"^frontier_models\[0\]: prototypes\[0\].intercept: expected",
        ),
        ("alternatives[0].alternatives", [], r"^alternatives\[0\]: .*unknown fields \['alternatives'\]"),
        ("alternatives[0].version", 10, r"^alternatives\[0\]: .*unknown fields \['version'\]"),
        ("descriptions[0].unit", 3, r"^descriptions\[0\].unit: expected str"),
        ("descriptions[0].name", GONE, r"^descriptions\[0\]: missing fields \['name'\]"),
        ("descriptions", None, "^descriptions: expected list"),
        ("device_limits", [], "^device_limits: expected dict"),
        ("device_limits.max_flash", 0, r"^device_limits\.max_flash: expected"),
        ("device_limits", {"flash": 3}, "^device_limits: 'flash' is no limit; these are 'max_flash'"),
        ("version", 9, r"unknown fields \['alternatives', 'descriptions', 'device_limits', 'frontier_models', 'ref"),
        ("standard_models", [], "^standard_models: expected an object"),
        ("standard_models.folds", 0, r"^standard_models\.folds: expected a whole number of at least 1"),
        ("standard_models.models[1].seconds", "1", r"^standard_models\.models\[1\]\.seconds: expected a finite number"),
        ("standard_models.n_rows", 0, r"^standard_models\.n_rows: expected a whole number of at least 1"),
        ("reference", [], "^reference: expected an object"),
        ("reference.n_rows", 0, r"^reference.n_rows: expected a whole number of at least 1"),
        ("reference.scores", [], "^reference: 2 classes have 1 scores and 2 predicted counts"),
        ("reference.predicted", [1], "^reference: 2 classes have 1 scores and 2 predicted counts"),
        ("reference.predicted[1]", "1", r"^reference.predicted\[1\]: expected a finite number"),
        ("reference.scored_by", 1, "^reference.scored_by: expected str"),
        ("reference.scores[0].counts", [3], r"^reference.scores\[0\]: A histogram of 2 bins has as many counts, not 1"),
        ("reference.scores[0].counts[0]", -1, r"^reference.scores\[0\]: The counts of a histogram are finite"),
        ("reference.scores[0].edges[1]", 7.0, r"^reference.scores\[0\]: The edges of a histogram ascend"),
        ("reference.scores[0].edges", None, r"^reference.scores\[0\]: A histogram has either edges or categories"),
        ("reference.scores[0].feature", 0, "^reference: the histogram of a score has edges, and no feature"),
        ("reference.features[0].feature", 7, "^reference: histograms belong to features, .*, not to 7, 2"),
        (
            "reference.features[0].feature",
            2,
            "^reference: histograms belong to features, at most one for each, not to 2, 2",
        ),
        ("reference.features[0].missing", None, r"^reference.features\[0\].missing: expected a finite number"),
        ("reference.features[1].categories[1]", 1, r"^reference.features\[1\]: A histogram has a category twice"),
        ("reference.features[1].categories[0]", [], r"^reference.features\[1\].categories\[0\]: expected text"),
        ("reference.features[1].other", GONE, r"^reference.features\[1\]: missing fields \['other'\]"),
    ],
)
def test_other_models_that_make_no_sense_are_refused(place, value, message):
    check_refused(json.dumps(edited(tree_of(OTHERS), at(place), value)), message)


def test_other_models_have_no_others_themselves():
    with pytest.raises(ValueError, match=r"frontier_models\[0\]: such a model has no further models and no reference"):
        replace(YES, frontier_models=(replace(YES, alternatives=(YES,)),))
    with pytest.raises(ValueError, match="a feature is described twice: 'a', 'a'"):
        replace(YES, descriptions=(Description("a"), Description("a", "amount")))


# --- what a model was told of its table ------------------------------------------------------------------------------

TOLD = replace(YES, table=TableFacts(ids=("key",), renamed=(("0", "no"), ("1", "yes")), held_out=HeldOut(7, (30, 10))))
TOLD = replace(
    TOLD, table=replace(TOLD.table, missing=("999", "unknown"), missing_by_column=(("a", ("-", "n/a")),), positive="no")
)


def test_what_a_model_was_told_of_its_table_is_kept():
    assert SMaLLModel.from_json(TOLD.to_json()) == TOLD
    assert "table" not in json.loads(replace(TOLD, table=TableFacts()).to_json())


@pytest.mark.parametrize(
    ("where", "value", "words"),
    [
        ("table.ids[0]", 3, r"table.ids\[0\]: expected str"),
        ("table.renamed[1]", ["1"], r"table.renamed\[1\]: expected two texts, found 1"),
        ("table.held_out.seed", -1, "table.held_out.seed: expected a whole number"),
        ("table.held_out.class_counts[0]", 0.5, r"table.held_out.class_counts\[0\]: expected a whole number"),
        ("table.held_out.class_counts", [1, 2, 3], "There are 3 counts of rows held out; classes: 2"),
        ("table.missing[1]", 999, r"table.missing\[1\]: expected str"),
        ("table.missing_by_column[0]", ["a"], r"table.missing_by_column\[0\]: expected a column and its texts"),
        ("table.missing_by_column[0][0]", 1, r"table.missing_by_column\[0\]\[0\]: expected str"),
        ("table.missing_by_column[0][1][1]", 1, r"table.missing_by_column\[0\]\[1\]\[1\]: expected str"),
        ("table.positive", 1, "table.positive: expected str"),
        ("table.ids", GONE, r"table: missing fields \['ids'\]"),
    ],
)
def test_what_it_was_told_is_checked(where, value, words):
    check_refused(json.dumps(edited(tree_of(TOLD), at(where), value)), words)


def test_a_file_from_before_words_for_missing_values_were_kept_loads():
    before = tree_of(TOLD)
    for name in ("missing", "missing_by_column", "positive"):
        del before["table"][name]
    table = replace(TOLD.table, missing=(), missing_by_column=(), positive=None)
    assert SMaLLModel.from_json(json.dumps(before)).table == table


def test_whole_counts_of_a_reference_are_written_like_floats():
    whole = Reference(4, (Histogram((1, 3), edges=(0.0, 1.0, 2.0)),), (2, 2), (), scored_by="", decided_by="")
    floats = replace(whole, scores=(Histogram((1.0, 3.0), edges=(0.0, 1.0, 2.0)),), predicted=(2.0, 2.0))
    text = replace(YES, reference=whole).to_json()
    assert text == replace(YES, reference=floats).to_json()
    assert SMaLLModel.from_json(text).reference == floats
