"""Internal: progress on a terminal, files that are written whole or not at all, hashes, resumable experiments."""
