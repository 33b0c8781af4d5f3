"""
When new rows are different
===========================

The model's file has histograms of the training rows. :func:`~smallearn.evaluation.monitor` compares new rows with them,
month by month. Here one measurement slowly reads too high, as a sensor that drifts.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from smallearn import SMaLLClassifierCV
from smallearn.evaluation import monitor

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = SMaLLClassifierCV(max_terms=4, random_state=0).fit(X, y).model_
drifting = max(model.terms, key=lambda term: term.weight * X[term.label].std()).label

months = pd.date_range("2025-01-01", periods=8, freq="MS")
rows = X.sample(8 * 300, replace=True, random_state=0)
when = np.repeat(months, 300)
moved = rows.assign(**{drifting: rows[drifting] * (1 + 0.05 * np.repeat(np.arange(8), 300))})
watched = monitor(model, moved, periods=when, period="month")
print("\n".join(watched.summary()))

figure, ax = plt.subplots(layout="constrained")
names = [period.name for period in watched.periods]
ax.plot(names, [period.scores[0].psi for period in watched.periods], "o-", label="score")
for number, feature in enumerate(watched.periods[0].features):
    ax.plot(names, [period.features[number].psi for period in watched.periods], ".--", label=feature.name)
ax.axhline(0.25, color="grey", linewidth=1)
ax.set(ylabel="population stability index", title=f"'{drifting}' reads 5% higher every month")
ax.legend()
