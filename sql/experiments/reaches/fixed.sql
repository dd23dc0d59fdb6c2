-- reaches: one row per metric and variant: how many standard errors its intervals reach, by Student's t, and how many a difference is that is found.
SELECT
  metric,
  variant,
  MAX(CASE WHEN purpose = 'difference' THEN reach END) AS reach,
  MAX(CASE WHEN purpose = 'lift' THEN reach END) AS relative_reach,
  MAX(CASE WHEN purpose = 'test' THEN reach END) + MAX(CASE WHEN purpose = 'power' THEN reach END) AS found_reach
FROM (
  SELECT
    metric,
    variant,
    purpose,
    z * EXP(u / 2) / SQRT($bend) AS reach
  FROM (
    SELECT
      metric,
      variant,
      purpose,
      z,
      z * z / freedom AS u
    FROM nearer
    WHERE purpose <> 'p'
  ) AS heights
) AS quantiles
GROUP BY metric, variant
