-- thresholds: one row per distinct score of a positive, where every prediction weighs 1. What is sorted is an integer that
-- stands for a cell of the score axis and for the label; scores that share a cell are then told apart by themselves.
-- Costly: all predictions are put in order.
SELECT
  t.group_id,
  t.score,
  t.positives,
  t.positives AS squares,
  t.negatives,
  n.all_positives - t.positives_below - t.positives AS positives_above,
  n.all_rows - n.all_positives - t.negatives_below - t.negatives AS negatives_above,
  t.positives_below,
  t.negatives_below,
  n.all_positives,
  n.all_rows - n.all_positives AS all_negatives,
  n.all_rows
FROM (
  SELECT
    group_id,
    score,
    CAST(1 AS DOUBLE) AS positives,
    CAST(0 AS DOUBLE) AS negatives,
    CAST(positives_before AS DOUBLE) AS positives_below,
    CAST(rows_before - positives_before AS DOUBLE) AS negatives_below
  FROM queued
  WHERE is_alone = 1
  UNION ALL
  SELECT
    group_id,
    score,
    CAST(positives AS DOUBLE) AS positives,
    CAST(negatives AS DOUBLE) AS negatives,
    CAST(positives_below AS DOUBLE) AS positives_below,
    CAST(negatives_below AS DOUBLE) AS negatives_below
  FROM cellmates
  WHERE positives > 0
) AS t
JOIN (
  SELECT
    group_id,
    COUNT(*) AS all_rows,
    COUNT(CASE WHEN label = 1 THEN 1 END) AS all_positives
  FROM predictions
  GROUP BY group_id
) AS n ON n.group_id = t.group_id
