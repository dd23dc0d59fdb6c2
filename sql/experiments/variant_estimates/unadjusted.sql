-- variant_estimates: one row per metric and variant: its value, which is not adjusted, and the variance of that.
-- Squares no greater than rounding errors count as 0.
-- Grain: metric, variant
SELECT
  metric,
  variant,
  units,
  ratio AS value,
  CASE
    WHEN squares > 1e-12 * square_terms AND squares > 1e-24 * units * ratio * ratio THEN squares / NULLIF(units - 1, 0) / units
    WHEN squares IS NOT NULL AND units > 1 THEN CAST(0 AS DOUBLE)
  END AS variance
FROM linearized_moments
