-- variance_shares: one row per metric and treatment: both values and variances, and its share of the variance of their difference and of their ratio.
-- Grain: metric, variant
SELECT
  variant_pairs.*,
  variance / NULLIF(variance + variance_control, 0) AS variance_share, -- of the variance of the difference
  lift_variance / NULLIF(lift_variance + value / NULLIF(value_control, 0) * (value / NULLIF(value_control, 0)) * lift_variance_control, 0)
    AS relative_variance_share -- of that of the ratio value / value_control, to first order
FROM variant_pairs
WHERE variant <> $control AND n_units_control > 0
