"""Internal: C99 and Arduino."""
