-- sample_ratio_statistic: one row, with the chi-square statistic of the numbers of units against the planned shares of variants.
-- Source: Pearson 1900; Fabijan et al. 2019 on what a mismatch means.
-- Grain: one row
SELECT
  MAX(all_units) AS units,
  SUM((units - all_units * portion) * (units - all_units * portion) / NULLIF(all_units * portion, 0))
  + MAX(all_units) * CASE WHEN SUM(portion) < 1 - 1e-9 THEN 1 - SUM(portion) ELSE 0 END AS statistic,
  $variants - 1 AS freedom,
  MAX(multi_variant_units) AS multi_variant_units
FROM (
  SELECT
    units,
    multi_variant_units,
    SUM(units) OVER () AS all_units,
    $share AS portion
  FROM metric_moments
  WHERE metric = $metric
) AS shared
