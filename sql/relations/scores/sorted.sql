-- scores: one row per distinct score, highest first, with the weight of each class at that score, above and below it.
-- Costly: all predictions are put in order.
SELECT
  group_id,
  score,
  positives,
  squares,
  negatives,
  negative_squares,
  positive_rows,
  negative_rows,
  COALESCE(SUM(positives) OVER (
    PARTITION BY group_id ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS positives_above,
  COALESCE(SUM(negatives) OVER (
    PARTITION BY group_id ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS negatives_above,
  COALESCE(SUM(positives) OVER (
    PARTITION BY group_id ORDER BY score DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
  ), 0) AS positives_below,
  COALESCE(SUM(negatives) OVER (
    PARTITION BY group_id ORDER BY score DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
  ), 0) AS negatives_below,
  SUM(positives) OVER (PARTITION BY group_id) AS all_positives,
  SUM(negatives) OVER (PARTITION BY group_id) AS all_negatives,
  SUM(tied_rows) OVER (PARTITION BY group_id) AS all_rows
FROM tied
