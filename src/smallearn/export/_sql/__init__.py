"""Internal: SQL, by dialect."""
