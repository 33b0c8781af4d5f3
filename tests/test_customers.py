"""Made customers: a rare class that follows its rule, in a table with everything that analysts meet."""

import numpy as np
import pandas as pd
import pytest

from smallearn.datasets import make_customers

CATEGORIES = {
    *("job", "marital_status", "education", "region", "housing_loan"),
    *("channel", "last_campaign", "account", "device", "language"),
}


@pytest.fixture(scope="module")
def customers():
    return make_customers(8000, random_state=0)


def rule(table):
    balance = table["balance"].str.replace("[$,]", "", regex=True).astype(float)
    success = (table["last_campaign"] == "success") & (table["calls"] <= 3)
    older = (table["age"] > 60) & (table["housing_loan"] == "no")
    recent = (table["days_since_contact"] <= 30) & (balance > 5000.0)
    return success, older, recent


def test_customers_have_the_columns_that_are_promised(customers):
    assert customers.shape == (8000, 21)
    assert customers["customer_id"].is_unique
    assert customers["customer_since"].dtype.kind == "M"
    few = {name for name in customers.columns if customers[name].dtype.kind == "O" and customers[name].nunique() < 10}
    assert few - {"subscribed"} == CATEGORIES
    assert customers["balance"].str.fullmatch(r"-?\$\d{1,3}(,\d{3})*\.\d\d").all()
    assert customers["savings_rate"].dropna().str.fullmatch(r"\d+\.\d%").all()
    gaps = {name for name in customers.columns if customers[name].isna().any()}
    assert gaps == {"education", "region", "income", "logins", "savings_rate"}


def test_11_percent_subscribe_and_the_special_code_is_that_of_customers_who_were_never_contacted(customers):
    assert (customers["subscribed"] == "yes").sum() == 880
    never = customers["days_since_contact"] == 999
    assert 0.5 < never.mean() < 0.8
    assert customers["days_since_contact"][~never].max() <= 400
    assert (customers["last_campaign"][never] == "none").all()


def test_who_subscribes_follows_from_the_rule_and_from_nothing_else(customers):
    yes, clauses = customers["subscribed"] == "yes", rule(customers)
    holds = np.any(clauses, axis=0)
    assert 0.08 < holds.mean() < 0.13
    assert abs(yes[holds].mean() - 0.75) < 0.001
    assert yes[~holds].mean() < 0.05
    for clause in clauses:
        assert clause.mean() > 0.01
        assert 0.65 < yes[clause].mean() < 0.85
    for name in ("job", "education", "region", "channel", "account", "device", "language"):
        shares = yes[~holds].groupby(customers[name][~holds]).mean()
        assert shares.max() - shares.min() < 0.03, name


def test_the_same_state_gives_the_same_customers_and_another_others():
    first, again, other = (make_customers(50, random_state=state) for state in (0, 0, 1))
    pd.testing.assert_frame_equal(first, again)
    assert not first["age"].equals(other["age"])
    assert len(make_customers(1, random_state=0)) == 1
    with pytest.raises(ValueError, match="n_rows=0 is not an integer of at least 1"):
        make_customers(0)
