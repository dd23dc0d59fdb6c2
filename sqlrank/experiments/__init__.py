"""Estimate the effects of online experiments on means and ratios of units."""
