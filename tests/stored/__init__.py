"""Rollups, baselines and results as each version stored them, which later versions have to read
with the same numbers.
"""
