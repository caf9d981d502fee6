"""Measures of a ranking, and the evaluation of runs by them."""
