"""Errors of the library in terms of the command line."""

import argparse

import pytest

from smallearn._errors import Parameter, ParameterError
from smallearn.cli import make_parser
from smallearn.cli.errors import CommandError, library_errors, message_of

OPTIONS = {"max_flash": "--max-flash", "max_points": "--points", "name": "--name"}


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (Parameter("max_flash", 9.0), "--max-flash 9"),
        (Parameter("max_points", 3), "--points 3"),
        (Parameter("name", "1 x"), "--name '1 x'"),
        (Parameter("name"), "--name"),
        (Parameter("fit_intercept", True), "fit_intercept=True"),
    ],
)
def test_a_parameter_is_written_as_its_option_if_it_has_one(parameter, text):
    assert message_of(ParameterError("Not ", parameter, "."), OPTIONS) == f"Not {text}."


def test_other_errors_keep_their_message():
    arguments = argparse.Namespace(options=OPTIONS)
    with pytest.raises(CommandError, match=r"^max_flash=9 as it is$"), library_errors(arguments):
        raise ValueError("max_flash=9 as it is")
    with pytest.raises(TypeError), library_errors(arguments):
        raise TypeError
    with pytest.raises(CommandError), library_errors(arguments, TypeError):
        raise TypeError


def test_options_are_known_by_the_parameter_that_they_set():
    arguments = make_parser().parse_args(["fit", "d.csv", "--target", "y", "-o", "m.json"])
    expected = {
        **{"max_terms": "--max-terms", "n_prototypes": "--prototypes", "positive_class": "--positive"},
        **{"max_points": "--points", "n_jobs": "--jobs", "device": "--device", "max_time_us": "--max-time-us"},
    }
    assert expected.items() <= arguments.options.items()
