-- chi_square_points: one row per integral and node: its point z and weight.
-- Note: The density counts as 0 at 8 below its peak. Nodes are divided by 4 plus the slope of its logarithm at the lower limit.
-- Grain: is_tail, z
SELECT
  chi_square_tails.*,
  weight / (4 + CASE WHEN root > peak THEN root - peak * peak / NULLIF(root, 0) ELSE 0 END) AS weight,
  CASE WHEN root > peak - 8 THEN root ELSE peak - 8 END
  + node / (4 + CASE WHEN root > peak THEN root - peak * peak / NULLIF(root, 0) ELSE 0 END) AS z
FROM chi_square_tails
CROSS JOIN quadrature_nodes
