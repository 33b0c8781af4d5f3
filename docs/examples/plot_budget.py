"""
What each further term buys
===========================

:func:`~smallearn.frontier` gives the best model of each size, from one search. The bars are standard errors: a step
that is smaller than a bar may be chance.
"""

from sklearn.datasets import load_breast_cancer

from smallearn import frontier, plot

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
points = frontier(X, y, max_terms=8, random_state=0)
for point in points:
    print(f"{point.n_terms} terms: {point.score:.1%} ± {point.spread:.1%}")

axes = plot.frontier(points)

# %%
# Two terms are enough to see how the classes differ, and their rule is short.

print(points[1].model)
