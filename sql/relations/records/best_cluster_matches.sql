-- best_cluster_matches: one row per group and predicted or true cluster: flags of its kind, and its highest Jaccard similarity with the other kind.
-- Rows have no ids.
-- Nonzero: predicted_size + true_size - n.
-- Grain: many per group_id
SELECT
  group_id,
  1 AS is_predicted, -- 1 of a predicted cluster, else 0
  0 AS is_true, -- 1 of a true cluster, else 0
  MAX(n / (predicted_size + true_size - n)) AS predicted_jaccard, -- highest similarity to a true one; 0 of a true cluster
  CAST(0 AS DOUBLE) AS true_jaccard -- highest similarity to a predicted one; 0 of a predicted one
FROM contingency_table
GROUP BY group_id, predicted_cluster, unplaced_record_id
UNION ALL
SELECT
  group_id,
  0 AS is_predicted,
  1 AS is_true,
  CAST(0 AS DOUBLE) AS predicted_jaccard,
  MAX(n / (predicted_size + true_size - n)) AS true_jaccard
FROM contingency_table
GROUP BY group_id, true_cluster, unlabeled_record_id
