"""Internal: the training data. Tables become a matrix, features become candidate terms, rows give sums to a solver."""
