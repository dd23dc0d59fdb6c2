"""Compute p-values, intervals, quantiles, corrections and verdicts without NumPy or SciPy."""
