"""Internal: one decision, and the smallest change that changes it."""
