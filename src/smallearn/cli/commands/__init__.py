"""Internal: the commands, a file each."""
