-- sample_ratio_counts: one row per variant: its units, all units, and its expected share.
-- Grain: variant
SELECT
  variant, units, multi_variant_units,
  SUM(units) OVER () AS total_units,
  $share AS expected_share
FROM metric_moments
WHERE metric = $metric
