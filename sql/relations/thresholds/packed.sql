-- thresholds: one row per distinct score of a positive. What is sorted is an integer that stands for a group, a cell of the score
-- axis and the label; scores that share a cell are then told apart by themselves.
-- whole(): default rows: how many parts a weight is.
-- Costly: all predictions are put in order.
SELECT
  s.group_id,
  t.score,
  CAST(t.positives AS DOUBLE) * s.part AS positives,
  t.squares,
  CAST(t.negatives AS DOUBLE) * s.part AS negatives,
  CAST(s.positives_from + s.positive_parts - t.positives_before - t.positives AS DOUBLE) * s.part AS positives_above,
  CAST(s.negatives_from + s.negative_parts - t.negatives_before - t.negatives AS DOUBLE) * s.part AS negatives_above,
  CAST(t.positives_before - s.positives_from AS DOUBLE) * s.part AS positives_below,
  CAST(t.negatives_before - s.negatives_from AS DOUBLE) * s.part AS negatives_below,
  s.all_positives,
  s.all_negatives,
  s.all_rows
FROM (
  SELECT
    group_id,
    score,
    positives,
    squares,
    whole(0) AS negatives,
    positives_before,
    all_before - positives_before AS negatives_before
  FROM queued
  WHERE is_alone = 1 AND positives > 0
  UNION ALL
  SELECT
    group_id,
    score,
    positives,
    squares,
    negatives,
    positives_before,
    negatives_before
  FROM cellmates
  WHERE positives > 0
) AS t
JOIN strata AS s ON s.group_id = t.group_id
