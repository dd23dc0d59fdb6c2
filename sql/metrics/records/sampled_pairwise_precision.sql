-- SampledPairwisePrecision: pairwise precision of all clusters, estimated from those with a known true cluster.
--     SampledPairwisePrecision = R - m (R sum of b^2 - sum of a b) / ((m - 1) (sum of b)^2), R = sum of a / sum of b, over m true clusters,
--     a = w (links found), b = w (links claimed), w = cluster_weight(records)
-- Use when: true clusters are known for a sample of entities only. PairwisePrecision of the sample alone is too high.
-- cluster_weight(): default equal: weight of a sampled true cluster.
-- ratio_estimate(): default corrected: how ratios of sums over clusters are estimated.
-- Range: 0 to 1, but not estimates under ratio_estimate=corrected.
-- Undefined: no predicted cluster of two records; fewer than two true clusters if bias is corrected.
-- Source: Binette et al. 2023; er-evaluation.
SELECT
  group_id,
  ratio_estimate(cluster_weight(num_records) * found_links, cluster_weight(num_records) * claimed_links) AS sampled_pairwise_precision
FROM sampled_cluster_counts
GROUP BY group_id
