"""Passes over statements: what a statement computes stays, and it reads as an analyst would have written it."""
