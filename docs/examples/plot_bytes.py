"""
Accuracy against bytes
======================

The same frontier, with bytes of flash on an ATmega328P (Arduino Uno) in place of terms, in numbers of 8 bits. Costs are
measured where the compiler is installed, and estimated otherwise.
"""

from sklearn.datasets import load_breast_cancer

from smallearn import frontier, plot
from smallearn.devices import cost
from smallearn.export import to_c

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
points = frontier(X, y, max_terms=6, literals="thresholds", random_state=0)
axes = plot.frontier(points, by="bytes", chip="atmega328p", number="int8")

# %%
# What a model of three terms costs, and its C:

model = points[2].model
print(cost(model, chip="atmega328p", number="int8"))
print(to_c(model, "int8"))
