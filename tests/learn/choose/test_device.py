"""The inverse: the most accurate model that fits a chip."""

import re
import subprocess

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import train_test_split

from smallearn import SMaLLClassifierCV
from smallearn._learn.choose import device as on_device
from smallearn._learn.choose import final
from smallearn.devices import CHIPS, cost
from smallearn.devices._limits import Limits
from smallearn.devices._measure import measure
from smallearn.devices._rows import encode
from smallearn.devices._toolchain import Program
from smallearn.export import flatten, quantise, to_c
from smallearn.export._fixed.quantise import target_of
from tests.helpers.tools import need, need_chip

QUICK = {"alphas": (0.01,), "cv": 3, "random_state": 0, "verbose": -1}
X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)


def on_chip(clf, X):
    """What the chip answers, as labels."""
    if clf.number_ == "float32":
        return clf.predict(X)
    whole = quantise(clf.model_, clf.number_, readings=clf.device_cost_.readings)
    return clf.classes_[whole.predict(whole.codes(X))]


@pytest.fixture(scope="module")
def small():
    need("avr-gcc")
    selector = SMaLLClassifierCV(8, device="atmega328p", max_flash=200, readings="codes", random_state=0, verbose=-1)
    return selector.fit(X_train, y_train)


@pytest.mark.tools
def test_a_model_for_200_bytes_takes_no_more_and_is_94_percent_right(small, tmp_path):
    assert np.mean(on_chip(small, X_test) == y_test) >= 0.94
    assert small.device_cost_.measured
    assert small.device_cost_.flash <= 200
    # The same by the compiler's own tool: a program that calls predict, and one that does not.
    text = to_c(small.model_)  # in the form that was chosen
    kind = {"float32": "float", "int16": "int16_t", "int8": "int8_t"}[small.number_]
    sizes = []
    for called in ("model_predict(x)", "x[0] > 0"):
        source = tmp_path / "main.c"
        program = f"{text}\nvolatile {kind} in[MODEL_INPUTS]; volatile uint8_t out;\n"
        program += f"static uint8_t __attribute__((noinline)) answer(const {kind} *x) {{ return {called}; }}\n"
        source.write_text(program + f"int main(void) {{ out = answer((const {kind} *)in); return 0; }}\n")
        elf = tmp_path / "main.elf"
        subprocess.run(
            [need("avr-gcc"), "-Os", "-mmcu=atmega328p", "-ffunction-sections", "-Wl,--gc-sections", source, "-o", elf],
            check=True,
            capture_output=True,
        )
        printed = subprocess.run([need("avr-size"), elf], check=True, capture_output=True, text=True).stdout
        code, data = printed.splitlines()[1].split()[:2]
        sizes.append(int(code) + int(data))
    assert 0 < sizes[0] - sizes[1] <= 200


@pytest.mark.tools
def test_the_reported_cost_is_that_of_the_model(small):
    found = small.device_cost_
    again = cost(small.model_, "atmega328p", small.number_, X_train, layout=found.layout, readings="codes")
    assert (again.flash, again.ram) == (found.flash, found.ram)
    assert again.cycles <= found.cycles  # the worst was among the rows that were looked at
    assert small.n_terms_ == len(small.model_.terms) <= 8


def test_counts_that_lack_a_feature_are_refused_before_models_are_compared(monkeypatch):
    monkeypatch.setattr(SMaLLClassifierCV, "_race", lambda *_, **__: pytest.fail("the search has begun"))
    few, constant = X_train[:, :3].copy(), np.ones((len(X_train), 1))
    given = {"x0": (0.03, 0.0, 0, 1023), "light": (0.1, 0.0, 0, 1023), "x2": (0.2, 0.0, 0, 1023)}
    selector = SMaLLClassifierCV(2, device="atmega328p", readings="counts", counts=given, **QUICK)
    words = r"counts lacks 'x1' \(there is no feature 'light'\): it has to say what the device reads for every number"
    with pytest.raises(ValueError, match=words):
        selector.fit(np.hstack([few, constant]), y_train)  # a constant is in no model: it needs no counts
    with pytest.raises(ValueError, match=r"counts lacks 'x0', 'x1', 'x2': it has to say"):
        clone(selector).set_params(counts={}).fit(few, y_train)


def test_training_values_that_the_device_cannot_read_are_told_before_models_are_compared(monkeypatch):
    class BegunError(Exception):
        pass

    def race(*_, **__):
        raise BegunError

    monkeypatch.setattr(SMaLLClassifierCV, "_race", race)
    given = {"x0": (0.03, 0.0, 0, 1023), "x1": (0.01, 0.0, 0, 1023)}
    selector = SMaLLClassifierCV(2, device="atmega328p", readings="counts", counts=given, **QUICK)
    least, greatest = X_train[:, 1].min(), X_train[:, 1].max()
    words = f"The declared counts of 'x1' mean 0 to 10.23, but the training rows have {least:.6g} to {greatest:.6g}."
    with pytest.warns(UserWarning, match=re.escape(words)) as told, pytest.raises(BegunError):
        selector.fit(X_train[:, :2], y_train)
    assert [warning.filename for warning in told] == [__file__]


@pytest.mark.tools
@pytest.mark.parametrize("readings", ["float", "counts"])
def test_limits_hold_for_the_whole_way_on_every_row(readings):
    need("avr-gcc")
    names = [f"x{l}" for l in range(X.shape[1])]
    counts = {name: (float(X[:, l].max()) / 1023, 0.0, 0, 1023) for l, name in enumerate(names)}
    inputs = {"readings": readings, "counts": counts if readings == "counts" else None}
    limits = {"device": "atmega328p", "max_flash": 200, "max_time_us": 100}
    clf = SMaLLClassifierCV(6, **limits, **inputs, random_state=0, verbose=-1).fit(X_train, y_train)
    found = clf.device_cost_
    assert (found.readings, clf.model_.deployment.readings) == (readings, readings)
    assert found.flash <= 200
    assert found.bound
    assert found.time_us <= 100.0
    target = target_of(clf.model_, clf.number_, readings=readings, counts=clf.model_.deployment.counts_by_label)
    rows, kind = encode(target, X)
    program = Program(to_c(clf), "return model_predict_readings(x);", kind, rows.shape[1])
    on_every_row = measure(program, "atmega328p", rows)
    assert on_every_row.flash <= 200
    assert max(on_every_row.counts) <= found.cycles
    answers = np.array(on_every_row.answers)
    np.testing.assert_array_equal(answers, target.predict_rows(X))
    assert np.mean(clf.classes_[answers] == y) > 0.93


@pytest.mark.tools
def test_more_room_is_never_used_for_a_worse_model(small):
    tight = clone(small).set_params(max_flash=70, max_cycles=60, readings="codes", **QUICK).fit(X_train, y_train)
    assert tight.device_cost_.flash <= 70
    assert tight.device_cost_.cycles <= 60
    assert tight.best_score_ <= small.best_score_ + 0.02
    assert np.mean(on_chip(tight, X_test) == y_test) > 0.88


@pytest.mark.tools
@pytest.mark.parametrize("device", [name for name in CHIPS if name != "atmega328p"])
def test_limits_hold_on_the_other_chips_and_for_more_classes(device):
    need_chip(device)
    X, y = load_iris(return_X_y=True)
    most = 160 if device == "attiny85" else 90
    clf = SMaLLClassifierCV(4, device=device, max_flash=160, max_cycles=most, max_ram=64, **QUICK).fit(X, y)
    found = clf.device_cost_
    assert found.flash <= 160
    assert found.count <= most
    assert found.ram <= 64
    assert np.mean(on_chip(clf, X) == y) > 0.9


@pytest.mark.tools
def test_lists_and_tables_are_taken_as_without_a_chip():
    need("avr-gcc")
    pandas = pytest.importorskip("pandas")
    chosen = {
        **QUICK,
        "device": "atmega328p",
        "max_flash": 60,
        "n_prototypes": 1,
        "literals": "raw",
        "readings": "codes",
    }
    few = X_train[:, :5]
    one = SMaLLClassifierCV(2, **chosen).fit(few, y_train)
    other = SMaLLClassifierCV(2, **chosen).fit(few.tolist(), y_train.tolist())
    table = pandas.DataFrame(few, columns=list("abcde"))
    named = SMaLLClassifierCV(2, **chosen).fit(table, y_train)
    assert one.device_cost_ == other.device_cost_ == named.device_cost_


@pytest.mark.tools
def test_a_limit_is_kept_by_whichever_layout_keeps_it():
    need("avr-gcc")
    model = SMaLLClassifierCV(12, literals="raw", n_prototypes=2, **QUICK).fit(X_train, y_train).model_
    costs = {layout: cost(model, "atmega328p", "int8", X_train, layout=layout) for layout in ("code", "table")}
    limits = Limits("atmega328p", max_cycles=float(costs["code"].cycles))
    assert costs["code"].cycles < costs["table"].cycles
    tried = on_device.deploy(model, limits, on_device.DeviceRows(X_train, y_train, np.ones(len(y_train))))
    assert [one.cost.layout for one in tried if one.number == "int8" and not one.exceeded] == ["code"]


@pytest.mark.tools
def test_a_limit_on_time_is_one_on_cycles():
    need("avr-gcc")
    clf = SMaLLClassifierCV(6, device="atmega328p", max_time_us=4, readings="codes", **QUICK).fit(X_train, y_train)
    assert clf.device_cost_.time_us <= 4.0
    assert clf.device_cost_.cycles <= 64


@pytest.mark.tools
def test_what_cannot_be_kept_is_named_with_what_the_smallest_model_costs():
    need("avr-gcc")
    with pytest.raises(ValueError, match=r"No model keeps max_flash=4 on atmega328p: the smallest, of 1 term, .*bytes"):
        SMaLLClassifierCV(3, device="atmega328p", max_flash=4, max_cycles=500, **QUICK).fit(X_train, y_train)
    with pytest.raises(ValueError, match="No model keeps max_flash=4, max_cycles=1 on"):
        SMaLLClassifierCV(3, device="atmega328p", max_flash=4, max_cycles=1, **QUICK).fit(X_train, y_train)


@pytest.mark.tools
def test_a_model_asks_for_missing_values_only_if_there_were_some():
    need("avr-gcc")
    chosen = {**QUICK, "device": "atmega328p", "literals": "both"}
    whole = SMaLLClassifierCV(3, **chosen).fit(X_train, y_train)
    assert all(term.mean is None for term in whole.model_.terms)
    assert not any(one.may_be_missing for one in flatten(whole.model_).inputs)
    gappy = X_train.copy()
    gappy[::9] = np.nan
    asking = SMaLLClassifierCV(3, **chosen).fit(gappy, y_train)
    assert all(term.mean is not None for term in asking.model_.terms if term.kind == "raw")
    assert asking.predict(np.full((1, X.shape[1]), np.nan)).shape == (1,)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"device": "z80"}, f"device='z80' is not one of {', '.join(map(repr, CHIPS))}, or None"),
        ({"max_flash": 200}, "max_flash=200 is a limit on a chip; name the chip with device"),
        ({"device": "cortex-m0", "max_ram": 0}, "max_ram=0 is not a positive number or None"),
        ({"device": "cortex-m0", "max_cycles": "few"}, "max_cycles='few' is not a positive number"),
        ({"device": "cortex-m0", "max_time_us": np.nan}, "max_time_us=nan is not a positive number"),
        ({"device": "cortex-m0", "refit": False}, "device='cortex-m0' measures .* needs refit=True"),
    ],
)
def test_limits_that_make_no_sense_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        SMaLLClassifierCV(3, **parameters).fit(X[:50], y[:50])


def test_a_chip_has_limits_of_its_own():
    limits = Limits("atmega328p", max_ram=100.0)
    assert limits.limit("max_flash") == 32 * 1024
    assert limits.limit("max_ram") == 100.0
    assert limits.limit("max_cycles") == np.inf


def many_terms(rng):
    """Rows of two classes that 40 features tell apart, each a little."""
    rows = rng.standard_normal((400, 40))
    return rows, (rows @ rng.standard_normal(40) + rng.standard_normal(400) > 0).astype(int)


@pytest.mark.tools
def test_a_family_is_searched_once_and_few_of_its_models_are_compiled(monkeypatch):
    need_chip("cortex-m0")
    searched, compiled = [], []
    train_family, deploy = final.train_family, on_device.deploy
    monkeypatch.setattr(final, "train_family", lambda *a, **k: searched.append(a[2]) or train_family(*a, **k))
    monkeypatch.setattr(on_device, "deploy", lambda *a: compiled.append(a[0]) or deploy(*a))
    rows, labels = many_terms(np.random.default_rng(0))
    clf = SMaLLClassifierCV(40, literals="raw", n_prototypes=1, device="cortex-m0", max_flash=90, **QUICK)
    clf.fit(rows, labels)
    assert clf.device_cost_.flash <= 90
    assert len(searched) == len(set(searched))
    assert len({len(model.terms) for model in compiled}) < 8  # of 33 sizes


def test_what_is_twice_too_large_needs_at_most_half_the_terms():
    spent = cost(
        SMaLLClassifierCV(2, **QUICK).fit(X_train, y_train), "cortex-m0", "int8", method="estimate", readings="codes"
    )
    limits = Limits("cortex-m0", max_flash=spent.flash / 2, max_cycles=10.0 * spent.count)
    assert limits.excess(spent) == pytest.approx(2.0)


@pytest.mark.tools
def test_what_is_too_large_is_not_run_on_many_rows(monkeypatch):
    need_chip("cortex-m0")
    n_rows = []
    measured = on_device.cost
    monkeypatch.setattr(on_device, "cost", lambda *a, **k: n_rows.append(len(a[3])) or measured(*a, **k))
    model = SMaLLClassifierCV(3, **QUICK).fit(X_train, y_train).model_
    rows = on_device.DeviceRows(X_train, y_train, np.ones(len(y_train)))
    tried = on_device.deploy(model, Limits("cortex-m0", max_flash=8.0), rows)
    assert all(one.exceeded for one in tried)
    assert max(n_rows) <= 2 * on_device.FEW_ROWS
