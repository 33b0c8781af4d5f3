"""Benchmarks: compilers warmed, rivals at their best settings, everything in one run, ratios printed."""
