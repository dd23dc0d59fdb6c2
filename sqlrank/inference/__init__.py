"""Compute p-values, quantiles and corrections with the standard library alone."""
