-- sampled_cluster_counts: one row per group and labeled true cluster: records, kinds of links, B-cubed sums, predicted clusters, and if it is exact.
-- Links are found in a predicted cluster, claimed by one, or true.
-- Sizes of predicted clusters count all records, those without a true cluster too.
-- Nonzero: predicted_size.
-- Sampling unit: clusters.
-- Grain: group_id, true_cluster
SELECT
  group_id, true_cluster,
  SUM(n) AS num_records, -- of the cluster
  SUM(n * (n - 1)) / 2 AS found_links, -- pairs of its records in one predicted cluster
  SUM(n * (predicted_size - 1)) / 2 AS claimed_links, -- predicted links; half of those that leave the cluster
  SUM(n) * (SUM(n) - 1) / 2 AS true_links, -- pairs of its records
  SUM(n * n / predicted_size) AS bcubed_precision_sum, -- sum of B-cubed precision of its records
  SUM(n * n) / NULLIF(SUM(n), 0) AS bcubed_recall_sum, -- sum of B-cubed recall of its records
  SUM(n / predicted_size) AS num_predicted_clusters, -- its share of these, by records
  CASE WHEN COUNT(*) = 1 AND SUM(predicted_size) = SUM(n) THEN 1 ELSE 0 END AS is_exact -- 1 if it is also a predicted cluster
FROM (
  -- one row per group, predicted and true cluster that share records
  SELECT
    cluster_pair_counts.*,
    SUM(n) OVER (PARTITION BY group_id, predicted_cluster, unplaced_record_id) AS predicted_size
  FROM (
    -- one row per group, predicted and true cluster that share records
    SELECT group_id, predicted_cluster, unplaced_record_id, true_cluster, CAST(COUNT(*) AS DOUBLE) AS n
    FROM predicted_records
    GROUP BY group_id, predicted_cluster, unplaced_record_id, true_cluster
  ) AS cluster_pair_counts
) AS sized_overlaps
WHERE true_cluster IS NOT NULL
GROUP BY group_id, true_cluster
