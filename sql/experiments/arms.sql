-- arms: one row per metric and variant: units, means, and squares and products about these, added up, of values (v), denominators (d),
-- covariates (c) and their denominators (e).
SELECT
  $metric AS metric,
  s.variant,
  s.units,
  k.crossed
FROM sums AS s
CROSS JOIN strays AS k
