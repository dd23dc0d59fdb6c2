-- arms: one row per metric and variant: units, means, and squares and products about these, added up, of values (v), denominators (d),
-- covariates (c) and their denominators (e).
SELECT
  n.metric,
  s.variant,
  s.units,
  s.crossed
FROM sums AS s
CROSS JOIN metrics AS n
