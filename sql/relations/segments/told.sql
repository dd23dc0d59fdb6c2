-- segments: one row per distinct score of a positive, highest first, with the weight of each class at it, above and below it,
-- and one of place 0 for what stands above them all; next_negatives are below it and above the next one.
-- Costly: all predictions are put in order.
SELECT
  group_id,
  place,
  threshold,
  positives,
  squares,
  positive_rows,
  negatives,
  negative_squares,
  negative_rows,
  next_negatives,
  next_squares,
  next_rows,
  positives_above,
  negatives_above,
  positives_below,
  next_negatives + negatives_after AS negatives_below,
  all_positives,
  all_negatives,
  all_rows
FROM (
  SELECT
    group_id,
    place,
    threshold,
    positives,
    squares,
    positive_rows,
    negatives,
    negative_squares,
    negative_rows,
    next_negatives,
    next_squares,
    next_rows,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id ORDER BY place, threshold DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS positives_above,
    COALESCE(SUM(negatives + next_negatives) OVER (
      PARTITION BY group_id ORDER BY place, threshold DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS negatives_above,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id ORDER BY place, threshold DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0) AS positives_below,
    COALESCE(SUM(negatives + next_negatives) OVER (
      PARTITION BY group_id ORDER BY place, threshold DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0) AS negatives_after,
    SUM(positives) OVER (PARTITION BY group_id) AS all_positives,
    SUM(negatives + next_negatives) OVER (PARTITION BY group_id) AS all_negatives,
    SUM(segment_rows) OVER (PARTITION BY group_id) AS all_rows
  FROM (
    SELECT
      group_id,
      COALESCE(lowest, 0) AS threshold,
      CASE WHEN lowest IS NULL THEN 0 ELSE 1 END AS place,
      SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
      SUM(CASE WHEN label = 1 THEN weight * weight ELSE 0 END) AS squares,
      SUM(CASE WHEN label = 1 AND weight > 0 THEN 1 ELSE 0 END) AS positive_rows,
      SUM(CASE WHEN label = 0 AND score = lowest THEN weight ELSE 0 END) AS negatives,
      SUM(CASE WHEN label = 0 AND score = lowest THEN weight * weight ELSE 0 END) AS negative_squares,
      SUM(CASE WHEN label = 0 AND score = lowest AND weight > 0 THEN 1 ELSE 0 END) AS negative_rows,
      SUM(CASE WHEN label = 1 OR score = lowest THEN 0 ELSE weight END) AS next_negatives,
      SUM(CASE WHEN label = 1 OR score = lowest THEN 0 ELSE weight * weight END) AS next_squares,
      SUM(CASE WHEN label = 1 OR score = lowest OR weight = 0 THEN 0 ELSE 1 END) AS next_rows,
      COUNT(*) AS segment_rows
    FROM told
    GROUP BY group_id, lowest
  ) AS added
) AS running
