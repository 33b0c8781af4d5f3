"""
Two ways to belong to a class
=============================

A class may have several faces, here two of the four corners. One linear score cannot tell them apart from the rest;
two scores, joined by *or*, can: a row is of the class if any of them is positive.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from smallearn import SMaLLClassifier, plot

random = np.random.default_rng(0)
X = pd.DataFrame(random.uniform(-1, 1, (500, 2)), columns=["width", "height"])
y = np.where((X["width"] + X["height"] > 0.8) | (X["width"] + X["height"] < -0.8), "odd", "usual")

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, n_prototypes in zip(axes, (1, 2), strict=True):
    classifier = SMaLLClassifier(n_prototypes, 2, positive_class="odd", assignment="auto", random_state=0).fit(X, y)
    plot.decision_surface(classifier, X, y, ax=ax)
    ax.set_title(f"{n_prototypes} score{'s' * (n_prototypes > 1)}: {classifier.score(X, y):.1%} right", pad=22)

# %%
# The model with two scores:

print(classifier.model_)
