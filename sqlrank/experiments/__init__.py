"""Online experiments: what each variant did to the means and ratios of units."""
