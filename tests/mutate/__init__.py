"""Mutants: small faults planted in the code, each of which a test should notice."""
