"""What is downloaded of a model: each export that needs no compiler, of the size and with the threshold set."""

import io
import zipfile
from dataclasses import replace

import pytest

from smallearn.cli.app.exports import as_chosen, exported, offered
from smallearn.cli.errors import CommandError
from smallearn.export import TARGETS, export, to_c, to_sql
from tests.helpers.models import CARD


def test_every_target_is_offered_and_can_be_downloaded():
    assert [one["target"] for one in offered()] == list(TARGETS)
    for one in offered():
        options = {name: values[0] for name, values in one["options"].items() if values}
        made = exported(CARD, one["target"], options)
        assert made.content
        if one["target"] not in ("arduino", "onnx"):
            assert made.content.decode() == export(CARD, one["target"], **options)


def test_every_value_that_is_offered_for_an_option_works():
    for one in offered():
        for name, values in one["options"].items():
            for value in values:
                assert exported(CARD, one["target"], {name: value}).content, (one["target"], name, value)


def test_options_reach_the_export():
    assert exported(CARD, "sql", {"dialect": "duckdb", "table": "patients"}).content.decode() == to_sql(
        CARD, "duckdb", table="patients"
    )
    assert exported(CARD, "c", {"number": "float64"}).content.decode() == to_c(CARD, "float64")
    assert exported(CARD, "c", {"number": "int16"}).content.decode() == to_c(CARD, "int16", readings="float")


def test_the_arduino_library_is_a_zip_archive_of_its_folder():
    with zipfile.ZipFile(io.BytesIO(exported(CARD, "arduino", {}).content)) as archive:
        assert archive.testzip() is None
        assert {"SmallModel/library.properties", "SmallModel/src/Smallmodel.h"} <= set(archive.namelist())


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        ("fortran", {}, "there is no export 'fortran'"),
        ("c", {"number": "int9"}, "int9"),
        ("c", {"folder": "/tmp/x"}, "this export has no option 'folder'"),
        ("arduino", {"folder": "/tmp/x"}, "this export has no option 'folder'"),
        ("sql", {"dialect": "excel"}, "excel"),
    ],
)
def test_what_is_not_offered_is_refused(target, options, words):
    with pytest.raises(CommandError, match=words):
        exported(CARD, target, options)


def test_a_missing_package_is_named_with_how_to_install_it(monkeypatch):
    from smallearn.cli.app import exports

    monkeypatch.setitem(exports.NEEDS, "onnx", ("a_package_that_is_not_there",))
    entry = next(one for one in offered() if one["target"] == "onnx")
    assert entry["needs"] == "pip install 'smallearn[onnx]'"
    with pytest.raises(CommandError, match=r"pip install 'smallearn\[onnx\]'"):
        exported(CARD, "onnx", {})


def test_the_size_and_the_threshold_that_were_set_are_exported():
    smaller = replace(CARD, prototypes=tuple(replace(one, terms=one.terms[:1]) for one in CARD.prototypes))
    both = replace(CARD, frontier_models=(smaller, CARD))
    assert smaller.n_terms < CARD.n_terms
    assert as_chosen(both, None, None) == both
    assert as_chosen(both, str(CARD.n_terms), None) == both
    chosen = as_chosen(both, str(smaller.n_terms), "0.25")
    assert (chosen.prototypes, chosen.decision_threshold) == (smaller.prototypes, 0.25)
    with pytest.raises(CommandError, match=f"there is no model of size 99; there are {smaller.n_terms}, "):
        as_chosen(both, "99", None)
    for threshold in ("0", "1", "nan", "many", ""):
        with pytest.raises(CommandError):
            as_chosen(both, None, threshold)
