"""Benchmarks: within one run, after compilation, with rivals at their best settings; printed as ratios."""
