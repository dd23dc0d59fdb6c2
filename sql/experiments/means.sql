-- means: one row per variant: its units, and what they have on average. Units seen in several variants are in none, and counted in a row without one.
SELECT
  CASE WHEN u.variant = u.last_variant THEN u.variant END AS variant,
  COUNT(*) AS units,
  SUM(CASE WHEN u.variant <> u.last_variant THEN 1 ELSE 0 END) AS crossed
FROM units AS u
GROUP BY CASE WHEN u.variant = u.last_variant THEN u.variant END
