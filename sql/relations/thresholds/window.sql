-- thresholds: one row per distinct score of a positive, highest first, with the weight of each class at it, above and
-- below it. Weights are added up per such threshold, so that running sums are taken over thresholds, not over predictions.
-- Costly: all predictions are put in order.
SELECT
  group_id,
  lowest AS score,
  positives,
  squares,
  negatives,
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
    lowest,
    positives,
    squares,
    negatives,
    next_negatives,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id ORDER BY place, lowest DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS positives_above,
    COALESCE(SUM(negatives + next_negatives) OVER (
      PARTITION BY group_id ORDER BY place, lowest DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS negatives_above,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id ORDER BY place, lowest DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0) AS positives_below,
    COALESCE(SUM(negatives + next_negatives) OVER (
      PARTITION BY group_id ORDER BY place, lowest DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0) AS negatives_after,
    SUM(positives) OVER (PARTITION BY group_id) AS all_positives,
    SUM(negatives + next_negatives) OVER (PARTITION BY group_id) AS all_negatives,
    SUM(segment_rows) OVER (PARTITION BY group_id) AS all_rows
  FROM (
    SELECT
      group_id,
      COALESCE(threshold, 0) AS lowest,
      CASE WHEN threshold IS NULL THEN 0 ELSE 1 END AS place,
      SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
      SUM(CASE WHEN label = 1 THEN weight * weight ELSE 0 END) AS squares,
      SUM(CASE WHEN label = 0 AND score = threshold THEN weight ELSE 0 END) AS negatives,
      SUM(CASE WHEN label = 1 OR score = threshold THEN 0 ELSE weight END) AS next_negatives,
      COUNT(*) AS segment_rows
    FROM told
    GROUP BY group_id, threshold
  ) AS segments
) AS running
WHERE place = 1 AND positives > 0
