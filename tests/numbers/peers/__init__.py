"""Comparisons with other tools: live where they can be installed, by hand where not."""
