-- range_scale: one row, with the offset and the factor that map a score to its score range.
-- The square root of half of the distance from the lowest score, times the factor, is the position of a score; the factor is 0 if all
-- scores are equal. There are eight ranges per positive, divided by the number of groups, so that few ranges have one. Square roots
-- keep the order of numbers when they are rounded, and halves do not overflow.
-- Grain: one row
SELECT
  e.half_min_score,
  COALESCE(n.max_range / NULLIF(SQRT(e.high - e.half_min_score), 0), 0) AS ranges_per_unit,
  n.max_range
FROM (
  SELECT
    0.5 * CAST(MIN(score) AS DOUBLE) AS half_min_score,
    0.5 * CAST(MAX(score) AS DOUBLE) AS high
  FROM predictions
) AS e
CROSS JOIN (
  SELECT CAST(8 * SUM(positive_rows) / NULLIF(COUNT(*), 0) AS BIGINT) AS max_range
  FROM (
    SELECT
      group_id,
      SUM(CASE WHEN label = 1 THEN 1 ELSE 0 END) AS positive_rows
    FROM predictions
    GROUP BY group_id
  ) AS g
) AS n
