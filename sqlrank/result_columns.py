"""Names of result columns that several modules write or read: of a metric ``AUC`` they are ``AUC.ci_low``, in SQL ``auc_ci_low``."""

CI_LOW, CI_HIGH, SE = "ci_low", "ci_high", "se"
"""Limits of a confidence interval, and the standard error."""

N_UNITS, N_BUCKETS = "n_units", "n_buckets"
"""Number of independent units behind a value, or of jackknife buckets behind an interval."""

BOUND_LOW, BOUND_HIGH = BOUNDS = ("bound_low", "bound_high")
"""Certain bounds of a rank metric over all orders within score bins."""

P_VALUE = "p_value"
"""Two-sided p-value, not corrected for multiple comparisons."""
