-- means: one row per variant: its units, and what they have on average. What was seen in several variants is in none.
SELECT
  variant,
  COUNT(*) AS units
FROM units
WHERE variant = last_variant
GROUP BY variant
