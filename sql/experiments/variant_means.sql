-- variant_means: one row per variant, with its number of units and their means.
-- Units that were in several variants are counted in a row without a variant.
-- Grain: variant
SELECT
  CASE WHEN u.variant = u.last_variant THEN u.variant END AS variant,
  COUNT(*) AS units,
  SUM(CASE WHEN u.variant <> u.last_variant THEN 1 ELSE 0 END) AS multi_variant_units
FROM experiment_units AS u
GROUP BY CASE WHEN u.variant = u.last_variant THEN u.variant END
