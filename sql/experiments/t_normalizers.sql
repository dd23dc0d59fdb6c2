-- t_normalizers: one row per metric, treatment and purpose, with the integral over all z from 0 up, which tail integrals are divided by.
-- Grain: metric, variant, purpose
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
  FROM t_requests AS w
  CROSS JOIN quadrature_nodes AS p
) AS heights
GROUP BY metric, variant, purpose
