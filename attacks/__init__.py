"""Attacks on smallearn, a file for each question: ``python -m attacks fuzz``, ``faults``, ``soak`` and ``mutants``.

Each prints what it tried, what it found and how to repeat it, and exits with 1 if it found something.
"""
