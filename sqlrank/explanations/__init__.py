"""Explanations: why a metric is the number that it is."""
