"""Generated data sets whose true rule is known: tic-tac-toe, hidden formulas, Friedman's function, half-spaces, bank
customers.

Real data show how accurate a method is; generated data show whether it finds the rule behind the labels.
"""

from smallearn.datasets._concepts import friedman, half_space_union, random_dnf, tic_tac_toe
from smallearn.datasets._customers import make_customers

__all__ = ["friedman", "half_space_union", "make_customers", "random_dnf", "tic_tac_toe"]
