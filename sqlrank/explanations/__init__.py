"""Explain the value of a metric by its intermediate steps."""
