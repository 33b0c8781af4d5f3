"""Solvers of the relaxed problem: each takes an `Objective` and returns a `Relaxed`."""
