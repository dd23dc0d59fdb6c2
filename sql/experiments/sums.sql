-- sums: one row per variant: squares and products about the means of its units, added up.
SELECT
  u.variant,
  MAX(m.units) AS units,
  MAX(m.crossed) AS crossed
FROM units AS u
INNER JOIN usual AS m ON u.variant = m.variant
WHERE u.variant = u.last_variant
GROUP BY u.variant
