-- variant_means: one row per variant: its units, and means of their amounts.
-- Python adds the mean of each amount, and the number of units that have each covariate.
-- Units that were in several variants are counted in a row without a variant, and their number is in every row.
-- Grain: variant
SELECT
  CASE WHEN variant = last_variant THEN variant END AS variant,
  COUNT(*) AS units,
  SUM(SUM(CASE WHEN variant <> last_variant THEN 1 ELSE 0 END)) OVER () AS multi_variant_units
FROM experiment_units
GROUP BY CASE WHEN variant = last_variant THEN variant END
