-- adjusted_information_terms: one row per group, with its mutual information, the value expected by chance, and the mean entropy that bounds it.
-- Grain: group_id
SELECT
  n.group_id,
  n.mutual_information,
  (n.predicted_entropy + n.true_entropy) / 2 AS mean_entropy,
  n.predicted_entropy_given_true + n.true_entropy_given_predicted AS conditional_entropy,
  x.expected_mutual_information
FROM cluster_entropies AS n
LEFT JOIN expected_information AS x
  ON n.group_id = x.group_id
