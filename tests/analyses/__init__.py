"""Analyses and settings against numbers from outside: papers, other libraries, and by hand."""
