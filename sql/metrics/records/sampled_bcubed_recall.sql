-- SampledBCubedRecall: B-cubed recall of all records, estimated from those with a known true cluster.
--     SampledBCubedRecall = R - m (R sum of b^2 - sum of a b) / ((m - 1) (sum of b)^2), R = sum of a / sum of b, over m true clusters,
--     a = w (sum of BCubed recall of its records), b = w (its records), w = cluster_weight(records)
-- Full name: sampled B-cubed recall.
-- Use when: true clusters are known for a sample of entities only, and each record should count the same.
-- cluster_weight(): default equal: weight of a sampled true cluster.
-- ratio_estimate(): default corrected: how ratios of sums over clusters are estimated.
-- Range: 0 to 1, but not estimates under ratio_estimate=corrected.
-- Undefined: no records; fewer than two true clusters if bias is corrected.
-- Source: Binette et al. 2023; er-evaluation.
SELECT
  group_id,
  ratio_estimate(cluster_weight(num_records) * bcubed_recall_sum, cluster_weight(num_records) * num_records) AS sampled_bcubed_recall
FROM sampled_cluster_counts
GROUP BY group_id
