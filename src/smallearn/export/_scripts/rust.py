"""A model as a Rust module for ``no_std``: in floats (`_rust_floats`) or in whole numbers (`_rust_whole`)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from smallearn._errors import check_choice
from smallearn.export._fixed.float32 import flat_in_float32
from smallearn.export._fixed.form import form_of
from smallearn.export._fixed.loss import warn_if_much
from smallearn.export._fixed.numbers import NUMBERS
from smallearn.export._fixed.quantise import BITS, check_float_options, quantise
from smallearn.export._flat import flatten
from smallearn.export._scripts import _rust_whole
from smallearn.export._scripts._rust_floats import Rust, Rust32
from smallearn.export._scripts._skeleton import layout_of
from smallearn.export._vectors import float32_vectors, vectors_of
from smallearn.model import SMaLLModel
from smallearn.model._arguments import as_model

NAME, FILE = "Rust", "model.rs"


def to_rust(
    model: Any,
    number: str | None = None,
    *,
    inputs: str = "used",
    ranges: Mapping[str, tuple[float, float]] | None = None,
    counts: Mapping[str, tuple[float, float, int, int]] | None = None,
    readings: str | None = None,
    conformance: Any = None,
    probabilities: bool = False,
) -> str:
    """Write a model as a Rust module for ``no_std``, without allocation and without unsafe code.

    In floats, the module has ``predict``, ``scores``, ``decision`` and ``reason``, each of one row and each None where
    the model cannot predict. ``predict`` gives the position of the class in ``CLASSES``. A row is ``[f64; INPUTS]`` or
    ``[f32; INPUTS]`` with NaN for a missing value or, if the model compares text, ``[Value; INPUTS]``; the places of
    the inputs have names. Rust's text has no lone surrogates: a category with one never holds, and a class shows U+FFFD
    in its place.

    In whole numbers, the module computes what `quantise` does, bit for bit, without floating point: ``predict``,
    ``scores`` and ``reason`` of a row of codes, ``[Code; INPUTS]``, with ``MISSING`` for a missing value and
    ``CATEGORY_…`` for text. No sum can overflow and nothing can panic, so there is an answer to every row.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    number : {"float64", "float32", "int8", "int8x16", "int16", "int32"} or None, default=None
        The type of the weights, as in `to_c`. None: if the model was chosen for a chip, what was chosen for it
        (``model.deployment``); otherwise "float64". Readings and counts are also those chosen for the chip unless they
        are given.
    inputs : {"used", "all"}, default="used"
        Whether a row has only the features that the model uses, in order, or all features of the training data.
    ranges : mapping from label to (low, high), default=None
        For integer types: the range of a feature over which its codes are spread. Default: the training range.
    counts : mapping from label to (scale, offset, least, greatest), default=None
        For integer types: the device reads a whole number in [least, greatest], and the feature is
        ``scale · count + offset``. Where a count is multiplied, one beyond that is taken as the nearest.
    readings : {"codes", "counts", "float"} or None, default=None
        For integer types: what the device passes. "float": readings in f32, in the units of the training data; there is
        also ``predict_readings`` of these, and ``codes``, which looks at their bits and makes codes of them; both are
        None where a value is NaN without which the model cannot predict. "counts": whole numbers as they are read;
        `counts` then has every number that the model uses. "codes" and None: codes, and counts of the features in
        `counts`; ``code_…`` make a code of a reading in f32, with floating point.
    conformance : array or table, default=None
        Rows, as `SMaLLModel.predict` takes them, that become test vectors: ``test()`` runs them and returns how many
        are predicted differently, and ``cargo test`` fails unless none is. In "float32", rows are left out that are so
        close to a boundary that rounding decides.
    probabilities : bool, default=False
        Whether there is a function ``probabilities`` of a row, which has one for each class. In whole numbers they are
        u16 in steps of 1/65535, by a table without an exponential; its error, a bound, is in the function's comment and
        ``quantise(…).probability_table.error``.

    Returns
    -------
    str
        The text of the module.

    Warns
    -----
    FormatLossWarning
        As in `to_c`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import to_rust
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> print(to_rust(clf).splitlines()[1])
    // Predict 1 if the score is above 0, otherwise 0.
    >>> "pub type Code = i8;" in to_rust(clf, "int8")
    True
    """
    model = as_model(model)
    formed = form_of(model, "float64", number=number, readings=readings, counts=counts)
    number, readings, counts = formed.number, formed.readings, formed.counts
    check_choice("number", number, NUMBERS)
    if number in BITS:
        target = quantise(model, number, ranges, counts, readings)
        if not formed.is_chosen:
            warn_if_much(target, counts)
        return _rust_whole.text(target, layout_of(target.flat, inputs), conformance, bool(probabilities))
    check_float_options(number, ranges, counts, readings)
    return _in_floats(model, number == "float32", inputs, conformance, bool(probabilities))


def _in_floats(model: SMaLLModel, narrow: bool, inputs: str, conformance: Any, probabilities: bool) -> str:
    """In f32 if ``narrow``, else in f64."""
    flat = flatten(model)
    layout = replace(layout_of(flat, inputs), named=True)
    script = Rust32(flat_in_float32(flat), layout, probabilities) if narrow else Rust(flat, layout, probabilities)
    vectors = float32_vectors if narrow else vectors_of
    return script.text(None if conformance is None else vectors(model, flat, conformance))
