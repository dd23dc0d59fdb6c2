-- SampledBCubedPrecision: B-cubed precision of all records, estimated from those with a known true cluster.
-- sampling(): default uniform: how the labeled true clusters were sampled.
-- estimate(): default corrected: how ratios of sums over clusters are estimated.
-- Range: 0 to 1, but not under estimate=corrected.
-- Estimand: 0 to 1.
-- Undefined: no records; fewer than two true clusters if bias is corrected.
-- Source: Binette et al. 2023; er-evaluation.
SELECT
  group_id,
  estimate(
    SUM(sampling(num_records) * bcubed_precision_sum),
    SUM(sampling(num_records) * num_records),
    SUM(sampling(num_records) * bcubed_precision_sum * sampling(num_records) * num_records),
    SUM(sampling(num_records) * num_records * sampling(num_records) * num_records),
    COUNT(*)
  ) AS sampled_bcubed_precision
FROM sampled_cluster_counts
GROUP BY group_id
