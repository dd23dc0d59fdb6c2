"""Calls, inputs, messages, files and reports: all but the numbers."""
