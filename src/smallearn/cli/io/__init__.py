"""Internal: tables in and out."""
