-- tests: one row per metric and variant: the two-sided p of its difference, and its place among all; where units do not differ p is 1 if
-- there is no difference, else not known.
SELECT
  metric,
  variant,
  p,
  CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN p IS NULL THEN 1 ELSE 0 END, p, metric, variant) AS BIGINT) AS place,
  COUNT(p) OVER () AS many
FROM (
  SELECT
    l.metric,
    l.variant,
    CASE
      WHEN t.log_p > 0 THEN 1
      WHEN t.log_p > -700 THEN EXP(t.log_p)
      WHEN t.log_p IS NOT NULL THEN 0
      WHEN l.se IS NOT NULL AND (ABS(l.difference) <= 1e-12 * ABS(l.value) OR ABS(l.difference) <= 1e-12 * ABS(l.value_control)) THEN 1
    END AS p
  FROM lifts AS l
  INNER JOIN tails AS t ON l.metric = t.metric AND l.variant = t.variant
) AS judged
