"""Internal: instructions of Thumb and Thumb-2."""
