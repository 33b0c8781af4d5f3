"""Internal: how one model is trained. Relax, round, refit, reassign rows, search over supports, prove optimality."""
