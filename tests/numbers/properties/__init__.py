"""Invariance tests: changes of the input that must not change a number."""
