"""Internal: solvers of the relaxation, a file each."""
