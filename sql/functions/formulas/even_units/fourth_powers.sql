-- even_units: number of units of one weight whose squares and fourth powers have the same sums as those of these weights.
-- Weights below 1e-30 are scaled apart from others, since no double holds fourth powers of 1e-89 and 1e89.
CREATE MACRO even_units(weight) AS 1 / NULLIF(
  SUM(CASE WHEN weight < 1e-30 THEN weight * weight * 1e80 * (weight * weight * 1e80) ELSE 0 END)
    / NULLIF(SUM(weight * weight), 0) * 1e-80 / NULLIF(SUM(weight * weight), 0) * 1e-80
  + SUM(CASE WHEN weight < 1e-30 THEN 0 ELSE weight * weight * 1e-80 * (weight * weight * 1e-80) END)
    / NULLIF(SUM(weight * weight), 0) * 1e80 / NULLIF(SUM(weight * weight), 0) * 1e80,
  0
)
