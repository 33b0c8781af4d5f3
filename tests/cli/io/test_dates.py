"""Dates of rows: the ways of writing them that can be told for sure."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from smallearn.cli.errors import CommandError
from smallearn.cli.io.dates import days_in
from smallearn.cli.io.tables import open_table


@pytest.fixture
def file(tmp_path):
    (tmp_path / "data.csv").write_text("when\n1\n2\n")
    return open_table(tmp_path / "data.csv")


@pytest.mark.parametrize(
    "text",
    ["2024-03-31", "2024-3-31", "2024/03/31", "20240331", "31.03.2024", "2024-03-31T23:59:59Z", "31.3.2024 10:15"],
)
def test_one_day_written_in_many_ways(file, text):
    days = days_in(file, "when", pa.chunked_array([[text, None, "", "NA"]]), 0)
    assert days[0] == np.datetime64("2024-03-31")
    assert np.isnat(days[1:]).all()


def test_a_month_is_its_first_day_and_numbers_are_read_as_written(file):
    assert days_in(file, "when", pa.chunked_array([["2024-03"]]), 0)[0] == np.datetime64("2024-03-01")
    assert days_in(file, "when", pa.chunked_array([[20240331]]), 0)[0] == np.datetime64("2024-03-31")
    assert days_in(file, "when", pa.chunked_array([[20240331.0, None]]), 0)[0] == np.datetime64("2024-03-31")


def test_dates_and_times_of_arrow_are_days(file):
    when = datetime.datetime(2024, 3, 31, 23, 30)
    for kind in (pa.timestamp("us"), pa.timestamp("ns"), pa.date32()):
        column = pa.chunked_array([pa.array([when, None]).cast(kind)])
        days = days_in(file, "when", column, 0)
        assert days[0] == np.datetime64("2024-03-31")
        assert np.isnat(days[1])


@pytest.mark.parametrize(
    "text", ["03/04/2024", "3.4.24", "2024", "2024-13-01", "31.02.2024", "yesterday", "2024-03-31x"]
)
def test_what_is_no_date_for_sure_is_refused_with_its_place(file, text):
    with pytest.raises(CommandError, match=r"data.csv, row 11, column 'when': .* is not a date that can be told"):
        days_in(file, "when", pa.chunked_array([["2024-01-01", text]]), 9)
