-- reaches: one row per metric and variant: how many standard errors its intervals reach, by Student's t, how many a difference is that is found,
-- and the logarithm of the chance of a difference as far from 0 if there is none.
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
    FROM nearer
  ) AS heights
) AS quantiles
GROUP BY metric, variant
