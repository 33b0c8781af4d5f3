"""
The gap closes
==============

Both solvers raise a lower bound while they lower the objective of the relaxation. The distance between the two,
relative to the objective, is the duality gap. Here each solver is stopped after more and more iterations. An iteration
of the accelerated solver does more work: it solves a quadratic model on the columns that matter.

The first picture is about the convex relaxation. The second is about models: what rounding to three terms leaves. Its
gap does not go to zero, since the relaxation allows fractions of terms; branch and bound (``certify=True``) closes it.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

from smallearn import SMaLLClassifier

X, y = load_breast_cancer(return_X_y=True)
STEPS = {"accelerated": [1, 2, 3, 4, 6, 8, 12, 20, 40], "mirror-prox": [1, 3, 10, 30, 100, 300, 1000, 3000]}
STYLES = {"accelerated": ("C0", "o-"), "mirror-prox": ("C1", "s--")}


def stopped_after(n_iter, solver):
    """The classifier with a solver that is stopped after so many iterations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SMaLLClassifier(1, 3, solver=solver, max_iter=n_iter, tol=1e-9, reassign=False).fit(X, y)


fitted = {solver: [stopped_after(n_iter, solver) for n_iter in steps] for solver, steps in STEPS.items()}

figure, ax = plt.subplots(layout="constrained")
for solver, (colour, line) in STYLES.items():
    gaps = [max(one.duality_gap_, 1e-9) for one in fitted[solver]]
    ax.loglog(STEPS[solver], gaps, line, color=colour, label=solver)
ax.set(xlabel="iterations", ylabel="duality gap of the relaxation", title="Breast cancer, one prototype of three terms")
ax.legend()

# %%
# The same for the models: the objective of the rounded and refitted model, the lower bound of the relaxation, and the
# objective of the model that branch and bound proves to be the best of three terms.

best = SMaLLClassifier(1, 3, certify=True).fit(X, y)
figure, ax = plt.subplots(layout="constrained")
for solver, (colour, line) in STYLES.items():
    ax.semilogx(STEPS[solver], [one.objective_ for one in fitted[solver]], line, color=colour, label=f"model, {solver}")
    ax.semilogx(STEPS[solver], [one.lower_bound_ for one in fitted[solver]], line, color=colour, alpha=0.5,
                markerfacecolor="white", label=f"bound, {solver}")  # fmt: skip
ax.axhline(best.objective_, color="black", linewidth=1, label="the best model of three terms, proven")
ax.set(xlabel="iterations", ylabel="training objective", title="What rounding leaves, and what can be proven")
ax.legend()

rounded = fitted["accelerated"][-1]
print(f"Gap of the model: {rounded.optimality_gap_:.1%}, after branch and bound: {best.optimality_gap_:.0e}")
