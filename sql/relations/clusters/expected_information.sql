-- expected_information: one row per group: expected mutual information, in nats, of random clusterings that have the same cluster sizes.
-- Overlaps of two clusters are hypergeometric. Their likelihoods are scaled by the greatest one, and divided by their sum.
-- Nonzero: num_records, predicted_size * true_size.
-- Grain: group_id
SELECT
  group_id,
  SUM(num_cluster_pairs * information / NULLIF(total_likelihood, 0)) AS expected_mutual_information -- in nats
FROM (
  -- one row per group and pair of cluster sizes
  SELECT
    group_id,
    MAX(num_cluster_pairs) AS num_cluster_pairs,
    SUM(overlap / num_records * LN(num_records * overlap / (predicted_size * true_size)) * likelihood) AS information, -- of a pair of clusters, times total_likelihood
    SUM(likelihood) + MAX(
      CASE WHEN predicted_size + true_size <= num_records AND max_log_likelihood < 700 THEN EXP(-max_log_likelihood) ELSE 0 END
    ) AS total_likelihood -- with that of overlap 0, which has no row
  FROM (
    -- one row per group, both sizes and overlap
    SELECT
      max_likelihoods.*,
      exp_or_zero(log_likelihood - max_log_likelihood) AS likelihood
    FROM (
      -- one row per group, both sizes and overlap
      SELECT
        overlap_likelihoods.*,
        MAX(CASE WHEN log_likelihood > 0 THEN log_likelihood ELSE 0 END) OVER (
          PARTITION BY group_id, predicted_size, true_size
        ) AS max_log_likelihood
      FROM overlap_likelihoods
    ) AS max_likelihoods
  ) AS scaled_likelihoods
  GROUP BY group_id, predicted_size, true_size
) AS size_information
GROUP BY group_id
