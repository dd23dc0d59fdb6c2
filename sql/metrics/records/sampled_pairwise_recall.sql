-- SampledPairwiseRecall: pairwise recall of all clusters, estimated from those with a known true cluster.
--     SampledPairwiseRecall = R - m (R sum of b^2 - sum of a b) / ((m - 1) (sum of b)^2), R = sum of a / sum of b, over m true clusters,
--     a = w (links found), b = w (links of the cluster), w = cluster_weight(records)
-- Use when: true clusters are known for a sample of entities only.
-- cluster_weight(): default equal: weight of a sampled true cluster.
-- ratio_estimate(): default corrected: how ratios of sums over clusters are estimated.
-- Range: 0 to 1, but not estimates under ratio_estimate=corrected.
-- Undefined: no true cluster of two records; fewer than two true clusters if bias is corrected.
-- Source: Binette et al. 2023; er-evaluation.
SELECT
  group_id,
  ratio_estimate(cluster_weight(num_records) * found_links, cluster_weight(num_records) * true_links) AS sampled_pairwise_recall
FROM sampled_cluster_counts
GROUP BY group_id
