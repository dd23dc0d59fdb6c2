-- overlap_likelihoods: one row per predicted cluster size, true cluster size and possible overlap, with its hypergeometric log-likelihood.
-- Likelihoods are relative to that of the smallest possible overlap. They are cumulative sums of the log ratios of successive
-- overlaps. An overlap of 0 has no row.
-- Validate: too_many_terms
-- Grain: group_id, predicted_size, true_size, overlap
SELECT
  group_id,
  predicted_size,
  true_size,
  num_cluster_pairs,
  num_records,
  overlap,
  SUM(log_likelihood_step) OVER (
    PARTITION BY group_id, predicted_size, true_size ORDER BY overlap ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS log_likelihood
FROM (
  SELECT
    p.group_id,
    p.size AS predicted_size,
    t.size AS true_size,
    p.num_clusters * t.num_clusters AS num_cluster_pairs,
    e.num_records,
    o.overlap,
    COALESCE(
      LN((p.size - o.overlap + 1) * (t.size - o.overlap + 1) / NULLIF(o.overlap * (e.num_records - p.size - t.size + o.overlap), 0)), 0
    ) AS log_likelihood_step
  FROM predicted_cluster_sizes AS p
  JOIN true_cluster_sizes AS t
    ON p.group_id = t.group_id
  JOIN record_counts AS e
    ON p.group_id = e.group_id
  JOIN overlap_sizes AS o
    ON p.group_id = o.group_id AND o.overlap <= p.size AND o.overlap <= t.size AND o.overlap >= p.size + t.size - e.num_records
) AS stepped
