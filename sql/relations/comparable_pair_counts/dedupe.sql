-- comparable_pair_counts: one row per group, with its number of record pairs and of true links among them.
-- Grain: group_id
SELECT
  group_id,
  SUM(n) * (SUM(n) - 1) / 2 AS total_pairs,
  SUM(n * (n - 1)) / 2 AS true_links
FROM (
  SELECT group_id, true_cluster, true_singleton, CAST(COUNT(*) AS DOUBLE) AS n
  FROM labeled_records
  GROUP BY group_id, true_cluster, true_singleton
) AS counted
GROUP BY group_id
