"""Customers of a bank: a table as analysts get it, with text, codes, gaps, currencies and a rare class."""

from typing import Any

import numpy as np

from smallearn.datasets._checks import check_integers

POSITIVE = 0.11  # share of customers who subscribe
IN_RULE = 0.75  # share of those for whom the rule holds
NEVER = 999  # days since the last contact, if there was none

JOBS = ("administration", "blue-collar", "management", "retired", "self-employed", "services", "student", "technician")
STATUSES = ("divorced", "married", "single")
EDUCATIONS = ("primary", "secondary", "university")
REGIONS = ("centre", "east", "islands", "north", "south", "west")
CHANNELS = ("branch", "email", "mobile", "telephone")
RESULTS = ("failure", "none", "success")
ACCOUNTS = ("basic", "gold", "joint", "premium")
DEVICES = ("android", "ios", "web")
LANGUAGES = ("english", "french", "german", "spanish")


def make_customers(n_rows: int = 41_000, *, random_state: Any = None) -> Any:
    """Generate customers of a bank, of whom 11% subscribe to an offer: a table as analysts get it.

    The rule: a customer is likely to subscribe if

    1. ``last_campaign`` is "success" and ``calls`` is at most 3, or
    2. ``age`` is above 60 and ``housing_loan`` is "no", or
    3. ``days_since_contact`` is at most 30 and ``balance`` is above 5,000.

    It holds for about one customer in ten. Of these, 75% subscribe, and of the others as many as make 11% of all. The
    other columns are noise, though some depend on age, income or each other.

    Parameters
    ----------
    n_rows : int, default=41_000
        Number of customers.
    random_state : int, numpy Generator or None, default=None
        Source of randomness. None gives different data each time.

    Returns
    -------
    pandas DataFrame
        Twenty columns and the target, ``subscribed``, "yes" or "no". ``customer_id`` is different in every row and
        ``customer_since`` is a date. ``age``, ``calls``, ``logins`` and ``days_since_contact`` are numbers; the last is
        999 for customers who were never contacted. ``income`` and ``balance`` are text such as ``"$1,234.50"``, and
        ``card_use`` and ``savings_rate`` such as ``"12.5%"``. Ten columns are categories: ``job``, ``marital_status``,
        ``education``, ``region``, ``housing_loan``, ``channel``, ``last_campaign``, ``account``, ``device`` and
        ``language``. In ``education``, ``region``, ``income``, ``logins`` and ``savings_rate`` some values are missing.

    Raises
    ------
    ValueError
        If ``n_rows`` is not a positive integer.
    ImportError
        If pandas is not installed.

    Examples
    --------
    >>> from smallearn.datasets import make_customers
    >>> customers = make_customers(1000, random_state=0)
    >>> customers.shape, int((customers["subscribed"] == "yes").sum())
    ((1000, 21), 110)
    >>> older = (customers["age"] > 60) & (customers["housing_loan"] == "no")
    >>> bool((customers["subscribed"][older] == "yes").mean() > 0.5)
    True
    """
    check_integers(n_rows=n_rows)
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise ImportError("make_customers needs pandas: pip install 'smallearn[cli]'") from None
    rng = np.random.default_rng(random_state)
    age = np.clip(np.round(18 + rng.gamma(3.2, 8.2, n_rows)), 18, 95).astype(int)
    education = rng.choice(EDUCATIONS, n_rows, p=(0.2, 0.5, 0.3)).astype(object)
    income = np.round(rng.lognormal(10.3, 0.45, n_rows) * np.where(education == "university", 1.4, 1.0), -2)
    balance = np.round(rng.lognormal(7.3, 1.2, n_rows) - 300.0, 2)
    contacted = rng.random(n_rows) < 0.35
    days = np.where(contacted, np.clip(np.round(rng.exponential(60.0, n_rows)), 1, 400), NEVER).astype(int)
    last_campaign = np.where(contacted, rng.choice(RESULTS, n_rows, p=(0.65, 0.25, 0.1)), "none")
    calls = rng.geometric(0.45, n_rows)
    housing_loan = np.where(rng.random(n_rows) < np.where(age > 60, 0.6, 0.5), "yes", "no")
    rule = (
        ((last_campaign == "success") & (calls <= 3))
        | ((age > 60) & (housing_loan == "no"))
        | ((days <= 30) & (balance > 5000.0))
    )
    return pd.DataFrame(
        {
            "customer_id": [f"C-{number:06d}" for number in rng.permutation(10 * n_rows)[:n_rows]],
            "customer_since": pd.Timestamp("2024-12-31") - pd.to_timedelta(rng.integers(30, 9000, n_rows), unit="D"),
            "age": age,
            "job": np.where((age > 64) & (rng.random(n_rows) < 0.8), "retired", rng.choice(JOBS, n_rows)),
            "marital_status": np.where(
                (age < 30) & (rng.random(n_rows) < 0.6), "single", rng.choice(STATUSES, n_rows, p=(0.15, 0.6, 0.25))
            ),
            "education": _with_gaps(rng, education, 0.04),
            "region": _with_gaps(rng, rng.choice(REGIONS, n_rows).astype(object), 0.01),
            "income": _with_gaps(rng, _as_money(income), 0.06),
            "balance": _as_money(balance),
            "housing_loan": housing_loan,
            "account": rng.choice(ACCOUNTS, n_rows, p=(0.5, 0.1, 0.25, 0.15)),
            "card_use": _as_percentage(100.0 * rng.beta(1.5, 3.0, n_rows)),
            "savings_rate": _with_gaps(rng, _as_percentage(rng.gamma(2.0, 3.0, n_rows)), 0.03),
            "device": rng.choice(DEVICES, n_rows, p=(0.45, 0.35, 0.2)),
            "language": rng.choice(LANGUAGES, n_rows, p=(0.7, 0.1, 0.1, 0.1)),
            "logins": np.where(rng.random(n_rows) < 0.02, np.nan, rng.poisson(6.0, n_rows)),
            "channel": rng.choice(CHANNELS, n_rows, p=(0.1, 0.2, 0.5, 0.2)),
            "calls": calls,
            "days_since_contact": days,
            "last_campaign": last_campaign,
            "subscribed": _decisions(rng, rule),
        }
    )


def _decisions(rng: np.random.Generator, rule: np.ndarray) -> np.ndarray:
    """Who subscribes: most of those for whom the rule holds, and as many others as are lacking."""
    n_positive = round(POSITIVE * len(rule))
    inside, outside = rng.permutation(np.flatnonzero(rule)), rng.permutation(np.flatnonzero(~rule))
    n_inside = min(round(IN_RULE * len(inside)), n_positive)
    chosen = np.concatenate([inside[:n_inside], outside[: n_positive - n_inside]])
    answers = np.full(len(rule), "no", dtype=object)
    answers[chosen] = "yes"
    return answers


def _as_money(amounts: np.ndarray) -> np.ndarray:
    """``$1,234.50`` and ``-$20.00``."""
    return np.array([f"{'-' if amount < 0 else ''}${abs(amount):,.2f}" for amount in amounts.tolist()], dtype=object)


def _as_percentage(shares: np.ndarray) -> np.ndarray:
    """``12.5%``."""
    return np.array([f"{share:.1f}%" for share in shares.tolist()], dtype=object)


def _with_gaps(rng: np.random.Generator, values: np.ndarray, share: float) -> np.ndarray:
    """The values with a share of them missing."""
    values[rng.random(len(values)) < share] = None
    return values
