-- SampledClusterPrecision: cluster precision, estimated from the true clusters that are known.
--     SampledClusterPrecision = R - m (R sum of b^2 - sum of a b) / ((m - 1) (sum of b)^2), R = sum of a / sum of b, over m true clusters,
--     a = w (1 if it is a predicted cluster), b = w (its share of predicted clusters by records), w = cluster_weight(records)
-- Use when: true clusters are known for a sample of entities only, and only whole clusters are useful.
-- cluster_weight(): default equal: weight of a sampled true cluster.
-- ratio_estimate(): default corrected: how ratios of sums over clusters are estimated.
-- Range: 0 to 1, but not estimates under ratio_estimate=corrected.
-- Undefined: no records; fewer than two true clusters if bias is corrected.
-- Source: Binette et al. 2023; er-evaluation.
SELECT
  group_id,
  ratio_estimate(
    cluster_weight(num_records) * is_exact,
    cluster_weight(num_records) * num_predicted_clusters
  ) AS sampled_cluster_precision
FROM sampled_cluster_counts
GROUP BY group_id
