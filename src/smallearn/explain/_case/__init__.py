"""Internal: one decision, and the smallest change of a row that changes it."""
