-- chi_square_points: one row per integral and node: its point z and weight, the closer together, the steeper the density falls.
-- Grain: is_tail, z
SELECT
  df, peak, is_tail,
  weight / (4 + slope) AS weight,
  start_z + node / (4 + slope) AS z
FROM chi_square_tails
CROSS JOIN quadrature_nodes
