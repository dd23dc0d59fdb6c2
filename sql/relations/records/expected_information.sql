-- expected_information: one row per group: expected mutual information, in nats, of random clusterings that have the same cluster sizes.
-- It is the sum over pairs of clusters and their possible overlaps n of p(n) * n / N * LN(N * n / (a * b)), for clusters of a and b of N records.
-- The probabilities p of overlaps are hypergeometric: likelihoods, scaled by the greatest one, are divided by their sum.
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
    SUM(
      overlap / num_records * LN(num_records * overlap / (predicted_size * true_size)) * exp_or_zero(log_likelihood - max_log_likelihood)
    ) AS information, -- of a pair of clusters, times total_likelihood
    SUM(exp_or_zero(log_likelihood - max_log_likelihood)) + MAX(
      CASE WHEN predicted_size + true_size <= num_records AND max_log_likelihood < 700 THEN EXP(-max_log_likelihood) ELSE 0 END
    ) AS total_likelihood -- with that of overlap 0, which has no row
  FROM (
    -- one row per group, both sizes and overlap
    SELECT
      overlap_likelihoods.*,
      MAX(greater(log_likelihood, 0)) OVER (PARTITION BY group_id, predicted_size, true_size) AS max_log_likelihood
    FROM overlap_likelihoods
  ) AS max_likelihoods
  GROUP BY group_id, predicted_size, true_size
) AS size_information
GROUP BY group_id
