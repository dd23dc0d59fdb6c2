-- t_newton_steps: one row per metric, treatment and purpose, with the log tail probability beyond z, and z after one more Newton step.
-- The tail is a numerical integral. For p-values z does not change.
-- Grain: metric, variant, purpose
SELECT
  metric,
  variant,
  purpose,
  MAX(freedom) AS freedom,
  MAX(alpha) AS alpha,
  MAX(whole) AS whole,
  LN(SUM(weight * height) / MAX(whole)) - MAX(z * z) / 2 AS log_p,
  CASE
    WHEN purpose = 'p' THEN MAX(z)
    ELSE MAX(z) + (LN(SUM(weight * height) / MAX(whole) / MAX(alpha)) - MAX(z * z) / 2) * SUM(weight * height) / MAX(height)
  END AS z
FROM (
  SELECT
    metric,
    variant,
    purpose,
    freedom,
    alpha,
    whole,
    z,
    weight,
    EXP(-ahead * (z + ahead / 2)) * SQRT($bend) AS height
  FROM (
    SELECT
      metric,
      variant,
      purpose,
      freedom,
      alpha,
      whole,
      z,
      weight,
      ahead,
      (z + ahead) * (z + ahead) / freedom AS u
    FROM (
      SELECT
        w.metric,
        w.variant,
        w.purpose,
        w.freedom,
        w.alpha,
        w.whole,
        w.z,
        4 * p.weight / (4 + w.z) AS weight,
        4 * p.place / (4 + w.z) AS ahead
      FROM t_normalizers AS w
      CROSS JOIN quadrature_nodes AS p
    ) AS moved
  ) AS bent
) AS heights
GROUP BY metric, variant, purpose
