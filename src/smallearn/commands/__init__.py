"""One file for each command of ``smallearn``: its arguments, and what it does with them."""
