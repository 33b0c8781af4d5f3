"""
Ten classes on twelve terms
===========================

With many classes each has a score, and a term that several of them weigh counts once. The map shows what each term, a
pixel of the digits, adds to the score of each class in the rows of that class, relative to all rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from smallearn import SMaLLClassifierCV, plot

X, y = load_digits(return_X_y=True, as_frame=True)
digits = SMaLLClassifierCV(max_terms=12, cv=3, random_state=0).fit(X[::2], y[::2])
print(f"{digits.score(X[1::2], y[1::2]):.1%} of the rows held out, on {digits.n_terms_} of 64 pixels")

axes = plot.violins(digits, X, y)

# %%
# Where these pixels are, over the mean of all digits:

figure, ax = plt.subplots(figsize=(3.5, 3.5), layout="constrained")
ax.imshow(X.mean().to_numpy().reshape(8, 8), cmap="Greys")
for feature in sorted({term.feature for term in digits.model_.terms}):
    ax.plot(
        feature % 8, feature // 8, "o", markersize=14, markerfacecolor="none", markeredgecolor="C1", markeredgewidth=2
    )
ax.set(xticks=[], yticks=[], title="The pixels in use")
