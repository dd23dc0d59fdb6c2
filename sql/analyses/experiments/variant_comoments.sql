-- variant_comoments: one row per variant: means, and sums of squares and products.
-- These are about the means. Python adds the means, a column product_0_1 for amounts 0 and 1, and so for each pair that a metric needs,
-- and the units without a covariate.
-- Grain: variant
SELECT
  variant_summaries.variant,
  MAX(units) AS units,
  MAX(multi_variant_units) AS multi_variant_units
FROM experiment_units
INNER JOIN variant_summaries ON experiment_units.variant = variant_summaries.variant
WHERE experiment_units.variant = experiment_units.last_variant
GROUP BY variant_summaries.variant
