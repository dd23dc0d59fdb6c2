-- variant_comoments: one row per variant: units, means, and the sums of squares and products about them.
-- Python adds a column product_0_1 for amounts 0 and 1, and so for each pair that a metric needs, and the units without a covariate.
-- Grain: variant
SELECT
  means.variant,
  MAX(means.units) AS units,
  MAX(means.multi_variant_units) AS multi_variant_units
FROM experiment_units AS units
INNER JOIN variant_summaries AS means ON units.variant = means.variant
WHERE units.variant = units.last_variant
GROUP BY means.variant
