-- sample_ratio_statistic: one row: chi-square statistic of numbers of units against expected shares, its df, and the peak of its density.
-- The peak is that of the density of the root of chi-square.
-- If the expected shares of the variants that have units sum to less than 1, no unit is where the other share was expected.
-- Source: Pearson 1900; Fabijan et al. 2019 on what a mismatch means.
-- Grain: one row
SELECT
  MAX(total_units) AS n_units,
  MAX(multi_variant_units) AS multi_variant_units,
  SUM((units - total_units * expected_share) * (units - total_units * expected_share) / NULLIF(total_units * expected_share, 0))
  + MAX(total_units) * CASE WHEN SUM(expected_share) < 1 - 1e-9 THEN 1 - SUM(expected_share) ELSE 0 END AS statistic,
  CAST($variants - 1 AS DOUBLE) AS df,
  CASE WHEN $variants > 2 THEN SQRT($variants - 2) ELSE 0 END AS peak
FROM sample_ratio_counts
