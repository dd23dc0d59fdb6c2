"""Mergeable states: sums per day, slice and bin of the score, and metrics with certain bounds from them."""
