-- chi_square_tails: one row per integral, of the tail and of all: lower limit and peak, from which steps to sample_ratio_test compute the test.
-- The integrals are over the root of chi-square, so that the lower limit is that of the statistic, or 0.
-- Grain: is_tail
SELECT
  sample_ratio_statistic.*,
  is_tail,
  is_tail * SQRT(statistic) AS root
FROM sample_ratio_statistic
CROSS JOIN (
  -- one row per integral
  SELECT 0 AS is_tail
  UNION ALL SELECT 1 AS is_tail
) AS tails
