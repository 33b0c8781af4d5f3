"""
Probabilities that mean what they say
=====================================

``class_weight="balanced"`` makes a classifier attend to a rare class. In many libraries the probabilities are then too
high. Here it moves the decision and leaves the probabilities alone.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from smallearn import SMaLLClassifierCV, plot

X, y = make_classification(4000, 12, n_informative=4, weights=[0.8], flip_y=0.1, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
small = SMaLLClassifierCV(max_terms=5, class_weight="balanced", random_state=0).fit(X, y)
logistic = LogisticRegression(class_weight="balanced").fit(X, y)

figure, ax = plt.subplots(layout="constrained")
plot.reliability(small, X_test, y_test, ax=ax)

# %%
# How often the class is predicted, and how often it is there:

print(f"there: {y_test.mean():.1%} of the rows")
for name, classifier in {"smallearn": small, "logistic regression": logistic}.items():
    mean = classifier.predict_proba(X_test)[:, 1].mean()
    print(f"{name}: predicted for {classifier.predict(X_test).mean():.1%}, mean probability {mean:.1%}")
