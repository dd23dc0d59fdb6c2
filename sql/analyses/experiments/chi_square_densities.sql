-- chi_square_densities: one row per integral and point: weight, and log density z ^ (df - 1) * EXP(-z * z / 2), relative to its peak.
-- Grain: many per is_tail
SELECT
  is_tail, weight,
  CASE WHEN df > 1 THEN (df - 1) * LN(z / NULLIF(peak, 0)) ELSE 0 END - (z * z - peak * peak) / 2 AS log_density
FROM chi_square_points
