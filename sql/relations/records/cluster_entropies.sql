-- cluster_entropies: one row per group: entropies, conditional entropies and mutual information in nats, homogeneity and completeness.
-- Nonzero: contingency_table.n, contingency_table.true_size, contingency_table.predicted_size, contingency_table.predicted_size * contingency_table.true_size.
-- Grain: group_id
SELECT
  group_id,
  predicted_entropy_given_true, -- conditional entropy
  true_entropy_given_predicted, -- conditional entropy
  mutual_information, predicted_entropy, true_entropy,
  CASE
    WHEN num_true_clusters = 1 THEN 1
    ELSE 1 - true_entropy_given_predicted / NULLIF(true_entropy, 0)
  END AS homogeneity, -- 1 if there is one true cluster
  CASE
    WHEN num_predicted_clusters = 1 THEN 1
    ELSE 1 - predicted_entropy_given_true / NULLIF(predicted_entropy, 0)
  END AS completeness -- 1 if there is one predicted cluster
FROM (
  -- one row per group
  SELECT
    contingency_table.group_id,
    SUM(contingency_table.counts_predicted) AS num_predicted_clusters,
    SUM(contingency_table.counts_true) AS num_true_clusters,
    SUM(
      contingency_table.n * LN(contingency_table.true_size / contingency_table.n)
    ) / NULLIF(SUM(contingency_table.n), 0) AS predicted_entropy_given_true,
    SUM(
      contingency_table.n * LN(contingency_table.predicted_size / contingency_table.n)
    ) / NULLIF(SUM(contingency_table.n), 0) AS true_entropy_given_predicted,
    SUM(
      contingency_table.n * LN(record_counts.num_records / contingency_table.predicted_size)
    ) / NULLIF(SUM(contingency_table.n), 0) AS predicted_entropy,
    SUM(
      contingency_table.n * LN(record_counts.num_records / contingency_table.true_size)
    ) / NULLIF(SUM(contingency_table.n), 0) AS true_entropy,
    SUM(
      contingency_table.n
      * LN(contingency_table.n * record_counts.num_records / (contingency_table.predicted_size * contingency_table.true_size))
    ) / NULLIF(SUM(contingency_table.n), 0) AS mutual_information
  FROM contingency_table
  LEFT JOIN record_counts
    ON contingency_table.group_id = record_counts.group_id
  GROUP BY contingency_table.group_id
) AS entropy_sums
