"""
A card to add up without a calculator
=====================================

With ``max_points`` the weights are whole numbers from the start: they are found by a search, not by rounding. A table
says which total means which probability.
"""

from sklearn.datasets import load_breast_cancer

from smallearn import SMaLLClassifier, plot

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
card = SMaLLClassifier(1, 4, literals="thresholds", max_points=5, local_search=True, random_state=0).fit(X, y)
print(f"{card.score(X, y):.1%} of the training rows are right.")

axes = plot.score_card(card)

# %%
# The same as credit files have it: points from 0, one bin of each feature, 20 points double the odds.

print(card.model_.score_card("pdo", points=600, odds=50, pdo=20, digits=0))
