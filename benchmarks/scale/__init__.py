"""How seconds and memory grow with rows, columns, terms and classes: smallearn beside standard methods."""
