"""Periods of time: the month, quarter, week or day of each row."""

from datetime import date
from typing import Any

import numpy as np

from smallearn._errors import check_choice

PERIODS = ("month", "week", "quarter", "day")
NO_DATE = "no date"
DAY = np.timedelta64(1, "D")


def periods_of(dates: Any, period: str) -> np.ndarray:
    """``2024-03``, ``2024-W09`` (ISO weeks), ``2024-Q1`` or ``2024-03-01`` for each date; None where there is none."""
    check_choice("period", period, PERIODS)
    days = np.asarray(dates, dtype="datetime64[D]")
    there = ~np.isnat(days)
    different, place = np.unique(days[there], return_inverse=True)
    texts = np.array([_text(day, period) for day in different], dtype=object)
    found = np.full(len(days), None, dtype=object)
    if len(texts):
        found[there] = texts[place]
    return found


def _text(day: np.datetime64, period: str) -> str:
    if period == "quarter":
        month = day.astype("datetime64[M]")
        return f"{month.astype('datetime64[Y]')}-Q{int(month.astype(int)) % 12 // 3 + 1}"
    if period == "week":
        year, week, _ = date.fromisoformat(str(day)).isocalendar()
        return f"{year:04d}-W{week:02d}"
    return str(day.astype("datetime64[M]") if period == "month" else day)


def as_periods(periods: Any, period: str, n_rows: int) -> np.ndarray:
    """What a user passed as periods: dates become months or the like, other values stay; None where one is missing."""
    check_choice("period", period, PERIODS)
    values = np.asarray(periods)
    if values.shape != (n_rows,):
        raise ValueError(
            f"periods has shape {values.shape}; it must have one value for each of the {n_rows} rows of X."
        )
    if values.dtype.kind == "M":
        return periods_of(values, period)
    listed = values.tolist()
    if any(hasattr(value, "isoformat") for value in listed):
        days = [value if hasattr(value, "isoformat") and value == value else None for value in listed]
        return periods_of(
            np.array([day and np.datetime64(day.isoformat()[:10]) for day in days], "datetime64[D]"), period
        )
    return np.array([None if value is None or value != value else value for value in listed], dtype=object)


def in_order(names: Any) -> list[Any]:
    """Periods from the earliest to the latest; rows without one come first."""
    known = [name for name in names if name is not None]
    by_text = len({isinstance(name, str) for name in known}) > 1
    return [*(None for name in names if name is None), *sorted(known, key=str if by_text else None)]
