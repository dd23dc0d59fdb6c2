-- wholes: the same with the whole of the integral, from 0 on.
SELECT
  metric,
  variant,
  purpose,
  MAX(freedom) AS freedom,
  MAX(alpha) AS alpha,
  MAX(z) AS z,
  SUM(weight * EXP(-place * place / 2) * SQRT($bend)) AS whole
FROM (
  SELECT
    w.metric,
    w.variant,
    w.purpose,
    w.freedom,
    w.alpha,
    w.z,
    p.place,
    p.weight,
    p.place * p.place / w.freedom AS u
  FROM wanted AS w
  CROSS JOIN places AS p
) AS heights
GROUP BY metric, variant, purpose
