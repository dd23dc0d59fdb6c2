-- variant_means: one row per variant: its units, and means of their amounts.
-- Units that were in several variants are counted in a row without a variant, and their number is in every row.
-- For each: amount, covariate (one of the amounts)
-- Grain: variant
SELECT
  CASE WHEN variant = last_variant THEN variant END AS variant, -- NULL if the unit was in several variants
  COUNT(*) AS units,
  SUM(SUM(CASE WHEN variant <> last_variant THEN 1 ELSE 0 END)) OVER () AS multi_variant_units, -- of all variants
  AVG(amount) AS variant_mean_amount,
  COUNT(covariate) AS covariate_count -- units that have it
FROM experiment_units
GROUP BY CASE WHEN variant = last_variant THEN variant END
