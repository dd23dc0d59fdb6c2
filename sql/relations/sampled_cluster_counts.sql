-- sampled_cluster_counts: one row per labeled true cluster, with the sums from which metrics of all records are estimated.
-- The sums are the number of records, found links, claimed links, true links, and B-cubed precision and recall. A predicted link to a
-- record outside of the true cluster counts half. Sizes of predicted clusters count all records, those without a true cluster too.
-- Nonzero: predicted_size.
-- Sampling unit: clusters.
-- Grain: group_id, true_cluster
SELECT
  group_id,
  true_cluster,
  SUM(n) AS num_records,
  SUM(n * (n - 1)) / 2 AS found_links,
  SUM(n * (predicted_size - 1)) / 2 AS claimed_links,
  SUM(n) * (SUM(n) - 1) / 2 AS true_links,
  SUM(n * n / predicted_size) AS bcubed_precision_sum,
  SUM(n * n) / NULLIF(SUM(n), 0) AS bcubed_recall_sum,
  SUM(n / predicted_size) AS num_predicted_clusters,
  CASE WHEN COUNT(*) = 1 AND SUM(predicted_size) = SUM(n) THEN 1 ELSE 0 END AS is_exact
FROM (
  SELECT
    group_id,
    true_cluster,
    n,
    SUM(n) OVER (PARTITION BY group_id, predicted_cluster, predicted_singleton) AS predicted_size
  FROM (
    SELECT group_id, predicted_cluster, predicted_singleton, true_cluster, CAST(COUNT(*) AS DOUBLE) AS n
    FROM predicted_records
    GROUP BY group_id, predicted_cluster, predicted_singleton, true_cluster
  ) AS counted
) AS met
WHERE true_cluster IS NOT NULL
GROUP BY group_id, true_cluster
