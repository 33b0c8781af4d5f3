"""
A rare class: where to put the threshold
========================================

One row in twenty is positive. A model that is chosen by accuracy hardly finds any. With ``scoring="f1"`` the threshold
is chosen with the model, on held-out rows; the probabilities stay what they are.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.metrics import PrecisionRecallDisplay, precision_score, recall_score
from sklearn.model_selection import train_test_split

from smallearn import SMaLLClassifierCV

X, y = make_classification(4000, 12, n_informative=5, weights=[0.95], random_state=1)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

figure, ax = plt.subplots(layout="constrained")
for scoring, marker in {"accuracy": "s", "f1": "o", "balanced_accuracy": "^"}.items():
    classifier = SMaLLClassifierCV(max_terms=6, scoring=scoring, random_state=0).fit(X, y)
    predicted = classifier.predict(X_test)
    recall, precision = recall_score(y_test, predicted), precision_score(y_test, predicted)
    ax.plot(recall, precision, marker, markersize=10, label=f"{scoring}: above {classifier.decision_threshold_:.2f}")
    print(f"{scoring}: finds {recall:.0%} of the positive rows, {precision:.0%} of the alarms are right")

PrecisionRecallDisplay.from_estimator(classifier, X_test, y_test, ax=ax, name="every threshold")
ax.set(title="Rows held out: what each choice finds")
ax.legend()
