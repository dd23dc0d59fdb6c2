-- misordered_pair_counts: one row per compared prediction, with its number of pairs in which the negative has the higher margin score.
-- Cumulative counts by margin score find them; no pairs are formed.
-- Grain: rows of surrogate_terms
SELECT
  group_id,
  label,
  score,
  margin_score,
  CASE WHEN label = 1 THEN negatives_above ELSE all_positives - positives_above END AS num_pairs,
  num_compared,
  all_negatives AS negatives
FROM (
  SELECT
    group_id,
    label,
    score,
    margin_score,
    num_compared,
    SUM(label) OVER (PARTITION BY group_id) AS all_positives,
    SUM(1 - label) OVER (PARTITION BY group_id) AS all_negatives,
    SUM(label) OVER (
      PARTITION BY group_id ORDER BY margin_score DESC, label DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS positives_above,
    SUM(1 - label) OVER (
      PARTITION BY group_id ORDER BY margin_score DESC, label DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS negatives_above
  FROM surrogate_terms
) AS running
