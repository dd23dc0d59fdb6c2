-- filled: units, of which those without a covariate have what is usual, and are counted.
SELECT
  u.unit_id,
  u.variant,
  u.last_variant
FROM units AS u
CROSS JOIN usual AS o
