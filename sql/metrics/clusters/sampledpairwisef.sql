-- SampledPairwiseF: pairwise F measure of all clusters, estimated from those with a known true cluster.
-- sampling(): default uniform: how the labeled true clusters were sampled.
-- estimate(): default corrected: how ratios of sums over clusters are estimated.
-- Range: 0 to 1, but not under estimate=corrected.
-- Estimand: 0 to 1.
-- Undefined: no cluster of two records on either side; fewer than two true clusters if bias is corrected.
-- Source: Binette et al. 2023; er-evaluation.
SELECT
  group_id,
  estimate(
    SUM(sampling(num_records) * 2 * found_links),
    SUM(sampling(num_records) * (claimed_links + true_links)),
    SUM(sampling(num_records) * 2 * found_links * sampling(num_records) * (claimed_links + true_links)),
    SUM(sampling(num_records) * (claimed_links + true_links) * sampling(num_records) * (claimed_links + true_links)),
    COUNT(*)
  ) AS sampled_pairwise_f
FROM sampled_cluster_counts
GROUP BY group_id
