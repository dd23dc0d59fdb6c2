"""Compile standard errors and confidence intervals: influence functions, the bootstrap, and the
limits.
"""
