"""
A model of four terms
=====================

The breast cancer data have 30 features. With a budget of four terms, :class:`~smallearn.SMaLLClassifierCV` chooses
which to use, and everything else, by cross-validation. The picture shows what each term adds for the rows of each
class.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from smallearn import SMaLLClassifierCV, plot

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

classifier = SMaLLClassifierCV(max_terms=4, random_state=0).fit(X_train, y_train)
print(classifier.model_)
print(f"{classifier.score(X_test, y_test):.1%} of the rows held out are predicted correctly.")

# %%
# The score is a sum, so each term can be looked at by itself. Where the two halves of a violin are apart, the term
# tells the classes apart.

axes = plot.violins(classifier, X_test, y_test)
