-- adjusted_information_terms: one row per group: mutual information of both clusterings, its expected value, mean entropy, and variation of information.
-- All are in nats. The variation of information is the sum of both conditional entropies.
-- Grain: group_id
SELECT
  cluster_entropies.group_id, cluster_entropies.mutual_information,
  (cluster_entropies.predicted_entropy + cluster_entropies.true_entropy) / 2 AS mean_entropy, -- of both clusterings, the bound
  cluster_entropies.predicted_entropy_given_true
    + cluster_entropies.true_entropy_given_predicted AS variation_of_information, -- sum of both conditional entropies
  expected_information.expected_mutual_information -- of random clusterings
FROM cluster_entropies
LEFT JOIN expected_information
  ON cluster_entropies.group_id = expected_information.group_id
