"""Internal: how one model is found. Relax, round, refit, move rows between prototypes, search over supports, prove."""
