"""The cost of models, and compiled models that agree with `SMaLLModel` on every chip."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from smallearn import SMaLLClassifier, SMaLLModel
from smallearn.devices import CHIPS, ToolchainError
from smallearn.devices import cost as cost_of
from smallearn.devices._cost import NUMBERS
from smallearn.devices._estimate import estimate
from smallearn.devices._measure import measure
from smallearn.devices._rows import encode
from smallearn.devices._toolchain import Program
from smallearn.export._c.writer import to_c
from smallearn.export._fixed.float32 import certain, error_bound, exact_scores
from smallearn.export._fixed.quantise import IntegerModel, target_of
from smallearn.export._fixed.typical import typical_rows
from smallearn.export._flat import flatten
from smallearn.model import Prototype, Range, Term
from tests.helpers.exports import MODELS, edge_rows, full_table, trained_models
from tests.helpers.tools import MARKED_CHIPS, need_chip

RAW = SMaLLModel(
    ("no", "yes"),
    "<U3",
    3,
    (Prototype(1, -1.0, (Term(0, 2.0, "a"), Term(2, -1.0, "c"))), Prototype(1, 0.5, (Term(0, -1.0, "a"),))),
    ranges=(Range(0, -4.0, 4.0), Range(2, 0.0, 9.0)),
)
CUTS = replace(
    RAW, prototypes=(Prototype(1, -1.5, (Term(0, 2.0, "a", "above", 1.0), Term(2, 1.0, "c", "at_most", 3.0))),)
)
INPUTS = {"int8x16": "int16"}  # where they are not of the weights' type
WIDE = {"a": (-4.0, 4.0), "c": (0.0, 9.0)}


def cost(model, chip="atmega328p", number="int8", rows=None, **options):
    """The cost on codes, unless readings are asked for; float32 has no codes."""
    return cost_of(model, chip, number, rows, **{"readings": "float" if number == "float32" else "codes", **options})


@pytest.fixture(params=MARKED_CHIPS)
def chip(request):
    """Every chip whose tools are there."""
    need_chip(request.param)
    return request.param


# --- agreement -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cases():
    """Models with rows: made by hand with their edges, trained with all their data."""
    found = []
    for model in MODELS.values():
        flat = flatten(model)
        found.append((with_ranges(model), full_table(flat, edge_rows(flat, 20))))
    return [*found, *trained_models().values()]


def with_ranges(model):
    """The model with a range for every number, as whole numbers need one."""
    known = {extent.feature for extent in model.ranges}
    numbers = [given.feature for given in flatten(model).inputs if not given.is_text and given.feature not in known]
    return replace(model, ranges=(*model.ranges, *(Range(feature, -2.0, 50.0) for feature in numbers)))


def expected(target, inputs):
    """The positions of the classes, and for which rows they are certain."""
    if isinstance(target, IntegerModel):
        return target.predict(inputs), np.ones(len(inputs), dtype=bool)
    z = exact_scores(target.flat, inputs.astype(float))
    answers = target.model.decide(z)
    return answers, certain(target.flat, z, error_bound(target.flat, inputs.astype(float), "float32"))


@pytest.mark.parametrize("layout", ["code", "table"])
@pytest.mark.parametrize("number", ["float32", "int8", "int8x16", "int16"])
@pytest.mark.parametrize("readings", [None, "float"])
def test_every_compiled_model_agrees_on_every_row(chip, number, layout, readings, cases):
    # Many models in one program, as many as the chip has room for: the first input says which is asked.
    at_once = 4 if CHIPS[chip].flash < 16 * 1024 else len(cases)
    groups = [cases[first : first + at_once] for first in range(0, len(cases), at_once)]
    sure = [assert_agreement(chip, number, layout, readings, group) for group in groups]
    assert np.concatenate(sure).mean() > 0.9


def assert_agreement(chip, number, layout, readings, cases):
    """One program of these models agrees on every row that is certain; which rows are."""
    sources, body, blocks, wanted, sure = [], [], [], [], []
    width = 1 + max(len(flatten(model).inputs) for model, _ in cases)
    for i, (model, X) in enumerate(cases):
        target = target_of(model, number, readings=readings)
        inputs, kind = encode(target, X)
        assert kind == ("float32" if readings else INPUTS.get(number, number))
        block = np.zeros((len(inputs), width), dtype=inputs.dtype)
        block[:, 0], block[:, 1 : 1 + inputs.shape[1]] = i, inputs
        codes = target.codes(X) if isinstance(target, IntegerModel) else inputs
        answers, known = expected(target, codes)
        blocks.append(block)
        wanted.append(answers)
        sure.append(known)
        sources.append(to_c(model, number, name=f"m{i}", layout=layout, readings=readings))
        body.append(f"case {i}: return m{i}_predict{'_readings' if readings else ''}(x + 1);")
    program = Program("\n".join(sources), f"switch ((int)x[0]) {{ {' '.join(body)} }} return 255;", kind, width)
    found = np.array(measure(program, chip, np.concatenate(blocks)).answers)
    wanted, sure = np.concatenate(wanted), np.concatenate(sure)
    np.testing.assert_array_equal(found[sure], wanted[sure])
    return sure


# --- costs -----------------------------------------------------------------------------------------------------------


def test_a_cost_is_what_was_measured(chip):
    found = cost(RAW, chip, "int8")
    assert found.measured
    assert found.how.startswith("measured: code compiled with ")
    counts_cycles = CHIPS[chip].counts == "cycles"
    assert (found.cycles is not None) == counts_cycles
    assert (found.instructions is None) == counts_cycles
    assert 10 < found.flash < 120
    assert 0 <= found.ram < 20
    assert 10 <= found.mean <= found.count < (500 if chip == "attiny85" else 100)  # which multiplies in a loop
    one_each = found.count / CHIPS[chip].clock * 1e6
    assert found.time_us == one_each if counts_cycles else one_each < found.time_us < 3 * one_each


# The first prototype decides alone if its score is above 0: 2a - c > 1.
EARLY, LATE = np.array([[4.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 9.0]])


@pytest.mark.tools
def test_a_bound_holds_for_any_row_and_the_mean_is_over_the_rows_given():
    need_chip("atmega328p")
    few, many, both = (cost(RAW, "atmega328p", "int8", rows) for rows in (EARLY, LATE, np.vstack([EARLY, LATE])))
    assert few.bound
    assert few.cycles == many.cycles == both.cycles >= many.mean > few.mean
    assert both.mean == (few.mean + many.mean) / 2
    assert f"at most {few.cycles} cycles on any row ({few.mean:.0f} on average over 1 row)" in str(few)
    assert "2 rows run on simavr; the most is that of the longest path" in both.how


@pytest.mark.tools
def test_without_a_bound_the_most_is_that_of_the_rows_given():
    need_chip("atmega328p")  # whose floating point has loops
    few, many, both = (cost(RAW, "atmega328p", "float32", rows) for rows in (EARLY, LATE, np.vstack([EARLY, LATE])))
    assert not few.bound
    assert few.cycles < many.cycles == both.cycles
    assert both.mean == (few.cycles + many.cycles) / 2
    assert f"up to {both.cycles} cycles on these 2 rows ({both.mean:.0f} on average)" in str(both)
    assert "no bound: a loop has a number of turns that depends on the row" in both.how


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("readings", ["codes", "float"])
def test_probabilities_and_names_cost_more_and_change_no_answer(chip, n_classes, readings):
    need_chip(chip)
    third = Prototype(2, 0.25, (Term(2, 0.5, "c"),))
    of_each = (*(replace(prototype, owner=k) for k, prototype in enumerate(RAW.prototypes)), third)
    model = RAW if n_classes == 2 else replace(RAW, classes=("a", "b", "c"), class_dtype="<U1", prototypes=of_each)
    alone, more, all_of_it = (
        cost(model, chip, "int16", EARLY, readings=readings, **asked)
        for asked in ({}, {"class_names": True}, {"class_names": True, "probabilities": True})
    )
    assert alone.flash < more.flash < all_of_it.flash
    assert alone.mean < more.mean < all_of_it.mean  # of the rows given: not every bound can be proven
    with pytest.raises(ValueError, match="have no estimate"):
        cost(model, chip, "int16", method="estimate", class_names=True)


def test_a_model_without_terms_costs_next_to_nothing(chip):
    constant = replace(RAW, prototypes=(Prototype(1, 0.0, ()),), ranges=())
    for number in NUMBERS:
        assert cost(constant, chip, number).flash <= 8


@pytest.mark.tools
def test_more_terms_and_wider_numbers_cost_more_on_an_eight_bit_chip():
    need_chip("atmega328p")
    one = replace(RAW, prototypes=RAW.prototypes[1:], ranges=RAW.ranges[:1])
    for smaller, larger in (
        ((one, "int8"), (RAW, "int8")),
        ((RAW, "int8"), (RAW, "int16")),
        ((RAW, "int16"), (RAW, "int32")),
        ((RAW, "int8"), (RAW, "float32")),
    ):
        less, more = (cost(model, "atmega328p", number) for model, number in (smaller, larger))
        assert less.flash < more.flash
        assert less.cycles < more.cycles


@pytest.mark.tools
def test_many_classes_take_little_flash():
    need_chip("cortex-m0")
    rng = np.random.default_rng(0)
    terms = [[Term(l, float(w), f"f{l}") for l, w in enumerate(row)] for row in rng.normal(size=(10, 6))]
    prototypes = tuple(Prototype(j, float(rng.normal()), tuple(own)) for j, own in enumerate(terms))
    model = SMaLLModel(tuple(range(10)), "<i8", 6, prototypes, ranges=tuple(Range(l, -3.0, 3.0) for l in range(6)))
    found = cost(model, "cortex-m0", "int8x16", method="measure", layout="table")
    assert found.flash <= 64 + 9 * (6 + 1)  # the loop, and a byte for each weight and constant of all classes but one


@pytest.mark.tools
def test_one_number_of_several_classes_is_compared_with_a_cut_for_each():
    need_chip("cortex-m0")
    slopes = (-1.0, 0.0, 1.0)
    prototypes = tuple(Prototype(j, -abs(w), (Term(0, w, "a"),) if w else ()) for j, w in enumerate(slopes))
    model = SMaLLModel(tuple("abc"), "<U1", 1, prototypes, ranges=(Range(0, -4.0, 4.0),))
    assert to_c(model, "int16", layout="code").count("if (x[MODEL_X_A] <= ") == 2
    assert cost(model, "cortex-m0", "int16", method="measure").flash <= 32


@pytest.mark.tools
def test_the_best_layout_is_the_smaller_one():
    need_chip("cortex-m0")
    terms = tuple(Term(l, 1.0 + 0.1 * l) for l in range(24))
    ranges = tuple(Range(l, 0.0, 1.0) for l in range(24))
    large = SMaLLModel((0, 1), "<i8", 24, (Prototype(1, -1.0, terms),), ranges=ranges)
    for model in (RAW, large):
        code, table, best = (cost(model, "cortex-m0", "int8", layout=layout) for layout in ("code", "table", "best"))
        assert code.layout == "code"
        assert table.layout == "table"
        assert best == min(code, table, key=lambda found: found.flash)


def test_declared_ranges_and_counts_are_compiled_in(chip):
    steps = cost(CUTS, chip, "int16", ranges=WIDE)
    assert steps.flash > 0
    counts = {"a": (0.01, -4.0, 0, 800), "c": (0.01, 0.0, 0, 900)}
    assert cost(CUTS, chip, "int8", counts=counts).flash > 0  # inputs of 16 bits beside weights of 8


@pytest.mark.parametrize("number", ["int8", "int16"])
def test_whole_numbers_from_floats_need_no_floating_point(chip, number):
    for model in (RAW, CUTS):
        codes, floats = cost(model, chip, number), cost_of(model, chip, number)
        assert (codes.readings, floats.readings) == ("codes", "float")
        assert codes.flash < floats.flash < codes.flash + 180
    if chip == "atmega328p":
        assert floats.flash < cost_of(CUTS, chip, "float32").flash / 2
        assert cost_of(RAW, chip, number).count < cost_of(RAW, chip, "float32").count


def test_counts_cost_what_their_width_costs(chip):
    ten, eight = (
        cost_of(RAW, chip, "int8", readings="counts", counts={"a": (0.01, 0.0, 0, most), "c": (0.01, 0.0, 0, most)})
        for most in (1023, 100)
    )
    assert eight.readings == "counts"
    assert ten.flash < 150
    if chip == "esp32-c3":  # whose loads of a byte are as long as others
        assert eight.count <= ten.count
    else:
        assert eight.flash <= ten.flash


@pytest.mark.tools
def test_a_cost_can_be_read():
    need_chip("atmega328p")
    found = cost(RAW)
    assert str(found).startswith("ATmega328P (Arduino Uno) at 16 MHz, int8 from codes: ")
    assert f" {found.flash} bytes of flash, {found.ram} of RAM, " in str(found)
    assert f"at most {found.cycles} cycles on any row ({found.mean:.0f} on average over 200 typical rows)" in str(found)
    assert "about" not in str(found)
    need_chip("cortex-m0")
    assert "instructions" in str(cost(RAW, "cortex-m0"))


@pytest.mark.parametrize("name", ["number", "method", "layout", "chip", "readings"])
def test_what_is_not_known_is_refused_with_what_is(name):
    with pytest.raises(ValueError, match=rf"{name}='strange' is not (one of|known)"):
        cost(RAW, **{name: "strange"})


def test_a_fitted_estimator_costs_what_its_model_costs():
    X = np.random.default_rng(0).normal(size=(40, 3))
    clf = SMaLLClassifier(1, 2, random_state=0).fit(X, X[:, 0] > 0.0)
    assert cost(clf, method="estimate") == cost(clf.model_, method="estimate")


@pytest.mark.parametrize(("wrong", "kind"), [(object(), TypeError), (SMaLLClassifier(), ValueError)])
def test_what_is_no_model_is_refused(wrong, kind):
    with pytest.raises(kind, match="SMaLL"):
        cost(wrong)


def test_names_of_any_kind_compile(chip):
    names = ["*/ #error", "\\", "\0\n#error", "int", "x" * 100_000]
    terms = tuple(Term(l, 1.0 + l, name) for l, name in enumerate(names))
    ranges = tuple(Range(l, 0.0, 1.0) for l in range(5))
    classes = ("*/ #error 0", "\n#error 1")
    hostile = SMaLLModel(classes, "<U12", 5, (Prototype(1, -2.0, terms),), ranges=ranges)
    plain = replace(hostile, prototypes=(Prototype(1, -2.0, tuple(replace(term, name=None) for term in terms)),))
    assert replace(cost(hostile, chip), how="") == replace(cost(plain, chip), how="")


# --- typical rows ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_typical_rows_are_rows_of_the_model(name):
    model = MODELS[name]
    flat = flatten(model)
    rows = typical_rows(flat)
    assert rows.shape == (200, model.n_features)
    model.predict(rows)
    np.testing.assert_array_equal(rows, typical_rows(flat))
    for given in flat.inputs:
        values = rows[:, given.feature]
        assert given.may_be_missing == any(value is None for value in values)
        assert set(given.categories) <= set(values)
        if given.low is not None and not any(term.value is not None for term in flat.terms):
            assert all(value is None or given.low <= value <= given.high for value in values)


def test_typical_rows_keep_to_what_is_declared_and_stand_on_cut_points():
    flat = flatten(CUTS)
    rows = typical_rows(flat, {"a": (100.0, 101.0)}, {"c": (-2.0, 0.0, 10, 20)}).astype(float)
    a, c = rows[~np.isnan(rows[:, 0]), 0], rows[~np.isnan(rows[:, 2]), 2]
    assert ((a >= 100.0) & (a <= 101.0) | (np.abs(a - 1.0) < 1e-9)).all()
    assert ((c >= -40.0) & (c <= -20.0) | (np.abs(c - 3.0) < 1e-9)).all()
    assert (a == 1.0).any()
    assert (a == np.nextafter(1.0, 2.0)).any()


# --- without the tools -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHIPS)
def test_without_tools_the_cost_is_estimated_and_says_so(name, monkeypatch):
    monkeypatch.setenv("PATH", os.devnull)
    found = cost(RAW, name, "int8")
    assert not found.measured
    assert found.how.startswith("estimated from the number of terms, not measured; nine in ten random models had flash")
    assert "is not installed (Debian: gcc-" in found.how
    assert f"about {found.count} {CHIPS[name].counts} ({found.mean:.0f} on average)" in str(found)
    assert not found.bound
    assert found == replace(cost(RAW, name, "int8", method="estimate"), how=found.how)
    with pytest.raises(ToolchainError, match=r"cannot be measured: .*Debian"):
        cost(RAW, name, "int8", method="measure")


@pytest.fixture(scope="module")
def held_out():
    """Random models that the estimates were not fitted to."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2])
        from benchmarks.devices.fit import random_model
    return [random_model(seed) for seed in range(1000, 1005)]


@pytest.mark.parametrize("number", ["float32", "int8", "int8x16", "int16"])
def test_estimates_are_as_near_as_they_say(chip, number, held_out):
    kept, near = [], []
    for model in held_out:
        for layout in ("code", "table"):
            guess = estimate(target_of(model, number), CHIPS[chip], layout)
            truth = cost(model, chip, number, method="measure", layout=layout)
            off = {"flash": abs(guess.flash - truth.flash), "count": abs(guess.count - truth.count)}
            kept += [off[name] <= guess.errors[name] * max(getattr(truth, name), 16) + 1 for name in off]
            near += [off["flash"] <= max(12, 0.25 * truth.flash)]
    assert np.mean(kept) >= 0.75  # they say nine in ten, of many more models
    assert np.mean(near) >= 0.75


@pytest.mark.tools
@pytest.mark.parametrize("number", ["float32", "int8", "int16"])
@pytest.mark.parametrize("name", [name for name, chip in CHIPS.items() if chip.like])
def test_a_chip_that_takes_the_estimates_of_another_costs_the_same_but_for_the_clock(name, number, held_out):
    need_chip(name)
    chip, other = CHIPS[name], CHIPS[CHIPS[name].like]
    for model in [RAW, CUTS, *held_out[:1]]:
        for layout in ("code", "table"):
            own, same = (cost_of(model, one, number, layout=layout) for one in (chip, other))
            assert own == replace(same, chip=name, time_us=own.time_us)
            assert own.time_us * chip.clock == pytest.approx(same.time_us * other.clock)


def test_a_chip_that_takes_the_estimates_of_another_has_its_own_clock():
    own, same = (cost(RAW, name, method="estimate") for name in ("rp2040", "cortex-m0"))
    assert (own.flash, own.count) == (same.flash, same.count)
    assert own.time_us == pytest.approx(same.time_us * 48 / 125)


def test_an_estimate_grows_with_every_term():
    for name in CHIPS:
        for number in NUMBERS:
            costs = []
            for size in (1, 3, 6):
                terms = tuple(Term(l, 1.0) for l in range(size))
                ranges = tuple(Range(l, 0.0, 1.0) for l in range(size))
                model = SMaLLModel((0, 1), "<i8", size, (Prototype(1, -0.5, terms),), ranges=ranges)
                costs.append(cost(model, name, number, method="estimate"))
            assert costs[0].flash < costs[1].flash < costs[2].flash
            assert costs[0].count < costs[1].count < costs[2].count
            assert all(one.mean <= one.count and one.time_us > 0.0 for one in costs)


ANOTHER_CHIP = replace(CHIPS["atmega328p"], name="atmega168", flags=("-mmcu=atmega168",))


@pytest.mark.tools
def test_a_model_that_does_not_fit_the_chip_is_said_not_to_fit():
    need_chip("attiny85")
    rng = np.random.default_rng(0)
    terms = [[Term(l, float(w), f"f{l}") for l, w in enumerate(row)] for row in rng.normal(size=(12, 20))]
    prototypes = tuple(Prototype(j, float(rng.normal()), tuple(own)) for j, own in enumerate(terms))
    model = SMaLLModel(tuple(range(12)), "<i8", 20, prototypes, ranges=tuple(Range(l, -3.0, 3.0) for l in range(20)))
    found = cost(model, "attiny85", "float32", layout="code")
    assert not found.measured
    assert found.flash > CHIPS["attiny85"].flash
    assert "the program does not fit the flash of attiny85" in found.how
    assert cost(model, "attiny85", "float32", layout="best").layout == "table"
    with pytest.raises(ToolchainError, match="does not fit the flash of attiny85"):
        cost(model, "attiny85", "float32", layout="code", method="measure")


def test_there_is_no_estimate_for_another_chip():
    with pytest.raises(
        ValueError, match="no estimate for atmega168, only for atmega328p, cortex-m0, cortex-m4, attiny85, esp32-c3"
    ):
        cost(RAW, ANOTHER_CHIP, method="estimate")


@pytest.mark.tools
def test_the_cost_on_another_chip_is_measured():
    need_chip("atmega328p")
    assert cost(RAW, ANOTHER_CHIP).flash == pytest.approx(cost(RAW).flash, abs=8)
