-- SampledBCubedPrecision: B-cubed precision of all records, estimated from those with a known true cluster.
--     SampledBCubedPrecision = R - m (R sum of b^2 - sum of a b) / ((m - 1) (sum of b)^2), R = sum of a / sum of b, over m true clusters,
--     a = w (sum of BCubed precision of its records), b = w (its records), w = cluster_weight(records)
-- Full name: sampled B-cubed precision.
-- Use when: true clusters are known for a sample of entities only, and each record should count the same.
-- cluster_weight(): default equal: weight of a sampled true cluster.
-- ratio_estimate(): default corrected: how ratios of sums over clusters are estimated.
-- Range: 0 to 1, but not estimates under ratio_estimate=corrected.
-- Undefined: no records; fewer than two true clusters if bias is corrected.
-- Source: Binette et al. 2023; er-evaluation.
SELECT
  group_id,
  ratio_estimate(
    cluster_weight(num_records) * bcubed_precision_sum,
    cluster_weight(num_records) * num_records
  ) AS sampled_bcubed_precision
FROM sampled_cluster_counts
GROUP BY group_id
