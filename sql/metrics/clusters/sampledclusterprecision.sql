-- SampledClusterPrecision: cluster precision, estimated from the true clusters that are known.
-- sampling(): default uniform: how the labeled true clusters were sampled.
-- estimate(): default corrected: how ratios of sums over clusters are estimated.
-- Range: 0 to 1, but not under estimate=corrected.
-- Estimand: 0 to 1.
-- Undefined: no records; fewer than two true clusters if bias is corrected.
-- Source: Binette et al. 2023; er-evaluation.
SELECT
  group_id,
  estimate(
    SUM(sampling(num_records) * is_exact),
    SUM(sampling(num_records) * num_predicted_clusters),
    SUM(sampling(num_records) * is_exact * sampling(num_records) * num_predicted_clusters),
    SUM(sampling(num_records) * num_predicted_clusters * sampling(num_records) * num_predicted_clusters),
    COUNT(*)
  ) AS sampled_cluster_precision
FROM sampled_cluster_counts
GROUP BY group_id
