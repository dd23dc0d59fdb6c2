"""Metrics worked by hand, and numbers printed elsewhere."""
