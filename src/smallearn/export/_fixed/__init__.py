"""Internal: a model in whole numbers and in float32, with proofs: what C computes, in Python."""
