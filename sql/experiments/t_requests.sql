-- t_requests: one row per metric, treatment and purpose (a p-value or a quantile of Student's t), with z or a first guess of it.
-- Source: Abramowitz & Stegun 26.2.22, the quantile of the normal distribution to 0.003; its increase at few degrees of freedom is ours, right to 0.04.
-- Grain: metric, variant, purpose
SELECT
  metric,
  variant,
  purpose,
  freedom,
  alpha,
  CASE
    WHEN purpose = 'p' THEN SQRT(freedom * COALESCE(LN(1 + far) * far / NULLIF(1 + far - 1, 0), far))
    ELSE normal + normal / (4 * freedom + 0.64 * normal * normal)
  END AS z
FROM (
  SELECT
    metric,
    variant,
    purpose,
    freedom,
    alpha,
    far,
    bound - (2.30753 + 0.27061 * bound) / (1 + bound * (0.99229 + 0.04481 * bound)) AS normal
  FROM (
    SELECT
      metric,
      variant,
      purpose,
      freedom,
      alpha,
      difference * difference / NULLIF(se * se * freedom, 0) AS far,
      SQRT(-2 * LN(alpha / 2)) AS bound
    FROM (
      SELECT
        l.metric,
        l.variant,
        w.purpose,
        l.difference,
        l.se,
        CASE WHEN w.purpose = 'lift' THEN l.relative_freedom ELSE l.freedom END AS freedom,
        CASE WHEN w.purpose = 'test' THEN 1 - $confidence WHEN w.purpose = 'power' THEN 2 - 2 * $power ELSE l.alpha END AS alpha
      FROM relative_effects AS l
      CROSS JOIN (
        SELECT 'p' AS purpose
        UNION ALL SELECT 'difference' AS purpose
        UNION ALL SELECT 'lift' AS purpose
        UNION ALL SELECT 'test' AS purpose
        UNION ALL SELECT 'power' AS purpose
      ) AS w
    ) AS asked
  ) AS bounded
) AS begun
