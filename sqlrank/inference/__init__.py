"""Compute p-values, intervals, quantiles and corrections without NumPy or SciPy, parse tolerances,
and combine verdicts.
"""
