-- top_k_class_weights: one row per group and distinct score: weight of negatives above it, and its class weights among the top k.
-- Rows have no score.
-- Scores with a weight of k or more above them are outside of the top k, where their weights are 0.
-- $k: integer from 1: number of top-ranked predictions that count.
-- Grain: rows of score_thresholds
SELECT
  group_id, negatives_above,
  CASE
    WHEN weight_above >= $k THEN 0
    WHEN weight_at_or_above <= $k THEN positives
    ELSE positives * ($k - weight_above) / NULLIF(weight_at_or_above - weight_above, 0)
  END AS positives, -- of a tie across the cut-off, a proportional part
  CASE
    WHEN weight_above >= $k THEN 0
    WHEN weight_at_or_above <= $k THEN negatives
    ELSE negatives * ($k - weight_above) / NULLIF(weight_at_or_above - weight_above, 0)
  END AS negatives -- of a tie across the cut-off, a proportional part
FROM (
  -- one row per group and distinct score
  SELECT
    score_thresholds.*,
    positives_above + negatives_above AS weight_above,
    positives_above + negatives_above + positives + negatives AS weight_at_or_above
  FROM score_thresholds
) AS ranked_weights
