-- uplift_points: one row per group and selected score: number of the point, share of the weight at and above it, and both curves there.
-- The last score of each of $points equal shares of the weight is selected, and the lowest score.
-- $points: integer from 0 to 10000000, default 1000: maximum number of points, at least 10; 0 for all.
-- Grain: group_id, point
SELECT
  group_id,
  ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY score DESC) AS point, -- from 1 at the highest score
  score,
  fraction, -- share of the weight that is at or above the score
  treated_mean, -- mean outcome of the treated there
  control_mean, -- mean outcome of the controls there
  qini, -- outcome gained by treating them
  gain -- the same per unit of all, with the difference of means
FROM (
  -- one row per group and distinct score
  SELECT
    score_fractions.*,
    LEAD(fraction) OVER (PARTITION BY group_id ORDER BY score DESC) AS next_fraction
  FROM (
    -- one row per group and distinct score
    SELECT
      uplift_gains.*,
      (treated + controls) / NULLIF(total_treated + total_controls, 0) AS fraction,
      CASE WHEN treated > 0 THEN treated_mean END AS treated_mean,
      CASE WHEN controls > 0 THEN control_mean END AS control_mean,
      gain / NULLIF(total_treated + total_controls, 0) AS gain
    FROM uplift_gains
  ) AS score_fractions
) AS neighbouring_scores
WHERE next_fraction IS NULL OR $points = 0 OR FLOOR(fraction * $points) < FLOOR(next_fraction * $points)
