"""Plots: each function takes a result and returns a matplotlib Figure; one look for all."""
