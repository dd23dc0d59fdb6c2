-- critical_values: one row per metric and treatment, with the critical values of its intervals by Student's t, and its log p-value.
-- The detectable multiple is the number of standard errors of the minimum detectable effect.
-- Grain: metric, variant
SELECT
  metric,
  variant,
  MAX(CASE WHEN purpose = 'difference' THEN reach END) AS reach,
  MAX(CASE WHEN purpose = 'lift' THEN reach END) AS relative_reach,
  MAX(CASE WHEN purpose = 'test' THEN reach END) + MAX(CASE WHEN purpose = 'power' THEN reach END) AS found_reach,
  MAX(CASE WHEN purpose = 'p' THEN log_p END) AS log_p
FROM (
  SELECT
    metric,
    variant,
    purpose,
    log_p,
    CASE WHEN purpose <> 'p' THEN z * EXP(u / 2) / SQRT($bend) END AS reach
  FROM (
    SELECT
      metric,
      variant,
      purpose,
      log_p,
      z,
      z * z / freedom AS u
    FROM t_newton_steps
  ) AS heights
) AS quantiles
GROUP BY metric, variant
