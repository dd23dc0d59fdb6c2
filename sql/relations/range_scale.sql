-- range_scale: one row: how scores map to the integer score ranges of this statement.
-- The square root of half of the distance from the lowest score, times the factor, is the position of a score. There are eight ranges per
-- positive, divided by the number of groups, so that few ranges have one. Square roots keep the order of numbers when they are rounded,
-- and halves do not overflow.
-- Grain: one row
SELECT
  score_extremes.half_min_score, -- half of the lowest score
  COALESCE(
    range_counts.max_range / NULLIF(SQRT(score_extremes.half_max_score - score_extremes.half_min_score), 0), 0
  ) AS ranges_per_unit, -- factor; 0 if all scores are equal
  range_counts.max_range -- number of the last range
FROM (
  -- one row
  SELECT
    0.5 * CAST(MIN(score) AS DOUBLE) AS half_min_score,
    0.5 * CAST(MAX(score) AS DOUBLE) AS half_max_score
  FROM predictions
) AS score_extremes
CROSS JOIN (
  -- one row
  SELECT CAST(8 * SUM(positive_rows) / NULLIF(COUNT(*), 0) AS BIGINT) AS max_range
  FROM (
    -- one row per group
    SELECT
      group_id,
      SUM(CASE WHEN label = 1 THEN 1 ELSE 0 END) AS positive_rows
    FROM predictions
    GROUP BY group_id
  ) AS group_positives
) AS range_counts
