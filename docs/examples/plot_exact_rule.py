"""
A rule that is there is found
=============================

The data are made by a hidden rule, an *or* of two *ands* of two inputs each, among ten inputs. A model of four terms
learns it, and :func:`~smallearn.explain.dnf` writes it down again.
"""

from smallearn import SMaLLClassifierCV, explain, plot
from smallearn.datasets import random_dnf

hidden = random_dnf(n_terms=2, n_literals=2, n_inputs=10, n_samples=1000, random_state=0)
print("Hidden:", hidden.concept)

classifier = SMaLLClassifierCV(max_terms=4, random_state=0).fit(hidden.data, hidden.target)
rule = explain.dnf(classifier, boolean=True)
print(rule)
print("The same as the model for every input:", rule.exact)

# %%
# The model behind it: each score is one *and*. Both inputs are needed to lift it above 0.

axes = plot.score_card(classifier)
