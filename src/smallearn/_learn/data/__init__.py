"""Internal: what is learned from. Tables become one matrix, features become candidate terms, rows answer a solver."""
