"""
Why this row?
=============

:func:`~smallearn.explain.case` tells what each term added to the score of a row and which smallest change would change
the decision. The picture goes from the constant to the score.
"""

from sklearn.datasets import load_breast_cancer

from smallearn import SMaLLClassifierCV, explain, plot

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
model = SMaLLClassifierCV(max_terms=4, random_state=0).fit(X, y).model_

row = X.iloc[20]
print(explain.case(model, row, changeable=["worst radius", "worst texture"]))

axes = plot.contributions(model, row)
