-- too_many_terms: one row per group whose expected mutual information is a sum of too many terms: the number of terms.
-- The terms are, for every size of a predicted and of a true cluster, as many as the smaller of both.
-- Grain: group_id
SELECT
  predicted_cluster_sizes.group_id,
  SUM(CASE WHEN predicted_cluster_sizes.size < true_cluster_sizes.size THEN predicted_cluster_sizes.size ELSE true_cluster_sizes.size END) AS terms -- more than 100,000,000 are not summed. Ask for AdjustedRand or VMeasure
FROM predicted_cluster_sizes
JOIN true_cluster_sizes
  ON predicted_cluster_sizes.group_id = true_cluster_sizes.group_id
GROUP BY predicted_cluster_sizes.group_id
HAVING SUM(CASE WHEN predicted_cluster_sizes.size < true_cluster_sizes.size THEN predicted_cluster_sizes.size ELSE true_cluster_sizes.size END) > 100000000
