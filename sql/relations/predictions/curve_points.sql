-- curve_points: one row per group and first or last point of a curve segment: its number, score, confusion matrix and class totals.
-- The last point has the total weights, and no point has more, whatever the rounding of the sums.
-- $points: integer from 0 to 10000000, default 1000: maximum number of points, at least 10; 0 for all.
-- Grain: group_id, point
SELECT
  group_id,
  point, -- number of the point, from 1 at the highest score
  score, -- the threshold of the point
  CASE WHEN next_score IS NULL OR tp > total_positives THEN total_positives ELSE tp END AS tp, -- weight of true positives at this threshold
  CASE WHEN next_score IS NULL OR fp > total_negatives THEN total_negatives ELSE fp END AS fp, -- weight of false positives
  fn, -- weight of false negatives
  tn, -- weight of true negatives
  total_positives, total_negatives,
  num_thresholds -- number of distinct scores, of which these points are a part
FROM (
  -- one row per group and point of the curve
  SELECT
    segment_ranks.*,
    ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY score DESC) AS point,
    LEAD(score) OVER (PARTITION BY group_id ORDER BY score DESC) AS next_score
  FROM (
    -- one row per group and distinct score
    SELECT
      curve_segments.*,
      COUNT(*) OVER (PARTITION BY group_id) AS num_thresholds,
      ROW_NUMBER() OVER (PARTITION BY group_id, segment ORDER BY score DESC) AS rank_from_start,
      ROW_NUMBER() OVER (PARTITION BY group_id, segment ORDER BY score) AS rank_from_end
    FROM curve_segments
  ) AS segment_ranks
  WHERE rank_from_start = 1 OR rank_from_end = 1 OR $points = 0
) AS threshold_points
