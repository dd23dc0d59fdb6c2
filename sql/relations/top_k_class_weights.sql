-- top_k_class_weights: one row per group and distinct score, with the weight of each class that is among the top k predictions.
-- Of a tie across the cut-off, each class has a proportional part. Scores with a weight of k or more above them are outside of the top
-- k, and metrics skip them.
-- $k: integer from 1: number of top-ranked predictions that count.
-- Grain: rows of score_thresholds
SELECT
  group_id,
  weight_above,
  negatives_above,
  CASE WHEN weight_at_or_above <= $k THEN positives ELSE positives * ($k - weight_above) / NULLIF(weight_at_or_above - weight_above, 0) END AS positives,
  CASE WHEN weight_at_or_above <= $k THEN negatives ELSE negatives * ($k - weight_above) / NULLIF(weight_at_or_above - weight_above, 0) END AS negatives
FROM (
  SELECT
    group_id,
    positives,
    negatives,
    negatives_above,
    positives_above + negatives_above AS weight_above,
    positives_above + negatives_above + positives + negatives AS weight_at_or_above
  FROM score_thresholds
) AS placed
