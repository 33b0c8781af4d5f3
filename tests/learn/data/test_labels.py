"""The classes of labels are those that numpy finds, with or without its sort."""

import numpy as np
import pytest

from smallearn._learn.data.labels import class_codes

LABELS = {
    "small numbers": np.array([3, -2, 3, 7, 7, -2]),
    "one class": np.array([5, 5, 5]),
    "bytes at both ends": np.array([-128, 127, 0, -128], dtype=np.int8),
    "unsigned": np.array([2**64 - 1, 0, 2**64 - 1], dtype=np.uint64),
    "close together but huge": np.array([2**63 - 1, 2**63 - 2], dtype=np.int64),
    "far apart": np.array([-(2**63), 2**63 - 1, 0]),
    "booleans": np.array([True, False, True]),
    "text": np.array(["no", "yes", "no", "maybe"]),
}


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
def test_classes_are_the_sorted_labels_and_codes_their_positions(y):
    classes, code = class_codes(y)
    known, position = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, known)
    np.testing.assert_array_equal(code, position)
    assert classes.dtype == y.dtype
    assert code.dtype == np.int64


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
def test_rows_that_do_not_count_add_no_class(y):
    counts = np.arange(len(y)) > 0
    classes, code = class_codes(y, counts)
    np.testing.assert_array_equal(classes, np.unique(y[1:]))
    np.testing.assert_array_equal(classes[code[counts]], y[counts])
