-- cluster_entropies: one row per group, with the entropies, conditional entropies and mutual information of both clusterings, in nats.
-- Nonzero: c.n, c.true_size, c.predicted_size, c.predicted_size * c.true_size.
-- Grain: group_id
SELECT
  group_id,
  predicted_entropy_given_true,
  true_entropy_given_predicted,
  mutual_information,
  predicted_entropy,
  true_entropy,
  CASE WHEN true_clusters = 1 THEN 1 ELSE 1 - true_entropy_given_predicted / NULLIF(true_entropy, 0) END AS homogeneity,
  CASE WHEN num_predicted_clusters = 1 THEN 1 ELSE 1 - predicted_entropy_given_true / NULLIF(predicted_entropy, 0) END AS completeness
FROM (
  SELECT
    c.group_id,
    SUM(c.counts_predicted) AS num_predicted_clusters,
    SUM(c.counts_true) AS true_clusters,
    SUM(c.n * LN(c.true_size / c.n)) / NULLIF(SUM(c.n), 0) AS predicted_entropy_given_true,
    SUM(c.n * LN(c.predicted_size / c.n)) / NULLIF(SUM(c.n), 0) AS true_entropy_given_predicted,
    SUM(c.n * LN(e.num_records / c.predicted_size)) / NULLIF(SUM(c.n), 0) AS predicted_entropy,
    SUM(c.n * LN(e.num_records / c.true_size)) / NULLIF(SUM(c.n), 0) AS true_entropy,
    SUM(c.n * LN(c.n * e.num_records / (c.predicted_size * c.true_size))) / NULLIF(SUM(c.n), 0) AS mutual_information
  FROM contingency_table AS c
  LEFT JOIN record_counts AS e
    ON c.group_id = e.group_id
  GROUP BY c.group_id
) AS told
