-- comparable_pair_counts: one row per group: numbers of its record pairs, and of the true links among them.
-- Grain: group_id
SELECT
  group_id,
  SUM(n) * (SUM(n) - 1) / 2 AS total_pairs, -- pairs of records
  SUM(n * (n - 1)) / 2 AS true_links -- pairs in one true cluster
FROM (
  -- one row per group and true cluster
  SELECT group_id, true_cluster, unlabeled_record_id, CAST(COUNT(*) AS DOUBLE) AS n
  FROM labeled_records
  GROUP BY group_id, true_cluster, unlabeled_record_id
) AS true_cluster_counts
GROUP BY group_id
