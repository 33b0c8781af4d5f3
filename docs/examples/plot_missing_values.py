"""
Missing values and categories
=============================

A table with text and gaps needs no preparation: questions about categories, and whether a value is missing, are terms
like others. The customers of a bank subscribe to an offer by a hidden rule (see
:func:`~smallearn.datasets.make_customers`).
"""

from smallearn import SMaLLClassifierCV, explain, plot
from smallearn.datasets import make_customers

customers = make_customers(4000, random_state=0)
columns = ["age", "job", "region", "housing_loan", "calls", "logins", "days_since_contact", "last_campaign"]
X, y = customers[columns], customers["subscribed"]
print(X.isna().sum().to_string())

classifier = SMaLLClassifierCV(
    max_terms=6, scoring="balanced_accuracy", categorical_features="from_dtype", literals="thresholds", random_state=0
).fit(X, y)
print(explain.dnf(classifier, X))

# %%
# A question is true or false, so there are two places for each; the score is at the bottom.

axes = plot.violins(classifier, X, y)
