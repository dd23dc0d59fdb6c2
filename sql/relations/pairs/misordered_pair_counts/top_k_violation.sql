-- misordered_pair_counts: one row per group and compared prediction: label, scores, weight in the most violated top k, divisor, and negatives.
-- Grain: rows of top_k_violations
SELECT
  group_id, label, score,
  margin_score, -- score, of positives less the margin, of negatives plus it
  CASE
    WHEN num_top_positives < violated_positives OR violated_positives IS NULL THEN 0
    WHEN label = 0 THEN 1
    ELSE MAX(CASE WHEN label = 1 AND num_top_positives = violated_positives THEN positive_weight END) OVER (PARTITION BY group_id)
  END AS pair_weight, -- 1 of its negatives, less of positives it leaves out
  CASE WHEN max_violation IS NULL THEN 0 ELSE 1 END AS positive_divisor, -- 0 if no top k is violated, else 1
  SUM(1 - label) OVER (PARTITION BY group_id) AS num_negatives -- compared negatives of the group
FROM (
  -- one row per group and compared prediction
  SELECT
    max_violations.*,
    MAX(CASE WHEN violation = max_violation AND max_violation > 0 THEN num_top_positives END) OVER (PARTITION BY group_id) AS violated_positives -- positives of the most violated top k
  FROM (
    -- one row per group and compared prediction
    SELECT
      top_k_violations.*,
      MAX(violation) OVER (PARTITION BY group_id) AS max_violation
    FROM top_k_violations
  ) AS max_violations
) AS violated_tops
