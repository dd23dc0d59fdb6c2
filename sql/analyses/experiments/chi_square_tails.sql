-- chi_square_tails: one row per integral, of the tail and of all: where it starts, and how steep the density is there.
-- Note: Integrals are over the root of chi-square.
-- Grain: is_tail
SELECT
  df, peak,
  is_tail, -- 1 from the statistic up, 0 of the whole density
  CASE WHEN root > peak - 8 THEN root ELSE peak - 8 END AS start_z, -- the density counts as 0 at 8 below its peak
  CASE WHEN root > peak THEN root - peak * peak / NULLIF(root, 0) ELSE 0 END AS slope -- by which the log of the density falls there
FROM sample_ratio_statistic
CROSS JOIN (
  -- one row per integral
  SELECT 1 AS is_tail, SQRT(statistic) AS root FROM sample_ratio_statistic
  UNION ALL
  SELECT 0 AS is_tail, 0 AS root
) AS lower_limits
