-- SampledClusterRecall: cluster recall, estimated from the true clusters that are known.
-- Use when: true clusters are known for a sample of entities only, and only whole clusters are useful.
-- cluster_weight(): default equal: weight of a sampled true cluster.
-- ratio_estimate(): default corrected: how ratios of sums over clusters are estimated.
-- Range: 0 to 1, but not estimates under ratio_estimate=corrected.
-- Undefined: no records; fewer than two true clusters if bias is corrected.
-- Source: Binette et al. 2023; er-evaluation.
SELECT
  group_id,
  ratio_estimate(
    SUM(cluster_weight(num_records) * is_exact),
    SUM(cluster_weight(num_records)),
    SUM(cluster_weight(num_records) * is_exact * cluster_weight(num_records)),
    SUM(cluster_weight(num_records) * 1 * cluster_weight(num_records)),
    COUNT(*)
  ) AS sampled_cluster_recall
FROM sampled_cluster_counts
GROUP BY group_id
