-- ruler: one row: half of the lowest score of all groups, what makes the number of the last stretch of the root of half of the
-- distance to the highest, 0 if there is none, and that number: eight stretches for each positive, shared out among the groups, so
-- that few hold one. Square roots keep the order of numbers when they are rounded, and halves do not overflow.
SELECT
  e.low,
  COALESCE(n.last_stretch / NULLIF(SQRT(e.high - e.low), 0), 0) AS scale,
  n.last_stretch
FROM (
  SELECT
    0.5 * CAST(MIN(score) AS DOUBLE) AS low,
    0.5 * CAST(MAX(score) AS DOUBLE) AS high
  FROM predictions
) AS e
CROSS JOIN (
  SELECT CAST(8 * SUM(positive_rows) / NULLIF(COUNT(*), 0) AS BIGINT) AS last_stretch
  FROM (
    SELECT
      group_id,
      SUM(CASE WHEN label = 1 THEN 1 ELSE 0 END) AS positive_rows
    FROM predictions
    GROUP BY group_id
  ) AS g
) AS n
