-- misordered_pair_counts: one row per group and compared prediction: label, scores, its misordered pairs, and numbers of positives and negatives.
-- Rows have no ids.
-- Cumulative counts by margin score find them; no pairs are formed.
-- Grain: rows of surrogate_terms
SELECT
  group_id, label, score,
  margin_score, -- score; of a positive less the margin
  CASE
    WHEN label = 1 THEN negatives_above
    ELSE num_positives - positives_above
  END AS pair_weight, -- pairs of the prediction that are misordered
  num_compared AS positive_divisor, -- positives that are compared
  num_negatives -- compared negatives of the group
FROM (
  -- one row per group and compared prediction
  SELECT
    surrogate_terms.*,
    SUM(label) OVER (PARTITION BY group_id) AS num_positives,
    SUM(1 - label) OVER (PARTITION BY group_id) AS num_negatives,
    SUM(label) OVER (
      PARTITION BY group_id ORDER BY margin_score DESC, label DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS positives_above, -- positives down to this margin score
    SUM(1 - label) OVER (
      PARTITION BY group_id ORDER BY margin_score DESC, label DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS negatives_above -- negatives down to this margin score
  FROM surrogate_terms
) AS cumulative_pair_counts
