-- SampledPairwiseF: pairwise F measure of all clusters, estimated from those with a known true cluster.
--     SampledPairwiseF = R - m (R sum of b^2 - sum of a b) / ((m - 1) (sum of b)^2), R = sum of a / sum of b, over m true clusters,
--     a = w (2 links found), b = w (links claimed + links of the cluster), w = cluster_weight(records)
-- Full name: sampled pairwise F measure.
-- Use when: true clusters are known for a sample of entities only, and you want one number.
-- cluster_weight(): default equal: weight of a sampled true cluster.
-- ratio_estimate(): default corrected: how ratios of sums over clusters are estimated.
-- Range: 0 to 1, but not estimates under ratio_estimate=corrected.
-- Undefined: no cluster of two records on either side; fewer than two true clusters if bias is corrected.
-- Source: Binette et al. 2023; er-evaluation.
SELECT
  group_id,
  ratio_estimate(
    cluster_weight(num_records) * 2 * found_links,
    cluster_weight(num_records) * (claimed_links + true_links)
  ) AS sampled_pairwise_f
FROM sampled_cluster_counts
GROUP BY group_id
