"""Internal: solvers of the relaxation, one in each file."""
