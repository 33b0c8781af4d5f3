"""C: compiled by gcc, it answers as the model does (floats) or exactly as the integer model does (whole numbers)."""

import math

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from smallearn.export._fixed.float32 import certain, error_bound, exact_scores
from smallearn.export._fixed.quantise import BITS, CODE_BITS, deciding
from smallearn.export._flat import flatten
from tests.helpers.c_programs import FORMS, NARROW, Library, device_rows, rows_of, with_ranges
from tests.helpers.exports import EXPECTED_COSTS, MODELS, exportable, full_table, magnitudes, trained_models

pytestmark = pytest.mark.tools  # every test compiles with gcc
FLOATS = ("float32", "float64")
NUMBERS = (*FLOATS, *BITS)
compiled = settings(max_examples=6, phases=[Phase.generate])  # to shrink an example would take many more compilations


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    """Every model in every number, in several layouts and forms of call, with its rows; all compiled together."""
    ranged = map(with_ranges, MODELS.values())
    models = [(model, rows_of(model), FORMS, NUMBERS) for model in ranged]
    models += [(model, rows_of(model), FORMS, FLOATS) for model in EXPECTED_COSTS.values()]
    models += [(model, X, [FORMS[0], FORMS[-1]], NUMBERS) for model, X in trained_models().values()]
    library = Library(tmp_path_factory.mktemp("c"))
    found = []
    for model, X, forms, numbers in models:
        for number in numbers:
            for layout, arguments in forms:
                name = library.add(model, number, arguments, layout=layout, conformance=X[:20])
                library.texts.append(f"int {name}_check(void); int {name}_check(void) {{ return (int){name}_test(); }}")
                found.append((name, model, X))
    return library.build(), found


def check_whole_numbers(library, name, rows):
    target, got = library.models[name], library.call(name, rows)
    z = target.scores(rows)
    best = deciding(target, z)
    np.testing.assert_array_equal(got.predict, target.predict(rows))
    np.testing.assert_array_equal(got.score, z[np.arange(len(z)), best])
    np.testing.assert_array_equal(got.prototype, best)
    added = target.contributions(rows)
    for i, j in enumerate(best):
        mine = [added[i, place] for place, term in enumerate(target.terms) if term.prototype == j]
        assert got.contribution[i].tolist() == mine + [0] * (got.contribution.shape[1] - len(mine))
    if not target.flat.has_one_owner:
        np.testing.assert_array_equal(got.scores, class_scores(target.flat, z))


def class_scores(flat, z):
    owners = np.array(flat.owners)
    return np.column_stack([z[:, owners == label].max(axis=1) for label in range(len(flat.classes))])


def check_floats(library, name, model, X):
    """Scores within the bound of the model's, and its decision wherever they are farther than that from changing it."""
    target = library.models[name]
    flat = target.flat
    rows = device_rows(model, target, X)
    if target.number == "float32":
        rows = rows[np.isfinite(np.nan_to_num(rows, nan=0.0, posinf=np.inf, neginf=-np.inf)).all(axis=1)]
    inputs = rows.astype(np.float64)
    got = library.call(name, rows)
    z = exact_scores(flat, inputs)
    bound = error_bound(flat, inputs, target.number)
    sure = certain(flat, z, bound, target.number)
    best = model.winners(z)
    assert (np.abs(got.score - z[np.arange(len(z)), best]) <= bound.max(axis=1))[sure].all()
    np.testing.assert_array_equal(got.predict[sure], model.decide(z[sure]))
    if flat.has_one_owner:  # by the scores that came out, nothing is in doubt
        owner, cut = flat.owners[0], target.cut
        np.testing.assert_array_equal(got.predict == owner, got.score > cut if owner == 1 else got.score >= cut)
    else:
        assert (np.abs(got.scores - class_scores(flat, z)) <= bound.max(axis=1, keepdims=True)).all()
        if flat.decision.costs is None:
            offsets = np.array(target.offsets or 0, dtype=got.scores.dtype)
            np.testing.assert_array_equal(got.predict, (got.scores + offsets).argmax(axis=1))
    assert (got.prototype < len(flat.owners)).all()
    start = np.array(target.intercepts)[got.prototype]
    total = start + got.contribution.astype(np.float64).sum(axis=1)
    assert (np.abs(total - got.score) <= bound.max(axis=1)).all()
    return sure.mean()


def test_whole_numbers_in_c_are_exactly_the_integer_model_on_every_row(every):
    library, found = every
    for name, model, X in found:
        if library.models[name].number in BITS:
            check_whole_numbers(library, name, device_rows(model, library.models[name], X))


def test_floats_in_c_agree_with_the_model_on_every_row(every):
    library, found = every
    for name, model, X in found:
        if library.models[name].number in FLOATS:
            share = check_floats(library, name, model, X)
            assert share > 0.5 or not model.terms


def test_doubles_in_c_give_the_scores_of_the_model_and_all_its_decisions(every):
    library, found = every
    for name, model, X in found:
        target = library.models[name]
        if target.number == "float64":
            got = library.call(name, device_rows(model, target, X))
            np.testing.assert_array_equal(np.array(model.classes, dtype=object)[got.predict], model.predict(X))
            rows = [[None if x != x else x for x in row] for row in device_rows(model, target, X).tolist()]
            z = model.scores(X)
            error = np.abs(got.score - z[np.arange(len(z)), model.winners(z)])
            assert (error <= 1e-12 * magnitudes(target.flat, rows).max(axis=1)).all()


def test_conformance_tests_pass_in_every_form(every):
    library, found = every
    assert all(library.wrong(name) == 0 for name, _, _ in found)


def test_conversions_in_c_give_the_codes_of_the_integer_model(every):
    library, found = every
    rng = np.random.default_rng(0)
    checked = 0
    for name, _, _ in found[::2]:
        target = library.models[name]
        for position, coder in enumerate(getattr(target, "coders", ())):
            if hasattr(coder, "cuts"):
                ends = np.array([cut for cut, _ in coder.cuts] or [0.0])
            elif hasattr(coder, "Q"):
                ends = np.array([coder.low, coder.high])
            else:
                continue
            span = np.ptp(ends) + 1.0
            drawn = rng.uniform(ends.min() - 0.3 * span, ends.max() + 0.3 * span, 300).astype(np.float32)
            near = [np.nextafter(ends.astype(np.float32), np.float32(side)) for side in (-math.inf, math.inf)]
            values = np.concatenate([drawn, ends, *near, [0.0, -0.0, 1e30, -1e30]]).astype(np.float32)
            np.testing.assert_array_equal(library.code(name, position, values), coder.encode(values.astype(float)))
            if target.flat.inputs[position].may_be_missing:
                assert library.code(name, position, [math.nan])[0] == target.missing
            checked += 1
    assert checked > 20


# --- random models ---------------------------------------------------------------------------------------------------


@compiled
@given(st.lists(exportable(), min_size=8, max_size=8), st.sampled_from(FORMS))
def test_random_models_agree_in_floats(tmp_path_factory, drawn, form):
    library = Library(tmp_path_factory.mktemp("c"))
    found = [
        (library.add(model, number, form[1], layout=form[0]), model, rows) for model, rows in drawn for number in FLOATS
    ]
    library.build()
    for name, model, rows in found:
        check_floats(library, name, model, full_table(flatten(model), rows))


@st.composite
def whole_number_models(draw):
    """A random model, what its inputs are on the device, and codes at the ends of all types."""
    model, rows = draw(exportable())
    flat = flatten(model)
    ranges, counts = {}, {}
    for position, one in enumerate(flat.inputs):
        raw = any(term.kind == "raw" for term in flat.terms if term.input == position)
        if one.is_text:
            continue
        choice = draw(st.sampled_from(["range", "count"] + ["steps"] * (not raw)))
        if choice == "range":
            ranges[one.label] = tuple(sorted(draw(st.tuples(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4)))))
            if ranges[one.label][1] - ranges[one.label][0] < 1e-3:
                ranges[one.label] = (-1.0, 1.0)
        elif choice == "count":
            scale = draw(st.sampled_from([1.0, -0.5, 0.0048828125, 3.7]))
            least, greatest = draw(st.sampled_from([(0, 1023), (-100, 100), (0, 65535), (5, 5), (-32768, 32767)]))
            counts[one.label] = (scale, draw(st.floats(-1e3, 1e3)), least, greatest)
    return model, rows, ranges, counts


@compiled
@given(st.lists(whole_number_models(), min_size=6, max_size=6), st.sampled_from(FORMS), st.integers(0, 2**31))
def test_random_models_are_exact_in_whole_numbers_even_at_extreme_codes(tmp_path_factory, drawn, form, seed):
    library = Library(tmp_path_factory.mktemp("c"))
    found = [
        (library.add(model, number, form[1], ranges=ranges, counts=counts, layout=form[0]), model, rows)
        for model, rows, ranges, counts in drawn
        for number in BITS
    ]
    library.build(NARROW, "-Wno-conversion")
    rng = np.random.default_rng(seed)
    for name, model, rows in found:
        target = library.models[name]
        codes = target.codes(full_table(flatten(model), rows))
        check_whole_numbers(library, name, np.concatenate([codes, extreme_codes(target, rng)]))


def extreme_codes(target, rng, count=200):
    """Codes at the ends of what each input may have: the type of the numbers, or the counts that were declared."""
    most = 2 ** (CODE_BITS[target.number] - 1)
    columns = []
    for one, coder in zip(target.flat.inputs, target.coders, strict=True):
        ends = [coder.least, coder.greatest] if hasattr(coder, "scale") else [-most, 1 - most, most - 1, 0]
        columns.append(rng.choice(ends + [target.missing] * one.may_be_missing, count))
    return np.array(columns, dtype=np.int64).reshape(len(columns), count).T
