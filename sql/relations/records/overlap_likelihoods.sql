-- overlap_likelihoods: one row per group, sizes of two clusters and overlap above 0: log likelihood over that of the least overlap, and cluster pairs.
-- Likelihoods are hypergeometric, and cumulative sums of the log ratios of successive overlaps. An overlap of 0 has no row.
-- Validate: too_many_terms
-- Grain: group_id, predicted_size, true_size, overlap
SELECT
  group_id, predicted_size, true_size,
  num_cluster_pairs, -- pairs of clusters of these sizes
  num_records, -- records of the group
  overlap, -- records that two such clusters share
  SUM(log_likelihood_step) OVER (
    PARTITION BY group_id, predicted_size, true_size ORDER BY overlap ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS log_likelihood -- relative to the smallest possible overlap
FROM (
  -- one row per group, both sizes and overlap
  SELECT
    predicted_cluster_sizes.group_id,
    predicted_cluster_sizes.size AS predicted_size,
    true_cluster_sizes.size AS true_size,
    predicted_cluster_sizes.num_clusters * true_cluster_sizes.num_clusters AS num_cluster_pairs,
    record_counts.num_records, overlap_sizes.overlap,
    COALESCE(LN(
      (predicted_cluster_sizes.size - overlap_sizes.overlap + 1) * (true_cluster_sizes.size - overlap_sizes.overlap + 1)
      / NULLIF(
        overlap_sizes.overlap
        * (record_counts.num_records - predicted_cluster_sizes.size - true_cluster_sizes.size + overlap_sizes.overlap), 0
      )
    ), 0) AS log_likelihood_step
  FROM predicted_cluster_sizes
  JOIN true_cluster_sizes
    ON predicted_cluster_sizes.group_id = true_cluster_sizes.group_id
  JOIN record_counts
    ON predicted_cluster_sizes.group_id = record_counts.group_id
  JOIN overlap_sizes
    ON predicted_cluster_sizes.group_id = overlap_sizes.group_id
    AND overlap_sizes.overlap <= predicted_cluster_sizes.size
    AND overlap_sizes.overlap <= true_cluster_sizes.size
    AND overlap_sizes.overlap >= predicted_cluster_sizes.size + true_cluster_sizes.size - record_counts.num_records
) AS likelihood_steps
