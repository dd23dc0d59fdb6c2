-- chi_square_tails: one row per integral, of the tail and of all: lower limit, peak; from here to sample_ratio_test the chi-square test is computed.
-- Grain: is_tail
SELECT
  is_tail,
  n_units,
  multi_variant_units,
  statistic,
  df,
  peak,
  is_tail * SQRT(statistic) AS root
FROM sample_ratio_statistic
CROSS JOIN (
  -- one row per integral
  SELECT 0 AS is_tail
  UNION ALL SELECT 1 AS is_tail
) AS tails
